package expediter

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// FleetMode is how an engine stands to a fleet, engines that share one view of
// their tools.
type FleetMode uint8

const (
	FleetNone   FleetMode = iota // belongs to none
	FleetLeased                  // a trial needs a lease of the fleet's
	FleetAlone                   // belongs to one that cannot be reached: trials as without
)

// Fleet is what connects an engine to others. The zero Fleet leaves. Its
// functions are called as those of Events are; nil ones are not.
type Fleet struct {
	Mode    FleetMode
	Charges bool         // the fleet has one budget: charges and cycles are told too
	Changed func(Change) // this engine came to something that all share
	Wanted  func(Want)   // a trial is due and this engine has no lease for it
}

// Want is the wish for a lease. It is told at most five times a second for one
// tool, while requests for it come.
type Want struct {
	Tool string
	With []string // the other members of its recovering incident; in the whole fleet one of them is tried at a time
}

// Share connects the engine to a fleet, or changes how it stands to it. The mode
// is a part of the engine's snapshot, the functions are not: a restored engine of
// a fleet needs Share again, with the zero Fleet if it goes on by itself.
func (x *Engine) Share(f Fleet, step int64, at time.Time) {
	x.do(OpShare, step, at, func() {
		if f.Mode > FleetAlone {
			f.Mode = FleetNone
		}
		if x.cur.ev != nil {
			x.cur.ev.Fleet, x.cur.ev.On = f.Mode, whether(f.Charges)
		}
		x.fleet.Store(&f)
		if x.fleetMode = f.Mode; f.Mode == FleetNone {
			for _, t := range x.table.rows {
				if t.lease != 0 {
					t.lease = 0
				}
			}
		}
	})
}

// whether is the member of an event that is absent when false.
func whether(on bool) *bool {
	if !on {
		return nil
	}
	return &on
}

// Lease lets this engine make the fleet's one trial of a tool, until a time by
// the caller's clock; the zero time takes that back. It ends before that with the
// trial. A later time in its place renews it. A trial that is recorded after its
// end is stale: another engine may have made the next one by then.
func (x *Engine) Lease(name string, until time.Time, step int64, at time.Time) error {
	name = toolName(name)
	ms := millis(until)
	_, err := x.try(OpLease, step, at, func() error {
		if x.cur.ev != nil {
			x.cur.ev.Until = ms
		}
		return x.named(name, "")
	}, func() {
		if t := x.find(name); t != nil && t.m.State() != breaker.Closed {
			t.ill().lease = ms
		}
	})
	return err
}

// leased reports whether this engine may make a trial of the tool.
func (x *Engine) leased(t *tool) bool {
	return x.fleetMode != FleetLeased || t.private || t.lease > x.cur.at
}

// wantEveryMS is the shortest time between two wishes for one tool.
const wantEveryMS = 200

// want tells the fleet that a trial is due. It changes nothing that decisions
// depend on.
func (x *Engine) want(t *tool) {
	f := x.fleet.Load()
	if f == nil || f.Wanted == nil {
		return
	}
	bad := t.ill()
	if x.cur.at > 0 && bad.wantedAt > 0 && x.cur.at-bad.wantedAt < wantEveryMS {
		return
	}
	bad.wantedAt = x.cur.at
	w := Want{Tool: t.name}
	if t.inc != nil {
		for _, m := range t.inc.members {
			if m != t && m.m.State() != breaker.Closed {
				w.With = append(w.With, m.name)
			}
		}
	}
	x.queue.add(notice{want: &w})
}

// ChangeKind is what a Change is about.
type ChangeKind string

// The kinds of Change.
const (
	ChangeOpened      ChangeKind = "opened"       // CLOSED to OPEN
	ChangeProbeFailed ChangeKind = "probe_failed" // HALF_OPEN to OPEN
	ChangeClosed      ChangeKind = "closed"       // its trials succeeded
	ChangeForcedOpen  ChangeKind = "forced_open"
	ChangeDisabled    ChangeKind = "disabled"
	ChangeReset       ChangeKind = "reset"
	ChangeIncident    ChangeKind = "incident"  // a common cause was flagged
	ChangeConfirmed   ChangeKind = "confirmed" // its recovery was confirmed
	ChangeCharged     ChangeKind = "charged"   // a failure on the budget
	ChangeCycle       ChangeKind = "cycle"     // the budget is whole again
)

