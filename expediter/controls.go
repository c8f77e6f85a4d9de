package expediter

import (
	"errors"
	"fmt"
	"time"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// BeginCycle begins the next cycle: the budget is whole again; breakers and
// incidents stay as they are (SPEC section 6).
func (x *Engine) BeginCycle(step int64, at time.Time) Result {
	return x.do(OpBeginCycle, step, at, func() {
		x.newCycle()
		if x.chargesShared() {
			x.share(Change{Kind: ChangeCycle})
		}
	})
}

func (x *Engine) newCycle() {
	x.ledger.Begin()
	x.suspect = nil
}

// ConfirmRecovery is the user's word that the cause of the active incident is
// gone: its members may be probed again (SPEC section 7). why is for the
// journal. With nothing active it is ErrNoSystemicFailure and changes nothing.
func (x *Engine) ConfirmRecovery(why string, step int64, at time.Time) (Result, error) {
	return x.try(OpConfirmRecovery, step, at, func() error {
		if x.active == nil {
			return ErrNoSystemicFailure
		}
		return nil
	}, func() {
		x.say(why)
		if x.active != nil { // its time may have been up at this very event
			x.confirm()
			x.share(Change{Kind: ChangeConfirmed, Why: clip(why)})
		}
	})
}

// SetAvailability remembers the pre-call score of a tool (SPEC section 9),
// until an incident drops it. It consumes no budget and opens nothing.
func (x *Engine) SetAvailability(tool string, score capability.Score, step int64, at time.Time) {
	tool, score = toolName(tool), validScore(score)
	x.do(OpAvailability, step, at, func() {
		if x.cur.ev != nil {
			x.cur.ev.Tool, x.cur.ev.Score = tool, score
		}
		t := x.find(tool)
		switch {
		case t != nil:
			t.score = score
			t.publish()
		case score == capability.Available:
			delete(x.scores, tool)
		case len(x.scores) < x.cfg.MaxTools:
			x.scores[tool] = score
		}
	})
}

// DeclareOutage says that the caller knows one cause for several tools, such
// as a lost server: the CLOSED ones open, all become one recovering incident,
// nothing pauses, and the budget is charged once (SPEC section 7).
func (x *Engine) DeclareOutage(cause cascade.Category, tools []string, step int64, at time.Time) (Result, error) {
	cause = validCategory(cause)
	named := make([]string, len(tools))
	for i, t := range tools {
		named[i] = toolName(t)
	}
	return x.try(OpDeclareOutage, step, at, func() error {
		if x.cur.ev != nil {
			x.cur.ev.Cause, x.cur.ev.Tools = &cause, named
		}
		if len(tools) == 0 {
			return errors.New("declare_outage names no tool; name at least one")
		}
		if len(tools) > x.cfg.MaxTools+len(x.table.specs) {
			return fmt.Errorf("declare_outage names %d tools; at most %d are held", len(tools), x.cfg.MaxTools+len(x.table.specs))
		}
		return nil
	}, func() { x.outage(cause, named) })
}

func (x *Engine) outage(cause cascade.Category, tools []string) {
	f := cascade.Failure{Category: cause}
	text := "declared outage: " + cause.String()
	inc := &incident{cause: cause.String(), failure: f, declared: true, at: x.cur.moment()}
	for _, name := range tools {
		t := x.find(name)
		if t == nil {
			t = x.enter(name)
		}
		if t == nil || t.off || t.inc == inc {
			continue
		}
		if t.m.State() == breaker.Closed {
			t.ill().private = true
			x.open(t, f, 0, text)
			t.ill().fails = []Moment{{Step: x.cur.step, At: x.cur.at, Category: cause, Text: text}}
		}
		x.enlist(t, inc)
		t.publish()
	}
	inc.shares = common(inc.flagged)
	x.live = append(x.live, inc)
	x.ledger.Charge(budget.Charge{Tool: tools[0], Step: x.cur.step, At: x.cur.at,
		Category: cause.String(), Text: text, Declared: true})
	x.told(IncidentDeclared, inc.cause, inc.names)
	x.endIfEmpty(inc) // every tool of it is disabled
}

// ForceOpen makes every request for the tool a SKIP, without probes, until
// Reset (SPEC section 2).
func (x *Engine) ForceOpen(name, why string, step int64, at time.Time) error {
	return x.control(OpForceOpen, name, why, step, at, func(t *tool) { x.forceOpen(t, why) })
}

func (x *Engine) forceOpen(t *tool, why string) {
	x.shareControl(t, ChangeForcedOpen, why)
	from := t.m.State()
	x.leave(t, false)
	x.newGeneration(t)
	t.m.Trip(x.cur.step)
	t.forced, t.off = true, false
	if from == breaker.Closed {
		t.ill().tripped = false // no failure of its own: no peer of a cascade
	}
	bad := t.ill()
	bad.reason, bad.fails = clip(why), nil
	if from != breaker.Open {
		x.cur.result.Opened = true
		x.moved(t, from, 0, "forced open: "+clip(why))
	}
}

// Reset closes the tool's circuit, ends ForceOpen, Disable and what External
// said, and clears its counters (SPEC section 2).
func (x *Engine) Reset(name, why string, step int64, at time.Time) error {
	return x.control(OpReset, name, why, step, at, func(t *tool) { x.reset(t, why) })
}

func (x *Engine) reset(t *tool, why string) {
	x.shareControl(t, ChangeReset, why)
	from := t.m.State()
	t.forced, t.off, t.failing = false, false, false
	bad := t.ill()
	bad.reason, bad.outer = "", nil
	t.m.Close()
	if from == breaker.Closed {
		x.newGeneration(t)
		bad.k, bad.notDue, bad.fails = 0, 0, nil
		return
	}
	x.closed(t, from, "reset: "+clip(why))
	x.leave(t, false)
}

// Disable makes every request for the tool a CALL of which nothing is counted,
// until Reset (SPEC section 2). What pauses every tool pauses it too.
func (x *Engine) Disable(name, why string, step int64, at time.Time) error {
	return x.control(OpDisable, name, why, step, at, func(t *tool) { x.disable(t, why) })
}

func (x *Engine) disable(t *tool, why string) {
	x.shareControl(t, ChangeDisabled, why)
	x.leave(t, false)
	from := t.m.State()
	x.newGeneration(t)
	t.forced, t.off, t.failing = false, true, false
	bad := t.ill()
	bad.reason, bad.fails = clip(why), nil
	t.m.Close()
	if from != breaker.Closed {
		x.moved(t, from, 0, "disabled: "+clip(why))
	}
}

// ObserveOnly turns the shadow mode on or off: the engine decides and records
// as ever, answers CALL to everything, and says in Decision.Would what it
// would have said.
func (x *Engine) ObserveOnly(on bool, why string, step int64, at time.Time) {
	x.do(OpObserveOnly, step, at, func() {
		x.say(why)
		if x.cur.ev != nil {
			x.cur.ev.On = &on
		}
		x.observe, x.observeW = on, clip(why)
	})
}

// Note writes an annotation into the journal, in the order of its events. op is
// OpTask, OpSubtask, OpRouteTaken or OpNote; note must marshal to JSON and is
// not to be changed afterwards. It moves the clock and nothing else.
func (x *Engine) Note(op Op, note map[string]any, step int64, at time.Time) error {
	switch op {
	case OpTask, OpSubtask, OpRouteTaken, OpNote:
	default:
		return fmt.Errorf("%q is no annotation; use task, subtask, route_taken or note", op)
	}
	x.do(op, step, at, func() {
		if x.cur.ev != nil {
			x.cur.ev.Note = note
		}
	})
	return nil
}

// say notes the operator's words.
func (x *Engine) say(why string) {
	if x.cur.ev != nil {
		x.cur.ev.Reason = clip(why)
	}
}

// do applies an event that cannot fail.
func (x *Engine) do(kind Op, step int64, at time.Time, apply func()) Result {
	x.mu.Lock()
	x.begin(kind, step, millis(at))
	apply()
	return x.end()
}

// try applies an event that may turn out to be an error, which then changes
// nothing. check sees the state before the event.
func (x *Engine) try(kind Op, step int64, at time.Time, check func() error, apply func()) (Result, error) {
	x.mu.Lock()
	x.startEvent(kind, step, millis(at))
	err := check()
	if err != nil {
		if x.cur.ev != nil {
			x.cur.ev.Error = err.Error()
		}
	} else {
		x.cur.step, x.cur.at = x.clock.advance(step, millis(at))
		x.autoConfirm()
		apply()
	}
	return x.end(), err
}

// end finishes an event, unlocks, and lets observers hear of it.
func (x *Engine) end() Result {
	x.finish()
	r := x.cur.result
	x.mu.Unlock()
	x.deliver()
	return r
}

// control applies an operator's control of one tool. The tool enters the table
// if strict mode would let it.
func (x *Engine) control(kind Op, name, why string, step int64, at time.Time, apply func(*tool)) error {
	name = toolName(name)
	_, err := x.try(kind, step, at, func() error { return x.named(name, why) }, func() { x.onTool(name, apply) })
	return err
}

// named notes an event's tool and words, and refuses a tool that strict mode
// does not know.
func (x *Engine) named(name, why string) error {
	if x.cur.ev != nil {
		x.cur.ev.Tool = name
	}
	x.say(why)
	if x.cfg.Strict && !x.known(name) {
		return fmt.Errorf("%w: %.64q is not in the map; check its name", ErrUnknownTool, name)
	}
	return nil
}

func (x *Engine) onTool(name string, apply func(*tool)) {
	t := x.find(name)
	if t == nil {
		t = x.enter(name)
	}
	if t == nil {
		return
	}
	apply(t)
	x.heat(t)
	t.publish()
}
