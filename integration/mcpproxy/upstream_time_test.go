package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
)

// paired is an upstream with a link to a peer in memory, in a bubble.
func paired(t *testing.T, o Options, request func() json.RawMessage) (*upstream, *link, mcp.Connection) {
	t.Helper()
	near, far := mcp.NewInMemoryTransports()
	peer, err := far.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := near.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ev := upstreamEvents{}
	if request != nil {
		ev.request = func(context.Context, *upstream, string, json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
			return request(), nil
		}
	}
	u := newUpstream(Server{Name: "one"}, o, ev, zap.NewNop())
	l := newLink(t.Context(), conn, nil, zap.NewNop(), u.linkEvents())
	l.version, u.link = newestLegacy, l
	t.Cleanup(func() { l.cancel(errors.New("the test has ended")); <-l.ended; _ = peer.Close() })
	return u, l, peer
}

func TestProgressMovesTheDeadline(t *testing.T) {
	for _, extends := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			u, _, peer := paired(t, Options{ProgressExtends: extends}, nil)
			go func() {
				req := readRequest(t, peer)
				token := field(field(req.Params, "_meta"), "progressToken")
				for range 4 {
					time.Sleep(4 * time.Minute)
					_ = peer.Write(t.Context(), &jsonrpc.Request{Method: "notifications/progress",
						Params: with(nil, "progressToken", token)})
				}
				_ = peer.Write(t.Context(), &jsonrpc.Response{ID: req.ID, Result: json.RawMessage("{}")})
			}()
			go drain(t, u)
			a, err := u.call(t.Context(), "tools/call", json.RawMessage(`{"name":"x","_meta":{"progressToken":"t"}}`), nil)
			if extends && (err != nil || string(a.Result) != "{}") {
				t.Errorf("progress extends: got %s, %v", a.Result, err)
			}
			if !extends && !errors.Is(err, errDeadline) {
				t.Errorf("progress does not extend: got %v, want errDeadline", err)
			}
			time.Sleep(time.Hour) // whatever is left runs out
		})
	}
}

// drain takes the suspicions that nobody looks at.
func drain(t *testing.T, u *upstream) {
	select {
	case <-u.suspect:
	case <-t.Context().Done():
	}
}

func readRequest(t *testing.T, peer mcp.Connection) *jsonrpc.Request {
	msg, err := peer.Read(t.Context())
	req, ok := msg.(*jsonrpc.Request)
	if err != nil || !ok {
		t.Errorf("read %v, %v, want a request", msg, err)
		return &jsonrpc.Request{}
	}
	go func() { // and take what else comes
		for err == nil {
			_, err = peer.Read(t.Context())
		}
	}()
	return req
}

func TestAHumanMayTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, _, peer := paired(t, Options{}, func() json.RawMessage { time.Sleep(30 * time.Minute); return json.RawMessage("{}") })
		go func() {
			req := readRequest(t, peer)
			id, _ := jsonrpc.MakeID("mine")
			_ = peer.Write(t.Context(), &jsonrpc.Request{ID: id, Method: "elicitation/create"})
			time.Sleep(32 * time.Minute)
			_ = peer.Write(t.Context(), &jsonrpc.Response{ID: req.ID, Result: json.RawMessage(`{"ok":true}`)})
		}()
		a, err := u.call(t.Context(), "tools/call", json.RawMessage(`{"name":"x"}`), nil)
		if err != nil || string(a.Result) != `{"ok":true}` {
			t.Errorf("got %s, %v", a.Result, err)
		}
	})
}

func TestAServerThatAnswersNothingIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, l, peer := paired(t, Options{}, nil)
		go readRequest(t, peer)
		watched := make(chan error, 1)
		began := time.Now()
		go func() { watched <- u.watch(t.Context(), l) }()
		if _, err := u.call(t.Context(), "tools/call", nil, nil); !errors.Is(err, errDeadline) {
			t.Errorf("got %v, want errDeadline", err)
		}
		err := <-watched
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != defaultDeadline+answersWithin {
			t.Errorf("lost for %v after %v", err, took)
		}
	})
}
