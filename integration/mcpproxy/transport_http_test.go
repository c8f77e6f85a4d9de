package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// site is a server over HTTP: the SDK's, with a hand in front that may answer
// in its place.
type site struct {
	*httptest.Server
	opts *mcp.StreamableHTTPOptions
	sdk  atomic.Pointer[mcp.StreamableHTTPHandler]
	// before sees each request with its body; true: it has answered.
	before atomic.Pointer[func(w http.ResponseWriter, req *http.Request, method string, body []byte) bool]
}

func newSite(t *testing.T, opts *mcp.StreamableHTTPOptions) *site {
	t.Helper()
	s := &site{opts: opts}
	s.forget()
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Server.Close)
	return s
}

// forget loses all sessions, as a server does that is started anew.
func (s *site) forget() {
	server := sdkServer()
	s.sdk.Store(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, s.opts))
}

func (s *site) hand(f func(w http.ResponseWriter, req *http.Request, method string, body []byte) bool) {
	s.before.Store(&f)
}

func (s *site) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var msg struct{ Method string }
	_ = json.Unmarshal(body, &msg)
	if f := s.before.Load(); f != nil && (*f)(w, req, msg.Method, body) {
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	s.sdk.Load().ServeHTTP(w, req)
}

func (s *site) config() Server {
	return Server{Name: "web", URL: s.URL, Header: map[string]string{"Authorization": "Bearer sesame-open"}}
}

// refusesOld makes a site one of 2026-07-28 alone.
func refusesOld(w http.ResponseWriter, _ *http.Request, method string, _ []byte) bool {
	if method != "initialize" {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"]}}}`)
	return true
}

// eras are the ways in which the SDK's server answers.
var eras = []struct {
	name string
	opts *mcp.StreamableHTTPOptions
	hand func(http.ResponseWriter, *http.Request, string, []byte) bool
	want string
}{
	{"legacy, streams", nil, nil, newestLegacy},
	{"legacy, JSON", &mcp.StreamableHTTPOptions{JSONResponse: true}, nil, newestLegacy},
	{"legacy, no sessions", &mcp.StreamableHTTPOptions{Stateless: true}, nil, newestLegacy},
	{"2026-07-28", &mcp.StreamableHTTPOptions{Stateless: true}, refusesOld, newest},
	{"2026-07-28, JSON", &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}, refusesOld, newest},
}

func TestHTTPCall(t *testing.T) {
	for _, tt := range eras {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, tt.opts)
			if tt.hand != nil {
				s.hand(tt.hand)
			}
			r := startUp(t, s.config(), Options{}, nil)
			if got := r.version(); got != tt.want {
				t.Errorf("version %q, want %q", got, tt.want)
			}
			var group sync.WaitGroup
			for i := range 20 {
				group.Go(func() {
					want := fmt.Sprint("text ", i)
					a, err := r.tool(t, "echo", `{"text":"`+want+`"}`)
					if err != nil || a.Error != nil || a.Status != http.StatusOK || !strings.Contains(string(a.Result), want) {
						t.Errorf("got %s, %v, %v, status %d", a.Result, a.Error, err, a.Status)
					}
				})
			}
			group.Wait()
			if err := r.check(t.Context()); err != nil {
				t.Errorf("check: %v", err)
			}
		})
	}
}

func TestHTTPHeaders(t *testing.T) {
	s := newSite(t, nil)
	var mu sync.Mutex
	seen := map[string]http.Header{}
	s.hand(func(_ http.ResponseWriter, req *http.Request, method string, _ []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		seen[req.Method+" "+method] = req.Header.Clone()
		return false
	})
	cfg := s.config()
	cfg.Header["mcp-session-id"], cfg.Header["accept"] = "mine", "text/html"
	r := startUp(t, cfg, Options{}, nil)
	a, err := r.tool(t, "echo", `{"text":"x"}`)
	textOf(t, a, err)
	a, err = r.tool(t, "grow", `{}`) // its news come over the stream that a GET opened
	textOf(t, a, err)
	next(t, r.ups, "news of the tools")
	mu.Lock()
	defer mu.Unlock()
	for _, of := range []string{"POST initialize", "POST tools/list", "POST tools/call", "GET "} {
		h := seen[of]
		if h.Get("Authorization") != "Bearer sesame-open" || h.Get("Mcp-Session-Id") == "mine" || h.Get("Accept") == "text/html" {
			t.Errorf("%s: headers %v", of, h)
		}
		if got := h.Get(versionHeader); of != "POST initialize" && got != newestLegacy {
			t.Errorf("%s: version %q", of, got)
		}
	}
}

