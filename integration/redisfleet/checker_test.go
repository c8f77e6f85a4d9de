package redisfleet_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// account is what a member's journal comes to. Times are in milliseconds since 1970.
type account struct {
	member   string
	mode     expediter.FleetMode
	states   map[string]breaker.State
	trials   map[expediter.CallID]*trial
	openings []*opening
	calls    map[expediter.CallID]string // in flight, and their tools
	adopted  []expediter.Change
	paused   bool // ever
	wrong    []string
}

// trial is one PROBE.
type trial struct {
	tool    string
	leased  bool  // the engine was connected to its fleet
	ended   int64 // 0: never
	counted bool
	good    bool
}

// opening is one that the member came to by itself.
type opening struct {
	tool     string
	at, over int64 // over: it was CLOSED again; 0: it never was
	alone    bool  // by a trial without the fleet
}

func newAccount(member string) *account {
	return &account{member: member, states: map[string]breaker.State{}, trials: map[expediter.CallID]*trial{}, calls: map[expediter.CallID]string{}}
}

// state is how a tool stands in the engine.
func (a *account) state(tool string) breaker.State {
	if s, ok := a.states[tool]; ok {
		return s
	}
	return breaker.Closed
}

// idle reports whether no call is in flight.
func (a *account) idle() bool { return len(a.calls) == 0 }

// agrees reports whether the engine and the fleet say the same of every tool.
func (a *account) agrees(open map[string]bool, tools []string) bool {
	return !slices.ContainsFunc(tools, func(tool string) bool {
		return open[tool] != (a.state(tool) != breaker.Closed)
	})
}

// take adds one event of the journal.
func (a *account) take(e *expediter.Event) {
	a.paused = a.paused || e.Paused != expediter.NoReason
	switch e.Op {
	case expediter.OpShare:
		a.mode = e.Fleet
	case expediter.OpAdopt:
		a.adopted = append(a.adopted, *e.Change)
	case expediter.OpDecide:
		switch e.Decided.Decision {
		case expediter.Probe:
			a.trials[e.Call] = &trial{tool: e.Tool, leased: a.mode == expediter.FleetLeased}
			a.calls[e.Call] = e.Tool
		case expediter.Call:
			a.calls[e.Call] = e.Tool
		}
	case expediter.OpRecord:
		delete(a.calls, e.Call)
		if tr := a.trials[e.Call]; tr != nil {
			tr.ended, tr.counted, tr.good = e.At, !e.Stale, *e.Result == cascade.Succeeded
		}
	}
	for _, text := range e.Transitions {
		a.move(e, text)
	}
}

