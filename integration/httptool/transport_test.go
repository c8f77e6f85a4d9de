package httptool_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
	"github.com/expediter-go/expediter/integration/httptool"
)

// bench is an engine in which one failure opens a circuit and the second request
// after it is a trial. Its clock stands unless a test moves it.
type bench struct {
	engine   *expediter.Engine
	executor *executor.Executor
	now      time.Time

	mu    sync.Mutex
	heard []string
}

func newBench(t testing.TB, m capability.Map) *bench {
	t.Helper()
	b := &bench{now: time.Unix(1_700_000_000, 0)}
	events := expediter.Events{Journal: b.hear}
	if _, measuring := t.(*testing.B); measuring {
		events.Journal = nil // a listener closes the engine's fast path
	}
	var err error
	b.engine, err = expediter.New(expediter.Config{
		Tools:  m,
		Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1, Probe: breaker.Pacing{Every: 2}}, Budget: 100},
		Events: events,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.executor, err = executor.New(executor.Config{Engine: b.engine, Now: func() time.Time { return b.now }})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// hear notes decisions and records, such as "CALL api" and "failure timeout".
func (b *bench) hear(e *expediter.Event) {
	line := ""
	switch {
	case e.Decided != nil:
		line = e.Decided.Decision.String() + " " + e.Tool
	case e.Result != nil:
		line = e.Result.String()
		if line == "failure" {
			line += " " + e.Category.String()
		}
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = append(b.heard, line)
}

// tell compares what was heard.
func (b *bench) tell(t *testing.T, want ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if diff := cmp.Diff(want, b.heard); diff != "" {
		t.Errorf("the engine heard (-want +got):\n%s", diff)
	}
}

// client guards a client, whose requests count for `api` unless cfg says
// otherwise.
func (b *bench) client(t testing.TB, cfg httptool.Config) *http.Client {
	t.Helper()
	cfg.Executor = b.executor
	if cfg.Name == nil {
		cfg.Name = func(*http.Request) string { return "api" }
	}
	if cfg.Base == nil {
		cfg.Base = &http.Transport{}
	}
	transport, err := httptool.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// fetch gets a URL and reads the whole answer.
func fetch(ctx context.Context, c *http.Client, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := c.Do(req)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(resp.Body)
	return string(text), errors.Join(err, resp.Body.Close())
}

func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// answering gives every request one answer, with headers in pairs.
func answering(status int, text string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// cut closes the connection: in the midst of the body if begun, else before the
// headers.
func cut(begun bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if begun {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	}
}

func TestWhatIsRecorded(t *testing.T) {
	tests := []struct {
		name        string
		handler     http.HandlerFunc
		want, atEnd string
	}{
		{"fine", answering(200, "fine"), "success", "success"},
		{"no content", answering(204, ""), "success", "success"},
		{"not found", answering(404, "no such thing"), "success", "success"},
		{"wrong arguments", answering(422, "no"), "success", "success"},
		{"server error", answering(500, "oops"), "failure upstream", "failure upstream"},
		{"unavailable", answering(503, "later"), "failure upstream", "failure upstream"},
		{"gateway timeout", answering(504, "late"), "failure timeout", "failure timeout"},
		{"rate limit", answering(429, "slow down"), "failure rate_limit", "failure rate_limit"},
		{"rate limit told by a header", answering(403, "no", "X-RateLimit-Remaining", "0"), "failure rate_limit", "failure rate_limit"},
		{"forbidden", answering(403, "no"), "failure permission", "failure permission"},
		{"login needed", answering(401, "who?"), "failure auth", "failure auth"},
		{"connection lost", cut(false), "failure network", "failure network"},
		{"body cut short", cut(true), "success", "failure network"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, tt.handler)
			for atEnd, want := range map[bool]string{false: tt.want, true: tt.atEnd} {
				b := newBench(t, nil)
				_, _ = fetch(t.Context(), b.client(t, httptool.Config{AtBodyEnd: atEnd}), url)
				b.tell(t, "CALL api", want)
			}
		})
	}
}

// rawServer hands each connection to what speaks there.
func rawServer(t testing.TB, speak func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			all.Go(func() { speak(conn); _ = conn.Close() })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return "http://" + l.Addr().String()
}

func TestBrokenServers(t *testing.T) {
	gone := rawServer(t, func(net.Conn) {})
	closed := httptest.NewServer(nil)
	closed.Close()
	tests := []struct{ name, url, want string }{
		{"nobody listens", closed.URL, "failure network"},
		{"hangs up", gone, "failure network"},
		{"resets", rawServer(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); _ = c.(*net.TCPConn).SetLinger(0) }), "failure network"},
		{"answers garbage", rawServer(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)); _, _ = io.WriteString(c, "\x00garbage\n\n") }), "failure network"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, nil)
			if _, err := fetch(t.Context(), b.client(t, httptool.Config{}), tt.url); err == nil {
				t.Error("got no error")
			}
			b.tell(t, "CALL api", tt.want)
		})
	}
}

