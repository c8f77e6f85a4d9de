package redisfleet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// errFull: the fleet's view has no room for one more tool.
var errFull = errors.New("the fleet has no room for more tools; some are this process's own now. Raise Options.MaxTools everywhere, or look who opens so many")

// apply takes one entry of the log in, in the log's order.
func (f *Fleet) apply(m redis.XMessage) error {
	t, err := parseTold(m.ID, m.Values)
	if t.at == (place{}) {
		f.comment("log", err) // nothing of ours: not even a place in the order
		return nil
	}
	if !f.view.last.before(t.at) {
		return nil
	}
	if t.prev != f.view.last {
		return fmt.Errorf("%w: %v follows %v, and %v was the latest here", errBehind, t.at, t.prev, f.view.last)
	}
	f.mu.Lock()
	f.view.last = t.at
	f.mu.Unlock()
	f.saw(t.at)
	if err != nil {
		f.comment("log", err)
		return nil
	}
	f.hear(t)
	return nil
}

// saw notes that a place is in the log. A log that ends before it has lost it.
func (f *Fleet) saw(at place) {
	if f.seen.before(at) {
		f.seen = at
	}
}

// hear adopts what another member came to; what this one has told is known.
func (f *Fleet) hear(t told) {
	c := t.change
	if (offer{change: c}).budget() {
		f.hearBudget(t)
		return
	}
	if !f.view.at(c.Tool).gen.before(t.at) {
		return
	}
	f.fold(t)
	f.forget(c.Tool) // what is accepted of a tool ends its lease
	if c.Members = f.shared(c.Members); c.Kind != expediter.ChangeIncident || len(c.Members) > 0 {
		f.adopt(c)
	}
}

// hearBudget adopts a charge or a cycle of the shared budget.
func (f *Fleet) hearBudget(t told) {
	own := len(t.serial) > len(f.serials) && t.serial[:len(f.serials)] == f.serials
	if !f.o.SharedBudget || own || f.private(t.change.Tool) {
		return
	}
	if t.change.Kind == expediter.ChangeCycle {
		f.mu.Lock()
		f.view.cycle = t.at
		f.mu.Unlock()
	}
	f.adopt(t.change)
}

// fold changes the view as the script has changed what is in Redis.
func (f *Fleet) fold(t told) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view.fold(t)
}

// at is what the view says of a tool, or with "" of the incident.
func (v *view) at(tool string) entry {
	if tool == "" {
		return v.incident
	}
	return v.tools[tool]
}

// fold is the effect of one accepted change.
func (v *view) fold(t told) {
	c := t.change
	e := entry{kind: c.Kind, gen: t.at, member: t.member, change: c}
	switch c.Kind {
	case expediter.ChangeCharged, expediter.ChangeCycle:
		return
	case expediter.ChangeConfirmed:
		e.inc, e.change = v.incident.inc, v.incident.change
		v.incident = e
		return
	case expediter.ChangeIncident:
		e.inc = t.at
		v.incident = e
		for _, m := range c.Members {
			if member := v.tools[m]; member.open() {
				member.inc = t.at
				v.tools[m] = member
			}
		}
		return
	case expediter.ChangeClosed, expediter.ChangeReset:
		e.change = expediter.Change{Kind: c.Kind, Tool: c.Tool}
	case expediter.ChangeProbeFailed:
		e.inc = v.tools[c.Tool].inc
	}
	v.tools[c.Tool] = e
}

// learn takes in how a tool, or with "" the incident, stands in Redis, as a refusal
// said it, and brings the engine in line. An empty text is one of which nothing is
// known there.
func (f *Fleet) learn(tool, text string) {
	e := entry{}
	if text != "" {
		var err error
		if e, err = parseEntry(tool, text); err != nil {
			f.comment("entry "+tool, err)
			f.replace(tool, text)
			return
		}
	}
	f.saw(e.gen)
	f.mu.Lock()
	_, waits := f.unsettled[tool]
	switch {
	case waits:
		f.mu.Unlock()
		return // the view is what the engine was shown, and it has come to something newer: the verdict on that tells it
	case tool == "" && f.view.incident.gen.before(e.gen):
		f.mu.Unlock()
		return // the log brings it, behind the openings that it is about
	case f.view.at(tool).gen.before(e.gen):
		was := f.view.tools[tool]
		f.view.tools[tool] = e
		delete(f.leases, tool) // it was of an older generation
		f.mu.Unlock()
		f.skipTo(tool, e, was)
		return
	case text == "":
		delete(f.view.tools, tool)
	}
	f.mu.Unlock()
	f.reconcile(tool)
}

