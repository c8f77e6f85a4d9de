package expediter

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// Record takes in what came of a call (SPEC section 5). Each call is recorded
// once: ErrAlreadyRecorded and ErrUnknownCall change nothing, not even the
// clock.
func (x *Engine) Record(call CallID, o Outcome, step int64, at time.Time) (Result, error) {
	ms := millis(at)
	if o.Result == cascade.Succeeded && x.gate.Load() && x.fastSuccess(call, step, ms) {
		return Result{}, nil
	}
	// As the journal keeps them, so that its fold is the live state.
	o.Signature = clip(o.Signature)
	o.Result, o.Category = validOutcome(o.Result), validCategory(o.Category)
	o.Duration, o.RetryAfter = o.Duration.Truncate(time.Millisecond), o.RetryAfter.Truncate(time.Millisecond)
	x.mu.Lock()
	x.startEvent(OpRecord, step, ms)
	if x.cur.ev != nil {
		x.describeRecord(call, o)
	}
	t, info, err := x.take(call)
	if err != nil {
		if x.cur.ev != nil {
			x.cur.ev.Error = err.Error()
		}
	} else {
		x.cur.step, x.cur.at = x.clock.advance(step, ms)
		x.autoConfirm()
		x.apply(t, call, info, o)
		x.heat(t)
		t.publish()
	}
	x.finish()
	r := x.cur.result
	waiting := len(x.queue.waiting) > 0
	x.mu.Unlock()
	if waiting {
		x.deliver()
	}
	return r, err
}

// apply is SPEC section 5 for one claimed call.
func (x *Engine) apply(t *tool, id CallID, info callInfo, o Outcome) {
	slow := o.Result == cascade.Succeeded && t.spec.policy.SlowCallMS > 0 && o.Duration.Milliseconds() > t.spec.policy.SlowCallMS
	stale := id.seq() <= t.genSeq || t.outer == nil && !x.admits(t, id)
	x.unverify(t, o)
	if info.shadow || t.off {
		x.counts.Ignored++
		x.seen(t, o, slow)
		return
	}
	if stale {
		if t.probe.call == id { // its lease is over
			t.freeProbe()
		}
		x.cur.result.Stale = true
		x.counts.Stale++
	}
	switch {
	case o.Result == cascade.Ignored:
		x.counts.Ignored++
		if !stale && t.m.State() == breaker.HalfOpen {
			t.freeProbe()
		}
	case o.Result == cascade.Succeeded && !slow:
		x.succeeded(t, stale)
	default:
		x.failed(t, id, info, o, stale, slow)
	}
}

// admits reports whether our own breaker waits for the outcome of this call.
func (x *Engine) admits(t *tool, id CallID) bool {
	return t.m.State() == breaker.Closed || t.m.State() == breaker.HalfOpen && t.probe.call == id && x.leased(t)
}

// seen keeps an outcome for the reports alone.
func (x *Engine) seen(t *tool, o Outcome, slow bool) {
	switch {
	case o.Result == cascade.Succeeded && !slow:
		raise(&t.okStep, x.cur.step)
		raise(&t.okAt, x.cur.at)
		t.okEver = true
	case o.Result == cascade.Failed:
		t.ill().lastBad = &Moment{Step: x.cur.step, At: x.cur.at, Category: o.Category, Text: clip(o.Text)}
	}
}

func (x *Engine) succeeded(t *tool, stale bool) {
	raise(&t.okStep, x.cur.step)
	raise(&t.okAt, x.cur.at)
	t.okEver, t.failing = true, false
	if stale || t.outer != nil {
		return
	}
	if t.m.State() == breaker.Closed {
		t.forgive()
		if t.win != nil {
			t.win.Push(false)
		}
	}
	t.freeProbe()
	if t.m.Succeed() {
		x.shareTool(t, ChangeClosed, cascade.Failure{}, 0)
		x.closed(t, breaker.HalfOpen, "probe succeeded")
		x.leave(t, true)
	}
}

// closed is what follows when a tool's circuit has closed.
func (x *Engine) closed(t *tool, from breaker.State, why string) {
	x.newGeneration(t)
	x.cur.result.Closed = true
	bad := t.ill()
	bad.k, bad.dueNow, bad.notDue, bad.fails, bad.run = 0, false, 0, nil, 0
	x.moved(t, from, 0, why)
	x.heat(t)
}

// failed is SPEC section 5 for a failure, or for a success that was too slow.
// The order is: charge, counter and trip, section 7, then the budget's state.
func (x *Engine) failed(t *tool, id CallID, info callInfo, o Outcome, stale, slow bool) {
	f := cascade.Failure{Category: o.Category, Signature: o.Signature}
	if slow {
		f = cascade.Failure{Category: cascade.Timeout}
		o.Text = fmt.Sprintf("slow call: took %v, limit %d ms", o.Duration.Round(time.Millisecond), t.spec.policy.SlowCallMS)
		if stale {
			t.failing = false
			x.seen(t, o, false)
			return
		}
	} else {
		x.counts.Failures++
	}
	x.noted(t, f, o, slow)
	batched := !slow && x.batched(t, id, f)
	x.cur.result.Batched = batched
	absorbed := x.active != nil && x.active.absorbs(t, f)
	if !slow && !batched && !absorbed && (!stale || x.cfg.Policy.ChargeStale == breaker.On) {
		x.charge(t, f, t.lastBad.Text)
	}
	if !stale && !batched && t.outer == nil {
		x.observed(t, f, slow)
		x.strike(t, info, f, slow)
	}
	if !slow && x.active == nil {
		x.suspicion(t, f)
	}
}