// Change is one thing that engines of a fleet share: who comes to it tells it
// (Fleet.Changed), and the others Adopt it.
type Change struct {
	Kind           ChangeKind      `json:"kind"`
	Tool           string          `json:"tool,omitempty"`
	Failure        cascade.Failure `json:"failure,omitzero"`          // of opened: the tripping one; of incident: the flagging one
	Text           string          `json:"text,omitempty"`            // its words
	Run            int             `json:"run,omitempty"`             // opened: the run of failures that led to it
	FailedProbes   int             `json:"failed_probes,omitempty"`   // of the tool, since it last closed
	IncidentProbes int             `json:"incident_probes,omitempty"` // of its recovering incident
	Cause          string          `json:"cause,omitempty"`           // of an incident
	Members        []string        `json:"members,omitempty"`         // of an incident, sorted
	Why            string          `json:"why,omitempty"`             // words of whoever confirmed, forced, disabled or reset
	Earlier        bool            `json:"earlier,omitempty"`         // it was so before this engine joined: no part of SPEC section 7
}

// Bounds of what a Change from elsewhere may hold.
const (
	maxProbes  = 1 << 20
	maxMembers = 1 << 10
)

// Validate reports what is wrong with a change that somebody else wrote.
func (c Change) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch c.Kind {
	case ChangeOpened, ChangeProbeFailed, ChangeClosed, ChangeForcedOpen, ChangeDisabled, ChangeReset, ChangeCharged:
		if c.Tool == "" {
			bad("%s names no tool", c.Kind)
		}
	case ChangeIncident:
		if len(c.Members) == 0 || c.Cause == "" {
			bad("incident without a cause or members")
		}
	case ChangeConfirmed, ChangeCycle:
	default:
		bad("kind %.40q is not known to this version", string(c.Kind))
	}
	if len(c.Members) > maxMembers {
		bad("more than %d members", maxMembers)
	}
	if c.Failure.Category > cascade.ToolMissing {
		bad("category %d is none", c.Failure.Category)
	}
	for _, n := range []int{c.Run, c.FailedProbes, c.IncidentProbes} {
		if n < 0 || n > maxProbes {
			bad("a count of %d; it is from 0 to %d", n, maxProbes)
		}
	}
	return errors.Join(errs...)
}

// clean is the change as an engine keeps it.
func (c Change) clean() Change {
	c.Tool, c.Failure.Signature = toolName(c.Tool), clip(c.Failure.Signature)
	c.Text, c.Why, c.Cause = clip(c.Text), clip(c.Why), clip(c.Cause)
	c.Kind, c.Failure.Category = ChangeKind(clip(string(c.Kind))), validCategory(c.Failure.Category)
	c.Members = slices.Clone(c.Members[:min(len(c.Members), maxMembers+1)])
	for i, m := range c.Members {
		c.Members[i] = toolName(m)
	}
	return c
}

// Adopt applies what another engine of the fleet came to, as if it had happened
// here, but for the budget, which only charged changes. What is so already
// changes nothing. An opening takes part in SPEC section 7, unless it is told as
// an earlier one: a joiner hears of many at once. Controls of this
// engine's own operator are overruled by later ones from elsewhere, and nothing
// else: a tool that is forced open or disabled stays so. Errors: a change that is
// not valid, and ErrUnknownTool where strict mode does not know the tool; they
// change nothing.
func (x *Engine) Adopt(c Change, step int64, at time.Time) (Result, error) {
	c = c.clean()
	invalid := c.Validate()
	return x.try(OpAdopt, step, at, func() error {
		if x.cur.ev != nil {
			x.cur.ev.Change = &c
		}
		if invalid != nil || c.Tool == "" {
			return invalid
		}
		return x.named(c.Tool, "")
	}, func() {
		x.cur.adopting = true
		switch c.Kind {
		case ChangeIncident:
			x.adoptIncident(c)
		case ChangeConfirmed:
			if x.active != nil {
				x.confirm()
			}
		case ChangeCycle:
			x.newCycle()
		default:
			x.onTool(c.Tool, func(t *tool) { x.adopt(t, c) })
		}
	})
}

// adopt applies a change of one tool.
func (x *Engine) adopt(t *tool, c Change) {
	switch c.Kind {
	case ChangeForcedOpen:
		x.forceOpen(t, c.Why)
		return
	case ChangeDisabled:
		x.disable(t, c.Why)
		return
	case ChangeReset:
		x.reset(t, c.Why)
		return
	case ChangeCharged:
		x.charge(t, c.Failure, c.Text)
		return
	}
	if t.forced || t.off || t.outer != nil {
		return // the word of the operator, or of the other breaker, stands
	}
	from := t.m.State()
	switch {
	case c.Kind == ChangeClosed && from != breaker.Closed:
		t.freeProbe()
		t.m.Close()
		x.closed(t, from, "closed in the fleet")
		x.leave(t, true)
	case c.Kind == ChangeClosed:
	case from == breaker.Closed:
		x.adoptOpen(t, c)
		if c.Earlier { // nobody knows how long before
			t.ill().tripped = false
			return
		}
		x.cur.adopting = false // what follows from it was found out here
		x.correlate(t, c.Failure)
	case c.Kind == ChangeProbeFailed:
		x.adoptFailed(t, c)
	default:
		t.ill().private = false
	}
}

