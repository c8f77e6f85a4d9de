package executor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
)

// Why a call was not made. errors.Is finds them in a *Refused: the decision,
// and its reason. SKIP of a tool that nobody declared is also
// expediter.ErrUnknownTool.
var (
	ErrPaused  = errors.New("paused")  // make no call at all; something needs a human
	ErrSkipped = errors.New("skipped") // do not make this call; follow the route

	ErrSystemic      = errors.New("several tools fail together")
	ErrBudget        = errors.New("the failure budget of this cycle is spent")
	ErrUnavailable   = errors.New("its pre-call check says that it is unavailable")
	ErrOpen          = errors.New("its circuit is open")
	ErrProbeInFlight = errors.New("its circuit is open and a trial is under way")
	ErrForcedOpen    = errors.New("an operator has opened its circuit")
	ErrGuarded       = errors.New("its bulkhead or another breaker refused it") // see Refused.Cause
)

var reasons = map[expediter.Reason]error{
	expediter.Systemic:      ErrSystemic,
	expediter.Budget:        ErrBudget,
	expediter.UnknownTool:   expediter.ErrUnknownTool,
	expediter.Unavailable:   ErrUnavailable,
	expediter.OpenCircuit:   ErrOpen,
	expediter.ProbeInFlight: ErrProbeInFlight,
	expediter.ForcedOpen:    ErrForcedOpen,
	expediter.Refused:       ErrGuarded,
}

// Refused is the error of a call that was not let through: by the engine, or
// after it by the tool's bulkhead or guard. The tool did not run, and nothing
// counts against it.
type Refused struct {
	Tool     string
	Decision expediter.Decision
	Cause    error // ErrSaturated, or what the guard said; nil: the engine refused
}

// Unwrap returns the cause.
func (r *Refused) Unwrap() error { return r.Cause }

// Error says why, and what the capability map declares to do instead.
func (r *Refused) Error() string {
	if r.Decision.Verb == expediter.Pause {
		return fmt.Sprintf("%.64q not called: paused, %s", r.Tool, r.pause())
	}
	why := reasons[r.Decision.Reason]
	switch {
	case r.Cause == ErrSaturated:
		why = r.Cause
	case r.Cause != nil:
		why = errors.New("the breaker in front of it refused: " + plain(text(r.Cause)))
	case r.Decision.Reason == expediter.UnknownTool:
		why = errors.New("the capability map does not mention it")
	case why == nil:
		why = ErrSkipped
	}
	return fmt.Sprintf("%.64q skipped: %v%s; %s", r.Tool, why, r.next(), instead(r.Decision.Route))
}

// Is reports whether target is the refusal's decision or reason, or
// expediter.ErrNotCalled.
func (r *Refused) Is(target error) bool {
	switch target {
	case expediter.ErrNotCalled:
		return true
	case ErrPaused:
		return r.Decision.Verb == expediter.Pause
	case ErrSkipped:
		return r.Decision.Verb == expediter.Skip
	}
	why := reasons[r.Decision.Reason]
	return why != nil && target == why
}

func (r *Refused) pause() string {
	switch r.Decision.Reason {
	case expediter.Systemic:
		return ErrSystemic.Error() + "; call no tool, tell the user, and go on when they confirm that the cause is gone"
	case expediter.Budget:
		return ErrBudget.Error() + "; call no tool, tell the user, and go on in the next cycle when they say so"
	}
	return "call no tool and tell the user"
}

// next tells the distance to the next trial.
func (r *Refused) next() string {
	d := r.Decision
	if d.Next <= 0 {
		return ""
	}
	unit := d.Unit.String()
	switch {
	case unit == "time":
		unit = "ms"
	case d.Next == 1:
		unit = strings.TrimSuffix(unit, "s")
	}
	return fmt.Sprintf(" (next trial in %d %s)", d.Next, unit)
}

// instead puts a route into words. It names what was declared and no more.
func instead(route *capability.Route) string {
	switch {
	case route != nil && route.Kind == capability.UseAlternative:
		text := "use " + plain(route.Tool)
		if route.Method != "" {
			text += " (" + plain(route.Method) + ")"
		}
		text += ": " + route.Label.String()
		if route.Degradation != "" {
			text += ", " + plain(route.Degradation)
		}
		return text
	case route != nil && route.Kind == capability.UseFallback:
		return capability.Fallback.String() + ": " + plain(route.Ask)
	}
	return capability.Skipped.String() + ": leave this work out and report it as not done"
}

// plain bounds a text of the map and makes it one line.
func plain(s string) string { return redact.Text(s, 200) }
