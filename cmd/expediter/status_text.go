package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/session"
)

// layout is how much of a standing a text has.
type layout struct {
	all     bool // the tools that are idle, too
	brief   bool // no lines below the tools, and nothing of the store
	colours bool
}

// text is the standing as lines.
func (v standing) text(l layout) []string {
	lines := v.head()
	lines = append(lines, "")
	lines = append(lines, v.table(l)...)
	lines = append(lines, "", v.spent())
	if len(v.HumanActions) > 0 {
		lines = append(lines, "", "For you to do:")
		for _, action := range v.HumanActions {
			lines = append(lines, "  - "+action)
		}
	}
	if l.brief {
		return lines
	}
	return append(lines, v.storeLines()...)
}

// head says which session it is, and whether everything waits.
func (v standing) head() []string {
	s := v.Session
	project := s.Project
	if project == "" {
		project = "an unknown project"
	}
	ended := ""
	if s.Ended {
		ended = ", ended"
	}
	prompts := ", " + count(s.Prompts, "prompt")
	if s.Agent == session.AgentProxy { // they are not heard of there
		prompts = ""
	}
	lines := []string{
		fmt.Sprintf("%s session %s in %s", s.who(), s.ID, project),
		fmt.Sprintf("Began %s, last seen %s%s%s", v.when(s.Began), v.when(s.Seen), prompts, ended),
		"Map: " + v.Map.Source,
	}
	if v.Map.Problem != "" {
		lines = append(lines, "Map problem: "+v.Map.Problem)
	}
	switch v.Fleet {
	case "leased":
		lines = append(lines, "Fleet: there when last asked; one trial of a tool at a time in all of it")
	case "alone":
		lines = append(lines, "Fleet: away when last asked; this session goes on by itself")
	}
	if v.ObserveOnly {
		lines = append(lines, "Observe only: every call is let through")
	}
	if v.Paused != "" {
		lines = append(lines, "", "PAUSED ("+v.Paused+"): no tool is called")
	} else if len(v.Incidents) > 0 || v.Suspicion != nil {
		lines = append(lines, "")
	}
	for _, i := range v.Incidents {
		state := "recovering"
		if i.Active {
			state = "active"
		}
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", i.Line, strings.Join(i.Members, ", "), state))
	}
	if v.Suspicion != nil {
		lines = append(lines, "Suspicion: "+v.Suspicion.Line)
	}
	return lines
}

// maxShown bounds a tool's name in the table, in runes.
const maxShown = 60

// table is the state table. Lines below a tool say why it is not closed and what
// stands in for it.
func (v standing) table(l layout) []string {
	rows := [][]string{{"Tool", "State", "Fails", "Last failure", "Last success", "Next trial"}}
	var below [][]string
	idle := 0
	for _, t := range v.Tools {
		if !l.all && t.idle {
			idle++
			continue
		}
		rows = append(rows, []string{redact.Text(t.Tool, maxShown), t.State, fmt.Sprint(t.Fails), v.failure(t), v.clock(t.LastSuccess), v.trial(t)})
		below = append(below, v.details(t))
	}
	lines := columns(rows, l.colours)
	if len(rows) > 1 && !l.brief {
		lines = interleave(lines, below)
	}
	switch {
	case len(rows) == 1 && idle == 0:
		lines = []string{"No tool is known yet."}
	case len(rows) == 1:
		lines = []string{"Nothing is known of any tool yet; " + count(idle, "tool") + " are closed (--all lists them)"}
	case idle > 0:
		lines = append(lines, count(idle, "more tool")+": closed, nothing known yet (--all lists them)")
	}
	return lines
}

// columns aligns rows, the first of which is the head; the last column is as
// long as it is. A state has its colour.
func columns(rows [][]string, colours bool) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], redact.Width(cell))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			text := cell
			if j < len(row)-1 {
				text = redact.Pad(cell, widths[j]) + "  "
			}
			if colours {
				text = inColour(cell, text)
			}
			b.WriteString(text)
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// interleave puts the details of each row below it; the first line is the head.
func interleave(lines []string, below [][]string) []string {
	out := lines[:1:1]
	for i, line := range lines[1:] {
		out = append(out, line)
		for _, detail := range below[i] {
			out = append(out, "    "+detail)
		}
	}
	return out
}

// details say what there is to know of a tool that is not well.
func (v standing) details(t toolView) []string {
	var lines []string
	if t.State != "CLOSED" || t.Disabled {
		lines = append(lines, "why: "+t.Health)
	}
	if f := t.LastFailure; f != nil && f.Text != "" && (t.State != "CLOSED" || t.Fails > 0) && !strings.Contains(t.Health, f.Text) {
		lines = append(lines, "last: "+f.Text)
	}
	if r := t.Route; r != nil {
		lines = append(lines, "instead: "+r.words())
	}
	return lines
}