func TestHTTPRefusals(t *testing.T) {
	tests := []struct {
		status int
		header map[string]string
		kind   string
		body   string
		code   int64
		text   string
	}{
		{401, map[string]string{"Www-Authenticate": "Bearer"}, "text/plain", "token sesame-open expired", -32603, "HTTP 401 Unauthorized: token [masked] expired"},
		{403, nil, "application/json", `{"error":"insufficient_scope"}`, -32603, `HTTP 403 Forbidden: {"error":"insufficient_scope"}`},
		{400, nil, "application/json", `{"jsonrpc":"2.0","id":9,"error":{"code":-32020,"message":"header mismatch"}}`, -32020, "header mismatch"},
		{404, nil, "application/json", `{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"no such path"}}`, -32601, "no such path"},
		{408, nil, "", "", -32603, "HTTP 408 Request Timeout"},
		{413, nil, "", "", -32603, "HTTP 413 Request Entity Too Large"},
		{429, map[string]string{"Retry-After": "7"}, "text/plain", "slow down", -32603, "HTTP 429 Too Many Requests: slow down"},
		{500, nil, "text/html", "<h1>oops</h1>", -32603, "HTTP 500 Internal Server Error: <h1>oops</h1>"},
		{503, map[string]string{"Retry-After": "120"}, "", "", -32603, "HTTP 503 Service Unavailable"},
		{529, nil, "application/json", `{"type":"overloaded_error"}`, -32603, `HTTP 529 : {"type":"overloaded_error"}`},
		{200, nil, "text/html", "<p>log in first</p>", -32603, "HTTP 200 with text/html instead of JSON: <p>log in first</p>"},
		{202, nil, "", "", -32603, "HTTP 202 without an answer to the call"},
		{302, map[string]string{"Location": "/login"}, "", "", -32603, "HTTP 302 Found"},
	}
	s := newSite(t, &mcp.StreamableHTTPOptions{Stateless: true})
	r := startUp(t, s.config(), Options{}, nil)
	began := make(chan struct{}, 1)
	release := make(chan struct{})
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status, tt.kind), func(t *testing.T) {
			s.hand(func(w http.ResponseWriter, _ *http.Request, method string, body []byte) bool {
				switch {
				case method != "tools/call":
					return false
				case strings.Contains(string(body), "waits"):
					began <- struct{}{}
					<-release
					return false
				}
				w.Header().Set("Content-Type", tt.kind)
				for k, v := range tt.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
				return true
			})
			other := make(chan error, 1)
			go func() {
				a, err := r.tool(t, "echo", `{"text":"waits"}`)
				if err == nil && a.Error != nil {
					err = a.Error
				}
				other <- err
			}()
			next(t, began, "other call")
			a, err := r.tool(t, "echo", `{"text":"x"}`)
			release <- struct{}{}
			if err != nil || a.Error == nil {
				t.Fatalf("got %s, %v", a.Result, err)
			}
			if a.Status != tt.status || a.Error.Code != tt.code || a.Error.Message != tt.text {
				t.Errorf("got status %d, code %d, %q; want %d, %d, %q", a.Status, a.Error.Code, a.Error.Message, tt.status, tt.code, tt.text)
			}
			for k, v := range tt.header {
				if got := a.Header.Get(k); got != v {
					t.Errorf("%s: %q, want %q", k, got, v)
				}
			}
			if err := next(t, other, "end of the other call"); err != nil {
				t.Errorf("another call was hurt: %v", err)
			}
		})
	}
	select {
	case err := <-r.downs:
		t.Errorf("the server went down: %v", err)
	default:
	}
}

// An answer that is there and is of no use does not leave its call waiting.
func TestHTTPUnreadable(t *testing.T) {
	tests := []struct{ name, kind, body string }{
		{"garbage", "application/json", "{garbage"},
		{"another call's answer", "application/json", `{"jsonrpc":"2.0","id":424242,"result":{}}`},
		{"no answer", "application/json", `{"jsonrpc":"2.0","id":%s}`},
		{"garbage in a stream", "text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{garbage}}\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, &mcp.StreamableHTTPOptions{Stateless: true})
			r := startUp(t, s.config(), Options{}, nil)
			s.hand(func(w http.ResponseWriter, _ *http.Request, method string, body []byte) bool {
				if method != "tools/call" {
					return false
				}
				w.Header().Set("Content-Type", tt.kind)
				fmt.Fprint(w, strings.Replace(tt.body, "%s", string(field(body, "id")), 1))
				return true
			})
			if a, err := r.tool(t, "echo", `{"text":"x"}`); !errors.Is(err, errUnreadable) {
				t.Errorf("got %s, %v, want errUnreadable", a.Result, err)
			}
		})
	}
}