// move takes one transition, "Tool:FROM->TO@step".
func (a *account) move(e *expediter.Event, text string) {
	tool, states, _ := cutLast(text, ":")
	states, _, _ = strings.Cut(states, "@")
	from, to, _ := strings.Cut(states, "->")
	if was := a.state(tool); was.String() != from {
		a.wrong = append(a.wrong, fmt.Sprintf("%s: event %d: %s, but it was %v", a.member, e.Seq, text, was))
	}
	for _, s := range []breaker.State{breaker.Open, breaker.HalfOpen, breaker.Closed} {
		if s.String() == to {
			a.states[tool] = s
		}
	}
	switch {
	case from == breaker.Closed.String() && e.Op == expediter.OpRecord:
		a.openings = append(a.openings, &opening{tool: tool, at: e.At})
	case to == breaker.Closed.String():
		for _, o := range a.openings {
			if o.tool == tool && o.over == 0 {
				o.over, o.alone = e.At, e.Op == expediter.OpRecord && a.mode != expediter.FleetLeased
			}
		}
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// logged is one entry of the fleet's log.
type logged struct {
	id, prev, member string
	ms               int64
	change           expediter.Change
}

func parseLogged(m redis.XMessage) (logged, error) {
	field := func(name string) string { s, _ := m.Values[name].(string); return s }
	l := logged{id: m.ID, prev: field("p"), member: field("m")}
	if _, err := fmt.Sscanf(m.ID, "%d-", &l.ms); err != nil {
		return l, err
	}
	return l, json.Unmarshal([]byte(field("c")), &l.change)
}

// history is all that a fleet has left: the journals, the log, what the tools saw.
type history struct {
	accounts []*account
	segments [][]logged      // each that Redis has lost in whole, and the present one
	view     map[string]bool // tools that are not CLOSED
	requests []request       // by their beginnings
	tools    []string
	stood    map[string]bool // members that stood still, or died, in the middle of a trial
}

// faults are the ways in which the history is not one of a fleet.
func (h history) faults() []string {
	var found []string
	for _, a := range h.accounts {
		found = append(found, a.wrong...)
	}
	for i, log := range h.segments {
		found = append(found, h.order(log, i == len(h.segments)-1)...)
	}
	found = append(found, h.overlaps()...)
	return append(found, h.losses()...)
}

// order checks that each entry follows from those before it, that each end of a
// generation by a trial is one counted trial of the member that told it, and that
// the log folds to the view.
func (h history) order(log []logged, last bool) []string {
	var found []string
	bad := func(l logged, format string, args ...any) {
		found = append(found, fmt.Sprintf("log %s, %s of %s by %s: ", l.id, l.change.Kind, l.change.Tool, l.member)+fmt.Sprintf(format, args...))
	}
	since := map[string]int64{} // open tools, and when their generation began
	prev := ""
	for _, l := range log {
		began, open := since[l.change.Tool]
		if l.prev != prev {
			bad(l, "it follows %q, not %q", l.prev, prev)
		}
		prev = l.id
		switch l.change.Kind {
		case expediter.ChangeOpened:
			if open {
				bad(l, "it is open")
			}
			since[l.change.Tool] = l.ms
			continue
		case expediter.ChangeProbeFailed:
			since[l.change.Tool] = l.ms
		case expediter.ChangeClosed:
			delete(since, l.change.Tool)
		default:
			bad(l, "nobody here does that")
			continue
		}
		switch by := h.counted(l.change.Tool, began, l.ms); {
		case !open:
			bad(l, "it is not open")
		case len(by) != 1:
			bad(l, "the generation has %d counted trials, by %v", len(by), by)
		case by[0] != fmt.Sprint(l.member, l.change.Kind == expediter.ChangeClosed):
			bad(l, "the counted trial is %s", by[0])
		}
	}
	for _, tool := range h.tools {
		if _, open := since[tool]; last && open != h.view[tool] {
			found = append(found, fmt.Sprintf("%s: open by the log: %v, by the view: %v", tool, open, !open))
		}
	}
	return found
}

// counted lists whose leased trials of a tool ended within a time and were counted,
// each with whether it was good.
func (h history) counted(tool string, after, until int64) []string {
	var by []string
	for _, a := range h.accounts {
		for _, tr := range a.trials {
			if tr.tool == tool && tr.leased && tr.counted && after < tr.ended && tr.ended <= until {
				by = append(by, fmt.Sprint(a.member, tr.good))
			}
		}
	}
	return by
}

// overlaps checks that the tools saw one leased trial at a time, but for members
// that stood still in one.
func (h history) overlaps() []string {
	leased := map[string]map[expediter.CallID]*trial{}
	for _, a := range h.accounts {
		leased[a.member] = a.trials
	}
	var found []string
	latest := map[string]request{}
	for _, r := range h.requests {
		if tr := leased[r.member][r.call]; !r.probe || tr == nil || !tr.leased || h.stood[r.member] {
			continue
		}
		if l, ok := latest[r.tool]; ok && r.began < l.ended {
			found = append(found, fmt.Sprintf("%s: call %d of %s began %v before call %d of %s ended", r.tool, r.call, r.member,
				time.Duration(l.ended-r.began), l.call, l.member))
		}
		latest[r.tool] = r
	}
	return found
}

// crossing is how long an opening may take to get to the fleet, and the fleet's
// word on its tool to a member.
const crossing = 500 // milliseconds

// losses checks that whatever a member found to be down was open in the fleet at
// some time, unless it was found to be up again by the member while alone.
func (h history) losses() []string {
	var found []string
	for _, a := range h.accounts {
		for _, o := range a.openings {
			if !o.alone && !h.wasOpen(o) {
				found = append(found, fmt.Sprintf("%s opened %s at %d (until %d), and the fleet never did", a.member, o.tool, o.at, o.over))
			}
		}
	}
	return found
}

// wasOpen reports whether the fleet had a tool open while a member did.
func (h history) wasOpen(o *opening) bool {
	for _, log := range h.segments {
		open := false
		for _, l := range log {
			if l.change.Tool != o.tool || l.change.Kind == expediter.ChangeProbeFailed {
				continue
			}
			if open && l.ms >= o.at-crossing {
				return true // it ends
			}
			if open = l.change.Kind == expediter.ChangeOpened; open && o.over != 0 && l.ms > o.over+crossing {
				open = false // another one
			}
		}
		if open {
			return true
		}
	}
	return false
}
