package expediter

import "time"

// Refuse says that a call which the engine allowed was not made, since a guard
// of the caller's refused it: a bulkhead, another breaker. It takes the place
// of Record, with the same errors, and never counts against the tool: the call
// is recorded as ignored, so a probe frees its slot. The answer is SKIP with
// reason Refused and the tool's route (SPEC section 8), counted as any SKIP; it
// is SKIP even while the engine pauses or only observes. With an error the
// Decision is zero. why is for the journal.
func (x *Engine) Refuse(call CallID, why string, step int64, at time.Time) (Decision, error) {
	var t *tool
	var info callInfo
	var d Decision
	_, err := x.try(OpRefuse, step, at, func() (err error) {
		x.say(why)
		if x.cur.ev != nil {
			x.cur.ev.Call = call
		}
		t, info, err = x.take(call)
		return err
	}, func() {
		x.apply(t, call, info, Ignored())
		d = x.skip(t, Refused)
		d.Would = Skip
		x.counts.Refused++
		x.countSkip(d.Route)
		x.routed(d, t.name, t)
		if x.cur.ev != nil {
			x.cur.ev.Decided = x.decided(d, t.name, t)
		}
		t.publish()
	})
	return d, err
}