// adoptOpen opens a CLOSED tool as the fleet did.
func (x *Engine) adoptOpen(t *tool, c Change) {
	x.open(t, c.Failure, c.Run, "opened in the fleet")
	bad := t.ill()
	bad.k = c.FailedProbes
	bad.lastBad = &Moment{Step: x.cur.step, At: x.cur.at, Category: c.Failure.Category, Text: c.Text}
	bad.fails = []Moment{*bad.lastBad}
}

// adoptFailed is another's failed probe of a tool that is not CLOSED here.
func (x *Engine) adoptFailed(t *tool, c Change) {
	bad := t.ill()
	t.freeProbe()
	if t.m.State() == breaker.HalfOpen {
		x.reopened(t, "a probe failed in the fleet")
	}
	bad.private, bad.lease, bad.dueNow, bad.k = false, 0, false, c.FailedProbes
	bad.anchor = breaker.Anchor{Step: x.cur.step, At: x.cur.at}
	bad.lastBad = &Moment{Step: x.cur.step, At: x.cur.at, Category: c.Failure.Category, Text: c.Text}
	if t.inc != nil && !t.inc.active {
		t.inc.k = c.IncidentProbes
		t.inc.anchor(x.cur.moment())
	}
}

// adoptIncident flags what another engine has flagged; its openings came before
// it. If one is active here, it is the same event: its members join.
func (x *Engine) adoptIncident(c Change) {
	inc := &incident{cause: c.Cause, failure: c.Failure, pattern: c.Text, active: true, at: x.cur.moment()}
	for _, name := range c.Members {
		t := x.find(name)
		switch {
		case t == nil || t.forced || t.m.State() == breaker.Closed:
			continue
		case x.active == nil && t.inc != inc:
			x.enlist(t, inc)
		case x.active != nil && t.inc != x.active:
			x.join(t)
		}
		t.publish()
	}
	if x.active == nil {
		x.activate(inc)
	}
}

// share tells the fleet of a change that this engine came to by itself.
func (x *Engine) share(c Change) {
	f := x.fleet.Load()
	if x.fleetMode == FleetNone || x.cur.adopting || f == nil || f.Changed == nil {
		return
	}
	x.queue.add(notice{change: &c})
}

// shareTool is share for a change of a tool's state, unless the state is nobody
// else's business.
func (x *Engine) shareTool(t *tool, kind ChangeKind, f cascade.Failure, run int) {
	if x.fleetMode == FleetNone || t.private || t.outer != nil {
		return
	}
	c := Change{Kind: kind, Tool: t.name, Failure: f, Run: run, FailedProbes: t.k}
	if kind != ChangeClosed && t.lastBad != nil {
		c.Text = t.lastBad.Text
	}
	if t.inc != nil && !t.inc.active {
		c.IncidentProbes = t.inc.k
	}
	x.share(c)
}

// shareControl is share for an operator's control.
func (x *Engine) shareControl(t *tool, kind ChangeKind, why string) {
	x.share(Change{Kind: kind, Tool: t.name, Why: clip(why)})
}

// tellFleet calls the fleet's functions, if there is one still.
func (x *Engine) tellFleet(n notice) {
	f := x.fleet.Load()
	switch {
	case n.change != nil && f.Changed != nil:
		f.Changed(*n.change)
	case n.want != nil && f.Wanted != nil:
		f.Wanted(*n.want)
	}
}

// chargesShared reports whether the fleet has one budget.
func (x *Engine) chargesShared() bool {
	f := x.fleet.Load()
	return f != nil && f.Charges
}

// String returns none, leased or alone.
func (m FleetMode) String() string {
	switch m {
	case FleetLeased:
		return "leased"
	case FleetAlone:
		return "alone"
	}
	return "none"
}

// MarshalText writes the word.
func (m FleetMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the word.
func (m *FleetMode) UnmarshalText(text []byte) error {
	for _, known := range []FleetMode{FleetNone, FleetLeased, FleetAlone} {
		if known.String() == string(text) {
			*m = known
			return nil
		}
	}
	return fmt.Errorf("%.40q is not none, leased or alone", text)
}