// skipTo makes the engine agree with a newer entry of a tool, ahead of the log, which
// will not be heard about it any more: the engine may be open as the entry says, and
// yet wait for a trial that others have made meanwhile.
func (f *Fleet) skipTo(tool string, now, was entry) {
	if f.private(tool) {
		return
	}
	row, _ := f.engine.Tool(tool)
	s := standingOf(row)
	if s.open && !s.private && was.open() && now.kind == expediter.ChangeOpened { // it was closed in between
		f.adopt(expediter.Change{Kind: expediter.ChangeClosed, Tool: tool})
		row, _ = f.engine.Tool(tool)
		s = standingOf(row)
	}
	f.takeOver(tool, s, now, was)
}

// replace offers what the engine knows in place of an entry that is not understood,
// by naming its generation.
func (f *Fleet) replace(tool, text string) {
	part := strings.SplitN(text, " ", 4)
	if len(part) < 4 {
		return // the scripts read it as none
	}
	c, ok := f.incidentHere()
	ok = ok && len(c.Members) > 0
	if tool != "" {
		row, _ := f.engine.Tool(tool)
		c, ok = openingOf(row), standingOf(row).open && !row.Private
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, newer := f.unsettled[tool]; ok && !newer {
		f.offerLocked(c)
		f.outbox[len(f.outbox)-1].token = part[2]
	}
}

// openingOf is the opening that an engine's open tool comes from.
func openingOf(row expediter.ToolStatus) expediter.Change {
	c := expediter.Change{Kind: expediter.ChangeOpened, Tool: row.Tool, Failure: row.Trip, Run: row.Run, FailedProbes: row.FailedProbes}
	if row.LastFailure != nil {
		c.Text = row.LastFailure.Text
	}
	return c
}

// reconcile makes the engine agree with the view about one tool, or with "" about
// the incident, unless it has just come to something newer.
func (f *Fleet) reconcile(tool string) {
	f.mu.Lock()
	_, waits := f.unsettled[tool]
	e := f.view.at(tool)
	f.mu.Unlock()
	switch {
	case waits:
	case tool == "" && e.kind == expediter.ChangeConfirmed:
		f.adopt(expediter.Change{Kind: expediter.ChangeConfirmed})
	case tool == "" && e.kind == expediter.ChangeIncident:
		f.flag(e)
	case tool != "" && !f.private(tool):
		row, _ := f.engine.Tool(tool)
		if c, differs := e.against(tool, standingOf(row)); differs {
			f.adopt(c)
		}
	}
}

// flag adopts an active incident, as far as its members are shared.
func (f *Fleet) flag(e entry) {
	c := e.change
	if c.Members = f.shared(c.Members); len(c.Members) > 0 {
		f.adopt(c)
	}
}

// standing is how a tool stands in the engine. The zero standing is CLOSED.
type standing struct {
	open             bool // not CLOSED
	forced, disabled bool
	private          bool // open for a reason that is no business of the fleet's
	external         bool // another breaker decides
}

func standingOf(s expediter.ToolStatus) standing {
	return standing{open: s.Tool != "" && s.State != breaker.Closed, forced: s.Forced, disabled: s.Disabled, private: s.Private, external: s.External != nil}
}

// control is the operator's control that the tool is under; empty: none.
func (s standing) control() expediter.ChangeKind {
	switch {
	case s.forced:
		return expediter.ChangeForcedOpen
	case s.disabled:
		return expediter.ChangeDisabled
	}
	return ""
}

func (s standing) plain() bool { return !s.open && !s.forced && !s.disabled }

// against is what an engine has to adopt so that it agrees with the entry.
func (e entry) against(tool string, s standing) (expediter.Change, bool) {
	c := e.change
	c.Kind, c.Tool, c.Earlier = e.kind, tool, true
	switch {
	case e.kind == expediter.ChangeForcedOpen:
		return c, !s.forced
	case e.kind == expediter.ChangeDisabled:
		return c, !s.disabled
	case s.external:
		return c, false
	case e.open():
		return c, s.plain() || s.private
	case s.forced || s.disabled: // ended by a reset alone
		return c, e.kind == expediter.ChangeReset
	}
	c.Kind = expediter.ChangeClosed
	return c, s.open && !s.private
}

// adopt tells the engine.
func (f *Fleet) adopt(c expediter.Change) {
	if c.Tool != "" && f.private(c.Tool) {
		return
	}
	_, err := f.engine.Adopt(c, expediter.NoStep, f.o.Now())
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil:
		f.status.Counts.Adopted++
	case !errors.Is(err, expediter.ErrUnknownTool):
		f.commentLocked("change of "+c.Tool, err)
	}
}