func (r *routeView) words() string {
	switch {
	case r.To != "":
		text := r.To
		if r.Method != "" {
			text += ", " + r.Method
		}
		if r.Degradation == "" {
			return text + " (" + r.Label + ")"
		}
		return text + " (" + r.Label + ": " + r.Degradation + ")"
	case r.Ask != "":
		return r.Ask + " (" + r.Label + ")"
	}
	return "nothing; what needs it is left out (" + r.Label + ")"
}

func (v standing) failure(t toolView) string {
	f := t.LastFailure
	if f == nil {
		return "—"
	}
	return f.Class + " " + v.clock(f.At)
}

// trial says when a tool is tried next.
func (v standing) trial(t toolView) string {
	n := t.Next
	switch {
	case n == nil:
		return "—"
	case n.InFlight:
		return "under way"
	case n.WaitsFor == "another_breaker":
		return "another breaker decides"
	case n.WaitsFor != "":
		return "waits for 'expediter " + n.WaitsFor + "'"
	case n.Due:
		return "the next request"
	}
	var ways []string
	switch {
	case n.Attempts == 1, n.At > 0 && n.At <= v.Now:
		ways = append(ways, "the next request")
	case n.Attempts > 1:
		ways = append(ways, "after "+count(int(n.Attempts-1), "more request"))
	case n.Steps > 0:
		ways = append(ways, "in "+count(int(n.Steps), "step"))
	}
	if n.At > v.Now {
		ways = append(ways, "any from "+v.ahead(n.At)+" on")
	}
	text := strings.Join(ways, ", or ")
	if n.NotBefore > v.Now {
		text = strings.TrimLeft(text+", not before "+v.ahead(n.NotBefore), ", ")
	}
	return text
}

func (v standing) spent() string {
	b := v.Budget
	if b.Limit < 0 {
		return fmt.Sprintf("Failure budget: %d consumed in cycle %d, no limit", b.Consumed, b.Cycle)
	}
	return fmt.Sprintf("Failure budget: %d / %d consumed in cycle %d", b.Consumed, b.Limit, b.Cycle)
}

// storeLines tell what is wrong around the session.
func (v standing) storeLines() []string {
	lines := asideLines(v.Aside)
	if len(v.Trouble) > 0 {
		lines = append(lines, "", "Hook calls that let their tool run because of an error (hook.log):")
	}
	for _, t := range v.Trouble {
		lines = append(lines, "  - "+strings.TrimSpace(v.clock(t.At)+" "+t.Agent)+": "+redact.Text(t.Error, maxWhy))
	}
	if len(v.Unreadable) > 0 {
		lines = append(lines, "", "Sessions that cannot be read:")
	}
	for _, u := range v.Unreadable {
		lines = append(lines, "  - "+u)
	}
	return lines
}

func asideLines(aside []asideView) []string {
	var lines []string
	if len(aside) > 0 {
		lines = append(lines, "", "Set aside, since they were damaged or no sessions (look at them, or remove them):")
	}
	for _, a := range aside {
		lines = append(lines, fmt.Sprintf("  - %s: %s", a.Path, a.Why))
	}
	return lines
}

// clock is a moment in UTC as reports print it, with its day where that is not
// today's.
func (v standing) clock(ms int64) string {
	if ms == 0 {
		return "—"
	}
	t := time.UnixMilli(ms).UTC()
	if t.Format(time.DateOnly) == time.UnixMilli(v.Now).UTC().Format(time.DateOnly) {
		return t.Format("15:04:05Z")
	}
	return t.Format("2006-01-02 15:04:05Z")
}

// when is a moment that is past, and how long ago.
func (v standing) when(ms int64) string {
	if ms == 0 {
		return "—"
	}
	return v.clock(ms) + " (" + rough(v.Now-ms) + " ago)"
}

// ahead is a moment to come, and in how long.
func (v standing) ahead(ms int64) string { return v.clock(ms) + " (in " + rough(ms-v.Now) + ")" }

// rough is a span in its largest unit; a started second counts.
func rough(ms int64) string {
	switch s := (max(ms, 0) + 999) / 1000; {
	case s < 120:
		return fmt.Sprintf("%d s", s)
	case s < 2*3600:
		return fmt.Sprintf("%d min", s/60)
	case s < 48*3600:
		return fmt.Sprintf("%d h", s/3600)
	default:
		return fmt.Sprintf("%d days", s/86400)
	}
}
