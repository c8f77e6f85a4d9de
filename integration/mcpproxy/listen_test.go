package mcpproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const token = "s3cret-token"

// frontOf is a proxy's Handler as it listens on loopback.
func frontOf(t *testing.T, p *Proxy) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(p.Handler())
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

func initialize() string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + legacyInit + `}`
}

func TestRefused(t *testing.T) {
	tests := []struct {
		name, token, host string
		head              http.Header
		want              int
	}{
		{"a loopback host", "", "", nil, 200},
		{"localhost", "", "localhost:80", nil, 200},
		{"IPv6", "", "[::1]:80", nil, 200},
		{"another host", "", "evil.example", nil, 403},
		{"another host that looks like loopback", "", "127.0.0.1.evil.example", nil, 403},
		{"the own origin", "", "localhost:80", http.Header{"Origin": {"http://localhost:80"}}, 200},
		{"another origin", "", "", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"another port of loopback", "", "localhost:80", http.Header{"Origin": {"http://localhost:81"}}, 403},
		{"the origin null", "", "", http.Header{"Origin": {"null"}}, 403},
		{"no token", token, "", nil, 401},
		{"the token", token, "", http.Header{"Authorization": {"Bearer " + token}}, 200},
		{"the token in small letters of the scheme", token, "", http.Header{"Authorization": {"bearer " + token}}, 200},
		{"another token", token, "", http.Header{"Authorization": {"Bearer " + token + "x"}}, 401},
		{"an empty token", token, "", http.Header{"Authorization": {"Bearer "}}, 401},
		{"another scheme", token, "", http.Header{"Authorization": {"Basic " + token}}, 401},
		{"two tokens", token, "", http.Header{"Authorization": {"Bearer " + token, "Bearer x"}}, 401},
		{"the token and another origin", token, "", http.Header{"Authorization": {"Bearer " + token}, "Origin": {"https://evil.example"}}, 403},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := New(Config{Proxy: Options{ListenToken: tt.token}}, Env{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			req, err := http.NewRequest("POST", frontOf(t, p).URL, strings.NewReader(initialize()))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			for k, v := range tt.head {
				req.Header[k] = v
			}
			if tt.host != "" {
				req.Host = tt.host
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != tt.want {
				body, _ := io.ReadAll(res.Body)
				t.Errorf("HTTP %d %s, want %d", res.StatusCode, body, tt.want)
			}
			if res.StatusCode == 401 && !strings.HasPrefix(res.Header.Get("WWW-Authenticate"), "Bearer") {
				t.Error("401 without WWW-Authenticate")
			}
		})
	}
}

// TestOffLoopback: without a token nobody from elsewhere gets in, whatever the
// Host says.
func TestOffLoopback(t *testing.T) {
	p := newProxy(t)
	w := httptest.NewRecorder()
	req := httptest.NewRequest("POST", "http://localhost/", strings.NewReader(initialize()))
	for _, addr := range []net.Addr{nil, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}} {
		ctx := req.Context()
		if addr != nil {
			ctx = context.WithValue(ctx, http.LocalAddrContextKey, addr)
		}
		p.Handler().ServeHTTP(w, req.Clone(ctx))
		if w.Code != 403 {
			t.Errorf("at %v: HTTP %d, want 403", addr, w.Code)
		}
	}
}

// TestTokenStaysHere: no server sees the client's token, nor what else the
// client's request carries.
func TestTokenStaysHere(t *testing.T) {
	for _, version := range []string{"2025-11-25", newest} {
		t.Run(version, func(t *testing.T) {
			s := &script{version: version}
			p, err := New(Config{Servers: []Server{s.http(t, "s")}, Proxy: Options{ListenToken: token}}, Env{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			c := &httpClient{url: frontOf(t, p).URL, version: newest, head: http.Header{
				"Authorization": {"Bearer " + token}, "Cookie": {"c=" + token}, "Expediter-Params": {`{"name":"other"}`}, "X-Api-Key": {token}}}
			raw, e := c.call(t, "tools/call", `{"name":"echo","arguments":{},"_meta":{`+modernMeta+`}}`)
			if e != "" || !strings.Contains(raw, `"name":"echo"`) {
				t.Fatalf("%s %s", raw, e)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.heads) == 0 {
				t.Fatal("the server heard nothing")
			}
			for _, h := range s.heads {
				if strings.Contains(fmt.Sprint(h), token) {
					t.Errorf("the server was sent %v", h)
				}
			}
		})
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	p := newProxy(t)
	c := &httpClient{url: frontOf(t, p).URL}
	for name, tt := range map[string]struct {
		body string
		want int
	}{
		"too long":         {`{"x":"` + strings.Repeat("a", maxBody) + `"}`, 413},
		"no JSON":          {`{`, 400},
		"a member twice":   {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}`, 400},
		"an empty batch":   {`[]`, 400},
		"a batch of words": {`["x"]`, 400},
	} {
		if res := c.post(t, tt.body, nil); res.StatusCode != tt.want {
			t.Errorf("%s: HTTP %d, want %d", name, res.StatusCode, tt.want)
		}
	}
}

func TestParamsTwice(t *testing.T) {
	s := &script{version: "2025-11-25"}
	c := clientOf(t, newProxy(t, s.http(t, "s")), "stdio", "2025-11-25")
	if raw, e := c.call(t, "tools/call", `{"name":"echo","arguments":{},"name":"text"}`); !strings.Contains(e, "stands twice") {
		t.Errorf("two names of a tool: %s %s", raw, e)
	}
}

// TestBatch: clients of 2025-03-26 may send several requests at once.
func TestBatch(t *testing.T) {
	s := &script{version: "2025-11-25"}
	p := newProxy(t, s.http(t, "s"))
	c := clientOf(t, p, "http", "2025-03-26").(*httpClient)
	call := func(id int, arguments string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":%s,"x":1}}`, id, arguments)
	}
	res := c.post(t, `[`+call(1, `{"a":9007199254740993}`)+`,`+call(2, `{"b":1.0}`)+`]`, nil)
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[int]string{1: `"arguments":{"a":9007199254740993},"x":1`, 2: `"arguments":{"b":1.0},"x":1`} {
		found := false
		for line := range strings.Lines(string(body)) {
			found = found || strings.Contains(line, fmt.Sprintf(`"id":%d`, id)) && strings.Contains(line, want)
		}
		if !found {
			t.Errorf("request %d was not answered with %s: HTTP %d %s", id, want, res.StatusCode, body)
		}
	}
}

func TestPages(t *testing.T) {
	r := &request{}
	var items []item
	for i := range 2*pageItems + 5 {
		items = append(items, item{fmt.Sprint("t", i), json.RawMessage(fmt.Sprintf(`{"name":"t%d"}`, i))})
	}
	seen, pages := 0, 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		r.params = []member{{"cursor", encode(cursor)}}
		raw, err := r.page("tools", items)
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Tools      []struct{ Name string }
			NextCursor string
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			t.Fatal(err)
		}
		for _, tool := range page.Tools {
			if tool.Name != items[seen].id {
				t.Fatalf("item %d is %s, want %s", seen, tool.Name, items[seen].id)
			}
			seen++
		}
		cursor = page.NextCursor
	}
	if seen != len(items) || pages != 3 {
		t.Errorf("%d items on %d pages, want %d on 3", seen, pages, len(items))
	}
	r.params = []member{{"cursor", encode("bogus!")}}
	if _, err := r.page("tools", items); err == nil {
		t.Error("a cursor of nobody is taken")
	}
}

