//lint:file-ignore SA1019 what the newest revision deprecates is what older clients and servers speak

package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// peer is a server of the SDK that does all that a server may.
type peer struct {
	*mcp.Server
	cancelled chan struct{} // a call of "hang" was cancelled
	hanging   chan struct{} // a call of "hang" has begun
	over      chan struct{} // the test is
}

func newPeer() *peer { return newPeerOf(&mcp.ServerOptions{}) }

func newPeerOf(o *mcp.ServerOptions) *peer {
	p := &peer{cancelled: make(chan struct{}, 10), hanging: make(chan struct{}, 10), over: make(chan struct{})}
	o.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
	p.Server = mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1"}, o)
	tool := func(name string, h func(context.Context, *mcp.CallToolRequest) (string, error)) {
		p.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				s, err := h(ctx, req)
				if err != nil {
					return nil, err
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}, nil
			})
	}
	tool("elicit", func(ctx context.Context, req *mcp.CallToolRequest) (string, error) {
		res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(res.Action, " ", res.Content["name"]), nil
	})
	tool("sample", func(ctx context.Context, req *mcp.CallToolRequest) (string, error) {
		res, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 7})
		if err != nil {
			return "", err
		}
		return res.Model + " " + res.Content.(*mcp.TextContent).Text, nil
	})
	tool("roots", func(ctx context.Context, req *mcp.CallToolRequest) (string, error) {
		res, err := req.Session.ListRoots(ctx, nil)
		if err != nil {
			return "", err
		}
		return res.Roots[0].URI, nil
	})
	tool("progress", func(ctx context.Context, req *mcp.CallToolRequest) (string, error) {
		for i := range 5 {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Message: "step"})
			if err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	tool("log", func(ctx context.Context, req *mcp.CallToolRequest) (string, error) {
		return "logged", req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Data: "careful"})
	})
	tool("hang", func(ctx context.Context, req *mcp.CallToolRequest) (string, error) {
		p.hanging <- struct{}{}
		select {
		case <-ctx.Done():
			p.cancelled <- struct{}{}
		case <-p.over:
		}
		return "", ctx.Err()
	})
	p.AddResource(&mcp.Resource{URI: "mem://one", Name: "one"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: "1"}}}, nil
	})
	return p
}

// asking adds a tool that needs input as 2026-07-28 has it.
func (p *peer) asking() {
	p.AddTool(&mcp.Tool{Name: "input", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if r, ok := req.Params.InputResponses["who"].(*mcp.ElicitResult); ok {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(r.Content["name"], " ", req.Params.RequestState)}}}, nil
			}
			return &mcp.CallToolResult{RequestState: "st<a>te", InputRequests: mcp.InputRequestMap{"who": &mcp.ElicitParams{Message: "who?", Mode: "form",
				RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)}}}, nil
		})
}

func (p *peer) http(t *testing.T, stateless bool) Server {
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return p.Server },
		&mcp.StreamableHTTPOptions{Stateless: stateless, PropagateRequestCancellation: true})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if stateless && strings.Contains(string(body), `"initialize"`) {
			http.Error(w, "no sessions here", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(p.over)
		srv.CloseClientConnections()
		srv.Close()
	})
	return Server{Name: "peer", URL: srv.URL}
}

// heard is what an SDK client was told.
type heard struct {
	progress, logs, tools, updated chan string
}

func (h *heard) options() *mcp.ClientOptions {
	h.progress, h.logs, h.tools, h.updated = make(chan string, 99), make(chan string, 99), make(chan string, 99), make(chan string, 99)
	return &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		CreateMessageHandler: func(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: fmt.Sprint(req.Params.MaxTokens)}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			h.progress <- fmt.Sprint(req.Params.ProgressToken, " ", req.Params.Progress)
		},
		LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			h.logs <- fmt.Sprint(req.Params.Level, " ", req.Params.Data)
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { h.tools <- "" },
		ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { h.updated <- req.Params.URI },
	}
}

// connect is a client of the SDK at a proxy.
func connect(t *testing.T, p *Proxy, transport, version string, h *heard) *mcp.ClientSession {
	t.Helper()
	return connectWith(t, p, transport, version, h.options())
}

func connectWith(t *testing.T, p *Proxy, transport, version string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	var tr mcp.Transport
	if transport == "http" {
		srv := httptest.NewServer(p.Handler())
		t.Cleanup(func() {
			srv.CloseClientConnections()
			srv.Close()
		})
		tr = &mcp.StreamableClientTransport{Endpoint: srv.URL}
	} else {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			_ = p.Serve(ctx, inR, outW)
			outW.Close()
			close(done)
		}()
		t.Cleanup(func() {
			cancel()
			<-done
		})
		tr = &mcp.IOTransport{Reader: outR, Writer: inW}
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, o)
	c.AddRoots(&mcp.Root{URI: "file:///here"})
	s, err := c.Connect(t.Context(), tr, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func callText(t *testing.T, s *mcp.ClientSession, name string, meta mcp.Meta) string {
	t.Helper()
	res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Meta: meta})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(res.Content) == 0 {
		t.Fatalf("%s: no content", name)
	}
	return res.Content[0].(*mcp.TextContent).Text
}

