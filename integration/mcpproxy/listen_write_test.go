package mcpproxy

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestClientThatDoesNotRead: one client's stream that nobody reads keeps no
// other client's news.
func TestClientThatDoesNotRead(t *testing.T) {
	s := &script{version: "2025-11-25"}
	p := newProxy(t, s.http(t, "s"))
	h := p.Handler().(*front)
	h.within = time.Second
	srv := httptest.NewServer(h)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	bad := &httpClient{url: srv.URL}
	if _, e := bad.call(t, "initialize", legacyInit); e != "" {
		t.Fatal(e)
	}
	if _, e := bad.call(t, "logging/setLevel", `{"level":"debug"}`); e != "" {
		t.Fatal(e)
	}
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	req, err := http.NewRequest(http.MethodGet, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Accept": {"text/event-stream"}, "Mcp-Session-Id": {bad.session}}
	if err := req.Write(conn); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the stream is there
		t.Fatal(err)
	}
	news := make(chan struct{}, 100)
	good, err := mcp.NewClient(&mcp.Implementation{Name: "good"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { signal(news) },
	}).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: srv.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	message := encode(map[string]any{"level": "error", "data": strings.Repeat("x", 128<<10)})
	for range outboxSize {
		p.passOn(p.ups[0], "notifications/message", message)
	}
	stalled(t, p)
	for range 3 { // whoever is told first
		p.changed(toolsChanged)
		next(t, news, "news of the tools")
	}
	if _, err := good.ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// stalled waits until nothing more of what waits for a client is taken.
func stalled(t *testing.T, p *Proxy) {
	t.Helper()
	waiting := func() (n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, s := range p.sessions {
			n += len(s.out.queue)
		}
		return n
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for n := -1; n != waiting(); {
		n = waiting()
		<-tick.C
	}
	if waiting() == 0 {
		t.Fatal("the client has taken everything")
	}
}