// noted keeps a failure as the tool's latest.
func (x *Engine) noted(t *tool, f cascade.Failure, o Outcome, slow bool) {
	bad := t.ill()
	bad.lastBad = &Moment{Step: x.cur.step, At: x.cur.at, Category: f.Category, Text: clip(o.Text)}
	t.failing = !slow
	bad.latest, bad.failAt = f, x.cur.moment()
	if o.RetryAfter > 0 && x.cur.at > 0 {
		bad.notDue = max(bad.notDue, x.cur.at+min(o.RetryAfter.Milliseconds(), maxRetryMS))
	}
	x.heat(t)
}

// maxRetryMS bounds what a tool may ask for: 30 days.
const maxRetryMS = 30 * 24 * 3600 * 1000

// strike counts a failure against the breaker and looks for a common cause.
func (x *Engine) strike(t *tool, info callInfo, f cascade.Failure, slow bool) {
	if t.m.State() == breaker.HalfOpen {
		x.reopened(t, "probe failed")
		return
	}
	if bad := t.ill(); len(bad.fails) < maxRunFails {
		bad.fails = append(bad.fails, *bad.lastBad)
	}
	threshold := t.spec.policy.FailureThreshold
	if info.threshold > 0 {
		threshold = info.threshold
	}
	run := t.m.Fails() + 1
	trips := run >= threshold
	if t.win != nil {
		t.win.Push(true)
		trips = t.win.Exceeded()
	}
	if !trips {
		t.m.FailAt(x.cur.step, breaker.Off)
		if !slow {
			x.verge(t, f)
		}
		return
	}
	x.open(t, f, run, t.why(run))
	x.correlate(t, f)
}

// correlate looks for a common cause of an opening that has just happened.
func (x *Engine) correlate(t *tool, f cascade.Failure) {
	switch {
	case x.active == nil:
		if found, ok := x.detector.Opened(t.source(), f, x.cur.moment(), x.look()); ok {
			x.flag(t, f, found)
		}
	case x.active.absorbs(t, f):
		x.join(t)
	}
}

// why says what tripped the tool.
func (t *tool) why(run int) string {
	switch {
	case t.win != nil:
		failed, of := t.win.Count()
		return fmt.Sprintf("%d of the last %d calls failed", failed, of)
	case run == 1:
		return "1 failure"
	}
	return fmt.Sprintf("%d consecutive failures", run)
}

// maxRunFails bounds the failures kept of one run.
const maxRunFails = 8

// open takes a CLOSED tool to OPEN with f as its tripping failure.
func (x *Engine) open(t *tool, f cascade.Failure, run int, why string) {
	x.newGeneration(t)
	t.m.Trip(x.cur.step)
	bad := t.ill()
	bad.tripped, bad.trip, bad.tripAt, bad.run = true, f, x.cur.moment(), run
	bad.anchor = breaker.Anchor{Step: x.cur.step, At: x.cur.at}
	bad.dueNow = false
	x.cur.result.Opened = true
	x.moved(t, breaker.Closed, run, why)
	x.heat(t)
	t.publish()
	x.shareTool(t, ChangeOpened, f, run)
}

// reopened is a failed probe.
func (x *Engine) reopened(t *tool, why string) {
	x.newGeneration(t)
	t.m.Trip(x.cur.step)
	bad := t.ill()
	bad.k++
	bad.anchor = breaker.Anchor{Step: x.cur.step, At: x.cur.at}
	bad.dueNow = false
	x.cur.result.Opened = true
	x.moved(t, breaker.HalfOpen, 1, why)
	if t.inc != nil && !t.inc.active {
		t.inc.k++
		t.inc.anchor(x.cur.moment())
	}
	x.shareTool(t, ChangeProbeFailed, t.latest, 1)
}

// charge puts a failure on the budget.
func (x *Engine) charge(t *tool, f cascade.Failure, text string) {
	x.ledger.Charge(budget.Charge{Tool: t.name, Step: x.cur.step, At: x.cur.at,
		Category: f.Category.String(), Signature: f.Signature, Text: text})
	if x.chargesShared() {
		x.share(Change{Kind: ChangeCharged, Tool: t.name, Failure: f, Text: text})
	}
}

// maxText bounds the error texts that the engine keeps, in characters.
const maxText = 512

// validOutcome, validCategory and validScore read a value that has no name as
// the most careful one that has.
func validOutcome(o cascade.Outcome) cascade.Outcome {
	if o > cascade.Ignored {
		return cascade.Failed
	}
	return o
}

func validCategory(c cascade.Category) cascade.Category {
	if c > cascade.ToolMissing {
		return cascade.Unknown
	}
	return c
}

func validScore(s capability.Score) capability.Score {
	if s > capability.Unavailable {
		return capability.Degraded
	}
	return s
}

// maxName bounds a tool's name, in bytes. A longer one is known by its
// beginning and a hash.
const maxName = 512

// toolName makes a name that a journal can hold.
func toolName(name string) string {
	if len(name) <= maxName && utf8.ValidString(name) {
		return name
	}
	if len(name) > maxName {
		h := fnv.New128a()
		h.Write([]byte(name))
		name = fmt.Sprintf("%s…%x", name[:maxName-40], h.Sum(nil))
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// clip makes a text fit to keep: bounded, on one line, its secrets masked.
func clip(s string) string {
	if s == "" {
		return ""
	}
	return redact.Text(s, maxText)
}

// describeRecord fills the event's inputs.
func (x *Engine) describeRecord(call CallID, o Outcome) {
	ev := x.cur.ev
	result := o.Result
	ev.Call, ev.Result, ev.Category, ev.Signature, ev.Text = call, &result, o.Category, o.Signature, clip(o.Text)
	ev.Effect = o.MayHaveTakenEffect
	ev.DurationMS, ev.RetryMS = o.Duration.Milliseconds(), o.RetryAfter.Milliseconds()
}
