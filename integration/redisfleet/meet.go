package redisfleet

import (
	"crypto/rand"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

func newEpoch() string { return rand.Text() }

// meet brings the engine and a scope that was just read together. Where one of
// them knows of something newer, the other takes it over: the fleet's generations
// say whether it has moved on since this member last saw it, or has forgotten
// something (a Redis that was restarted empty, or failed over with a shorter log).
func (f *Fleet) meet(found scene) {
	now := read(found, f.o, f.comment)
	f.mu.Lock()
	before := f.view
	now.members = found.members
	if before.epoch == now.epoch {
		now.cycle = before.cycle
	}
	f.view, f.live = now, true // from here on changes are offered, on top of this
	f.rebaseLocked(before)
	f.keepShownLocked(before)
	clear(f.unshared)
	f.mu.Unlock()
	f.seen = now.last
	if before.epoch != now.epoch {
		f.dropLeases()
	}
	f.meetTools(before)
	f.meetIncident(before)
	if f.o.SharedBudget {
		f.meetBudget(found, before)
	}
}

// keepShownLocked leaves out of the view what the engine cannot be shown yet, since
// a change of its own is under way. Else an opening from before would pass for one
// that has come since.
func (f *Fleet) keepShownLocked(before view) {
	for tool := range f.unsettled {
		was, known := before.tools[tool]
		switch {
		case tool == "" || before.epoch != f.view.epoch || !was.gen.before(f.view.tools[tool].gen):
		case known:
			f.view.tools[tool] = was
		default:
			delete(f.view.tools, tool)
		}
	}
}

// rebaseLocked puts what waits in the outbox on the generations that are there, where
// the fleet has forgotten those that it was based on.
func (f *Fleet) rebaseLocked(before view) {
	for i := range f.outbox {
		o := &f.outbox[i]
		if tool, ok := o.about(); ok && f.view.at(tool).gen.before(before.at(tool).gen) {
			o.base = f.view.at(tool).gen
		}
	}
}

// meetTools compares every tool that one of the two knows.
func (f *Fleet) meetTools(before view) {
	here := map[string]standing{}
	for _, row := range f.engine.Status().Tools {
		here[row.Tool] = standingOf(row)
	}
	for tool := range f.view.tools {
		if _, known := here[tool]; !known {
			here[tool] = standing{}
		}
	}
	for tool, s := range here {
		if !f.private(tool) {
			f.meetTool(tool, s, before)
		}
	}
}

// meetTool compares one tool.
func (f *Fleet) meetTool(tool string, s standing, before view) {
	now, was := f.view.tools[tool], before.tools[tool]
	f.mu.Lock()
	_, waits := f.unsettled[tool]
	f.mu.Unlock()
	first, anew := before.epoch == "", before.epoch != f.view.epoch
	newer := anew && now.kind != "" || was.gen.before(now.gen)
	switch {
	case waits: // the verdict on it brings the two together
	case newer && (first || !f.insists(s, now, was, anew)):
		f.takeOver(tool, s, now, was)
	case s.private || s.external:
	case !f.offers(tool, s, now, first):
		f.takeOver(tool, s, now, was)
	}
}

// insists reports whether the engine is under a control that the fleet does not know
// of: it was given while the fleet was away, or a fleet that began anew has lost it.
func (f *Fleet) insists(s standing, now, was entry, anew bool) bool {
	if s.control() == "" || now.control() != "" || anew && now.kind == expediter.ChangeReset {
		return false
	}
	return anew || was.kind != s.control()
}

// takeOver lets the engine adopt what the fleet knows.
func (f *Fleet) takeOver(tool string, s standing, now, was entry) {
	if s.control() != "" && now.control() == "" && now.kind != expediter.ChangeReset && s.control() == was.kind {
		f.adopt(expediter.Change{Kind: expediter.ChangeReset, Tool: tool}) // before what is there now came to be
		s = standing{private: s.private, external: s.external}
	}
	c, differs := now.against(tool, s)
	again := now.kind == expediter.ChangeProbeFailed && s.open && !s.private && was.gen != now.gen
	if differs || again {
		f.adopt(c)
	}
}

// offers offers what the engine knows and the fleet does not, and reports whether
// there was such a thing. What was forced before the engine first joined is not
// offered.
func (f *Fleet) offers(tool string, s standing, now entry, first bool) bool {
	row, ok := f.engine.Tool(tool)
	c := expediter.Change{Tool: tool, Why: row.Reason}
	switch {
	case !ok:
		return false
	case s.forced && now.kind != expediter.ChangeForcedOpen:
		c.Kind = expediter.ChangeForcedOpen
	case s.disabled && now.kind != expediter.ChangeDisabled:
		c.Kind = expediter.ChangeDisabled
	case s.control() == "" && now.control() != "":
		c.Kind = expediter.ChangeReset
	case s.open && !s.forced && now.plain():
		c = openingOf(row)
	default:
		return false
	}
	if first && c.Kind != expediter.ChangeOpened {
		return true
	}
	f.offer(c)
	return true
}

// offer offers a change that the engine came to while the fleet was away, unless
// it has come to a newer one since.
func (f *Fleet) offer(c expediter.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, newer := f.unsettled[c.Tool]; !newer {
		f.offerLocked(c)
	}
}

// meetIncident compares the active incident, and tells a joiner of one that is
// recovering.
func (f *Fleet) meetIncident(before view) {
	f.mu.Lock()
	_, waits := f.unsettled[""]
	f.mu.Unlock()
	if waits {
		return // the verdict on it brings the two together
	}
	own, here := f.incidentHere()
	now := f.view.incident
	news := before.epoch != f.view.epoch || before.incident.gen.before(now.gen)
	switch {
	case now.kind == expediter.ChangeIncident && !here && !news:
		if len(f.shared(now.change.Members)) > 0 { // else it was never adopted
			f.offer(expediter.Change{Kind: expediter.ChangeConfirmed, Why: "confirmed while the fleet was away"})
		}
	case now.kind == expediter.ChangeIncident:
		f.flag(now)
	case now.kind == expediter.ChangeConfirmed && news:
		f.meetRecovering(now, here)
	case here && len(own.Members) > 0:
		f.offer(own)
	case here && before.incident.kind == expediter.ChangeIncident: // adopted while all its members were forced open
		f.offer(before.incident.change)
	}
}

// incidentHere is the engine's active incident as it is told the fleet, as far as its
// members are shared. It is false if none is active.
func (f *Fleet) incidentHere() (expediter.Change, bool) {
	for _, i := range f.engine.Status().Incidents {
		if !i.Active {
			continue
		}
		c := expediter.Change{Kind: expediter.ChangeIncident, Cause: i.Cause, Text: i.Pattern, Members: f.shared(i.Flagged)}
		if i.Cause == cascade.CauseSignature {
			c.Failure.Signature = i.Pattern
		}
		_ = c.Failure.Category.UnmarshalText([]byte(i.Cause)) // "signature" and "mixed" are none
		return c, true
	}
	return expediter.Change{}, false
}

// meetRecovering adopts an incident that is recovering: its open members share one
// backoff, which is as long as the latest failed trial has made it.
func (f *Fleet) meetRecovering(now entry, active bool) {
	if active {
		f.adopt(expediter.Change{Kind: expediter.ChangeConfirmed})
		return
	}
	c := now.change
	var open []string
	var latest entry
	for _, m := range f.shared(c.Members) {
		e := f.view.tools[m]
		if !e.open() || e.inc != now.inc {
			continue
		}
		open = append(open, m)
		if e.kind == expediter.ChangeProbeFailed && latest.gen.before(e.gen) {
			latest = e
		}
	}
	if c.Members = open; len(open) == 0 {
		return
	}
	f.adopt(c)
	f.adopt(expediter.Change{Kind: expediter.ChangeConfirmed})
	if latest.kind != "" {
		f.adopt(latest.change)
	}
}

// meetBudget adopts the cycle and the charges that this member has missed, and
// takes those of its own out of the outbox that got through.
func (f *Fleet) meetBudget(found scene, before view) {
	cycle, err := parsePlace(found.cycle)
	if err != nil {
		f.comment("cycle", err)
	}
	seen := before.last
	if before.epoch != f.view.epoch {
		seen = place{}
	}
	if f.view.cycle.before(cycle) {
		f.mu.Lock()
		f.view.cycle = cycle
		f.mu.Unlock()
		f.adopt(expediter.Change{Kind: expediter.ChangeCycle})
	}
	for i := range min(len(found.charges), maxCharges) {
		t, err := parseCharge(found.charges.text(i))
		switch {
		case err != nil:
			f.comment("charges", err)
		case f.gotThrough(t.serial):
		case seen.before(t.at):
			f.hearBudget(t)
		}
	}
}

// gotThrough takes a change of this engine's own out of the outbox that the fleet
// has accepted, though the answer was lost.
func (f *Fleet) gotThrough(serial string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, o := range f.outbox {
		if o.serial == serial {
			f.outbox = append(f.outbox[:i:i], f.outbox[i+1:]...)
			return true
		}
	}
	return false
}
