//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const oauthToken = "0dd-access-token"

// loginServer is an MCP server that wants a login, and the authorization server
// that gives everybody the same token.
func loginServer(t *testing.T) (address string, logins *atomic.Int64) {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "read", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "read"}}}, nil
	})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	logins = new(atomic.Int64)
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	answer := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, strings.ReplaceAll(text, "HERE", web.URL))
		})
	}
	answer("/.well-known/oauth-protected-resource", `{"resource":"HERE/mcp","authorization_servers":["HERE"]}`)
	answer("/.well-known/oauth-authorization-server", `{"issuer":"HERE","authorization_endpoint":"HERE/authorize","token_endpoint":"HERE/token","registration_endpoint":"HERE/register","code_challenge_methods_supported":["S256"],"response_types_supported":["code"]}`)
	answer("/register", `{"client_id":"c","token_endpoint_auth_method":"none"}`)
	answer("/token", `{"access_token":"`+oauthToken+`","token_type":"Bearer","refresh_token":"refresh-token","expires_in":3600}`)
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, req *http.Request) {
		logins.Add(1)
		q := req.URL.Query()
		http.Redirect(w, req, q.Get("redirect_uri")+"?"+url.Values{"code": {"x"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer "+oauthToken {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+web.URL+`/.well-known/oauth-protected-resource"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, req)
	})
	return web.URL + "/mcp", logins
}

// The address for the login stands in the log and in the status; after the login
// the same session has the tools, and the next start asks nobody.
func TestProxyLogsIn(t *testing.T) {
	address, logins := loginServer(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	config := proxyConfig(t, "mcpServers: {web: {url: '"+address+"', oauth: {}}, one: {command: mcp-server}}\n")
	begin := func() (calls, io.Reader) {
		cmd := exec.Command("expediter", "proxy", "--config", config, "--token-dir", tokens)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = session.Close() })
		return calls{t, session}, stderr
	}
	c, log := begin()
	lines, open := bufio.NewScanner(log), ""
	for open == "" && lines.Scan() {
		if m := regexp.MustCompile(`open this address in a browser.*"url": "([^"]+)"`).FindStringSubmatch(lines.Text()); m != nil {
			open = m[1]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	if text, _ := c.call("expediter_status", "{}"); !strings.Contains(text, "the user is to open "+strings.ReplaceAll(open, `\u0026`, "&")) {
		t.Errorf("the log says %q, the status %s", open, text)
	}
	if _, failed := c.call("pid", `{"text":""}`); failed {
		t.Error("another server's tool does not work meanwhile")
	}
	resp, err := http.Get(strings.ReplaceAll(open, `\u0026`, "&"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	c.reads()
	if err := c.session.Close(); err != nil {
		t.Error(err)
	}

	c, log = begin()
	go func() { _, _ = io.Copy(io.Discard, log) }()
	c.reads()
	if n := logins.Load(); n != 1 {
		t.Errorf("%d logins", n)
	}
}

// reads waits until the tool read answers.
func (c calls) reads() {
	c.Helper()
	var text string
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		r, err := c.session.CallTool(c.Context(), &mcp.CallToolParams{Name: "read"})
		if err == nil && !r.IsError {
			return
		}
		text = fmt.Sprint(err, r)
		<-time.After(20 * time.Millisecond)
	}
	c.Fatalf("read does not answer: %s", text)
}