func TestRefusalReachesTheCaller(t *testing.T) {
	b := newBench(t, capability.Map{{Tool: "api", Provides: "answers", Fallback: "ask the user",
		Alternatives: []capability.Alternative{{Tool: "mirror", Degradation: "a day old"}}}})
	var asked atomic.Int32
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); answering(503, "later")(w, r) })
	c := b.client(t, httptool.Config{})
	_, _ = fetch(t.Context(), c, addr)
	body := &witness{Reader: strings.NewReader("question")}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, addr, body)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Do(req)
	var outer *url.Error
	var refused *executor.Refused
	if !errors.As(err, &outer) || !errors.As(err, &refused) || !errors.Is(err, executor.ErrOpen) || refused.Decision.Route.Tool != "mirror" {
		t.Errorf("got %v, want a *url.Error with a *executor.Refused and its route", err)
	}
	if asked.Load() != 1 || body.read || !body.closed {
		t.Errorf("asked %d times, body read %v, closed %v; want 1, unread and closed", asked.Load(), body.read, body.closed)
	}
	b.tell(t, "CALL api", "failure upstream", "SKIP api")
}

// witness is a request's body that tells what became of it.
type witness struct {
	io.Reader
	read, closed bool
}

func (w *witness) Read(p []byte) (int, error) { w.read = true; return w.Reader.Read(p) }
func (w *witness) Close() error               { w.closed = true; return nil }

func TestHostComesBack(t *testing.T) {
	b := newBench(t, nil)
	var down atomic.Bool
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			cut(false)(w, r)
		}
		_, _ = io.WriteString(w, "back")
	})
	c := b.client(t, httptool.Config{})
	for i := range 5 {
		down.Store(i == 0)
		text, err := fetch(t.Context(), c, addr)
		if (err == nil) != (text == "back") {
			t.Errorf("request %d: got %q, %v", i, text, err)
		}
	}
	b.tell(t, "CALL api", "failure network", "SKIP api", "PROBE api", "success", "CALL api", "success", "CALL api", "success")
}

func TestRetryAfterHoldsTheTrial(t *testing.T) {
	b := newBench(t, nil)
	when := b.now.Add(time.Hour).UTC().Format(http.TimeFormat)
	addr := serve(t, answering(503, "later", "Retry-After", when))
	c := b.client(t, httptool.Config{})
	for range 4 {
		_, _ = fetch(t.Context(), c, addr)
	}
	b.tell(t, "CALL api", "failure upstream", "SKIP api", "SKIP api", "SKIP api")
	b.now = b.now.Add(time.Hour)
	_, _ = fetch(t.Context(), c, addr)
	b.tell(t, "CALL api", "failure upstream", "SKIP api", "SKIP api", "SKIP api", "PROBE api", "failure upstream")
}

