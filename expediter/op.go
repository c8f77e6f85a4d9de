package expediter

import (
	"slices"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// op is the event being applied: its clamped step and time, and its outputs.
type op struct {
	step, at  int64
	stepless  bool   // the caller gave NoStep
	adopting  bool   // another engine of the fleet came to it
	ev        *Event // nil unless somebody looks at whole events
	result    Result
	moves     []Transition
	systemic  *SystemicOutput
	suspected *SystemicOutput
}

func (o *op) moment() cascade.Moment { return cascade.Moment{Step: o.step, At: o.at} }

// begin starts an event: the clock moves, and an incident whose time is up
// confirms itself.
func (x *Engine) begin(kind Op, step, at int64) {
	x.startEvent(kind, step, at)
	x.cur.step, x.cur.at = x.clock.advance(step, at)
	x.autoConfirm()
}

// startEvent starts an event without moving the clock, for those that may turn out
// to be errors.
func (x *Engine) startEvent(kind Op, step, at int64) {
	x.cur = op{moves: x.cur.moves[:0], stepless: step == NoStep}
	x.cur.step, x.cur.at = x.clock.now()
	if x.perOp {
		x.cur.ev = &Event{Op: kind, Step: step, At: at}
	}
}

// finish ends an event that gives a Result: it notes what the event left
// behind, tells the fast path, and queues what observers are to hear.
func (x *Engine) finish() {
	o := &x.cur
	o.result.Paused = x.pauseReason()
	x.publishGate()
	x.notePause(o.result.Paused)
	if o.ev == nil {
		return
	}
	if o.ev.Op != OpDecide && o.ev.Error == "" {
		o.ev.Budget = x.ledger.String()
		o.ev.Paused = o.result.Paused
	}
	o.ev.Stale, o.ev.Batched = o.result.Stale, o.result.Batched
	o.ev.Systemic, o.ev.Suspected = o.systemic, o.suspected
	for _, m := range o.moves {
		o.ev.Transitions = append(o.ev.Transitions, m.String())
	}
	x.eventSeq++
	o.ev.Seq = x.eventSeq
	x.queueEvent(o.ev)
}

// queueEvent tells each observer of whole events separately, so that one that
// panics takes nothing from another.
func (x *Engine) queueEvent(ev *Event) {
	if x.events.Journal != nil {
		x.queue.add(notice{event: ev})
	}
	recorded := ev.Op == OpRecord || ev.Op == OpRefuse
	if ev.Op == OpDecide && x.events.Decided != nil || recorded && x.events.Recorded != nil {
		x.queue.add(notice{call: ev})
	}
}

// pauseReason is the derived fact of SPEC sections 6 and 7.
func (x *Engine) pauseReason() Reason {
	switch {
	case x.active != nil:
		return Systemic
	case x.ledger.Exhausted():
		return Budget
	}
	return NoReason
}

func (x *Engine) notePause(now Reason) {
	if now == x.paused {
		return
	}
	x.paused = now
	if x.events.Paused != nil {
		x.queue.add(notice{pause: &PauseEvent{Reason: now, Consumed: x.ledger.Consumed(), Limit: x.ledger.Limit(), Step: x.cur.step, At: x.cur.at}})
	}
}

// moved notes a transition that has just happened.
func (x *Engine) moved(t *tool, from breaker.State, failures int, why string) {
	if t.m.State() != breaker.HalfOpen && t.lease != 0 {
		t.lease = 0
	}
	if t.m.State() == breaker.Closed && t.private {
		t.private = false
	}
	tr := Transition{Tool: t.name, From: from, To: t.m.State(), Step: x.cur.step, At: x.cur.at, Failures: failures, Why: why}
	x.cur.moves = append(x.cur.moves, tr)
	if x.events.Transition != nil {
		x.queue.add(notice{move: &tr})
	}
}

// heat keeps the list of tools that the detector has to look at.
func (x *Engine) heat(t *tool) {
	want := t.failing || t.m.State() != breaker.Closed
	if want == t.isHot {
		return
	}
	t.isHot = want
	i, _ := slices.BinarySearchFunc(x.hot, t.order, func(h *tool, order uint64) int {
		return int(h.order) - int(order)
	})
	if want {
		x.hot = slices.Insert(x.hot, i, t)
	} else {
		x.hot = slices.Delete(x.hot, i, i+1)
	}
}

// look lists what the detector sees, in table order.
func (x *Engine) look() []cascade.View {
	x.views = x.views[:0]
	for _, t := range x.hot {
		x.views = append(x.views, cascade.View{
			Source: t.source(), Closed: t.m.State() == breaker.Closed,
			Outage: x.outageOf(t), Tripped: t.tripped, Trip: t.trip, TripAt: t.tripAt,
			Failing: t.failing, Latest: t.latest, LatestAt: t.failAt, Succeeded: t.okEver,
		})
	}
	return x.views
}

// outageOf numbers the declared outage that the tool is in, where the policy
// counts an outage as one tool; 0: none.
func (x *Engine) outageOf(t *tool) int {
	if x.cfg.Policy.Cascade.OneOutage != breaker.On || t.inc == nil || !t.inc.declared {
		return 0
	}
	return 1 + slices.Index(x.live, t.inc)
}

// hotTool finds a tool of the list by its order.
func (x *Engine) hotTool(order int) *tool {
	i, ok := slices.BinarySearchFunc(x.hot, uint64(order), func(h *tool, order uint64) int {
		return int(h.order) - int(order)
	})
	if !ok {
		return nil
	}
	return x.hot[i]
}
