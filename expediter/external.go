package expediter

import (
	"fmt"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// External is what another breaker in front of a tool says of it.
type External struct {
	State breaker.State `json:"state"`         // OPEN or HALF_OPEN
	Why   string        `json:"why,omitempty"` // its words, bounded and cleaned
}

// External takes in what another breaker in front of the tool says it is. Our
// circuit follows: the state is the tool's own for routes, scope reduction and
// section 7 of SPEC, where the opening of a CLOSED tool is one as any other,
// with the tool's latest outcome as its tripping failure, if that is a failure.
// So record a call before its end reaches the other breaker. Nothing is
// charged.
//
// While the other breaker is OPEN or HALF_OPEN the tool has no pacing of ours:
// Decide answers CALL, the other breaker decides, and what it refuses comes
// back through Refuse; outcomes are charged and kept, and change no counter and
// no state. Its CLOSED ends that. CLOSED of a breaker that never said otherwise
// changes nothing: what we have opened ourselves stays open. ForceOpen and
// Disable win over it, and Reset forgets it.
//
// Only a strict engine that does not know the tool, and a state that is none,
// are errors; they change nothing.
func (x *Engine) External(name string, state breaker.State, why string, step int64, at time.Time) error {
	if state > breaker.Closed {
		return fmt.Errorf("external: %v is no state; use breaker.Open, breaker.HalfOpen or breaker.Closed", state)
	}
	name = toolName(name)
	_, err := x.try(OpExternal, step, at, func() error {
		if x.cur.ev != nil {
			x.cur.ev.State = &state
		}
		return x.named(name, why)
	}, func() {
		x.onTool(name, func(t *tool) { x.external(t, state, clip(why)) })
	})
	return err
}

func (x *Engine) external(t *tool, state breaker.State, why string) {
	before := t.outer
	switch {
	case state != breaker.Closed:
		t.ill().outer = &External{State: state, Why: why}
	case before == nil:
		return
	default:
		t.ill().outer = nil
	}
	if t.forced || t.off {
		return // the operator's word stands
	}
	t.freeProbe()
	if t.m.State() != state {
		x.follow(t, state, before, because(why))
	}
}

// because names the other breaker before its words.
func because(why string) string {
	if why == "" {
		return "another breaker"
	}
	return "another breaker: " + why
}

// follow takes the tool's circuit to the state of the other breaker.
func (x *Engine) follow(t *tool, state breaker.State, before *External, why string) {
	from := t.m.State()
	switch {
	case state == breaker.Closed:
		t.m.Close()
		x.closed(t, from, why)
		x.leave(t, from == breaker.HalfOpen)
	case state == breaker.HalfOpen:
		if before == nil { // else the call that is its trial was decided already
			x.newGeneration(t)
		}
		t.m.Trial()
		x.moved(t, from, 0, why)
	case from == breaker.HalfOpen:
		x.reopened(t, why)
	default:
		var f cascade.Failure
		if t.failing {
			f = t.latest
		}
		x.open(t, f, t.m.Fails(), why)
		x.correlate(t, f)
	}
}
