package replay

import (
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// WhatIf lays a policy over recorded sessions, one after the other: the engine
// decides at each call that was asked for, and hears of the result only if it
// had let the call pass. A static replay cannot know what the agent would have
// done instead of a call that is skipped: the recording goes on as it was.
//
// Parallel calls keep their order of issue and of result. When the user speaks,
// the pause report has been read: an active incident is confirmed and a new
// cycle begins. As long as a session has had no prompt, nobody can be waited
// for: the call after a PAUSE begins a new cycle, and confirms, by itself.
//
// Rules that go by what a session did not record do not apply to it: without
// times there is no not_before_ms, and pacing by a unit that is missing becomes
// pacing by attempts, at its defaults. The first call tells what is recorded.
//
// A WhatIf holds one session at a time and is not safe for concurrent use.
type WhatIf struct {
	cfg      expediter.Config
	bare     [3]*expediter.Config // cfg without what a session did not record; see measured
	engine   *expediter.Engine    // nil: the session has had no call
	last     flight               // the newest call, which mostly is the next to end
	older    map[int]flight       // other calls without a result, by their number
	tally    Tally
	prompted bool // the session has had a prompt
	resume   bool // no prompt will come: the next call begins a cycle
	pausing  bool
}

// flight is a call without a result yet. The zero flight is none.
type flight struct {
	call  int
	id    expediter.CallID
	verb  expediter.Verb
	taken bool
}

// Tally is what a policy would have done to one session. Outcomes are those
// that Result was given.
type Tally struct {
	Calls     int // that were asked for
	Probes    int // of them, made as a trial
	Skipped   int // of them, denied as SKIP
	Saved     int // of the skipped, those that failed in the recording
	Lost      int // of the skipped, those that succeeded
	Paused    int // denied as PAUSE: neither saved nor lost
	Openings  int // CLOSED to OPEN
	Pauses    int // times that the engine began to pause
	Incidents int // common causes that were flagged
}

// NewWhatIf reports everything that is wrong with cfg, as expediter.New does.
// The observers in cfg.Events hear of every session; one that sees every call
// (Journal, Decided, Recorded) costs time.
func NewWhatIf(cfg expediter.Config) (*WhatIf, error) {
	w := &WhatIf{cfg: cfg, older: map[int]flight{}}
	w.observe()
	if _, err := expediter.New(w.cfg); err != nil {
		return nil, err
	}
	return w, nil
}

// observe counts what happens inside the engine.
func (w *WhatIf) observe() {
	own := w.cfg.Events
	w.cfg.Events.Transition = func(t expediter.Transition) {
		if t.From == breaker.Closed && t.To == breaker.Open {
			w.tally.Openings++
		}
		if own.Transition != nil {
			own.Transition(t)
		}
	}
	w.cfg.Events.Incident = func(e expediter.IncidentEvent) {
		if e.Kind == expediter.IncidentFlagged {
			w.tally.Incidents++
		}
		if own.Incident != nil {
			own.Incident(e)
		}
	}
	w.cfg.Events.Paused = func(e expediter.PauseEvent) {
		begins := e.Reason != expediter.NoReason
		if begins && !w.pausing {
			w.tally.Pauses++
		}
		w.pausing = begins
		if own.Paused != nil {
			own.Paused(e)
		}
	}
}

// begin makes the engine of a session at its first call.
func (w *WhatIf) begin(step, at int64) *expediter.Engine {
	if w.engine == nil {
		engine, err := expediter.New(w.measured(step >= 0, at > 0))
		if err != nil {
			panic("replay: a configuration that was valid is so no more: " + err.Error())
		}
		w.engine = engine
	}
	return w.engine
}

// Prompt is the user speaking. step may be expediter.NoStep; at is in
// milliseconds since 1970, 0 where it was not recorded. So it is below.
func (w *WhatIf) Prompt(step, at int64) {
	w.prompted, w.resume = true, false
	if w.engine != nil {
		w.cycle(step, at)
	}
}

// cycle confirms and begins a new cycle.
func (w *WhatIf) cycle(step, at int64) {
	x, when := w.engine, moment(at)
	_, _ = x.ConfirmRecovery("the user has seen the report", step, when) // an error: nothing is active
	x.BeginCycle(step, when)
}

// Issue is the agent asking for a call. call is its number, unique among the
// calls of the session that have no result yet.
func (w *WhatIf) Issue(call int, tool string, step, at int64) expediter.Decision {
	if w.resume {
		w.resume = false
		w.cycle(step, at)
	}
	d := w.begin(step, at).Decide(tool, step, moment(at))
	w.tally.Calls++
	switch d.Verb {
	case expediter.Probe:
		w.tally.Probes++
	case expediter.Skip:
		w.tally.Skipped++
	case expediter.Pause:
		w.tally.Paused++
		w.resume = !w.prompted
	}
	if w.last.taken {
		w.older[w.last.call] = w.last
	}
	w.last = flight{call: call, id: d.Call, verb: d.Verb, taken: true}
	return d
}

// Result is the recorded result of a call. It returns what Issue decided for
// it; false means that no such call is waiting for a result.
func (w *WhatIf) Result(call int, o expediter.Outcome, step, at int64) (expediter.Verb, bool) {
	f := w.last
	if f.taken && f.call == call {
		w.last = flight{}
	} else {
		if f = w.older[call]; !f.taken {
			return expediter.Pause, false
		}
		delete(w.older, call)
	}
	switch {
	case f.verb.Go():
		_, _ = w.engine.Record(f.id, o, step, moment(at)) // an error: evicted for want of room
	case f.verb == expediter.Skip && o.Result == cascade.Failed:
		w.tally.Saved++
	case f.verb == expediter.Skip && o.Result == cascade.Succeeded:
		w.tally.Lost++
	}
	return f.verb, true
}

// Tally counts the session so far.
func (w *WhatIf) Tally() Tally { return w.tally }

// Status reads the session's engine; it is zero before the session's first
// call.
func (w *WhatIf) Status() expediter.Status {
	if w.engine == nil {
		return expediter.Status{}
	}
	return w.engine.Status()
}

// End ends the session and counts it. Calls without a result are neither saved
// nor lost. What comes next belongs to a new session, with a new engine.
func (w *WhatIf) End() Tally {
	t := w.tally
	clear(w.older)
	*w = WhatIf{cfg: w.cfg, bare: w.bare, older: w.older}
	return t
}

// moment is a time of which 0 is none.
func moment(at int64) time.Time { return time.UnixMilli(max(at, 0)) }
