package mcpproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
)

func TestABrokenOffStreamIsResumed(t *testing.T) {
	s := newSite(t, nil)
	var id string
	s.hand(func(w http.ResponseWriter, req *http.Request, method string, body []byte) bool {
		last := req.Header.Get("Last-Event-ID")
		if method != "tools/call" && last == "" {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		switch last {
		case "":
			id = string(field(body, "id"))
			fmt.Fprint(w, "id: 1\nretry: 5\ndata:\n\n")
		case "1":
			if req.Header.Get("Mcp-Session-Id") == "" {
				t.Error("resumed without its session")
			}
			fmt.Fprint(w, ": a comment\nunknown\nid: 2\nretry: 5\ndata: {\"method\":\ndata: \"notifications/x\"}\n\n")
		case "2":
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\r\ndata: \"result\":{\"n\":9007199254740993}}\r\n\r\n", id)
		}
		return true
	})
	r := startUp(t, s.config(), Options{}, nil)
	a, err := r.tool(t, "echo", `{"text":"x"}`)
	if err != nil || string(a.Result) != `{"n":9007199254740993}` {
		t.Errorf("got %s, %v", a.Result, err)
	}
	if got := next(t, r.notes, "notification"); got != "notifications/x " {
		t.Errorf("notified %q", got)
	}
}

func TestABadStreamHurtsNoOtherCall(t *testing.T) {
	s := newSite(t, nil)
	r := startUp(t, s.config(), Options{}, nil)
	s.hand(func(w http.ResponseWriter, req *http.Request, method string, body []byte) bool {
		if !strings.Contains(string(body), "bad") {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "no field\n\ndata: {garbage\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", field(body, "id"))
		return true
	})
	done := r.hang(t.Context(), t)
	if a, err := r.tool(t, "echo", `{"text":"bad"}`); err != nil || string(a.Result) != "{}" {
		t.Errorf("got %s, %v", a.Result, err)
	}
	select {
	case err := <-done:
		t.Errorf("another call was hurt: %v", err)
	default:
	}
}

type askerKey struct{}

func TestAQuestionKnowsItsCall(t *testing.T) {
	s := newSite(t, nil)
	up := make(chan struct{}, 10)
	u := newUpstream(s.config(), Options{}, upstreamEvents{
		up: func(*upstream) { up <- struct{}{} },
		request: func(ctx context.Context, _ *upstream, _ string, _ json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
			who, _ := ctx.Value(askerKey{}).(string)
			return encode(map[string]any{"action": "accept", "content": map[string]string{"name": who}}), nil
		}}, zap.NewNop())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); u.run(ctx) }()
	defer func() { cancel(); <-ended }()
	next(t, up, "up")
	results := make(chan string, 10)
	for i := range cap(results) {
		go func() {
			me := fmt.Sprint("caller ", i)
			a, err := u.call(context.WithValue(t.Context(), askerKey{}, me), "tools/call", json.RawMessage(`{"name":"ask","arguments":{}}`), nil)
			if err != nil || !strings.Contains(string(a.Result), "accept "+me+`"`) {
				me = fmt.Sprintf("%s got %s, %v", me, a.Result, err)
			}
			results <- me
		}()
	}
	for range cap(results) {
		if got := next(t, results, "result"); strings.Contains(got, "got") {
			t.Error(got)
		}
	}
}

func TestStatelessSubscriptions(t *testing.T) {
	s := newSite(t, &mcp.StreamableHTTPOptions{Stateless: true})
	heard := make(chan string, 10)
	send, gone := make(chan string), make(chan string, 10)
	s.hand(func(w http.ResponseWriter, req *http.Request, method string, body []byte) bool {
		if method != "subscriptions/listen" {
			return refusesOld(w, req, method, body)
		}
		heard <- string(field(field(body, "params"), "notifications"))
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{}}\n\n")
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case text := <-send:
				fmt.Fprintf(w, "data: %s\n\n", text)
				_ = http.NewResponseController(w).Flush()
			case <-req.Context().Done():
				gone <- ""
				return true
			}
		}
	})
	r := startUp(t, s.config(), Options{}, nil)
	if got := next(t, heard, "subscription"); !strings.Contains(got, `"toolsListChanged":true`) || strings.Contains(got, "resourceSubscriptions") {
		t.Errorf("heard %s", got)
	}
	if a, err := r.call(t.Context(), "resources/subscribe", json.RawMessage(`{"uri":"file:///a"}`), nil); err != nil || string(a.Result) != "{}" {
		t.Errorf("subscribe: %s, %v", a.Result, err)
	}
	if got := next(t, heard, "new subscription"); !strings.Contains(got, `"resourceSubscriptions":["file:///a"]`) {
		t.Errorf("heard %s", got)
	}
	next(t, gone, "end of the first subscription")
	send <- `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"uri":"file:///a"}}`
	if got, want := next(t, r.notes, "notification"), `notifications/resources/updated {"uri":"file:///a"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := r.call(t.Context(), "resources/unsubscribe", json.RawMessage(`{"uri":"file:///a"}`), nil); err != nil {
		t.Error(err)
	}
	if got := next(t, heard, "last subscription"); strings.Contains(got, "resourceSubscriptions") {
		t.Errorf("heard %s", got)
	}
}

func TestNotify(t *testing.T) {
	s := newSite(t, nil)
	told := make(chan string, 1)
	s.hand(func(_ http.ResponseWriter, _ *http.Request, method string, _ []byte) bool {
		if strings.HasPrefix(method, "notifications/roots") {
			told <- method
		}
		return false
	})
	r := startUp(t, s.config(), Options{}, nil)
	r.notify("notifications/roots/list_changed", nil)
	next(t, told, "notification")
}