func TestMatches(t *testing.T) {
	tests := []struct {
		template, uri string
		want          bool
	}{
		{"file:///{path}", "file:///a/b", true},
		{"file:///{path}", "http://a", false},
		{"doc://{id}/page", "doc://7/page", true},
		{"doc://{id}/page", "doc://7/other", false},
		{"a://x", "a://x", true},
		{"a://x", "a://xy", false},
		{"a://{x}-{y}.z", "a://1-2.z", true},
		{"a://{x", "a://1", false},
		{"{+uri}", "anything", true},
	}
	for _, tt := range tests {
		if got := matches(tt.template, tt.uri); got != tt.want {
			t.Errorf("matches(%q, %q) = %v", tt.template, tt.uri, got)
		}
	}
}

// TestManySessions: each of many sessions gets its own answers, and nothing is
// left of them when they have ended.
func TestManySessions(t *testing.T) {
	sessions, calls := 100, 30
	if raceEnabled {
		sessions, calls = 30, 20
	}
	s := &script{version: "2025-11-25"}
	p := newProxy(t, s.stdio("s"))
	url := frontOf(t, p).URL
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			c := &httpClient{url: url}
			if _, e := c.call(t, "initialize", legacyInit); e != "" {
				t.Error(e)
				return
			}
			for j := range calls {
				want := fmt.Sprintf(`"arguments":{"session":%d,"call":%d}`, i, j)
				if raw, e := c.call(t, "tools/call", `{"name":"echo",`+want+`}`); e != "" || !strings.Contains(raw, want) {
					t.Errorf("got %s %s, want %s", raw, e, want)
				}
			}
			req, _ := http.NewRequest("DELETE", url, nil)
			req.Header.Set("Mcp-Session-Id", c.session)
			if res, err := http.DefaultClient.Do(req); err != nil || res.StatusCode != 204 {
				t.Error("the session cannot be ended", err)
			}
		})
	}
	wg.Wait()
	left := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		n := len(p.sessions) + len(p.asking) + len(p.watched)
		for _, f := range p.flights {
			n += len(f)
		}
		return n
	}
	for end := time.Now().Add(10 * time.Second); left() > 0 && time.Now().Before(end); {
		_ = p.calls.TryAcquire(0) // sessions end beside their DELETE
	}
	if n := left(); n > 0 {
		t.Errorf("%d sessions and calls are left", n)
	}
}

func TestTooManySessions(t *testing.T) {
	now := time.Now()
	p, err := New(Config{Proxy: Options{MaxSessions: 1}}, Env{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	url := frontOf(t, p).URL
	one, two := &httpClient{url: url}, &httpClient{url: url}
	if _, e := one.call(t, "initialize", legacyInit); e != "" {
		t.Fatal(e)
	}
	if _, e := two.call(t, "initialize", legacyInit); !strings.Contains(e, "too many sessions") {
		t.Errorf("a second session: %s", e)
	}
	now, two.session = now.Add(time.Hour), ""
	if _, e := two.call(t, "initialize", legacyInit); e != "" {
		t.Errorf("a second session when the first is idle: %s", e)
	}
}

// TestTooManyListeners: a stream of a client without a session counts as one.
func TestTooManyListeners(t *testing.T) {
	p, err := New(Config{Proxy: Options{MaxSessions: 1}}, Env{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	const method = "subscriptions/listen"
	c := &httpClient{url: frontOf(t, p).URL, version: newest}
	listen := func() *http.Response {
		return c.post(t, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"notifications":{"toolsListChanged":true},"_meta":{`+modernMeta+`}}}`,
			http.Header{"Mcp-Method": {method}})
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(listen().Body, first); err != nil {
		t.Fatal(err) // the acknowledgement
	}
	body, err := io.ReadAll(listen().Body)
	if err != nil || !strings.Contains(string(body), "too many sessions") {
		t.Errorf("a second stream: %s (%v)", body, err)
	}
}
