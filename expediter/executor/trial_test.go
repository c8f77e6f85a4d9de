package executor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
)

// A tool whose func asks the executor for that tool again, as one does that uses a
// guarded HTTP client under the same name, is still brought back by its trial.
func TestATrialWithinItself(t *testing.T) {
	quick := capability.Map{{Tool: "api", Provides: "data", Fallback: "ask", Policy: breaker.Policy{FailureThreshold: 1, Probe: breaker.Pacing{Every: 1}}}}
	ways := map[string]func(ctx context.Context, e *executor.Executor, reach func() error) error{
		"Do": func(ctx context.Context, e *executor.Executor, reach func() error) error {
			_, _, err := executor.Do(ctx, e, "api", func(context.Context) (string, error) { return "", reach() })
			return err
		},
		"Begin": func(ctx context.Context, e *executor.Executor, reach func() error) error {
			ticket, err := e.Begin(ctx, "api")
			if err != nil {
				return err
			}
			err = reach()
			ticket.End(classify.Observation{Err: err})
			return err
		},
	}
	for name, inner := range ways {
		for _, limit := range []time.Duration{0, time.Minute} {
			t.Run(name+"/"+limit.String(), func(t *testing.T) {
				x := newEngine(t, quick)
				e := newExecutor(t, executor.Config{Engine: x, Deadline: limit})
				reached, down := 0, true
				reach := func() error {
					if reached++; down {
						return refused
					}
					return nil
				}
				call := func() error {
					_, _, err := executor.Do(t.Context(), e, "api", func(ctx context.Context) (string, error) { return "", inner(ctx, e, reach) })
					return err
				}
				if err := call(); !errors.Is(err, refused) || row(t, x, "api").State != breaker.Open {
					t.Fatalf("got %v, %v; want the tool's error, and OPEN", err, row(t, x, "api").State)
				}
				if err := call(); !errors.Is(err, refused) || reached != 2 || row(t, x, "api").State != breaker.Open {
					t.Errorf("a trial that fails: got %v after %d requests, %v; want the tool's error after 2, and OPEN", err, reached, row(t, x, "api").State)
				}
				down = false
				if err := call(); err != nil || reached != 3 || row(t, x, "api").State != breaker.Closed {
					t.Errorf("a trial that works: got %v after %d requests, %v; want none after 3, and CLOSED", err, reached, row(t, x, "api").State)
				}
				if got := x.Status().Counts; got.Probes != 2 || got.Skips != 0 {
					t.Errorf("got %d probes and %d skips, want 2 and 0", got.Probes, got.Skips)
				}
			})
		}
	}
}

// Another tool within a trial is asked for as ever.
func TestATrialCoversItsOwnToolAlone(t *testing.T) {
	x := newEngine(t, capability.Map{
		{Tool: "api", Provides: "data", Fallback: "ask", Policy: breaker.Policy{FailureThreshold: 1, Probe: breaker.Pacing{Every: 1}}},
		{Tool: "other", Provides: "more", Fallback: "ask"}})
	e := newExecutor(t, executor.Config{Engine: x})
	executor.Do(t.Context(), e, "api", func(context.Context) (int, error) { return 0, refused })
	if err := x.ForceOpen("other", "test", 1, time.Now()); err != nil {
		t.Fatal(err)
	}
	_, receipt, err := executor.Do(t.Context(), e, "api", func(ctx context.Context) (string, error) {
		_, _, err := executor.Do(ctx, e, "other", answer)
		return "", err
	})
	if receipt.Decision.Verb != expediter.Probe || !errors.Is(err, executor.ErrForcedOpen) {
		t.Errorf("got %v, %v; want a trial that meets the refusal of another tool", receipt.Decision.Verb, err)
	}
}

// A context that is kept beyond its trial lets nothing through unasked, whether it
// ends with the call or, without a deadline, does not.
func TestATrialsContextIsOfNoUseAfterIt(t *testing.T) {
	for _, limit := range []time.Duration{0, time.Minute} {
		x := newEngine(t, capability.Map{{Tool: "api", Provides: "data", Fallback: "ask", Policy: breaker.Policy{FailureThreshold: 1, Probe: breaker.Pacing{Every: 1}}}})
		e := newExecutor(t, executor.Config{Engine: x, Deadline: limit})
		var kept context.Context
		fail := func(ctx context.Context) (int, error) { kept = ctx; return 0, refused }
		executor.Do(t.Context(), e, "api", fail)
		if _, receipt, _ := executor.Do(t.Context(), e, "api", fail); receipt.Decision.Verb != expediter.Probe {
			t.Fatalf("got %v, want PROBE", receipt.Decision.Verb)
		}
		if err := x.ForceOpen("api", "test", 1, time.Now()); err != nil {
			t.Fatal(err)
		}
		kept = context.WithoutCancel(kept)
		if _, err := e.Begin(kept, "api"); !errors.Is(err, executor.ErrForcedOpen) {
			t.Errorf("limit %v: got %v from the context of a trial that is over, want a refusal", limit, err)
		}
	}
}
