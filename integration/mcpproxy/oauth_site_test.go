package mcpproxy

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// guarded is an MCP server that wants tokens, and the authorization server that
// gives them.
type guarded struct {
	*site
	as *httptest.Server

	mu      sync.Mutex
	tokens  map[string]issued // access tokens that are good
	refresh map[string]issued // refresh tokens that are good once
	codes   map[string]url.Values
	clients map[string][]string // redirect URIs of the registered, by id

	// What it does, and what it has heard.
	secret    string // of the client "robot"
	lasts     time.Duration
	audience  string // of new tokens; empty: the server's
	refuses   bool   // the human, to log in
	away      bool   // the token endpoint
	noRefresh bool
	needs     string // a scope that tools/call wants
	heard     []string
	heads     []string // of requests
	given     []string // every token ever given
}

type issued struct {
	audience, scope, client string
	until                   time.Time
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{site: newSite(t, nil), tokens: map[string]issued{}, refresh: map[string]issued{}, codes: map[string]url.Values{},
		clients: map[string][]string{}, secret: "robot-secret", lasts: time.Hour}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", g.metadata)
	mux.HandleFunc("POST /register", g.register)
	mux.HandleFunc("GET /authorize", g.authorize)
	mux.HandleFunc("POST /token", g.token)
	g.as = httptest.NewServer(mux)
	t.Cleanup(g.as.Close)
	g.hand(g.guard)
	return g
}

func (g *guarded) config(o OAuth) Server { return Server{Name: "web", URL: g.URL, OAuth: &o} }

// set changes what it does.
func (g *guarded) set(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
}

// count is how often it has heard of something.
func (g *guarded) count(what string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, h := range g.heard {
		if h == what {
			n++
		}
	}
	return n
}

// revoke makes all access tokens worthless; refresh tokens too if asked.
func (g *guarded) revoke(refreshToo bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.tokens)
	if refreshToo {
		clear(g.refresh)
	}
}

// guard is the server's look at the tokens of requests.
func (g *guarded) guard(w http.ResponseWriter, req *http.Request, method string, _ []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if strings.HasPrefix(req.URL.Path, "/.well-known/oauth-protected-resource") {
		sendJSON(w, 200, map[string]any{"resource": g.URL, "authorization_servers": []string{g.as.URL}, "scopes_supported": []string{"tools"}})
		return true
	}
	bearer := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	g.heads = append(g.heads, fmt.Sprint(req.Header))
	t, ok := g.tokens[bearer]
	challenge := `Bearer resource_metadata="` + g.URL + `/.well-known/oauth-protected-resource"`
	switch {
	case !ok || time.Now().After(t.until) || t.audience != g.URL:
		w.Header().Set("WWW-Authenticate", challenge+`, error="invalid_token"`)
		http.Error(w, "no good: "+bearer, http.StatusUnauthorized)
	case method == "tools/call" && g.needs != "" && !slices.Contains(strings.Fields(t.scope), g.needs):
		w.Header().Set("WWW-Authenticate", challenge+`, error="insufficient_scope", scope="`+g.needs+`"`)
		http.Error(w, "not enough", http.StatusForbidden)
	default:
		return false
	}
	return true
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (g *guarded) metadata(w http.ResponseWriter, _ *http.Request) {
	sendJSON(w, 200, map[string]any{"issuer": g.as.URL, "authorization_endpoint": g.as.URL + "/authorize", "token_endpoint": g.as.URL + "/token",
		"registration_endpoint": g.as.URL + "/register", "response_types_supported": []string{"code"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_post"}})
}

func (g *guarded) register(w http.ResponseWriter, req *http.Request) {
	var m struct {
		Redirects []string `json:"redirect_uris"`
	}
	_ = json.NewDecoder(req.Body).Decode(&m)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heard = append(g.heard, "register")
	id := "client-" + rand.Text()
	g.clients[id] = m.Redirects
	sendJSON(w, 201, map[string]any{"client_id": id, "redirect_uris": m.Redirects, "token_endpoint_auth_method": "none"})
}

// authorize sends the browser back at once: the human has agreed, or refused.
func (g *guarded) authorize(w http.ResponseWriter, req *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heard = append(g.heard, "authorize")
	q := req.URL.Query()
	if !slices.Contains(g.clients[q.Get("client_id")], q.Get("redirect_uri")) || q.Get("code_challenge_method") != "S256" ||
		q.Get("resource") != g.URL || q.Get("response_type") != "code" {
		http.Error(w, "bad request: "+req.URL.RawQuery, http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}, "code": {rand.Text()}}
	if g.refuses {
		back = url.Values{"state": {q.Get("state")}, "error": {"access_denied"}, "error_description": {"not today\x1b[31m"}}
	}
	g.codes[back.Get("code")] = q
	http.Redirect(w, req, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (g *guarded) token(w http.ResponseWriter, req *http.Request) {
	_ = req.ParseForm()
	g.mu.Lock()
	defer g.mu.Unlock()
	grant, f := req.Form.Get("grant_type"), req.Form
	g.heard = append(g.heard, grant)
	if g.away {
		http.Error(w, "later", http.StatusServiceUnavailable)
		return
	}
	fail := func(why string) { sendJSON(w, 400, map[string]string{"error": why}) }
	was := issued{client: f.Get("client_id"), scope: f.Get("scope")}
	switch grant {
	case "authorization_code":
		q, ok := g.codes[f.Get("code")]
		delete(g.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if !ok || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || q.Get("client_id") != f.Get("client_id") ||
			q.Get("redirect_uri") != f.Get("redirect_uri") || f.Get("resource") != g.URL {
			fail("invalid_grant")
			return
		}
		was.scope = q.Get("scope")
	case "refresh_token":
		old, ok := g.refresh[f.Get("refresh_token")]
		delete(g.refresh, f.Get("refresh_token"))
		if was = old; !ok || old.client != f.Get("client_id") {
			fail("invalid_grant")
			return
		}
	case "client_credentials":
		if f.Get("client_id") != "robot" || f.Get("client_secret") != g.secret {
			fail("invalid_client")
			return
		}
	}
	was.audience, was.until = g.URL, time.Now().Add(g.lasts)
	if g.audience != "" {
		was.audience = g.audience
	}
	access, renew := "access-"+rand.Text(), "refresh-"+rand.Text()
	g.tokens[access] = was
	g.given = append(g.given, access)
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": int(g.lasts.Seconds()), "scope": was.scope}
	if grant != "client_credentials" && !g.noRefresh {
		g.refresh[renew] = was
		g.given = append(g.given, renew)
		answer["refresh_token"] = renew
	}
	sendJSON(w, 200, answer)
}

// logsIn is the human who opens the address that a server wants opened.
func logsIn(t *testing.T, u *upstream) (address, page string) {
	t.Helper()
	address = asks(t, u)
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the browser sees %s: %s", resp.Status, body)
	}
	return address, string(body)
}

// asks waits for the address.
func asks(t *testing.T, u *upstream) string {
	t.Helper()
	waitUntil(t, "a login is wanted", func() bool { return u.auth.loginURL() != "" })
	return u.auth.loginURL()
}

// waitUntil waits for a condition of what runs beside the test.
func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.After(waitFor); !ok(); {
		select {
		case <-end:
			t.Fatalf("not within %v: %s", waitFor, what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}
