package a2apeer_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/expediter-go/expediter/expediter/executor"
	a2apeer "github.com/expediter-go/expediter/integration/a2a"
)

// said is what agents answer and how it counts.
var said = []struct{ text, want string }{
	{"message hello", "success"},
	{"completed connection refused is what I fixed", "success"},
	{"failed upstream 503 Service Unavailable", "failure upstream"},
	{"failed connection refused", "failure network"},
	{"failed I have no idea", "failure unknown"},
	{"failed", "failure unknown"},
	{"rejected not my job", "ignored"},
	{"canceled", "ignored"},
	{"input which city?", "ignored"},
	{"auth log in first", "failure auth"},
	{"unauthenticated", "failure auth"},
	{"unauthorized", "failure permission"},
	{"params", "success"},
	{"content", "success"},
	{"version", "ignored"},
	{"internal", "failure upstream"},
}

func TestAnswers(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		for _, tt := range said {
			t.Run(tt.text, func(t *testing.T) {
				b := newBench(t, nil)
				_, _ = send(t.Context(), b.guarded(t, bind, addr, "travel"), tt.text)
				b.tell(t, "CALL travel", tt.want)
			})
		}
	})
}

func TestAnswersAreHandedOn(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		c := newBench(t, nil).guarded(t, bind, addr, "travel")
		got, err := send(t.Context(), c, "failed no seats")
		task, ok := got.(*a2a.Task)
		if err != nil || !ok || task.Status.State != a2a.TaskStateFailed || task.Status.Message.Parts[0].Text() != "no seats" {
			t.Errorf("got %+v, %v", got, err)
		}
		if _, err := send(t.Context(), newBench(t, nil).guarded(t, bind, addr, "travel"), "unauthorized"); !errors.Is(err, a2a.ErrUnauthorized) {
			t.Errorf("got %v, want the library's own error", err)
		}
	})
}

func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		b := newBench(t, nil)
		c := b.guarded(t, bind, addr, "travel")
		_, _ = send(t.Context(), c, "failed 503 Service Unavailable")
		_, err := send(t.Context(), c, "message hello")
		refused, ok := errors.AsType[*executor.Refused](err)
		if !ok || refused.Tool != "travel" || !errors.Is(err, executor.ErrOpen) {
			t.Errorf("got %v, want a refusal", err)
		}
		b.tell(t, "CALL travel", "failure upstream", "SKIP travel")
		_, _ = send(t.Context(), c, "failed 503 Service Unavailable")
		b.tell(t, "PROBE travel", "failure upstream")
		if events, err := stream(t.Context(), c, "completed"); events != 0 || !errors.Is(err, executor.ErrOpen) {
			t.Errorf("got %d events, %v; want a refusal alone", events, err)
		}
		b.tell(t, "SKIP travel")
		if events, err := stream(t.Context(), c, "completed"); events != 4 || err != nil {
			t.Errorf("got %d events, %v", events, err)
		}
		b.tell(t, "PROBE travel", "success")
	})
}

// Other calls than those that send a message.
func TestOtherMethods(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		b := newBench(t, nil)
		c := b.guarded(t, bind, addr, "travel")
		ctx := t.Context()
		_, err := c.GetTask(ctx, &a2a.GetTaskRequest{ID: "no such task"})
		if !errors.Is(err, a2a.ErrTaskNotFound) {
			t.Errorf("got %v", err)
		}
		b.tell(t, "CALL travel", "success")
		_, err = c.ListTasks(ctx, &a2a.ListTasksRequest{}) // the store wants to know the user
		if !errors.Is(err, a2a.ErrUnauthenticated) {
			t.Errorf("got %v", err)
		}
		b.tell(t, "CALL travel", "failure auth")
	})
}

// To be canceled is what a task was asked for.
func TestCancel(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		canceled := `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_CANCELED"}}`
		if bind.protocol == a2a.TransportProtocolJSONRPC {
			canceled = `{"jsonrpc":"2.0","id":"1","result":` + canceled + `}`
		}
		addr, _ := listen(t, "", writing(200, canceled))
		b := newBench(t, nil)
		if _, err := b.guarded(t, bind, addr, "travel").CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: "t1"}); err != nil {
			t.Error(err)
		}
		b.tell(t, "CALL travel", "success")
	})
}

