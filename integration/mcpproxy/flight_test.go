package mcpproxy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// gate is a server whose tool answers nobody until all are there.
type gate struct {
	mu   sync.Mutex
	n    int
	want int
	open chan struct{}
}

// enter waits for all, and begins anew.
func (g *gate) enter(ctx context.Context) error {
	g.mu.Lock()
	g.n++
	open := g.open
	if g.n == g.want {
		g.n, g.open = 0, make(chan struct{})
		close(open)
	}
	g.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func newGate(want int) *gate { return &gate{want: want, open: make(chan struct{})} }

func (g *gate) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "gate", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := g.enter(ctx); err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(req.Params.Arguments)}}}, nil
		})
	return s
}

const gateEnv = "EXPEDITER_TEST_GATE"

func init() {
	if n, err := strconv.Atoi(os.Getenv(gateEnv)); err == nil {
		gateOnStdio(n)
		os.Exit(0)
	}
}

// gateOnStdio is the gate as a process. The SDK's server would take longer over
// thousands of calls at a time than the proxy.
func gateOnStdio(want int) {
	s := &script{version: "2025-11-25"}
	var held []string
	in, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	for in.Scan() {
		var m message
		_ = json.Unmarshal(in.Bytes(), &m)
		if m.Method != "tools/call" {
			fmt.Fprintln(out, s.reply(in.Bytes()))
		} else if held = append(held, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`,
			m.ID, encode(string(field(m.Params, "arguments"))))); len(held) == want {
			fmt.Fprintln(out, strings.Join(held, "\n"))
			held = nil
		}
		_ = out.Flush()
	}
}

// inMemory is a listener without sockets: thousands of connections at a time
// would need more files than every machine gives a process.
type inMemory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *inMemory) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *inMemory) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *inMemory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (l *inMemory) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// client is one whose connections are made by l.
func (l *inMemory) client() *http.Client {
	return &http.Client{Transport: tokened{&http.Transport{MaxIdleConnsPerHost: 1 << 16, DialContext: l.dial}}}
}

// CloseIdleConnections is what http.Client looks for.
func (b tokened) CloseIdleConnections() { b.base.CloseIdleConnections() }

// tokened sends the token.
type tokened struct{ base *http.Transport }

func (b tokened) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+token)
	return b.base.RoundTrip(req)
}

// TestAllInFlight: 200 sessions of the SDK's client with 50 calls each, all of
// them at the server before it answers the first. Each gets its own answer, and
// another round needs no more memory than the first.
func TestAllInFlight(t *testing.T) {
	t.Run("stdio", func(t *testing.T) {
		sessions, calls := 200, 50
		if testing.Short() || raceEnabled {
			sessions, calls = 20, 20
		}
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		testInFlight(t, Server{Name: "gate", Command: exe, Env: map[string]string{gateEnv: fmt.Sprint(sessions * calls)}}, sessions, calls)
	})
	t.Run("http", func(t *testing.T) {
		s := newGate(400).server()
		srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
		t.Cleanup(func() {
			srv.CloseClientConnections()
			srv.Close()
		})
		testInFlight(t, Server{Name: "gate", URL: srv.URL}, 20, 20)
	})
}

func testInFlight(t *testing.T, server Server, sessions, calls int) {
	const rounds = 2
	p, err := New(Config{Servers: []Server{server}, Proxy: Options{ListenToken: token}}, Env{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	l := &inMemory{conns: make(chan net.Conn), closed: make(chan struct{})}
	front := &http.Server{Handler: p.Handler()}
	go func() { _ = front.Serve(l) }()
	t.Cleanup(func() { _ = front.Close() })
	clients := make([]*mcp.ClientSession, sessions)
	web := l.client()
	for i := range clients {
		c := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
		clients[i], err = c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: "http://localhost/mcp", HTTPClient: web, DisableStandaloneSSE: true},
			&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
	}
	var first, last uint64
	for round := range rounds {
		began := time.Now()
		allInFlight(t, clients, calls, round)
		took := time.Since(began)
		web.CloseIdleConnections()
		if last = heap(); round == 0 {
			first = last
		}
		t.Logf("round %d: %v, %d kB, %d goroutines", round+1, took.Round(time.Millisecond), last>>10, runtime.NumGoroutine())
	}
	const slack = 4 << 20 // 400 bytes a call
	for end := time.Now().Add(10 * time.Second); last > first+slack && time.Now().Before(end); {
		last = heap() // connections end beside their clients
	}
	if last > first+slack {
		t.Errorf("memory grows from %d kB after the first round to %d kB", first>>10, last>>10)
	}
	p.mu.Lock()
	left := 0
	for _, f := range p.flights {
		left += len(f)
	}
	p.mu.Unlock()
	p.shorts.mu.Lock()
	left += len(p.shorts.ids) + len(p.shorts.by)
	p.shorts.mu.Unlock()
	if left > 0 {
		t.Errorf("%d calls are left", left)
	}
	for _, c := range clients {
		_ = c.Close()
	}
}

// allInFlight makes the calls of one round, each with an argument of its own.
func allInFlight(t *testing.T, clients []*mcp.ClientSession, calls, round int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	for i, c := range clients {
		for j := range calls {
			wg.Go(func() {
				want := fmt.Sprintf(`{"round":%d,"session":%d,"call":%d}`, round, i, j)
				r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(want)})
				if err != nil {
					t.Errorf("%s: %v", want, err)
					cancel() // the others would wait for it
					return
				}
				if got := r.Content[0].(*mcp.TextContent).Text; got != want {
					t.Errorf("%s was answered with %s", want, got)
				}
			})
		}
	}
	wg.Wait()
}

// heap is what is in use once nothing is under way.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