func TestCallersEnd(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	addr := serve(t, func(http.ResponseWriter, *http.Request) { entered <- struct{}{}; <-leave })
	t.Cleanup(func() { close(leave) })
	t.Run("cancelled", func(t *testing.T) {
		b := newBench(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-entered; cancel() }()
		if _, err := fetch(ctx, b.client(t, httptool.Config{}), addr); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		b.tell(t, "CALL api", "ignored")
	})
	t.Run("too late", func(t *testing.T) {
		b := newBench(t, nil)
		c := b.client(t, httptool.Config{})
		c.Timeout = 20 * time.Millisecond
		go func() { <-entered }()
		_, err := fetch(t.Context(), c, addr)
		if late := net.Error(nil); !errors.As(err, &late) || !late.Timeout() {
			t.Errorf("got %v, want a timeout", err)
		}
		b.tell(t, "CALL api", "failure timeout")
	})
	t.Run("before it began", func(t *testing.T) {
		b := newBench(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := fetch(ctx, b.client(t, httptool.Config{}), addr); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		b.tell(t)
	})
}

func TestHost(t *testing.T) {
	tests := []struct{ url, want string }{
		{"http://Example.com/a", "example.com"},
		{"http://example.com:80/", "example.com"},
		{"https://example.com:443/", "example.com"},
		{"https://example.com:80/", "example.com:80"},
		{"http://user:secret@example.com:8080/", "example.com:8080"},
		{"http://[::1]/", "[::1]"},
		{"http://[::1]:80/", "[::1]"},
		{"http://[::1]:81/", "[::1]:81"},
		{"http://example.com:/", "example.com"},
		{"http://example.com./", "example.com"},
		{"http://example.com.:80/", "example.com"},
		{"http://example.com.:81/", "example.com:81"},
		{"http://[0:0:0:0:0:0:0:1]/", "[::1]"},
		{"http://[2001:DB8::0001]:81/", "[2001:db8::1]:81"},
		{"http://[fe80::1%25eth0]/", "[fe80::1%eth0]"},
		{"http://[::ffff:192.0.2.1]/", "[::ffff:192.0.2.1]"},
		{"http://192.0.2.1:80/", "192.0.2.1"},
	}
	for _, tt := range tests {
		u, err := url.Parse(tt.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := httptool.Host(&http.Request{URL: u}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.url, got, tt.want)
		}
	}
}

func TestHostsAreKeptApart(t *testing.T) {
	b := newBench(t, nil)
	bad, good := serve(t, answering(500, "x")), serve(t, answering(200, "x"))
	c := b.client(t, httptool.Config{Name: httptool.Host})
	for range 2 {
		_, _ = fetch(t.Context(), c, bad)
		_, _ = fetch(t.Context(), c, good)
	}
	bad, good = strings.TrimPrefix(bad, "http://"), strings.TrimPrefix(good, "http://")
	b.tell(t, "CALL "+bad, "failure upstream", "CALL "+good, "success", "SKIP "+bad, "CALL "+good, "success")
}

// Answers that net/http hands on, and which are broken all the same: the request
// was not at fault.
func TestBrokenAnswers(t *testing.T) {
	tests := []struct{ name, answer, want, atEnd string }{
		{"a status that is none", "HTTP/1.1 000 x\r\nContent-Length: 0\r\n\r\n", "failure upstream", "failure upstream"},
		{"a status of another world", "HTTP/1.1 999 x\r\nContent-Length: 0\r\n\r\n", "failure unknown", "failure unknown"},
		{"garbage in the body", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "success", "failure upstream"},
		{"not gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\nno gzip here", "success", "failure upstream"},
		{"hints before it", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "success", "success"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := rawServer(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)); _, _ = io.WriteString(c, tt.answer) })
			for atEnd, want := range map[bool]string{false: tt.want, true: tt.atEnd} {
				b := newBench(t, nil)
				_, _ = fetch(t.Context(), b.client(t, httptool.Config{AtBodyEnd: atEnd}), url)
				b.tell(t, "CALL api", want)
			}
		})
	}
}

func TestUnnamedIsUnguarded(t *testing.T) {
	b := newBench(t, nil)
	c := b.client(t, httptool.Config{Name: func(*http.Request) string { return "" }})
	if text, err := fetch(t.Context(), c, serve(t, answering(200, "fine"))); text != "fine" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	b.tell(t)
}

func TestNewNeedsAnExecutor(t *testing.T) {
	if _, err := httptool.New(httptool.Config{}); err == nil || !strings.Contains(err.Error(), "executor.New") {
		t.Errorf("got %v, want what to do", err)
	}
}

// baseFunc is a base transport.
type baseFunc func(*http.Request) (*http.Response, error)

func (f baseFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestPanicOfTheBaseFreesTheTrial(t *testing.T) {
	b := newBench(t, nil)
	c := b.client(t, httptool.Config{Base: baseFunc(func(*http.Request) (*http.Response, error) { panic("boom") })})
	func() {
		defer func() {
			if got := recover(); got != "boom" {
				t.Errorf("got %v, want the panic itself", got)
			}
		}()
		_, _ = fetch(t.Context(), c, "http://example.invalid/")
	}()
	b.tell(t, "CALL api", "failure unknown")
}

func TestNothingOfTheBaseFreesTheTrial(t *testing.T) {
	for _, atEnd := range []bool{false, true} {
		b := newBench(t, nil)
		c := b.client(t, httptool.Config{AtBodyEnd: atEnd, Base: baseFunc(func(*http.Request) (*http.Response, error) { return nil, nil })})
		if _, err := fetch(t.Context(), c, "http://example.invalid/"); err == nil {
			t.Error("got no error")
		}
		b.tell(t, "CALL api", "failure unknown")
	}
}

// A guarded transport over a guarded transport: the inner refusal is not the
// outer tool's failure.
func TestNestedRefusalIsIgnored(t *testing.T) {
	b := newBench(t, nil)
	inner := b.client(t, httptool.Config{Name: func(*http.Request) string { return "inner" }})
	_, _ = fetch(t.Context(), inner, serve(t, answering(500, "x")))
	outer := b.client(t, httptool.Config{Base: inner.Transport})
	if _, err := fetch(t.Context(), outer, "http://example.invalid/"); !errors.Is(err, executor.ErrSkipped) {
		t.Errorf("got %v, want a refusal", err)
	}
	b.tell(t, "CALL inner", "failure upstream", "CALL api", "SKIP inner", "ignored")
}
