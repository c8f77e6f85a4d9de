package expediter

import (
	"slices"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// Decide answers whether the tool may be called at step and at (SPEC section
// 4). A CALL or PROBE carries a Call, to be recorded once whatever comes of it.
// A step or time before the latest seen is read as the latest; NoStep and the
// zero time are always that.
func (x *Engine) Decide(tool string, step int64, at time.Time) Decision {
	ms := millis(at)
	if t := (*x.names.Load())[tool]; t != nil {
		switch w := t.word.Load(); {
		case w&wordFast != 0 && x.gate.Load():
			if id := x.fastCall(t, step, ms); id != 0 {
				return Decision{Verb: Call, Would: Call, Call: id}
			}
		case w&wordOpen != 0:
			if route, next, doubt, ok := x.quickSkip(t, step, ms); ok {
				return Decision{Verb: Skip, Would: Skip, Reason: OpenCircuit, Route: route, Next: next, Unit: t.spec.policy.Probe.Unit, Unverified: doubt}
			}
		}
	}
	return x.decide(tool, capability.Available, false, step, ms)
}

// DecideScored is Decide with a pre-call score for this one call (a target
// that was checked), which is never remembered for the tool.
func (x *Engine) DecideScored(tool string, score capability.Score, step int64, at time.Time) Decision {
	return x.decide(tool, score, true, step, millis(at))
}

// quickSkip answers SKIP for an open tool of no incident whose trial is not
// due, while nothing pauses and nobody watches: rule 5 of SPEC section 4 alone.
// It is false when the request has to go through decide, which counts it. Its
// results are words of a Decision, since copying one costs more than the rest.
func (x *Engine) quickSkip(t *tool, step, at int64) (route *capability.Route, next int64, doubt, ok bool) {
	x.mu.Lock()
	if !x.quick || t.word.Load()&wordOpen == 0 {
		x.mu.Unlock()
		return nil, 0, false, false
	}
	x.cur.step, x.cur.at = x.clock.advance(step, at)
	t.anchor.Attempts++
	if x.due(t) {
		t.anchor.Attempts--
		x.mu.Unlock()
		return nil, 0, false, false
	}
	route, next, doubt = x.route(t, t.name), x.left(t), t.unverified > 0
	x.countSkip(route)
	x.routes.add(t.name, route, x.cur.step, x.cur.at)
	x.mu.Unlock()
	return route, next, doubt, true
}

func (x *Engine) decide(name string, score capability.Score, scored bool, step, at int64) Decision {
	name, score = toolName(name), validScore(score)
	x.mu.Lock()
	x.begin(OpDecide, step, at)
	d, t := x.judge(name, score, scored)
	if d.Would = d.Verb; x.observe {
		d = x.allow(d, name, t)
	}
	x.count(d)
	if x.cur.ev != nil {
		x.describe(d, name, t, score, scored)
	}
	if d.Would == Skip {
		x.routed(d, name, t)
	}
	if t != nil {
		t.publish()
	}
	if x.cur.ev != nil || d.Would == Probe || len(x.live) > 0 || x.observe {
		x.finish()
	}
	waiting := len(x.queue.waiting) > 0
	x.mu.Unlock()
	if waiting {
		x.deliverOf(d.Call)
	}
	return d
}

// deliverOf is deliver for a call that is being decided. If an observer panics,
// nobody will make that call, so it is given up: a trial must not hold its slot.
func (x *Engine) deliverOf(call CallID) {
	delivered := false
	defer func() {
		if !delivered && call != 0 {
			_, _ = x.Record(call, Ignored(), NoStep, time.Time{})
		}
	}()
	x.deliver()
	delivered = true
}

// judge applies the rules of SPEC section 4 in their order.
func (x *Engine) judge(name string, score capability.Score, scored bool) (Decision, *tool) {
	t := x.find(name)
	if x.active != nil && x.pauses(t, name) {
		return Decision{Verb: Pause, Reason: Systemic}, t
	}
	if x.ledger.Exhausted() {
		return Decision{Verb: Pause, Reason: Budget}, t
	}
	if x.cfg.Strict && !x.known(name) {
		return Decision{Verb: Skip, Reason: UnknownTool, Route: capability.Reduced()}, t
	}
	if !scored {
		if score = x.scores[name]; t != nil {
			score = t.score
		}
	}
	if (t == nil || !t.off) && score == capability.Unavailable {
		if t != nil {
			return x.skip(t, Unavailable), t
		}
		return Decision{Verb: Skip, Reason: Unavailable, Route: x.route(nil, name)}, nil
	}
	if t == nil {
		if t = x.enter(name); t == nil {
			return Decision{Verb: Skip, Reason: UnknownTool, Route: capability.Reduced()}, nil
		}
	}
	if t.off {
		return Decision{Verb: Call, Call: x.issue(t, callInfo{shadow: true})}, t
	}
	if t.outer != nil && !t.forced {
		d := x.call(t, score)
		d.External = true
		return d, t
	}
	switch t.m.State() {
	case breaker.Closed:
		return x.call(t, score), t
	case breaker.HalfOpen:
		if x.trialInFlight(t) {
			return x.skip(t, ProbeInFlight), t
		}
		if !x.leased(t) {
			x.want(t)
			return x.skip(t, ProbeInFlight), t
		}
		return x.trial(t, score), t
	default:
		if t.forced {
			return x.skip(t, ForcedOpen), t
		}
		t.anchor.Attempts++
		if !x.due(t) || x.trialInFlight(t) {
			return x.skip(t, OpenCircuit), t
		}
		if !x.leased(t) {
			x.want(t)
			return x.skip(t, OpenCircuit), t
		}
		x.newGeneration(t)
		t.m.Trial()
		x.moved(t, breaker.Open, 0, "trial due")
		return x.trial(t, score), t
	}
}

// pauses reports whether the active incident pauses the tool.
func (x *Engine) pauses(t *tool, name string) bool {
	if x.cfg.Policy.Cascade.PauseScope == PauseAll || len(x.active.shares) == 0 {
		return true
	}
	if t != nil && t.inc == x.active {
		return true
	}
	s := x.specOf(name)
	return slices.ContainsFunc(x.active.shares, func(thing string) bool { return slices.Contains(s.entry.Shares, thing) })
}

func (x *Engine) caution(score capability.Score) Caution {
	var c Caution
	if x.ledger.Remaining() == 1 {
		c |= CautionBudget
	}
	if score == capability.Degraded {
		c |= CautionDegraded
	}
	return c
}

func (x *Engine) call(t *tool, score capability.Score) Decision {
	var info callInfo
	if score == capability.Degraded && t.win == nil {
		info.threshold = max(t.spec.policy.FailureThreshold-1, 1)
	}
	return Decision{Verb: Call, Caution: x.caution(score), Call: x.issue(t, info)}
}

// trial issues the one probe of a half-open tool. An older probe whose time is
// up loses the slot.
func (x *Engine) trial(t *tool, score capability.Score) Decision {
	id := x.issue(t, callInfo{})
	t.ill().probe = probe{call: id, step: x.cur.step, at: x.cur.at}
	return Decision{Verb: Probe, Caution: x.caution(score), Call: id}
}

// trialInFlight reports whether an unexpired probe of the tool, or of another
// member of its incident, is under way.
func (x *Engine) trialInFlight(t *tool) bool {
	if x.unexpired(t) {
		return true
	}
	if t.inc == nil {
		return false
	}
	for _, m := range t.inc.members {
		if x.unexpired(m) {
			return true
		}
	}
	return false
}

// unexpired reports whether the tool has a probe within its time to live
// (SPEC section 3).
func (x *Engine) unexpired(t *tool) bool {
	p := &t.probe
	if p.call == 0 {
		return false
	}
	if x.cur.at == 0 {
		return x.cur.step-p.step < t.spec.policy.ProbeTTLSteps
	}
	return x.cur.at-p.at < t.spec.policy.ProbeTTLMS
}

// due reports whether an open tool's trial is due (SPEC sections 3 and 7).
func (x *Engine) due(t *tool) bool {
	if x.cur.at < t.notDue && x.cur.at > 0 {
		return false
	}
	if t.dueNow {
		return true
	}
	interval, after := x.interval(t)
	return t.spec.policy.Probe.Due(t.anchor, interval, after, x.cur.step, x.cur.at)
}

// interval is the distance between the tool's probes as it stands: its own, or
// that of its recovering incident.
func (x *Engine) interval(t *tool) (interval, after int64) {
	p := &t.spec.policy.Probe
	if t.inc != nil && !t.inc.active {
		return t.spec.backoff.Interval(t.inc.k), t.spec.after.Interval(t.inc.k)
	}
	if p.Backoff == breaker.On {
		return t.spec.backoff.Interval(t.k), t.spec.after.Interval(t.k)
	}
	return p.Every, p.AfterMS
}

func (x *Engine) skip(t *tool, why Reason) Decision {
	d := Decision{Verb: Skip, Reason: why, Route: x.route(t, t.name), Unit: t.spec.policy.Probe.Unit, Unverified: t.unverified > 0}
	if t.paced() {
		d.Next = x.left(t)
	}
	return d
}

// paced reports whether the tool is open and waits for a trial of ours.
func (t *tool) paced() bool { return t.m.State() == breaker.Open && !t.forced && t.outer == nil }

func (x *Engine) left(t *tool) int64 {
	interval, _ := x.interval(t)
	if t.dueNow {
		interval = 0
	}
	left := t.spec.policy.Probe.Left(t.anchor, interval, x.cur.step, x.cur.at)
	if t.spec.policy.Probe.Unit == breaker.Time {
		left = max(left, t.notDue-x.cur.at)
	}
	return left
}

// allow is ObserveOnly: the call goes through, and its outcome counts for
// nothing where the advice was against it.
func (x *Engine) allow(d Decision, name string, t *tool) Decision {
	d.Verb = Call
	if d.Call != 0 {
		return d
	}
	if t == nil {
		if t = x.enter(name); t == nil {
			d.Verb = d.Would
			return d
		}
	}
	d.Call = x.issue(t, callInfo{shadow: true})
	return d
}

func (x *Engine) count(d Decision) {
	switch d.Would {
	case Pause:
		x.counts.Pauses++
	case Skip:
		x.countSkip(d.Route)
	case Probe:
		x.counts.Probes++
	}
}

func (x *Engine) countSkip(r *capability.Route) {
	x.counts.Skips++
	switch r.Kind {
	case capability.UseAlternative:
		x.counts.Alternatives++
	case capability.UseFallback:
		x.counts.Fallbacks++
	default:
		x.counts.Reductions++
	}
}

// describe fills the event of a decision.
func (x *Engine) describe(d Decision, name string, t *tool, score capability.Score, scored bool) {
	ev := x.cur.ev
	ev.Tool, ev.Scored, ev.Call = name, scored, d.Call
	if scored {
		ev.Score = score
	}
	ev.Decided = x.decided(d, name, t)
}

func (x *Engine) decided(d Decision, name string, t *tool) *Decided {
	out := &Decided{Decision: d.Verb, Reason: d.Reason, Caution: d.Caution, Route: d.Route, Next: d.Next, Unit: d.Unit}
	if d.Would != d.Verb {
		out.Would = d.Would
	}
	if d.Would == Skip {
		out.Passed = x.passedOver(d, name, t)
	}
	return out
}
