package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/expediter-go/expediter/cascade"
)

func TestLogin(t *testing.T) {
	g := newGuarded(t)
	r := start(t, g.config(OAuth{}), Options{}, nil)
	if err := next(t, r.downs, "down"); !errors.Is(err, errLogin) || outageCause(r.server, err) != cascade.Auth {
		t.Errorf("down for %v", err)
	}
	address, page := logsIn(t, r.upstream)
	next(t, r.ups, "up")
	a, err := r.tool(t, "echo", `{"text":"hello"}`)
	if got := textOf(t, a, err); got != "hello" {
		t.Errorf("got %q", got)
	}
	u, err := url.Parse(address)
	if err != nil || u.Query().Get("scope") != "tools" || !strings.HasPrefix(u.Query().Get("redirect_uri"), "http://127.0.0.1:") {
		t.Errorf("the address is %s", address)
	}
	if !strings.Contains(page, "web") || r.auth.loginURL() != "" {
		t.Errorf("page %q, address %q", page, r.auth.loginURL())
	}
	if n := g.count("authorize"); n != 1 {
		t.Errorf("%d logins", n)
	}
}

// What a stranger brings to the port of a login is not its answer.
func TestLoginOfAStranger(t *testing.T) {
	g := newGuarded(t)
	r := start(t, g.config(OAuth{}), Options{}, nil)
	u, err := url.Parse(asks(t, r.upstream))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for _, tail := range []string{"?code=x", "?code=x&state=y", "/other?code=x&state=" + q.Get("state"), "?state=" + q.Get("state")} {
		resp, err := http.Get(q.Get("redirect_uri") + tail)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", tail, resp.Status)
		}
	}
	logsIn(t, r.upstream)
	next(t, r.ups, "up")
}

func TestRefusedLogin(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.set(func() { g.refuses = true })
	r := start(t, g.config(OAuth{}), Options{}, nil)
	first, _ := logsIn(t, r.upstream)
	waitUntil(t, "another address", func() bool { a := r.auth.loginURL(); return a != "" && a != first })
	g.set(func() { g.refuses = false })
	logsIn(t, r.upstream)
	next(t, r.ups, "up")
}

// A human who has logged in once is not asked again while there is a refresh
// token that is good.
func TestTokensEnd(t *testing.T) {
	tests := []struct {
		name string
		end  func(*guarded)
	}{
		{"expired", func(g *guarded) {}},
		{"revoked", func(g *guarded) { g.revoke(false) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGuarded(t)
			if tt.name == "expired" {
				g.set(func() { g.lasts = 5 * time.Second }) // less than what a request may take
			}
			r := start(t, g.config(OAuth{}), Options{}, nil)
			logsIn(t, r.upstream)
			next(t, r.ups, "up")
			g.set(func() { g.lasts = time.Hour })
			before := g.count("refresh_token")
			tt.end(g)
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					if a, err := r.tool(t, "echo", `{"text":"x"}`); err != nil || a.Error != nil {
						t.Errorf("got %v, %v", a.Error, err)
					}
				})
			}
			group.Wait()
			if n := g.count("refresh_token") - before; n != 1 {
				t.Errorf("%d renewals, want one", n)
			}
			if n := g.count("authorize"); n != 1 {
				t.Errorf("%d logins", n)
			}
		})
	}
}

// When no token is good any more, the call is not sent, and the human is asked.
func TestLoginAgain(t *testing.T) {
	for _, noRefresh := range []bool{false, true} {
		g := newGuarded(t)
		g.set(func() { g.noRefresh = noRefresh })
		r := start(t, g.config(OAuth{}), Options{}, nil)
		next(t, r.downs, "down")
		logsIn(t, r.upstream)
		next(t, r.ups, "up")
		g.revoke(true)
		if _, err := r.tool(t, "echo", `{"text":"x"}`); !errors.Is(err, errDown) || !errors.Is(err, errLogin) {
			t.Errorf("got %v", err)
		}
		if err := next(t, r.downs, "down"); !errors.Is(err, errLogin) {
			t.Errorf("down for %v", err)
		}
		logsIn(t, r.upstream)
		next(t, r.ups, "up")
		a, err := r.tool(t, "echo", `{"text":"again"}`)
		if got := textOf(t, a, err); got != "again" {
			t.Errorf("got %q", got)
		}
	}
}

