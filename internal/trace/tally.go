package trace

import "github.com/expediter-go/expediter/cascade"

// maxDropped bounds the calls told before whose results are still to come.
const maxDropped = 1 << 12

// tally leaves out what was told before, and counts the rest. Entries of
// sources must come in the order of the sources.
type tally struct {
	seen     *Seen
	yield    func(*Event) error
	stats    Stats
	format   string // of the latest entry
	sessions map[string]*counted
}

// counted is a session that the tally has met.
type counted struct {
	told          bool // something of it was handed on
	calls, closed int
	dropped       map[int]struct{} // calls told before
}

func newTally(file string, seen *Seen, yield func(*Event) error) *tally {
	if seen == nil {
		seen = new(Seen)
	}
	return &tally{seen: seen, yield: yield, stats: Stats{File: file}, sessions: map[string]*counted{}}
}

// take hands an entry on, unless it was told before.
func (t *tally) take(e *entry) error {
	t.format = e.Format
	c := t.sessions[e.Session]
	if c == nil {
		c = &counted{}
		t.sessions[e.Session] = c
	}
	if t.repeated(c, e) {
		return nil
	}
	if e.Kind == End {
		delete(t.sessions, e.Session)
		t.stats.Open += c.calls - c.closed
		if !c.told {
			return nil
		}
	} else if !c.told {
		c.told = true
		t.stats.Sessions++
	}
	t.count(c, e)
	event := e.Event
	return t.yield(&event)
}

func (t *tally) repeated(c *counted, e *entry) bool {
	switch e.Kind {
	case Prompt:
		return e.id != 0 && t.seen.add(e.id)
	case Issue:
		if e.id == 0 || !t.seen.add(e.id) {
			return false
		}
		t.stats.Repeated++
		if c.dropped == nil || len(c.dropped) >= maxDropped {
			c.dropped = map[int]struct{}{}
		}
		c.dropped[e.Call] = struct{}{}
		return true
	case Result:
		_, ok := c.dropped[e.Call]
		delete(c.dropped, e.Call)
		return ok
	}
	return false
}

func (t *tally) count(c *counted, e *entry) {
	switch e.Kind {
	case Prompt:
		t.stats.Prompts++
	case Issue:
		t.stats.Calls++
		c.calls++
	case Result:
		c.closed++
		if e.How == Judged {
			t.stats.Judged++
		}
		switch {
		case e.Verdict.Outcome == cascade.Failed:
			t.stats.Failures++
		case e.Verdict.Outcome == cascade.Ignored:
			t.stats.Ignored++
		case e.Verdict.Class != classOK:
			t.stats.Answered++
		}
	}
}

// cut is the counts of a source whose reading was ended by the caller.
func (t *tally) cut() Stats {
	return t.finish(Stats{Format: t.format, Problem: "ended early"})
}

// finish joins the counts with those of the reading.
func (t *tally) finish(read Stats) Stats {
	s := t.stats
	s.Format, s.Bytes, s.Records, s.Foreign, s.Broken = read.Format, read.Bytes, read.Records, read.Foreign, read.Broken
	s.Orphans, s.Torn, s.Problem = read.Orphans, read.Torn, read.Problem
	return s
}
