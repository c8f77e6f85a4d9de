package executor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
)

func TestRefusedText(t *testing.T) {
	use := &capability.Route{Kind: capability.UseAlternative, Label: capability.Partial, Tool: "Bash", Method: "rg or\ngrep", Degradation: "loses formatting"}
	bare := &capability.Route{Kind: capability.UseAlternative, Label: capability.Acceptable, Tool: "Bash"}
	ask := &capability.Route{Kind: capability.UseFallback, Label: capability.Fallback, Ask: "ask the user which files to examine"}
	type d = expediter.Decision
	tests := []struct {
		name  string
		d     d
		want  string
		is    []error
		cause error
	}{
		{"alternative", d{Verb: expediter.Skip, Reason: expediter.OpenCircuit, Route: use, Next: 2},
			`"Grep" skipped: its circuit is open (next trial in 2 attempts); use Bash (rg or grep): PARTIAL, loses formatting`,
			[]error{executor.ErrSkipped, executor.ErrOpen}, nil},
		{"the next request is the trial", d{Verb: expediter.Skip, Reason: expediter.OpenCircuit, Route: bare, Next: 1},
			`"Grep" skipped: its circuit is open (next trial in 1 attempt); use Bash: ACCEPTABLE`,
			[]error{executor.ErrSkipped, executor.ErrOpen}, nil},
		{"bare alternative", d{Verb: expediter.Skip, Reason: expediter.Unavailable, Route: bare},
			`"Grep" skipped: its pre-call check says that it is unavailable; use Bash: ACCEPTABLE`,
			[]error{executor.ErrSkipped, executor.ErrUnavailable}, nil},
		{"fallback", d{Verb: expediter.Skip, Reason: expediter.OpenCircuit, Route: ask, Next: 1500, Unit: breaker.Time},
			`"Grep" skipped: its circuit is open (next trial in 1500 ms); FALLBACK: ask the user which files to examine`,
			[]error{executor.ErrSkipped, executor.ErrOpen}, nil},
		{"reduction", d{Verb: expediter.Skip, Reason: expediter.ProbeInFlight, Route: capability.Reduced()},
			`"Grep" skipped: its circuit is open and a trial is under way; SKIPPED: leave this work out and report it as not done`,
			[]error{executor.ErrSkipped, executor.ErrProbeInFlight}, nil},
		{"unknown tool", d{Verb: expediter.Skip, Reason: expediter.UnknownTool},
			`"Grep" skipped: the capability map does not mention it; SKIPPED: leave this work out and report it as not done`,
			[]error{executor.ErrSkipped, expediter.ErrUnknownTool}, nil},
		{"forced", d{Verb: expediter.Skip, Reason: expediter.ForcedOpen, Route: bare},
			`"Grep" skipped: an operator has opened its circuit; use Bash: ACCEPTABLE`,
			[]error{executor.ErrSkipped, executor.ErrForcedOpen}, nil},
		{"systemic", d{Reason: expediter.Systemic},
			`"Grep" not called: paused, several tools fail together; call no tool, tell the user, and go on when they confirm that the cause is gone`,
			[]error{executor.ErrPaused, executor.ErrSystemic}, nil},
		{"budget", d{Reason: expediter.Budget},
			`"Grep" not called: paused, the failure budget of this cycle is spent; call no tool, tell the user, and go on in the next cycle when they say so`,
			[]error{executor.ErrPaused, executor.ErrBudget}, nil},
		{"full bulkhead", d{Verb: expediter.Skip, Reason: expediter.Refused, Route: bare},
			`"Grep" skipped: as many calls of it are under way as its bulkhead allows; use Bash: ACCEPTABLE`,
			[]error{executor.ErrSkipped, executor.ErrGuarded, executor.ErrSaturated}, executor.ErrSaturated},
		{"another breaker", d{Verb: expediter.Skip, Reason: expediter.Refused, Route: bare},
			`"Grep" skipped: the breaker in front of it refused: boom; use Bash: ACCEPTABLE`,
			[]error{executor.ErrSkipped, executor.ErrGuarded, errBoom}, errBoom},
		{"another breaker that cannot be read", d{Verb: expediter.Skip, Reason: expediter.Refused, Route: bare},
			`"Grep" skipped: the breaker in front of it refused: an error of type *executor_test.unreadable that cannot be read; use Bash: ACCEPTABLE`,
			[]error{executor.ErrSkipped, executor.ErrGuarded}, (*unreadable)(nil)},
	}
	all := []error{executor.ErrPaused, executor.ErrSkipped, executor.ErrSystemic, executor.ErrBudget, expediter.ErrUnknownTool,
		executor.ErrUnavailable, executor.ErrOpen, executor.ErrProbeInFlight, executor.ErrForcedOpen, executor.ErrGuarded, executor.ErrSaturated, errBoom}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := &executor.Refused{Tool: "Grep", Decision: tt.d, Cause: tt.cause}
			if got := err.Error(); got != tt.want {
				t.Errorf("text:\n got %s\nwant %s", got, tt.want)
			}
			var is []error
			for _, target := range all {
				if errors.Is(err, target) {
					is = append(is, target)
				}
			}
			if diff := cmp.Diff(tt.is, is, cmp.Comparer(func(a, b error) bool { return a == b })); diff != "" {
				t.Errorf("errors.Is (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusalDoesNotRunTheTool(t *testing.T) {
	x := newEngine(t, capability.Map{{Tool: "Grep", Provides: "search", Fallback: "ask the user"}})
	e := newExecutor(t, executor.Config{Engine: x})
	if err := x.ForceOpen("Grep", "maintenance", 1, time.Time{}); err != nil {
		t.Fatal(err)
	}
	got, receipt, err := executor.Do(t.Context(), e, "Grep", func(context.Context) (string, error) {
		t.Error("the tool ran")
		return "x", nil
	})
	var refusal *executor.Refused
	if !errors.As(err, &refusal) || refusal.Tool != "Grep" || refusal.Decision.Route.Ask != "ask the user" {
		t.Errorf("error: got %+v, want *Refused with the fallback", err)
	}
	if got != "" || receipt.Answered || receipt.Decision.Verb != expediter.Skip {
		t.Errorf("got %q, %+v; want nothing and a SKIP", got, receipt)
	}
}
