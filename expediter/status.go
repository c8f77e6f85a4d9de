package expediter

import (
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// Status is a consistent view of an engine, for reports and displays. Reading
// it changes nothing. Texts are as the tools gave them, bounded but not
// escaped: reports do that.
type Status struct {
	Policy        Policy          // effective
	Strict        bool            // SPEC section 4, rule 2
	User          bool            // the user is available for manual fallbacks
	Step, At      int64           // the latest seen
	Cycle         int             // the first is 1
	Paused        Reason          // Systemic, Budget or NoReason
	ObserveOnly   bool            // shadow mode: everything is CALL
	ObserveReason string          // the operator's words
	Consumed      int             // of the failure budget
	Limit         int             // the failure budget; budget.Unlimited: none
	Charges       []Charge        // of this cycle, oldest first
	Tools         []ToolStatus    // in table order
	Incidents     []Incident      // not ended, oldest first
	Suspected     *SystemicOutput // the newest suspicion of this cycle, if any
	Unverified    []Unverified    // failed calls that may have taken effect, oldest first; the latest 20
	Counts        Counts          // since the engine began
	Fleet         FleetMode       // how the engine stands to others that share its view
	Routes        []RouteTaken    // the latest routes, oldest first, bounded
}

// ToolStatus is one row of the state table.
type ToolStatus struct {
	Tool                 string
	State                breaker.State
	Entry                capability.Entry // the map entry that serves it; zero if none
	Declared             bool             // mentioned in the map
	Policy               breaker.Policy   // effective
	Score                capability.Score
	Forced               bool            // opened by an operator
	Disabled             bool            // always CALL, nothing counted
	Reason               string          // the operator's words
	Unverified           int             // its calls that may have taken effect; more than Status.Unverified holds, if there were many
	External             *External       // what another breaker in front of it says; nil: nothing, or CLOSED
	Consecutive          int             // failures in a row as of now
	Run                  int             // an open tool: the run of failures that opened it
	RunFailures          []Moment        // the failures of the run that opened it, or of the run so far; oldest first, at most 8
	FailedProbes         int             // since it last closed
	Trip                 cascade.Failure // of its last opening
	OpenedStep, OpenedAt int64           // of its last opening
	LastFailure          *Moment         // nil: never
	LastSuccess          *Moment         // nil: never
	Next                 int64           // distance to the next trial of an open tool, in Unit
	Unit                 breaker.Unit    // of Next
	NextAt               int64           // when the next trial of an open tool is due by time alone, in milliseconds; 0: never, or no time was given
	NotBefore            int64           // no trial before this time, in milliseconds (retry_after, not_before_ms); 0: none
	ProbeInFlight        bool
	Leased               int64             // in a fleet: until when this engine may make the trial, in milliseconds; 0: it may not
	Private              bool              // it is open for a reason that a fleet does not share
	ViableRoute          *capability.Route // what routing would choose now, were the tool open
}

// Moment is a point of a run, with what was said there.
type Moment struct {
	Step     int64            `json:"step"`
	At       int64            `json:"at,omitempty"` // milliseconds; 0: no time was given
	Category cascade.Category `json:"category,omitzero"`
	Text     string           `json:"text,omitempty"`
}

// Charge is one failure on the budget.
type Charge struct {
	Tool     string
	Step, At int64
	Category cascade.Category
	Text     string
	Folded   bool // part of an incident that counts once
	Counts   bool // counts in consumed (of folded charges only the first does)
}

// Incident is one common cause and the tools it took down.
type Incident struct {
	Cause        string   // a category, "signature" or "mixed"
	Pattern      string   // the flagging failure's text or signature, if any
	Members      []string // still in it, sorted
	Flagged      []string // when it was flagged or declared, sorted
	Active       bool     // pausing; else recovering
	Declared     bool     // by DeclareOutage
	Step, At     int64    // when it was flagged
	FailedProbes int      // k of the shared backoff
	Interval     int64    // the shared interval now, in the policy's unit
}

// Counts are totals since the engine began. Under concurrent calls they may
// lag by the calls that are just being made. Failures holds stale ones too, and
// slow calls count as successes.
type Counts struct {
	Calls, Probes, Skips, Pauses        uint64
	Successes, Failures, Ignored, Stale uint64
	Refused                             uint64 // of Ignored and of Skips: see Engine.Refuse
	Alternatives, Fallbacks, Reductions uint64 // routes of SKIPs by kind
}

// RouteTaken is one entry of the bounded ring of routes.
type RouteTaken struct {
	Tool     string
	Route    *capability.Route
	Step, At int64 // of the latest of them
	Times    int   // how often in a row
}

// Status reads the engine. It changes nothing and is consistent in itself.
func (x *Engine) Status() Status {
	x.mu.Lock()
	defer x.mu.Unlock()
	step, at := x.clock.now()
	x.cur.step, x.cur.at = step, at
	s := Status{
		Policy: x.cfg.Policy, Strict: x.cfg.Strict, User: !x.cfg.UserUnavailable,
		Step: step, At: at, Cycle: x.ledger.Cycle(), Paused: x.pauseReason(),
		Consumed: x.ledger.Consumed(), Limit: x.ledger.Limit(),
		ObserveOnly: x.observe, ObserveReason: x.observeW,
		Suspected: x.suspect, Unverified: append([]Unverified(nil), x.unverified...), Counts: x.totals(), Routes: x.routes.list(), Fleet: x.fleetMode,
	}
	for _, c := range x.ledger.Charges() {
		var category cascade.Category
		_ = category.UnmarshalText([]byte(c.Category)) // written by this engine; unknown otherwise
		s.Charges = append(s.Charges, Charge{Tool: c.Tool, Step: c.Step, At: c.At, Category: category,
			Text: c.Text, Folded: c.Folded, Counts: !c.Free})
	}
	for _, t := range x.table.rows {
		s.Tools = append(s.Tools, x.row(t))
	}
	for _, inc := range x.live {
		s.Incidents = append(s.Incidents, x.incidentStatus(inc))
	}
	return s
}

// Tool reads one tool, as Status does. It is false where the engine holds none of
// that name.
func (x *Engine) Tool(name string) (ToolStatus, bool) {
	name = toolName(name)
	x.mu.Lock()
	defer x.mu.Unlock()
	t := x.find(name)
	if t == nil {
		return ToolStatus{}, false
	}
	x.cur.step, x.cur.at = x.clock.now()
	return x.row(t), true
}

func (x *Engine) row(t *tool) ToolStatus {
	r := ToolStatus{
		Tool: t.name, State: t.m.State(), Entry: *t.spec.entry, Declared: t.declared, Policy: t.spec.policy,
		Score: t.score, Forced: t.forced, Disabled: t.off, Reason: t.reason, Unverified: t.unverified, External: t.outer,
		Consecutive: t.m.Fails(), FailedProbes: t.k, Trip: t.trip, OpenedStep: t.tripAt.Step, OpenedAt: t.tripAt.At,
		LastFailure: t.lastBad, ProbeInFlight: t.probe.call != 0, Unit: t.spec.policy.Probe.Unit, Leased: t.lease, Private: t.private,
	}
	if r.State != breaker.Closed {
		r.Run = t.run
	}
	r.RunFailures = append(r.RunFailures, t.fails...)
	if t.okEver {
		r.LastSuccess = &Moment{Step: t.okStep.Load(), At: t.okAt.Load()}
	}
	if t.paced() {
		r.Next = x.left(t)
		r.NextAt = x.nextAt(t)
		r.NotBefore = x.notBefore(t)
	}
	r.ViableRoute = x.route(t, t.name)
	return r
}

// notBefore is when a trial may be at all, if that is to come.
func (x *Engine) notBefore(t *tool) int64 {
	at := t.notDue
	if p := &t.spec.policy.Probe; p.Unit == breaker.Attempts && p.NotBeforeMS > 0 && t.anchor.At > 0 && !t.dueNow {
		at = max(at, t.anchor.At+p.NotBeforeMS)
	}
	if _, now := x.clock.now(); at <= now {
		return 0
	}
	return at
}

// nextAt is when a trial is due however few requests there are.
func (x *Engine) nextAt(t *tool) int64 {
	interval, after := x.interval(t)
	switch p := &t.spec.policy.Probe; {
	case t.anchor.At == 0 || p.Unit == breaker.Steps:
		return 0
	case p.Unit == breaker.Time:
		after = interval
	}
	if after <= 0 {
		return 0
	}
	if t.dueNow {
		after = 0
	}
	return max(t.anchor.At+after, t.notDue)
}

func (x *Engine) incidentStatus(inc *incident) Incident {
	i := Incident{Cause: inc.cause, Pattern: inc.pattern, Flagged: append([]string(nil), inc.names...),
		Active: inc.active, Declared: inc.declared, Step: inc.at.Step, At: inc.at.At, FailedProbes: inc.k}
	for _, m := range inc.members {
		i.Members = insertSorted(i.Members, m.name)
		i.Interval, _ = x.interval(m)
	}
	return i
}

// totals derives what the fast path does not count: every id that was drawn
// and not burnt is a call or a probe, and what is neither in flight nor
// recorded as anything else was a success.
func (x *Engine) totals() Counts {
	c := x.counts
	last := x.seq.Load()
	issued := last - x.burnt
	inFlight := uint64(len(x.ring.pending(last)))
	c.Calls = issued - c.Probes
	if other := inFlight + c.Failures + c.Ignored; issued > other {
		c.Successes = issued - other
	}
	return c
}
