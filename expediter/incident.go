package expediter

import (
	"slices"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// incident is one common cause and the tools it took down (SPEC section 7). It
// is active until its recovery is confirmed, then recovering until its last
// member closes.
type incident struct {
	cause    string
	failure  cascade.Failure  // the flagging one
	pattern  string           // its text, for reports
	flagged  []cascade.Source // the tools flagged with it: what matches is seen from these
	names    []string         // of flagged, sorted
	members  []*tool          // still in it
	active   bool
	declared bool
	shares   []string // what all flagged tools share
	k        int      // failed probes since confirmation, or since one closed a member
	at       cascade.Moment
}

func (i *incident) mixed() bool { return i.cause == cascade.CauseMixed }

// absorbs reports whether a failure is the same event as an active incident.
func (i *incident) absorbs(t *tool, f cascade.Failure) bool {
	if i.mixed() {
		return t.inc == i
	}
	return i.matches(f, t.source())
}

// matches compares a failure with the flagging one, as seen from any of the
// tools flagged with it.
func (i *incident) matches(f cascade.Failure, from cascade.Source) bool {
	return slices.ContainsFunc(i.flagged, func(s cascade.Source) bool {
		return cascade.Match(f, from, i.failure, s)
	})
}

// anchor starts the distance to the probes of all open members anew.
func (i *incident) anchor(now cascade.Moment) {
	for _, m := range i.members {
		if m.m.State() == breaker.Open {
			bad := m.ill()
			bad.anchor, bad.dueNow = breaker.Anchor{Step: now.Step, At: now.At}, false
		}
	}
}

// verge is SPEC section 7, rule 2.
func (x *Engine) verge(t *tool, f cascade.Failure) {
	if x.active != nil || !x.ledger.Exhausted() {
		return
	}
	found, ok := x.detector.Verge(t.source(), f, x.cur.moment(), x.look())
	if !ok {
		return
	}
	x.open(t, f, t.m.Fails(), "on the verge: the budget is exhausted by one cause")
	x.flag(t, f, found)
}

// flag makes a finding the active incident.
func (x *Engine) flag(t *tool, f cascade.Failure, found cascade.Finding) {
	inc := &incident{cause: found.Cause, failure: f, pattern: pattern(t, f), active: true, at: x.cur.moment()}
	for _, order := range found.Suspects {
		s := x.hotTool(order)
		x.open(s, s.latest, s.m.Fails(), "suspect of the same failure")
	}
	for _, order := range found.Members {
		x.enlist(x.hotTool(order), inc)
	}
	x.activate(inc)
	x.share(Change{Kind: ChangeIncident, Failure: f, Text: inc.pattern, Cause: inc.cause, Members: slices.Clone(inc.names)})
}

// activate begins an incident whose members are enlisted.
func (x *Engine) activate(inc *incident) {
	inc.shares = common(inc.flagged)
	x.active = inc
	x.live = append(x.live, inc)
	x.ledger.Fold(func(c *budget.Charge) bool { return x.folds(inc, c) })
	x.dropScores()
	x.cur.systemic = &SystemicOutput{Cause: inc.cause, Members: inc.names}
	x.told(IncidentFlagged, inc.cause, inc.names)
}

// pattern is the words of a failure for the systemic report.
func pattern(t *tool, f cascade.Failure) string {
	if f.Signature != "" {
		return f.Signature
	}
	if t.lastBad != nil {
		return t.lastBad.Text
	}
	return ""
}

// enlist makes the tool a flagged member; a tool belongs to one incident.
func (x *Engine) enlist(t *tool, inc *incident) {
	x.leave(t, false)
	t.inc = inc
	inc.members = append(inc.members, t)
	inc.flagged = append(inc.flagged, t.source())
	inc.names = insertSorted(inc.names, t.name)
}

func insertSorted(names []string, n string) []string {
	i, _ := slices.BinarySearch(names, n)
	return slices.Insert(names, i, n)
}

// folds reports whether a charge belongs to the incident that is flagged.
func (x *Engine) folds(inc *incident, c *budget.Charge) bool {
	t := x.find(c.Tool)
	if t == nil || t.inc != inc {
		return false
	}
	if inc.mixed() {
		return true
	}
	var category cascade.Category
	if category.UnmarshalText([]byte(c.Category)) != nil {
		return false
	}
	return inc.matches(cascade.Failure{Category: category, Signature: c.Signature}, t.source())
}

// common returns what every source shares.
func common(sources []cascade.Source) []string {
	if len(sources) == 0 {
		return nil
	}
	shared := slices.Clone(sources[0].Shares)
	return slices.DeleteFunc(shared, func(thing string) bool {
		return slices.ContainsFunc(sources, func(s cascade.Source) bool { return !slices.Contains(s.Shares, thing) })
	})
}

// join takes a tool that has just opened into the active incident. What
// matches the incident does not widen.
func (x *Engine) join(t *tool) {
	x.leave(t, false)
	t.inc = x.active
	x.active.members = append(x.active.members, t)
	x.told(IncidentJoined, x.active.cause, []string{t.name})
}

// leave takes a tool out of its incident. After a good probe of a recovering
// incident the shared backoff starts over and the other open members are due.
func (x *Engine) leave(t *tool, goodProbe bool) {
	inc := t.inc
	if inc == nil {
		return
	}
	t.inc = nil
	t.ill().dueNow = false
	inc.members = slices.DeleteFunc(inc.members, func(m *tool) bool { return m == t })
	if inc.active {
		return
	}
	if goodProbe {
		inc.k = 0
		for _, m := range inc.members {
			m.ill().dueNow = m.m.State() == breaker.Open
		}
	}
	x.endIfEmpty(inc)
}

func (x *Engine) endIfEmpty(inc *incident) {
	if len(inc.members) > 0 || inc.active {
		return
	}
	x.live = slices.DeleteFunc(x.live, func(i *incident) bool { return i == inc })
	x.told(IncidentEnded, inc.cause, inc.names)
}

// confirm makes the active incident recovering.
func (x *Engine) confirm() {
	inc := x.active
	x.active, inc.active, inc.k = nil, false, 0
	inc.anchor(x.cur.moment())
	x.dropScores()
	x.told(IncidentConfirmed, inc.cause, inc.names)
	x.endIfEmpty(inc)
}

// autoConfirm is confirm_after_ms (SPEC section 7).
func (x *Engine) autoConfirm() {
	after := x.cfg.Policy.Cascade.ConfirmAfterMS
	if x.active == nil || after <= 0 || x.cur.at-x.active.at.At < after {
		return
	}
	x.confirm()
	x.share(Change{Kind: ChangeConfirmed, Why: "confirm_after_ms"})
	x.publishGate()
	x.notePause(x.pauseReason())
}

// dropScores forgets every pre-call score: an incident has changed what they
// were worth.
func (x *Engine) dropScores() {
	clear(x.scores)
	for _, t := range x.table.rows {
		if t.score != 0 {
			t.score = 0
			t.publish()
		}
	}
}

// suspicion is SPEC section 7, rule 4. The same suspicion is told once.
func (x *Engine) suspicion(t *tool, f cascade.Failure) {
	if len(x.hot) < x.detector.MinTools {
		return
	}
	found, ok := x.detector.Suspected(t.source(), f, x.cur.moment(), x.look())
	if !ok {
		return
	}
	s := &SystemicOutput{Cause: found.Cause}
	for _, order := range found.Members {
		s.Members = insertSorted(s.Members, x.hotTool(order).name)
	}
	if x.suspect != nil && x.suspect.Cause == s.Cause && slices.Equal(x.suspect.Members, s.Members) {
		return
	}
	x.suspect, x.cur.suspected = s, s
	x.told(IncidentSuspected, s.Cause, s.Members)
}

// told tells the observer of incidents.
func (x *Engine) told(kind IncidentKind, cause string, members []string) {
	if x.events.Incident != nil {
		x.queue.add(notice{incident: &IncidentEvent{Kind: kind, Cause: cause, Members: slices.Clone(members), Step: x.cur.step, At: x.cur.at}})
	}
}