func TestHTTPSessionIsMadeAnew(t *testing.T) {
	refuse := func(status int, body string) func(s *site) {
		return func(s *site) {
			var once sync.Once
			s.hand(func(w http.ResponseWriter, _ *http.Request, method string, sent []byte) (did bool) {
				if method == "tools/call" {
					once.Do(func() {
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(status)
						fmt.Fprintf(w, `{"jsonrpc":"2.0","error":%s,"id":%s}`, body, field(sent, "id"))
						did = true
					})
				}
				return did
			})
		}
	}
	tests := []struct {
		name string
		lose func(s *site)
	}{
		{"404", (*site).forget},
		{"404 with an error", refuse(404, `{"code":-32001,"message":"Session not found"}`)},
		{"400", refuse(400, `{"code":-32000,"message":"Bad Request: No valid session ID provided"}`)},
		{"JSON-RPC", refuse(200, `{"code":-32600,"message":"Session not found"}`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, nil)
			r := startUp(t, s.config(), Options{}, nil)
			l, _ := r.connected(t.Context())
			began := time.Now()
			tt.lose(s)
			for range 2 {
				a, err := r.tool(t, "echo", `{"text":"x"}`)
				if got := textOf(t, a, err); got != "x" {
					t.Errorf("got %q", got)
				}
			}
			if again, _ := r.connected(t.Context()); again == l {
				t.Error("the session is the old one")
			}
			select {
			case err := <-r.downs:
				t.Errorf("the server counted as down: %v (after %v)", err, time.Since(began))
			default:
			}
		})
	}
}

func TestHTTPServerGoneAndBack(t *testing.T) {
	s := newSite(t, nil)
	r := startUp(t, s.config(), Options{}, nil)
	addr := s.Listener.Addr().String()
	done := r.hang(t.Context(), t)
	s.Listener.Close() // first, so that nobody connects in between
	s.CloseClientConnections()
	if err := next(t, done, "end of the call"); !errors.Is(err, errLost) {
		t.Errorf("call when the network was cut: got %v, want errLost", err)
	}
	next(t, r.downs, "down")
	if _, err := r.tool(t, "echo", `{"text":"x"}`); !errors.Is(err, errDown) {
		t.Errorf("got %v, want errDown", err)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	again := &http.Server{Handler: s}
	go again.Serve(ln)
	t.Cleanup(func() { again.Close() })
	next(t, r.ups, "up again")
	a, err := r.tool(t, "echo", `{"text":"back"}`)
	if got := textOf(t, a, err); got != "back" {
		t.Errorf("got %q", got)
	}
}

func TestHTTPCutInMidAnswer(t *testing.T) {
	for _, kind := range []string{"application/json", "text/event-stream"} {
		t.Run(kind, func(t *testing.T) {
			s := newSite(t, &mcp.StreamableHTTPOptions{Stateless: true})
			r := startUp(t, s.config(), Options{}, nil)
			s.hand(func(w http.ResponseWriter, _ *http.Request, method string, _ []byte) bool {
				if method != "tools/call" {
					return false
				}
				w.Header().Set("Content-Type", kind)
				fmt.Fprint(w, `{"jsonrpc":"2.0","id":3,`)
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			})
			if a, err := r.tool(t, "echo", `{"text":"x"}`); !errors.Is(err, errLost) {
				t.Errorf("got %s, %v, want errLost", a.Result, err)
			}
		})
	}
}

func TestHTTPCancelAndDeadline(t *testing.T) {
	t.Parallel()
	for _, tt := range eras[:1] {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, tt.opts)
			told := make(chan string, 1)
			s.hand(func(_ http.ResponseWriter, _ *http.Request, method string, body []byte) bool {
				if method == "notifications/cancelled" {
					told <- string(body)
				}
				return false
			})
			r := startUp(t, s.config(), Options{Deadline: 500 * time.Millisecond}, nil)
			if err := next(t, r.hang(t.Context(), t), "end of the call"); !errors.Is(err, errDeadline) {
				t.Errorf("got %v, want errDeadline", err)
			}
			if got := next(t, told, "cancellation"); !strings.Contains(got, "deadline") {
				t.Errorf("told %s", got)
			}
		})
	}
}