// An authorization server that is away says nothing of the login.
func TestNoTokenForNow(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	r := start(t, g.config(OAuth{}), Options{}, nil)
	next(t, r.downs, "down")
	logsIn(t, r.upstream)
	next(t, r.ups, "up")
	g.set(func() { g.away = true })
	g.revoke(false)
	_, err := r.tool(t, "echo", `{"text":"x"}`)
	if !errors.Is(err, errDown) || errors.Is(err, errAuth) {
		t.Errorf("got %v", err)
	}
	next(t, r.downs, "down")
	g.set(func() { g.away = false })
	next(t, r.ups, "up")
	if n := g.count("authorize"); n != 1 {
		t.Errorf("%d logins", n)
	}
}

// A token for another server is none, and is not shown when it is refused.
func TestWrongAudience(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	g.set(func() { g.audience = "https://other.example" })
	r := start(t, g.config(OAuth{ClientID: "robot", ClientSecret: "robot-secret", Unattended: true}), Options{}, nil)
	err := next(t, r.downs, "down")
	if err == nil || outageCause(r.server, err) != cascade.Auth || !strings.Contains(err.Error(), "no good: [masked]") {
		t.Errorf("down for %v", err)
	}
	g.set(func() { g.audience = "" })
	next(t, r.ups, "up")
}

func TestClientCredentials(t *testing.T) {
	g := newGuarded(t)
	r := startUp(t, g.config(OAuth{ClientID: "robot", ClientSecret: "robot-secret", Scopes: []string{"mine"}, Unattended: true}), Options{}, nil)
	g.revoke(false)
	a, err := r.tool(t, "echo", `{"text":"x"}`)
	if got := textOf(t, a, err); got != "x" {
		t.Errorf("got %q", got)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, token := range g.tokens {
		if token.scope != "mine" {
			t.Errorf("scope %q", token.scope)
		}
	}
}

func TestWrongSecret(t *testing.T) {
	g := newGuarded(t)
	r := start(t, g.config(OAuth{ClientID: "robot", ClientSecret: "wrong-secret", Unattended: true}), Options{}, nil)
	err := next(t, r.downs, "down")
	if !errors.Is(err, errAuth) || errors.Is(err, errLogin) || !strings.Contains(err.Error(), "invalid_client") || strings.Contains(err.Error(), "wrong-secret") {
		t.Errorf("down for %v", err)
	}
}

// Who has not configured a login is told how.
func TestLoginNotConfigured(t *testing.T) {
	g := newGuarded(t)
	r := start(t, Server{Name: "web", URL: g.URL}, Options{}, nil)
	if err := next(t, r.downs, "down"); !strings.Contains(err.Error(), "write oauth: {} below it") || outageCause(r.server, err) != cascade.Auth {
		t.Errorf("down for %v", err)
	}
}

func TestListToolsWithoutLogin(t *testing.T) {
	g := newGuarded(t)
	if _, err := ListTools(t.Context(), g.config(OAuth{}), nil); err == nil || err.Error() != errAuth.Error() {
		t.Errorf("got %v", err)
	}
	tools, err := ListTools(t.Context(), g.config(OAuth{ClientID: "robot", ClientSecret: "robot-secret", Unattended: true}), nil)
	if err != nil || len(tools) == 0 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
}

// What a server says of its login comes from outside.
func FuzzChallenge(f *testing.F) {
	f.Add(`Bearer error="insufficient_scope", scope="a b", resource_metadata="https://a.example/x"`)
	f.Add(`Basic realm="x", Bearer scope="a\"b"`)
	f.Add("Bearer scope=\"\u2028 \x00 a\"")
	f.Fuzz(func(t *testing.T, said string) {
		a := newAuthorizer(Server{URL: "https://a.example", OAuth: &OAuth{}}, strings.ToLower, zap.NewNop())
		a.scopes = []string{"granted"}
		got, want := a.challenge(refusal{http.Header{"Www-Authenticate": {said}}, true})
		if !slices.Contains(want, "granted") || slices.ContainsFunc(want, func(s string) bool { return !isScope(s) }) {
			t.Errorf("scopes %q", want)
		}
		ahead := http.Header{"Www-Authenticate": got.Header.Values("WWW-Authenticate")[:1]}
		if text := bearerParam(ahead, "scope"); text != strings.Join(want, " ") {
			t.Errorf("read back as %q, want %q", text, want)
		}
	})
}

// A tool that wants more than was granted: the human grants more, while all else
// goes on.
func TestMoreScopes(t *testing.T) {
	g := newGuarded(t)
	r := start(t, g.config(OAuth{}), Options{}, nil)
	logsIn(t, r.upstream)
	next(t, r.ups, "up")
	g.set(func() { g.needs = "write" })
	a, err := r.tool(t, "echo", `{"text":"x"}`)
	if err != nil || a.Status != http.StatusForbidden || !r.isUp() {
		t.Errorf("got %v, status %d, up %v", err, a.Status, r.isUp())
	}
	address, _ := logsIn(t, r.upstream)
	if u, _ := url.Parse(address); u.Query().Get("scope") != "tools write" && u.Query().Get("scope") != "write tools" {
		t.Errorf("the address is %s", address)
	}
	waitUntil(t, "the login has ended", func() bool { return r.auth.loginURL() == "" })
	a, err = r.tool(t, "echo", `{"text":"x"}`)
	if got := textOf(t, a, err); got != "x" {
		t.Errorf("got %q", got)
	}
	g.set(func() {
		g.needs = "write"
		g.tokens[r.auth.latest().AccessToken] = issued{audience: g.URL, until: time.Now().Add(time.Hour)}
	})
	if a, err = r.tool(t, "echo", `{"text":"x"}`); err != nil || a.Status != http.StatusForbidden || r.auth.loginURL() != "" {
		t.Errorf("got %v, status %d, a login for what was granted: %q", err, a.Status, r.auth.loginURL())
	}
}

// run is an upstream with kept tokens, that ends when the test says so.
func runKept(t *testing.T, g *guarded, dir string, o OAuth) (u *upstream, ups, downs chan error, end func()) {
	t.Helper()
	ups, downs = make(chan error, 10), make(chan error, 10)
	u = newUpstream(g.config(o), Options{}, upstreamEvents{
		up: func(*upstream) { ups <- nil }, down: func(_ *upstream, err error) { downs <- err }}, zap.NewNop())
	u.auth.keepIn(dir)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); u.run(ctx) }()
	end = func() { cancel(); <-ended }
	t.Cleanup(end)
	return u, ups, downs, end
}