// Whoever looks a failed task up again and again learns of one failure.
func TestATasksEndCountsOnce(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		b := newBench(t, nil)
		plain := client(t, bind, addr)
		got, err := send(t.Context(), plain, "failed 503 Service Unavailable")
		if err != nil {
			t.Fatal(err)
		}
		c := b.guarded(t, bind, addr, "travel")
		for range 4 {
			_, _ = c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: got.(*a2a.Task).ID})
		}
		b.tell(t, "CALL travel", "failure upstream", "SKIP travel", "PROBE travel", "success", "CALL travel", "success")
	})
}

func TestSkillsFailAlone(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		b := newBench(t, nil)
		c := b.guarded(t, bind, addr, "travel")
		hotel := a2apeer.WithSkill(t.Context(), "hotel")
		flight := a2apeer.WithSkill(t.Context(), "flight")
		_, _ = send(hotel, c, "failed 503 Service Unavailable")
		_, _ = send(hotel, c, "completed")
		_, _ = send(flight, c, "completed")
		_, _ = send(t.Context(), c, "completed")
		b.tell(t, "CALL travel/hotel", "failure upstream", "SKIP travel/hotel",
			"CALL travel/flight", "success", "CALL travel", "success")
	})
}

// Two peers' interceptors in one client keep to their own calls.
func TestTwoPeersInOneClient(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		b := newBench(t, nil)
		first, second := b.peer(t, "team"), b.peer(t, "travel")
		opts := append([]a2aclient.FactoryOption{a2aclient.WithCallInterceptors(first)}, second.Options(nil)...)
		c := client(t, bind, addr, opts...)
		_, _ = send(t.Context(), c, "failed 503 Service Unavailable")
		b.tell(t, "CALL team", "CALL travel", "failure upstream", "failure upstream")
	})
}

// The refusal of a peer further in is not a failure of the one further out.
func TestInnerRefusalIsIgnored(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		b := newBench(t, nil)
		_, _ = send(t.Context(), b.guarded(t, bind, addr, "travel"), "failed 503 Service Unavailable")
		b.tell(t, "CALL travel", "failure upstream")
		opts := append([]a2aclient.FactoryOption{a2aclient.WithCallInterceptors(b.peer(t, "team"))}, b.peer(t, "travel").Options(nil)...)
		if _, err := send(t.Context(), client(t, bind, addr, opts...), "completed"); !errors.Is(err, executor.ErrOpen) {
			t.Errorf("got %v", err)
		}
		b.tell(t, "CALL team", "SKIP travel", "ignored")
	})
}

func TestEndedContextAsksNothing(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := send(ctx, b.guarded(t, bindings[0], "127.0.0.1:1", "travel"), "completed"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	b.tell(t)
}

func TestNew(t *testing.T) {
	b := newBench(t, nil)
	for _, tt := range []struct {
		name string
		cfg  a2apeer.Config
		want []string
	}{
		{"nothing", a2apeer.Config{}, []string{"executor.New", "give the agent's name"}},
		{"a skill in the name", a2apeer.Config{Executor: b.executor, Name: "a/b"}, []string{"without a slash"}},
		{"right", a2apeer.Config{Executor: b.executor, Name: "a"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := a2apeer.New(tt.cfg)
			if (err == nil) != (tt.want == nil) {
				t.Fatalf("got %v", err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %v, want %q in it", err, part)
				}
			}
		})
	}
}

// An interceptor without the transport judges statuses by their texts.
func TestInterceptorAlone(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", writing(503, "later", "Retry-After", "3600"))
		b := newBench(t, nil)
		c := client(t, bind, addr, a2aclient.WithCallInterceptors(b.peer(t, "travel")))
		for range 3 {
			_, _ = send(t.Context(), c, "completed")
		}
		b.tell(t, "CALL travel", "failure upstream", "SKIP travel", "PROBE travel", "failure upstream")
	})
}