func TestHTTPClosedStreamCancelsStateless(t *testing.T) {
	s := newSite(t, &mcp.StreamableHTTPOptions{Stateless: true})
	gone := make(chan struct{})
	s.hand(func(w http.ResponseWriter, req *http.Request, method string, body []byte) bool {
		if method != "tools/call" {
			return refusesOld(w, req, method, body)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1}}\n\n",
			field(field(field(body, "params"), "_meta"), "progressToken"))
		_ = http.NewResponseController(w).Flush()
		<-req.Context().Done()
		close(gone)
		return true
	})
	r := startUp(t, s.config(), Options{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := r.hang(ctx, t)
	cancel()
	if err := next(t, done, "end of the call"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	next(t, gone, "end of the stream")
}

func TestHTTPResultsAreBounded(t *testing.T) {
	for _, opts := range []*mcp.StreamableHTTPOptions{{JSONResponse: true}, {}} {
		t.Run(fmt.Sprint(opts.JSONResponse), func(t *testing.T) {
			s := newSite(t, opts)
			r := startUp(t, s.config(), Options{MaxResult: 64 << 10}, nil)
			a, err := r.tool(t, "echo", `{"text":"`+strings.Repeat("x", 200<<10)+`"}`)
			if !errors.Is(err, errTooLarge) {
				t.Errorf("got %d bytes, %v, want errTooLarge", len(a.Result), err)
			}
			a, err = r.tool(t, "echo", `{"text":"on"}`)
			if got := textOf(t, a, err); got != "on" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestCredentialsStayAtHome(t *testing.T) {
	visited := make(chan http.Header, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { visited <- req.Header }))
	defer other.Close()
	s := newSite(t, nil)
	r := startUp(t, s.config(), Options{}, nil)
	to := other.URL
	s.hand(func(w http.ResponseWriter, req *http.Request, method string, _ []byte) bool {
		if method == "tools/call" && req.URL.Path == "/" {
			http.Redirect(w, req, to, http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	a, err := r.tool(t, "echo", `{"text":"x"}`)
	if err != nil || a.Status != http.StatusTemporaryRedirect {
		t.Errorf("got status %d, %v, want the redirect", a.Status, err)
	}
	select {
	case h := <-visited:
		t.Errorf("another host was asked: %v", h)
	default:
	}
	to = s.URL + "/moved"
	a, err = r.tool(t, "echo", `{"text":"moved"}`)
	if got := textOf(t, a, err); got != "moved" {
		t.Errorf("a redirect at home: got %q", got)
	}
}

func TestArgumentsInHeaders(t *testing.T) {
	s := newSite(t, &mcp.StreamableHTTPOptions{Stateless: true})
	got := make(chan http.Header, 1)
	s.hand(func(w http.ResponseWriter, req *http.Request, method string, body []byte) bool {
		id := field(body, "id")
		w.Header().Set("Content-Type", "application/json")
		switch method {
		case "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","tools":[{"name":"q","inputSchema":{"type":"object","properties":{
				"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},
				"deep":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"Deep"}}},
				"bad":{"type":"string","x-mcp-header":"a b\r\nc"},"f":{"type":"number","x-mcp-header":"F"}}}}]}}`, id)
		case "tools/call":
			got <- req.Header
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[]}}`, id)
		default:
			w.Header().Del("Content-Type")
			return refusesOld(w, req, method, body)
		}
		return true
	})
	r := startUp(t, s.config(), Options{}, nil)
	if _, err := r.tool(t, "q", `{"region":"köln","n":42,"deep":{"b":true},"bad":"x","f":1.5}`); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"Mcp-Param-Region": "=?base64?a8O2bG4=?=", "Mcp-Param-N": "42", "Mcp-Param-Deep": "true",
		"Mcp-Name": "q", "Mcp-Method": "tools/call", versionHeader: newest}
	have := map[string]string{}
	for k, v := range next(t, got, "call") {
		if strings.HasPrefix(k, "Mcp-") {
			have[k] = v[0]
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestHTTPServerAsksTheClient(t *testing.T) {
	s := newSite(t, nil)
	r := startUp(t, s.config(), Options{}, func(string, json.RawMessage) json.RawMessage {
		return json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`)
	})
	a, err := r.tool(t, "ask", `{}`)
	if got := textOf(t, a, err); got != "accept Ada" {
		t.Errorf("got %q", got)
	}
}

func TestRetryAfterOfTheHandshake(t *testing.T) {
	s := newSite(t, nil)
	s.hand(func(w http.ResponseWriter, _ *http.Request, _ string, _ []byte) bool {
		w.Header().Set("Retry-After", "77")
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	r := start(t, s.config(), Options{}, nil)
	err := next(t, r.downs, "down")
	var refusal *refusalError
	if !errors.As(err, &refusal) || refusal.Status != 503 || asked(err) != 77*time.Second {
		t.Errorf("got %v, to be left alone %v", err, asked(err))
	}
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		t.Errorf("%v has no *jsonrpc.Error", err)
	}
}

// TestHTTPServerOfTheNewestAlone: it answers initialize with the revision before
// its own, as that says, and refuses what comes after.
func TestHTTPServerOfTheNewestAlone(t *testing.T) {
	s := mcp.NewServer(&mcp.Implementation{Name: "new", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{newest}})
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "here"}}}, nil, nil
	})
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(srv.Close)
	p := newProxy(t, Server{Name: "new", URL: srv.URL})
	result, rpcError := clientOf(t, p, "stdio", newestLegacy).call(t, "tools/call", `{"name":"echo","arguments":{}}`)
	if !strings.Contains(result, `"here"`) {
		t.Errorf("got %s %s", result, rpcError)
	}
}
