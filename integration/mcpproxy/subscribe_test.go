package mcpproxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestSubscriptions: a client of any revision hears of a resource of a server of
// any, until it no longer wants to.
func TestSubscriptions(t *testing.T) {
	for _, upNew := range []bool{false, true} {
		for _, transport := range []string{"stdio", "http"} {
			for _, version := range []string{"2025-11-25", newest} {
				t.Run(fmt.Sprintf("new %v for %s %s", upNew, transport, version), func(t *testing.T) {
					t.Parallel()
					up := newPeer()
					p := newProxy(t, up.http(t, upNew))
					var h heard
					s := connect(t, p, transport, version, &h)
					subscribed := make(chan error, 1)
					go func() { // lasts as long as the subscription, with the newest
						subscribed <- s.Subscribe(context.WithoutCancel(t.Context()), &mcp.SubscribeParams{URI: "mem://one"})
					}()
					got := repeated(t, "updated", h.updated, func() {
						_ = up.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "mem://one"})
					})
					if got != "mem://one" {
						t.Errorf("updated %q", got)
					}
					if err := s.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "mem://one"}); err != nil {
						t.Error(err)
					}
					if err := <-subscribed; err != nil && version < newest {
						t.Error(err)
					}
					waitUntil(t, "nobody watches", func() bool {
						p.mu.Lock()
						defer p.mu.Unlock()
						return len(p.watched) == 0
					})
				})
			}
		}
	}
}

// TestSubscribeAtOnce: the first that a client says is that it wants to hear of a
// resource, of which the proxy may not know yet whose it is.
func TestSubscribeAtOnce(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			up := newPeer()
			p := newProxy(t, up.http(t, false))
			const params = `{"notifications":{"resourceSubscriptions":["mem://one"]},"_meta":{` + modernMeta + `}}`
			var acknowledged string
			switch c := clientOf(t, p, transport, newest).(type) {
			case *lineClient:
				_, answer := c.start(t, "subscriptions/listen", params)
				select {
				case m := <-c.got:
					acknowledged = string(m.Params)
				case m := <-answer:
					t.Fatalf("refused: %s", m.Error)
				case <-time.After(10 * time.Second):
				}
			case *httpClient:
				res := c.post(t, `{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":`+params+`}`, http.Header{"Mcp-Method": {"subscriptions/listen"}})
				first := make([]byte, 512)
				n, err := io.ReadAtLeast(res.Body, first, 100)
				if err != nil {
					t.Fatalf("%s: %v", first[:n], err)
				}
				acknowledged = string(first[:n])
			}
			if !strings.Contains(acknowledged, `"resourceSubscriptions":["mem://one"]`) {
				t.Errorf("acknowledged %s", acknowledged)
			}
		})
	}
}
