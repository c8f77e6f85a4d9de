package executor_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
)

func TestTicketOutcomes(t *testing.T) {
	busy := http.Header{"Retry-After": {"7"}}
	var unreadable *net.OpError
	tests := []struct {
		name string
		o    classify.Observation
		want expediter.Outcome
	}{
		{"nothing wrong", classify.Observation{}, expediter.Success()},
		{"a rate limit", classify.Observation{HTTPStatus: 429, Header: busy, Result: "429 Too Many Requests"},
			expediter.Outcome{Category: cascade.RateLimit, Signature: "api: # Too Many Requests", Text: "429 Too Many Requests", RetryAfter: 7 * time.Second}},
		{"a wrong call", classify.Observation{HTTPStatus: 404, Result: "404 Not Found"}, expediter.Outcome{Result: cascade.Succeeded, Text: "404 Not Found"}},
		{"too late", classify.Observation{Err: context.DeadlineExceeded, ContextErr: context.DeadlineExceeded},
			expediter.Failure(cascade.Timeout, "context deadline exceeded")},
		{"a refusal further down", classify.Observation{Err: fmt.Errorf("get: %w", &executor.Refused{Tool: "x"})}, expediter.Ignored()},
		{"an error that cannot be read", classify.Observation{Err: unreadable},
			expediter.Failure(cascade.Unknown, "the tool's error of type *net.OpError cannot be read")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newExecutor(t, executor.Config{Engine: newEngine(t, nil)})
			ticket, err := e.Begin(t.Context(), "api")
			if err != nil {
				t.Fatal(err)
			}
			receipt, first := ticket.End(tt.o)
			got := receipt.Outcome
			got.Duration = 0
			if tt.want.Result != cascade.Failed { // what a report does not show
				got.Text, tt.want.Text, got.Signature = "", "", ""
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || !first || receipt.Err != nil {
				t.Errorf("first %v, error %v (-want +got):\n%s", first, receipt.Err, diff)
			}
		})
	}
}

// deadlineBehind has not ended, although its deadline has passed: its timer is
// about to fire.
type deadlineBehind struct{ context.Context }

func (deadlineBehind) Deadline() (time.Time, bool) { return time.Unix(1, 0), true }

func TestTicketKnowsItsContext(t *testing.T) {
	errLimit := &executor.Overdue{Tool: "api", After: time.Second}
	for _, tt := range []struct {
		name   string
		parent context.Context
		cause  error
		want   expediter.Outcome
	}{
		{"cancelled", t.Context(), nil, expediter.Outcome{Result: cascade.Ignored, Text: errBoom.Error()}},
		{"a limit as the cause", t.Context(), errLimit, expediter.Failure(cascade.Timeout, errBoom.Error())},
		{"its deadline behind it", deadlineBehind{t.Context()}, nil, expediter.Failure(cascade.Timeout, errBoom.Error())},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newExecutor(t, executor.Config{Engine: newEngine(t, nil)})
			ctx, cancel := context.WithCancelCause(tt.parent)
			ticket, err := e.Begin(ctx, "api")
			if err != nil {
				t.Fatal(err)
			}
			cancel(tt.cause)
			receipt, _ := ticket.End(classify.Observation{Err: errBoom})
			receipt.Outcome.Duration = 0
			if diff := cmp.Diff(tt.want, receipt.Outcome); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTicketEndsOnce(t *testing.T) {
	x := newEngine(t, nil)
	e := newExecutor(t, executor.Config{Engine: x})
	ticket, err := e.Begin(t.Context(), "api")
	if err != nil {
		t.Fatal(err)
	}
	var firsts sync.Map
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, first := ticket.End(classify.Observation{Err: errBoom}); first {
				firsts.Store(i, true)
			}
		})
	}
	all.Wait()
	n := 0
	firsts.Range(func(any, any) bool { n++; return true })
	if got := x.Status().Consumed; n != 1 || got != 1 {
		t.Errorf("got %d first ends and %d charges, want one each", n, got)
	}
}

func TestTicketIsRefused(t *testing.T) {
	x := newEngine(t, nil)
	e := newExecutor(t, executor.Config{Engine: x})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if ticket, err := e.Begin(ended, "api"); ticket != nil || err != context.Canceled {
		t.Errorf("ended context: got %v, %v", ticket, err)
	}
	if len(x.Status().Tools) != 0 {
		t.Error("the engine was asked for a call that nobody waits for")
	}
	open(t, x, "api")
	probe, err := e.Begin(t.Context(), "api")
	if err != nil || probe.Decision().Verb != expediter.Probe {
		t.Fatalf("got %v, want a trial", err)
	}
	if ticket, err := e.Begin(t.Context(), "api"); ticket != nil || !errors.Is(err, executor.ErrProbeInFlight) {
		t.Errorf("beside the trial: got %v, %v", ticket, err)
	}
	if receipt, _ := probe.End(classify.Observation{}); !receipt.Recorded.Closed {
		t.Errorf("got %+v, want it closed", receipt.Recorded)
	}
}

func TestTicketUsesTheMapsRules(t *testing.T) {
	m := capability.Map{{Tool: "api", Provides: "answers", Fallback: "ask the user",
		Classify: []capability.ClassifyRule{{Match: "come back tomorrow", Outcome: "failure", Category: "rate_limit"}}}}
	e := newExecutor(t, executor.Config{Engine: newEngine(t, m)})
	ticket, err := e.Begin(t.Context(), "api/search")
	if err != nil {
		t.Fatal(err)
	}
	receipt, _ := ticket.End(classify.Observation{Failed: true, Result: "come back tomorrow"})
	if got := receipt.Outcome.Category; got != cascade.RateLimit {
		t.Errorf("got %v, want rate_limit", got)
	}
}

func TestTicketMeasures(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	x, err := expediter.New(expediter.Config{Policy: expediter.Policy{Policy: breaker.Policy{SlowCallMS: 1000}}})
	if err != nil {
		t.Fatal(err)
	}
	e := newExecutor(t, executor.Config{Engine: x, Now: func() time.Time { return now }})
	for _, tt := range []struct {
		name        string
		took, given time.Duration
		want        int
	}{
		{"slow", 2 * time.Second, 0, 1},
		{"a clock that goes back", -time.Hour, 0, 0},
		{"measured by the caller", time.Minute, time.Millisecond, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ticket, err := e.Begin(t.Context(), tt.name)
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(tt.took)
			if got, want := ticket.Elapsed(), max(tt.took, 0); got != want {
				t.Errorf("elapsed: got %v, want %v", got, want)
			}
			ticket.End(classify.Observation{Duration: tt.given})
			if got := row(t, x, tt.name).Consecutive; got != tt.want {
				t.Errorf("got %d failures, want %d", got, tt.want)
			}
		})
	}
}
