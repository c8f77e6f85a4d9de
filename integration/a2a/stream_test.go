package a2apeer_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/expediter-go/expediter/expediter/executor"
)

// A stream counts as the same answer in one piece does, however many events it
// has.
func TestStreams(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		for _, tt := range said {
			t.Run(tt.text, func(t *testing.T) {
				b := newBench(t, nil)
				_, _ = stream(t.Context(), b.guarded(t, bind, addr, "travel"), tt.text)
				b.tell(t, "CALL travel", tt.want)
			})
		}
	})
}

// events are those of a stream that a test writes itself, by binding.
func events(bind binding, bodies ...string) string {
	text := ""
	for _, body := range bodies {
		if bind.protocol == a2a.TransportProtocolJSONRPC {
			body = `{"jsonrpc":"2.0","id":"1","result":` + body + `}`
		}
		text += "data: " + body + "\n\n"
	}
	return text
}

const (
	working = `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}`
	done    = `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}`
)

// streaming writes the text and then does what end says.
func streaming(text string, end func(http.ResponseWriter)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
		_ = http.NewResponseController(w).Flush()
		end(w)
	})
}

func TestStreamsThatBreak(t *testing.T) {
	ends := func(http.ResponseWriter) {}
	cut := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	for _, tt := range []struct {
		name   string
		bodies []string
		end    func(http.ResponseWriter)
		want   string
	}{
		{"ends in the midst of its task", []string{working}, ends, "failure network"},
		{"ends before it began", nil, ends, "failure network"},
		{"cut in the midst of its task", []string{working}, cut, "failure network"},
		{"cut before it began", nil, cut, "failure network"},
		{"cut when all was said", []string{working, done}, cut, "success"},
		{"garbage", []string{working, `{"statusUpdate":`}, ends, "failure upstream"},
		{"another shape", []string{`{"statusUpdate":7}`}, ends, "failure upstream"},
		{"no known event", []string{`{"note":"not found"}`}, ends, "failure upstream"},
		{"a part that is null", []string{`{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_FAILED","message":{"parts":[null,{"text":"503 Service Unavailable"}]}}}}`}, ends, "failure upstream"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, bind binding) {
				addr, _ := listen(t, "", streaming(events(bind, tt.bodies...), tt.end))
				b := newBench(t, nil)
				_, _ = stream(t.Context(), b.guarded(t, bind, addr, "travel"), "completed")
				b.tell(t, "CALL travel", tt.want)
			})
		})
	}
}

// Whoever joins a task's stream hears of its end as well, once.
func TestSubscription(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		failed := `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_FAILED"}}}`
		addr, _ := listen(t, "", streaming(events(bind, working, failed), func(http.ResponseWriter) {}))
		b := newBench(t, nil)
		c := b.guarded(t, bind, addr, "travel")
		for range 3 {
			for _, err := range c.SubscribeToTask(t.Context(), &a2a.SubscribeToTaskRequest{ID: "t1"}) {
				if err != nil && !errors.Is(err, executor.ErrOpen) {
					t.Error(err)
				}
			}
		}
		b.tell(t, "CALL travel", "failure unknown", "SKIP travel", "PROBE travel", "success")
	})
}

// Whoever leaves a stream says nothing about the agent, and frees its trial.
func TestStreamThatItsReaderLeaves(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		gone := make(chan struct{})
		t.Cleanup(func() { close(gone) })
		addr, _ := listen(t, "", streaming(events(bind, working), func(http.ResponseWriter) { <-gone }))
		b := newBench(t, nil)
		c := b.guarded(t, bind, addr, "travel")
		for _, err := range c.SendStreamingMessage(t.Context(), request("completed")) {
			if err != nil {
				t.Error(err)
			}
			break
		}
		b.tell(t, "CALL travel", "ignored")

		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, err := range c.SendStreamingMessage(ctx, request("completed")) {
			cancel()
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		b.tell(t, "CALL travel", "ignored")

		func() {
			defer func() { _ = recover() }()
			for range c.SendStreamingMessage(t.Context(), request("completed")) {
				panic("the reader's")
			}
		}()
		b.tell(t, "CALL travel", "ignored")
	})
}

// The rest of the stream, which is there already, is not looked at.
func TestStreamThatItsReaderLeavesAtItsEnd(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		text := events(bind, working, done)
		for name, headers := range map[string][]string{"in one piece": {"Content-Length", strconv.Itoa(len(text))}, "in chunks": nil} {
			t.Run(name, func(t *testing.T) {
				addr, _ := listen(t, "", writing(200, text, headers...))
				b := newBench(t, nil)
				for range b.guarded(t, bind, addr, "travel").SendStreamingMessage(t.Context(), request("completed")) {
					break
				}
				b.tell(t, "CALL travel", "ignored")
			})
		}
	})
}

func TestStreamThatHangs(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		gone := make(chan struct{})
		t.Cleanup(func() { close(gone) })
		addr, _ := listen(t, "", streaming(events(bind, working), func(http.ResponseWriter) { <-gone }))
		b := newBench(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if n, err := stream(ctx, b.guarded(t, bind, addr, "travel"), "completed"); n != 1 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %d events, %v", n, err)
		}
		b.tell(t, "CALL travel", "failure timeout")
	})
}

// The client sends a single request to an agent without streams.
func TestAgentWithoutStreams(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		card := &a2a.AgentCard{SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface("http://"+addr, bind.protocol)}}
		b := newBench(t, nil)
		c, err := a2aclient.NewFromCard(t.Context(), card, b.peer(t, "travel").Options(nil)...)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := stream(t.Context(), c, "completed"); n != 1 || err != nil {
			t.Errorf("got %d events, %v", n, err)
		}
		b.tell(t, "CALL travel", "success")
	})
}

// Time to the first event is what a slow call is measured by: a task may work for
// hours.
func TestStreamIsMeasuredToItsFirstEvent(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		var more = make(chan struct{})
		addr, _ := listen(t, "", streaming(events(bind, working), func(w http.ResponseWriter) {
			<-more
			_, _ = io.WriteString(w, events(bind, done))
		}))
		b := newBench(t, nil)
		for event, err := range b.guarded(t, bind, addr, "travel").SendStreamingMessage(t.Context(), request("completed")) {
			if err != nil {
				t.Fatal(err)
			}
			if update := event.(*a2a.TaskStatusUpdateEvent); update.Status.State == a2a.TaskStateWorking {
				b.pass(time.Hour)
				close(more)
			}
		}
		b.tell(t, "CALL travel", "success")
		if got := b.took; got != 0 {
			t.Errorf("got %d ms, want the first event's", got)
		}
	})
}
