package mcpproxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// vendor is a server of 2025-11-25 with tasks and methods of its own, and what it
// was told.
type vendor struct {
	caps  string
	heard chan string // methods and params
}

func (v *vendor) server(t *testing.T, name string) Server {
	v.heard = make(chan string, 1000)
	srv := httptest.NewServer(v)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return Server{Name: name, URL: srv.URL}
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(req.Body)
	var m message
	_ = json.Unmarshal(body, &m)
	v.heard <- m.Method + " " + string(m.Params)
	if len(m.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	notes, result := v.answer(m.Method, m.Params)
	if result == "" {
		result = `"error":{"code":-32601,"message":"not <here>"}`
	} else {
		result = `"result":` + result
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, n := range append(notes, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,`+result+`}`) {
		fmt.Fprintf(w, "data: %s\n\n", n)
	}
}

func (v *vendor) answer(method string, params json.RawMessage) (notes []string, result string) {
	switch method {
	case "initialize":
		return nil, `{"protocolVersion":"2025-11-25","capabilities":` + v.caps + `,"instructions":"I am <it>.","serverInfo":{"name":"v","version":"1"}}`
	case "tools/list":
		return nil, `{"tools":[{"name":"begin","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		id := string(field(field(params, "arguments"), "id"))
		return []string{`{"jsonrpc":"2.0","method":"notifications/vendor/said","params":{"n":9007199254740993}}`},
			`{"task":{"taskId":` + id + `,"status":"working","ttl":9007199254740993}}`
	case "tasks/list":
		return nil, `{"tasks":[{"taskId":"one","n":1.0},{"taskId":"of another client"}]}`
	case "tasks/get", "acme/echo":
		return nil, `{"got":` + string(params) + `}`
	}
	return nil, ""
}

const vendorCaps = `{"tools":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}},"experimental":{"vendor.example/acme":{"n":9007199254740993}}}`

// until returns the first of what was heard that begins so.
func until(t *testing.T, heard <-chan string, prefix string) string {
	t.Helper()
	for {
		if s := receive(t, prefix, heard); strings.HasPrefix(s, prefix) {
			return s
		}
	}
}

func TestUnknownMethods(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		for _, version := range []string{"2025-11-25", newest} {
			t.Run(transport+" "+version, func(t *testing.T) {
				v, plain := &vendor{caps: vendorCaps}, &script{version: "2025-11-25"}
				p := newProxy(t, plain.http(t, "plain"), v.server(t, "v"))
				c := clientOf(t, p, transport, version)
				rest := `"x":[9007199254740993,1.0]`
				if version >= newest {
					rest += `,"_meta":{` + modernMeta + `}`
				}
				do := func(method, params, wantResult, wantError string) {
					t.Helper()
					raw, e := c.call(t, method, `{`+params+rest+`}`)
					if !strings.Contains(raw, wantResult) || !strings.Contains(e, wantError) || e == "" && wantError != "" {
						t.Errorf("%s: got %s %s, want %s %s", method, raw, e, wantResult, wantError)
					}
				}
				do("tools/call", `"name":"begin","arguments":{"id":"one"},`, `"ttl":9007199254740993`, "")
				do("tasks/get", `"taskId":"one",`, `{"taskId":"one","x":[9007199254740993,1.0]`, "")
				do("tasks/get", `"taskId":"of before",`, `"taskId":"of before"`, "") // the only server with tasks
				do("tasks/list", "", `"tasks":[{"taskId":"one","n":1.0}]`, "")
				do("acme/echo", "", `"x":[9007199254740993,1.0]`, "")
				do("acme/none", "", "", `"message":"not <here>"`)
				do("nobody/knows", "", "", `no server is known to have the method \"nobody/knows\"`)
				do(otherMethod, "", "", otherMethod)
			})
		}
	}
}

// TestTasksOfOthers: a task is its client's alone.
func TestTasksOfOthers(t *testing.T) {
	v := &vendor{caps: vendorCaps}
	p := newProxy(t, v.server(t, "v"))
	one, two := clientOf(t, p, "stdio", "2025-11-25"), clientOf(t, p, "stdio", "2025-11-25")
	if _, e := one.call(t, "tools/call", `{"name":"begin","arguments":{"id":"one"}}`); e != "" {
		t.Fatal(e)
	}
	if raw, e := two.call(t, "tasks/get", `{"taskId":"one"}`); !strings.Contains(e, "-32602") {
		t.Errorf("another's task: %s %s", raw, e)
	}
	if raw, e := two.call(t, "tasks/list", `{}`); raw != `{"tasks":[]}` {
		t.Errorf("another's tasks: %s %s", raw, e)
	}
}

func TestTasksAreBounded(t *testing.T) {
	var k tasks
	u, s := &upstream{}, &session{}
	for i := range maxTasks + 10 {
		k.note(encode(map[string]any{"resultType": "task", "taskId": fmt.Sprint(i)}), u, s)
	}
	if len(k.known) != maxTasks || len(k.order) != maxTasks {
		t.Errorf("%d tasks, %d in order", len(k.known), len(k.order))
	}
	k.note(json.RawMessage(`{"task":{"taskId":"100"}}`), &upstream{}, s)
	if got, _ := k.find("100"); got.up != u {
		t.Error("another server has taken a task")
	}
	if _, ok := k.find("1"); ok {
		t.Error("the oldest is still known")
	}
}

// TestTwoServersOfOneMethod: a request that may be for either is for none.
func TestTwoServersOfOneMethod(t *testing.T) {
	one, two := &vendor{caps: vendorCaps}, &vendor{caps: vendorCaps}
	c := clientOf(t, newProxy(t, one.server(t, "one"), two.server(t, "two")), "stdio", "2025-11-25")
	if raw, e := c.call(t, "acme/echo", `{}`); !strings.Contains(e, "several servers") {
		t.Errorf("got %s %s", raw, e)
	}
	if raw, e := c.call(t, "acme/echo", `{"name":"two__begin"}`); raw != `{"got":{"name":"begin"}}` {
		t.Errorf("by the name of a tool: %s %s", raw, e)
	}
}

func TestUnknownNotifications(t *testing.T) {
	v := &vendor{caps: vendorCaps}
	p := newProxy(t, v.server(t, "v"))
	c := clientOf(t, p, "stdio", "2025-11-25").(*lineClient)
	if _, e := c.call(t, "tools/call", `{"name":"begin","arguments":{"id":"one"}}`); e != "" {
		t.Fatal(e)
	}
	for {
		select {
		case m := <-c.got:
			if m.Method == "notifications/vendor/said" {
				if string(m.Params) != `{"n":9007199254740993}` {
					t.Errorf("got %s", m.Params)
				}
				return
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the notification was not passed on")
		}
	}
}

// TestOffered: what a server may ask of clients is what its one client can.
func TestOffered(t *testing.T) {
	tests := []struct{ name, caps, want string }{
		{"nothing", `{}`, `{}`},
		{"roots", `{"roots":{"listChanged":true},"experimental":{"x":{}}}`, `{"roots":{"listChanged":true}}`},
		{"all, with what nobody knows", `{"sampling":{"tools":{}},"elicitation":{"url":{},"n":1.0},"roots":{}}`, `{"sampling":{"tools":{}},"elicitation":{"url":{},"n":1.0},"roots":{}}`},
		{"too much", `{"roots":{"x":"` + strings.Repeat("x", maxOffer) + `"}}`, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := &vendor{caps: vendorCaps}
			p := newProxy(t, v.server(t, "v"))
			c := newLineClient(t, p)
			if _, e := c.call(t, "initialize", `{"protocolVersion":"2025-11-25","capabilities":`+tt.caps+`,"clientInfo":{"name":"c","version":"1"}}`); e != "" {
				t.Fatal(e)
			}
			got := strings.TrimPrefix(until(t, v.heard, "initialize "), "initialize ")
			if caps := string(field(json.RawMessage(got), "capabilities")); caps != tt.want {
				t.Errorf("offered %s, want %s", caps, tt.want)
			}
		})
	}
	t.Run("over HTTP", func(t *testing.T) {
		v := &vendor{caps: vendorCaps}
		p := newProxy(t, v.server(t, "v"))
		frontOf(t, p)
		if got := until(t, v.heard, "initialize "); !strings.Contains(got, string(offered)) {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a client of "+newest, func(t *testing.T) {
		v := &vendor{caps: vendorCaps}
		c := newLineClient(t, newProxy(t, v.server(t, "v")))
		c.call(t, "tools/list", `{"_meta":{`+modernMeta+`}}`)
		if got := until(t, v.heard, "initialize "); !strings.Contains(got, `"capabilities":{"elicitation":{}}`) {
			t.Errorf("got %s", got)
		}
	})
}

// TestAskedForWhatNoClientCan: such a question is answered at once, as by a client
// without the ability.
func TestAskedForWhatNoClientCan(t *testing.T) {
	v := &vendor{caps: vendorCaps}
	p := newProxy(t, v.server(t, "v"))
	ask := func() {
		t.Helper()
		for method := range needs {
			if raw, rpc := p.upstreamAsks(t.Context(), p.ups[0], method, nil); rpc == nil || rpc.Code != -32601 {
				t.Errorf("%s: got %s %v", method, raw, rpc)
			}
		}
	}
	ask()
	c := newLineClient(t, p)
	if _, e := c.call(t, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`); e != "" {
		t.Fatal(e)
	}
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	ask()
}

// TestAskedInTheHandshake: a server that asks at once is answered when its client
// has ended its own handshake.
func TestAskedInTheHandshake(t *testing.T) {
	v := &vendor{caps: vendorCaps}
	p := newProxy(t, v.server(t, "v"))
	c := newLineClient(t, p)
	_, answered := c.start(t, "initialize", legacyInit)
	until(t, v.heard, "notifications/initialized") // of the proxy, to its server
	roots := make(chan string, 1)
	go func() {
		raw, rpc := p.upstreamAsks(t.Context(), p.ups[0], "roots/list", nil)
		roots <- fmt.Sprint(string(raw), rpc)
	}()
	<-answered
	for range len(c.got) {
		if m := <-c.got; m.Method == "roots/list" {
			t.Fatal("the client was asked in its handshake")
		}
	}
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for m := range c.got {
		if m.Method == "roots/list" {
			c.send(t, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"roots":[]}}`)
			break
		}
	}
	if got := receive(t, "roots", roots); !strings.HasPrefix(got, `{"roots":[]}`) {
		t.Errorf("got %s", got)
	}
}

func TestRootsChanged(t *testing.T) {
	called, other := &vendor{caps: vendorCaps}, &vendor{caps: vendorCaps}
	p := newProxy(t, called.server(t, "called"), other.server(t, "other"))
	const changed, line = "notifications/roots/list_changed", `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`
	one := clientOf(t, p, "stdio", "2025-11-25").(*lineClient)
	one.call(t, "tools/list", `{}`) // both servers are up
	one.send(t, line)
	until(t, called.heard, changed) // the only client: all servers
	until(t, other.heard, changed)
	two := clientOf(t, p, "stdio", "2025-11-25").(*lineClient)
	two.call(t, "tools/call", `{"name":"begin","arguments":{"id":"x"}}`)
	two.send(t, line)
	until(t, called.heard, changed)
	two.call(t, "tools/call", `{"name":"other__begin","arguments":{"id":"y"}}`)
	if got := until(t, other.heard, ""); !strings.HasPrefix(got, "tools/call") {
		t.Errorf("a server that this client had not called was told %s", got)
	}
}