func TestKeptTokens(t *testing.T) {
	g, dir := newGuarded(t), filepath.Join(t.TempDir(), "tokens")
	u, ups, _, end := runKept(t, g, dir, OAuth{})
	logsIn(t, u)
	next(t, ups, "up")
	end()
	files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	if len(files) != 1 {
		t.Fatalf("files: %v", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}

	g.revoke(false) // the refresh token is good
	_, ups, _, end = runKept(t, g, dir, OAuth{})
	next(t, ups, "up")
	end()

	one, ups, _, _ := runKept(t, g, dir, OAuth{}) // and two at a time
	next(t, ups, "up")
	two, ups, _, _ := runKept(t, g, dir, OAuth{})
	next(t, ups, "up")
	g.revoke(false)
	for _, u := range []*upstream{one, two, one} {
		r := &rig{upstream: u}
		a, err := r.tool(t, "echo", `{"text":"x"}`)
		if got := textOf(t, a, err); got != "x" {
			t.Errorf("got %q", got)
		}
	}
	if n := g.count("authorize"); n != 1 {
		t.Errorf("%d logins", n)
	}
}

// A file of tokens that is not what it should be is not used.
func TestKeptTokensOfOthers(t *testing.T) {
	g, dir := newGuarded(t), t.TempDir()
	u, ups, _, end := runKept(t, g, dir, OAuth{})
	logsIn(t, u)
	next(t, ups, "up")
	end()
	path := u.auth.path
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		spoil func() error
	}{
		{"read by others", func() error { return os.Chmod(path, 0o644) }},
		{"a link", func() error { return errors.Join(os.Rename(path, path+".x"), os.Symlink(path+".x", path)) }},
		{"another server's", func() error {
			return os.WriteFile(path, bytes.Replace(good, []byte(g.URL), []byte("https://a.example"), 1), 0o600)
		}},
		{"cut off", func() error { return os.WriteFile(path, good[:len(good)/2], 0o600) }},
		{"no token", func() error { return os.WriteFile(path, []byte(`{"url":"`+g.URL+`","grant":{}}`), 0o600) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, good, 0o600), tt.spoil()); err != nil {
				t.Fatal(err)
			}
			if k := u.auth.load(); k != nil {
				t.Errorf("got %+v", k)
			}
		})
	}
}

// observed is a log, and what stands in it.
func observed() (log *zap.Logger, lines func() string) {
	var b bytes.Buffer
	out := zapcore.Lock(zapcore.AddSync(&b))
	log = zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(zap.NewProductionEncoderConfig()), out, zapcore.DebugLevel))
	return log, func() string { _ = log.Sync(); return b.String() }
}