func receive(t *testing.T, what string, ch <-chan string) string {
	t.Helper()
	select {
	case s := <-ch:
		return s
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: nothing heard", what)
		return ""
	}
}

// repeated is receive of what do makes a server tell, again and again: what a
// server tells before somebody listens to it is lost.
func repeated(t *testing.T, what string, ch <-chan string, do func()) string {
	t.Helper()
	for range 100 {
		do()
		select {
		case s := <-ch:
			return s
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatalf("%s: nothing heard", what)
	return ""
}

// TestPeers drives what a server and a client say to each other beside results.
func TestPeers(t *testing.T) {
	for _, upNew := range []bool{false, true} {
		for _, transport := range []string{"stdio", "http"} {
			for _, version := range []string{"2025-06-18", "2025-11-25", newest} {
				t.Run(fmt.Sprintf("new %v for %s %s", upNew, transport, version), func(t *testing.T) {
					t.Parallel()
					up := newPeer()
					up.asking()
					p := newProxy(t, up.http(t, upNew))
					var h heard
					s := connect(t, p, transport, version, &h)
					if got := callText(t, s, "progress", mcp.Meta{"progressToken": "tok"}); got != "done" {
						t.Errorf("progress: %q", got)
					}
					for i := range 5 {
						if got, want := receive(t, "progress", h.progress), fmt.Sprint("tok ", i+1); got != want {
							t.Errorf("progress %q, want %q", got, want)
						}
					}
					if !upNew {
						testAsked(t, s, version)
					}
					if upNew {
						if got, want := callText(t, s, "input", nil), "Ada st<a>te"; got != want {
							t.Errorf("input: %q, want %q", got, want)
						}
					}
					testCancel(t, s, up)
				})
			}
		}
	}
}

func testAsked(t *testing.T, s *mcp.ClientSession, version string) {
	for name, want := range map[string]string{"elicit": "accept Ada", "sample": "m 7", "roots": "file:///here"} {
		if got := callText(t, s, name, nil); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if version == newest {
		return // the level is told with each request
	}
	if err := s.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
}

func testCancel(t *testing.T, s *mcp.ClientSession, up *peer) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "hang"})
		done <- err
	}()
	select {
	case <-up.hanging:
	case <-time.After(10 * time.Second):
		t.Fatal("the call did not come through")
	}
	cancel()
	select {
	case <-up.cancelled:
	case <-time.After(10 * time.Second):
		t.Fatal("the server was not told that the call was cancelled")
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestLogMessages(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			up := newPeer()
			p := newProxy(t, up.http(t, false))
			var h heard
			s := connect(t, p, transport, "2025-11-25", &h)
			callText(t, s, "log", nil) // the level may not have been asked for by now
			if err := s.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
				t.Fatal(err)
			}
			for len(h.logs) == 0 { // the level reaches the server beside the answer
				callText(t, s, "log", nil)
			}
			if got := receive(t, "log", h.logs); got != "warning careful" {
				t.Errorf("log %q", got)
			}
		})
	}
}

func TestListChangedAndUpdates(t *testing.T) {
	for _, version := range []string{"2025-11-25", newest} {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(transport+" "+version, func(t *testing.T) {
				up := newPeer()
				p := newProxy(t, up.http(t, false))
				var h heard
				s := connect(t, p, transport, version, &h)
				if _, err := s.ListTools(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				if version < newest {
					if err := s.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "mem://one"}); err != nil {
						t.Fatal(err)
					}
					got := repeated(t, "updated", h.updated, func() {
						_ = up.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "mem://one"})
					})
					if got != "mem://one" {
						t.Errorf("updated %q", got)
					}
				}
				for ok := false; !ok; _, ok = p.find("late") {
					repeated(t, "list_changed", h.tools, func() {
						up.AddTool(&mcp.Tool{Name: "late", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
					})
				}
				res, err := s.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for _, tool := range res.Tools {
					found = found || tool.Name == "late"
				}
				if !found {
					t.Error("the new tool is not listed")
				}
			})
		}
	}
}

// TestWhoIsAsked: a server's question goes to the client whose call it is, or to
// nobody.
func TestWhoIsAsked(t *testing.T) {
	p := newProxy(t)
	u := &upstream{}
	one, two := &session{}, &session{}
	ask := func() error {
		_, _, err := p.whom(t.Context(), u)
		return err
	}
	if err := ask(); !errors.Is(err, errNobody) {
		t.Errorf("with no clients: %v", err)
	}
	a, b := &flight{r: &request{s: one}}, &flight{r: &request{s: one}}
	p.takeOff(u, a)
	if _, f, err := p.whom(bare{Context: t.Context()}, u); f != nil || !errors.Is(err, errNobody) {
		t.Errorf("on a stream of the proxy's own: %v, %v", f, err)
	}
	p.takeOff(u, b)
	if err := ask(); err != nil {
		t.Errorf("with two calls of one client: %v", err)
	}
	c := &flight{r: &request{s: two}}
	p.takeOff(u, c)
	if err := ask(); !errors.Is(err, errSeveral) {
		t.Errorf("with calls of two clients: %v", err)
	}
	p.landed(u, c)
	p.landed(u, a)
	p.landed(u, b)
	p.takeOff(u, &flight{r: &request{s: two, modern: true}})
	if err := ask(); err != nil {
		t.Errorf("with a client of %s: %v", newest, err)
	}
	p.takeOff(u, &flight{r: &request{s: two, modern: true}})
	if err := ask(); !errors.Is(err, errSeveral) {
		t.Errorf("with two callers that share a name: %v", err)
	}
}

