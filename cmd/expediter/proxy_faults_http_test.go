//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// faultySite is the SDK's server over HTTP. A fault, if there is one, answers
// the calls of tools in its place.
type faultySite struct {
	*httptest.Server
	sdk   atomic.Pointer[mcp.StreamableHTTPHandler]
	fault atomic.Pointer[http.HandlerFunc]
	calls atomic.Int64 // of ok, that were made
	hangs atomic.Int64 // that were begun
}

func newFaultySite(t *testing.T) *faultySite {
	t.Helper()
	s := &faultySite{}
	s.restart()
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// restart forgets all sessions.
func (s *faultySite) restart() {
	server := mcp.NewServer(&mcp.Implementation{Name: "site", Version: "1"}, nil)
	schema := json.RawMessage(`{"type":"object"}`)
	text := func(text string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
	server.AddTool(&mcp.Tool{Name: "ok", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.calls.Add(1)
		return text("ok")
	})
	server.AddTool(&mcp.Tool{Name: "hang", InputSchema: schema}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.hangs.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	s.sdk.Store(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
}

func (s *faultySite) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(body))
	if f := s.fault.Load(); f != nil && bytes.Contains(body, []byte(`"tools/call"`)) {
		(*f)(w, req)
		return
	}
	s.sdk.Load().ServeHTTP(w, req)
}

// withStatus answers with an HTTP status.
func withStatus(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// sends answers with bytes, and again and again with the rest, if there is one.
func sends(kind, first, rest string) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, first)
		for rest != "" {
			_ = http.NewResponseController(w).Flush()
			if _, err := io.WriteString(w, rest); err != nil {
				return
			}
			select {
			case <-time.After(10 * time.Millisecond):
			case <-req.Context().Done():
				return
			}
		}
	}
}

// A server over HTTP refuses a call, or answers badly: what the agent is told,
// what is recorded, and that all goes on in the same session.
func TestProxyFaultsOfSites(t *testing.T) {
	const unreadable = "expediter: the call of ok has no result: the server's answer cannot be read: "
	const late = "expediter: the call of ok has no result: the server did not answer within its deadline."
	refused := func(code string) string {
		return "expediter: the server bad answered the call of ok with HTTP status " + code
	}
	tests := []struct {
		name   string
		fault  http.HandlerFunc
		want   string // the agent's text, or its beginning
		cause  any
		record string
	}{
		{"401", withStatus(401, "WWW-Authenticate", "Bearer"), refused("401"), "auth", "failure auth"},
		{"403", withStatus(403), refused("403"), "permission", "failure permission"},
		{"429", withStatus(429, "Retry-After", "1"), refused("429"), "rate_limit", "failure rate_limit"},
		{"500", withStatus(500), refused("500"), "upstream", "failure upstream"},
		{"503", withStatus(503, "Retry-After", "1"), refused("503"), "upstream", "failure upstream"},
		{"529", withStatus(529), refused("529"), "rate_limit", "failure rate_limit"},
		{"garbage", sends("application/json", "{garbage", ""), unreadable, "unknown", "failure"},
		{"another call's answer", sends("application/json", `{"jsonrpc":"2.0","id":424242,"result":{}}`, ""), unreadable + "it is to another call", "unknown", "failure"},
		{"trickles", sends("application/json", "{", " "), late, "timeout", "failure timeout"},
		{"a stream of nothing", sends("text/event-stream", "", ": still there\n\n"), late, "timeout", "failure timeout"},
		{"a stream that ends", sends("text/event-stream", ": bye\n\n", ""), "expediter: the call of ok has no result: the connection to the server was lost", "network", "failure network"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newFaultySite(t)
			f := besideFaulty(t, "{url: "+s.URL+"}", "expediter: {probe: {not_before_ms: 0}}\n"+soon)
			s.fault.Store(&tt.fault)
			a := f.ask("ok", "{}")
			if !strings.HasPrefix(a.text, tt.want) || !a.failed || a.verdict["cause"] != tt.cause {
				t.Errorf("the agent is told %.300q, error %t, %v", a.text, a.failed, a.verdict)
			}
			f.says("getNotes", `{"text":"x"}`, false, "notes x")
			s.fault.Store(nil)
			f.goesOn()
			if made := s.calls.Load(); made != 1 {
				t.Errorf("%d calls were made, want that which goes on", made)
			}
			if got := f.recorded("bad/ok"); len(got) < 2 || got[1] != tt.record || got[len(got)-1] != "success" {
				t.Errorf("recorded %v", got)
			}
		})
	}
}

// A server that has lost the session refuses the call before it does anything:
// the session is made anew, the call repeated, and nobody is blamed.
func TestProxySessionLost(t *testing.T) {
	t.Parallel()
	s := newFaultySite(t)
	f := besideFaulty(t, "{url: "+s.URL+"}", "")
	f.says("ok", "{}", false, "ok")
	s.restart()
	f.says("ok", "{}", false, "ok")
	f.goesOn()
	if made := s.calls.Load(); made != 3 {
		t.Errorf("%d calls were made, want 3", made)
	}
	if got := f.recorded("bad/ok"); !slices.Equal(got, []string{"CALL", "success", "CALL", "success", "CALL", "success"}) {
		t.Errorf("recorded %v", got)
	}
}