// The client's own token stays at the proxy, whatever the server wants.
func TestClientTokenIsNoLogin(t *testing.T) {
	g := newGuarded(t)
	p, err := New(Config{Servers: []Server{g.config(OAuth{})}, Proxy: Options{ListenToken: token}}, Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	p.offer(offered) // no client says what it can
	logsIn(t, p.ups[0])
	waitUntil(t, "connected", p.ups[0].isUp)
	c := &httpClient{url: frontOf(t, p).URL, version: newest, head: http.Header{"Authorization": {"Bearer " + token}}}
	for range 2 {
		if raw, e := c.call(t, "tools/call", `{"name":"echo","arguments":{"text":"x"},"_meta":{`+modernMeta+`}}`); e != "" {
			t.Errorf("%s %s", raw, e)
		}
		g.revoke(true)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.heads {
		if strings.Contains(h, token) {
			t.Errorf("the server was sent %s", h)
		}
	}
}

// A client that can shows its human the address, once, and hears when it is of no
// use any more.
func TestLoginByClient(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			g := newGuarded(t)
			p, err := New(Config{Servers: []Server{g.config(OAuth{})}}, Env{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Close() })
			shown, complete := make(chan *mcp.ElicitParams, 10), make(chan string, 10)
			s := connectWith(t, p, transport, "2025-11-25", &mcp.ClientOptions{
				Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
				ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					shown <- req.Params
					return &mcp.ElicitResult{Action: "accept"}, nil
				},
				ElicitationCompleteHandler: func(_ context.Context, req *mcp.ElicitationCompleteNotificationRequest) {
					complete <- req.Params.ElicitationID
				},
			})
			if _, err := s.ListTools(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			got := next(t, shown, "question")
			if got.Mode != "url" || got.URL != p.ups[0].auth.loginURL() || got.Message != "The server web wants a login." {
				t.Errorf("asked %+v", got)
			}
			logsIn(t, p.ups[0])
			if id := next(t, complete, "end"); id != got.ElicitationID || len(shown) > 0 {
				t.Errorf("ended %q, asked as %q, and %d times more", id, got.ElicitationID, len(shown))
			}
		})
	}
}

// What the agent, the log and the journal are told, and what they are not.
func TestProxyLogin(t *testing.T) {
	g, other := newGuarded(t), newPeer()
	dir := t.TempDir()
	log, lines := observed()
	p, err := New(Config{Servers: []Server{g.config(OAuth{}), other.http(t, false)}, Proxy: Options{RecordArguments: true}}, Env{Log: log, JournalDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	p.offer(offered) // no client says what it can
	web := p.ups[0]
	logsIn(t, web)
	waitUntil(t, "connected", web.isUp)
	c := p.newClient("s", human{})
	to := target{up: web, tool: rawTool{Name: "echo"}, key: "web/echo"}
	forward := func(ctx context.Context, to target, params json.RawMessage) (answer, error) {
		return to.up.call(ctx, "tools/call", params, nil)
	}
	params := json.RawMessage(`{"name":"echo","arguments":{"text":"x"}}`)
	if raw, rpc := c.callTool(t.Context(), to, params, forward); rpc != nil || readTold(t, raw).IsError {
		t.Fatalf("%s, %v", raw, rpc)
	}
	g.revoke(true)
	raw, rpc := c.callTool(t.Context(), to, params, forward)
	if rpc != nil {
		t.Fatal(rpc)
	}
	address := asks(t, web)
	said := readTold(t, raw)
	if said.Decision.String() != "SKIP" || said.Cause != "auth" || !strings.Contains(said.Text, "the user is to open the address") {
		t.Errorf("got %+v", said)
	}
	status, _ := c.callOwn(ownStatus, nil)
	if text := readTold(t, status).Text; !strings.Contains(text, "The server web wants a login: the user is to open "+address) {
		t.Errorf("status: %s", text)
	}
	waitUntil(t, "the other server", p.ups[1].isUp)
	if raw, rpc := c.callTool(t.Context(), target{up: p.ups[1], tool: rawTool{Name: "log"}, key: "peer/log"}, json.RawMessage(`{"name":"log"}`), forward); rpc != nil || readTold(t, raw).IsError {
		t.Errorf("another server: %s, %v", raw, rpc)
	}
	logsIn(t, web)
	waitUntil(t, "connected", web.isUp)
	if raw, rpc := c.callTool(t.Context(), to, params, forward); rpc != nil || readTold(t, raw).IsError {
		t.Errorf("%s, %v", raw, rpc)
	}
	c.close()
	all := lines() + string(raw) + string(status)
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all += string(data)
	}
	if len(files) == 0 || !strings.Contains(all, address) {
		t.Errorf("%d journals; the address is told: %v", len(files), strings.Contains(all, address))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, token := range g.given {
		if strings.Contains(all, token) {
			t.Errorf("%.8s… is told", token)
		}
	}
}