// TestAnswersOfClients: what a client answers comes back byte for byte.
func TestAnswersOfClients(t *testing.T) {
	const answer = `{"z":9007199254740993,"action":"accept","content":{"n":9007199254740993,"<":"&"}}`
	p := newProxy(t)
	c := clientOf(t, p, "stdio", "2025-11-25").(*lineClient)
	var s *session
	p.mu.Lock()
	for _, s = range p.sessions {
	}
	p.mu.Unlock()
	type got struct {
		raw json.RawMessage
		rpc *jsonrpc.Error
	}
	done := make(chan got, 1)
	const params = `{"z":9007199254740993,"message":"<m>","requestedSchema":{"type":"object","properties":{}}}`
	go func() {
		raw, rpc := p.askClient(t.Context(), s.ss, "elicitation/create", json.RawMessage(params))
		done <- got{raw, rpc}
	}()
	m := <-c.got
	if string(m.Params) != params {
		t.Errorf("the client was asked\n     %s\nwant %s", m.Params, params)
	}
	c.send(t, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+answer+`}`)
	if g := <-done; g.rpc != nil || string(g.raw) != answer {
		t.Errorf("got  %s (%v)\nwant %s", g.raw, g.rpc, answer)
	}
}

func TestTwoServers(t *testing.T) {
	one, two := &script{version: "2025-11-25"}, &script{version: newest}
	p := newProxy(t, one.http(t, "one"), two.http(t, "two 2"))
	c := clientOf(t, p, "stdio", "2025-11-25")
	for name, wantServer := range map[string]string{"echo": "echo", "two_2__echo": "echo", "one__echo": "echo"} {
		raw, e := c.call(t, "tools/call", `{"name":"`+name+`","arguments":{"a":9007199254740993}}`)
		if e != "" || !strings.Contains(raw, `"name":"`+wantServer+`","arguments":{"a":9007199254740993}`) {
			t.Errorf("%s: %s %s", name, raw, e)
		}
	}
	if got, _ := p.find("echo"); got.key != "one/echo" {
		t.Errorf("echo is %s", got.key)
	}
	if got, _ := p.find("two_2__echo"); got.key != "two 2/echo" {
		t.Errorf("two_2__echo is %s", got.key)
	}
	if _, e := c.call(t, "tools/call", `{"name":"none"}`); !strings.Contains(e, "-32602") {
		t.Errorf("an unknown tool: %s", e)
	}
}

// TestServeEnds: a call that hangs keeps nobody from leaving.
func TestServeEnds(t *testing.T) {
	for _, how := range []string{"the context ends", "the client leaves", "the proxy closes"} {
		t.Run(how, func(t *testing.T) {
			up := newPeer()
			p, err := New(Config{Servers: []Server{up.http(t, false)}}, Env{})
			if err != nil {
				t.Fatal(err)
			}
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			go func() { _, _ = io.Copy(io.Discard, outR) }()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- p.Serve(ctx, inR, outW) }()
			for _, line := range []string{initialize(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang"}}`} {
				if _, err := io.WriteString(inW, line+"\n"); err != nil {
					t.Fatal(err)
				}
			}
			<-up.hanging
			switch how {
			case "the context ends":
				cancel()
			case "the client leaves":
				inW.Close()
			case "the proxy closes":
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
			select {
			case err := <-done:
				if how == "the client leaves" && err != nil {
					t.Errorf("Serve: %v", err)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("Serve does not return")
			}
			select {
			case <-up.cancelled:
			case <-time.After(5 * time.Second):
				t.Error("the server was not told that nobody waits")
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestClientThatCannotAnswer: that a client does not answer a server's question
// is an error of the client, not an answer of the server.
func TestClientThatCannotAnswer(t *testing.T) {
	up := newPeer()
	up.asking()
	p := newProxy(t, up.http(t, true))
	c := newLineClient(t, p)
	if _, e := c.call(t, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`); e != "" {
		t.Fatal(e)
	}
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for range 12 { // more than open a circuit
		if raw, e := c.call(t, "tools/call", `{"name":"input","arguments":{}}`); !strings.Contains(e, "elicitation") {
			t.Fatalf("got %s %s, want an error that names the elicitation", raw, e)
		}
	}
}