// relay is a network that can be cut.
type relay struct {
	t    *testing.T
	to   string
	addr string

	mu    sync.Mutex
	in    net.Listener
	conns map[net.Conn]bool
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	r := &relay{t: t, to: to, addr: "127.0.0.1:0", conns: map[net.Conn]bool{}}
	r.restore()
	t.Cleanup(r.cut)
	return r
}

func (r *relay) restore() {
	r.t.Helper()
	in, err := net.Listen("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.addr = in.Addr().String()
	r.mu.Lock()
	r.in = in
	r.mu.Unlock()
	go func() {
		for {
			near, err := in.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", r.to)
			if err != nil || !r.keep(in, near, far) {
				_ = near.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				go func() { _, _ = io.Copy(way[0], way[1]); _ = way[0].Close() }()
			}
		}
	}()
}

// keep notes connections, unless their listener is closed by now.
func (r *relay) keep(in net.Listener, conns ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range conns {
		r.conns[c] = true
	}
	return r.in == in
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.in != nil {
		_ = r.in.Close() // first, so that nobody comes in between
	}
	r.in = nil
	for c := range r.conns {
		_ = c.Close()
	}
	clear(r.conns)
}

// The network is cut, with a call under way, and restored.
func TestProxyNetworkCut(t *testing.T) {
	t.Parallel()
	s := newFaultySite(t)
	net := newRelay(t, s.Listener.Addr().String())
	f := besideFaulty(t, "{url: 'http://"+net.addr+"'}", "expediter: {probe: {not_before_ms: 0}}\n")
	f.says("ok", "{}", false, "ok")
	end := make(chan agentSees, 1)
	go func() { end <- f.ask("hang", "{}") }()
	f.until(func() (string, bool) { return "it is not there", s.hangs.Load() > 0 })
	net.cut()
	if a := <-end; !strings.Contains(a.text, "whether it took effect is unknown") || a.verdict["cause"] != "network" {
		t.Errorf("the agent is told %q, %v", a.text, a.verdict)
	}
	skip := f.until(func() (string, bool) {
		a := f.ask("ok", "{}")
		return a.text, a.verdict["decision"] == "SKIP" && a.verdict["server"] == "bad"
	})
	if !strings.Contains(skip, "connection refused") {
		t.Errorf("the agent is told %q", skip)
	}
	f.says("getNotes", `{"text":"x"}`, false, "notes x")
	net.restore()
	f.goesOn()
	if got := f.recorded("bad/hang"); !slices.Equal(got, []string{"CALL", "failure network"}) {
		t.Errorf("recorded %v", got)
	}
}

// A result beyond the limit is refused over HTTP as over stdio; one within passes,
// on both sides.
func TestProxyLargeResultsOverHTTP(t *testing.T) {
	t.Parallel()
	s := newFaultySite(t)
	f := besideFaulty(t, "{url: "+s.URL+"}", "")
	beyond := sendsText(104_857_600)
	s.fault.Store(&beyond)
	a := f.ask("ok", "{}")
	if want := "expediter: the call of ok has no result: the server's message is larger than the proxy's limit"; !strings.HasPrefix(a.text, want) {
		t.Errorf("the agent is told %.300q", a.text)
	}
	s.fault.Store(nil)
	f.goesOn()
	if most := f.mostMemory(); most > 400<<20 {
		t.Errorf("the proxy has held %d MB", most>>20)
	}
	const size = largeResult
	within := sendsText(size)
	s.fault.Store(&within)
	c := newHTTPClient(t, listening(t, "127.0.0.1:0", "mcpServers: {bad: {url: '"+s.URL+"'}}\n"))
	body, err := io.ReadAll(c.post(toolCall("1", "ok", "{}")))
	if err != nil || !bytes.Contains(body, bytes.Repeat([]byte("x"), size)) {
		t.Errorf("got %d bytes, %v", len(body), err)
	}
}

// sendsText answers with so much text.
func sendsText(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		var call faultyRequest
		_ = json.NewDecoder(req.Body).Decode(&call)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, call.text(strings.Repeat("x", size)))
	}
}

// httpClient is a client by hand of a proxy over HTTP.
type httpClient struct {
	t            *testing.T
	url, session string
}

func newHTTPClient(t *testing.T, url string) *httpClient {
	t.Helper()
	c := &httpClient{t: t, url: url}
	hello, _, _ := strings.Cut(handshake, "\n")
	_, _ = io.Copy(io.Discard, c.post(hello))
	if c.session == "" {
		t.Fatal("no session")
	}
	return c
}

// post sends a message and returns the answer, of which nothing has been read.
func (c *httpClient) post(text string) io.Reader {
	return c.do(http.MethodPost, strings.NewReader(text))
}

func (c *httpClient) do(method string, body io.Reader) io.Reader {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.url, body)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = res.Body.Close() })
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return res.Body
}

// A client over HTTP that reads nothing of what it has asked for holds up nobody
// else.
func TestProxyHTTPClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	url := listening(t, "127.0.0.1:0", "mcpServers: {bad: {command: mcp-faulty}}\n")
	bad := newHTTPClient(t, url)
	_, _ = io.Copy(io.Discard, bad.post(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}`))
	bad.do(http.MethodGet, nil)
	bad.post(toolCall("3", "huge", `{"bytes":50000000}`))
	good, err := connectHTTP(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	c := calls{t, good}
	for range 2 {
		c.says("flood", "{}", false, "ok")
	}
}
