package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/runner"
	"github.com/expediter-go/expediter/internal/task"
)

// display shows a run while it works.
type display interface {
	progress(runner.Progress)
	end()
}

// newDisplay returns a live table where w is a terminal, plain lines elsewhere.
// fleet says how the run stands to its fleet; empty: it belongs to none.
func newDisplay(w io.Writer, t *task.File, status func() expediter.Status, fleet func() string) display {
	plain := &lines{w: w, checked: map[string]capability.Score{}}
	for _, tool := range t.Tools {
		plain.column = max(plain.column, utf8.RuneCountInString(redact.Text(tool.Name, maxToolName)))
	}
	f := redrawable(w)
	if f == nil {
		plain.fleet = fleet
		return plain
	}
	return &table{w: w, events: plain, status: status, fleet: fleet, height: func() int { return rows(f) }, total: len(t.Subtasks), colour: colours()}
}

// besides is how many lines the table has besides those of the tools and of the
// fleet.
const besides = 5

// table is redrawn in place below the lines of what has happened.
type table struct {
	w       io.Writer
	events  *lines
	status  func() expediter.Status
	fleet   func() string
	height  func() int // of the terminal, in lines
	total   int
	settled int
	colour  bool
	drawn   int // lines of the last drawing
}

func (t *table) progress(p runner.Progress) {
	if p.Kind == runner.Settled {
		t.settled++
	}
	var b strings.Builder
	b.WriteString(t.erase())
	if text := t.events.event(p); text != "" {
		b.WriteString(text + "\n")
	}
	drawing := t.draw(p)
	t.drawn = strings.Count(drawing, "\n")
	b.WriteString(noWrap + drawing + wrap)
	_, _ = io.WriteString(t.w, b.String()) // a terminal that is gone is nothing to stop for
}

// end leaves the screen without the table: the report has it.
func (t *table) end() {
	_, _ = io.WriteString(t.w, t.erase())
	t.drawn = 0
}

func (t *table) erase() string {
	if t.drawn == 0 {
		return ""
	}
	return up(t.drawn) + clearBelow
}

func (t *table) draw(p runner.Progress) string {
	s := t.status()
	var b strings.Builder
	b.WriteString("\n")
	fleet := t.fleet()
	room := t.height() - besides
	if fleet != "" {
		room--
	}
	shown, hidden := fit(s.Tools, room)
	for _, tool := range shown {
		fails := tool.Consecutive
		if tool.State != breaker.Closed {
			fails = tool.Run
		}
		fmt.Fprintf(&b, "  %-*s  %s  fails %d", t.events.column, redact.Text(tool.Tool, maxToolName), t.state(tool), fails)
		if tool.Score != capability.Available {
			b.WriteString("  " + tool.Score.String())
		}
		b.WriteString("\n")
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "  and %d more\n", hidden)
	}
	limit := fmt.Sprint(s.Limit)
	if s.Limit == budget.Unlimited {
		limit = "unlimited"
	}
	fmt.Fprintf(&b, "  budget %d / %s   pass %d   %d of %d sub-tasks settled\n", s.Consumed, limit, p.Step, t.settled, t.total)
	if fleet != "" {
		fmt.Fprintf(&b, "  %s\n", fleet)
	}
	if p.Kind == runner.Decided && p.Decision.Verb.Go() {
		fmt.Fprintf(&b, "  now: %s (%s)\n", redact.Text(p.Work.Subtask.Title, maxTitle), redact.Text(p.Tool, maxToolName))
	}
	return b.String()
}

// fit chooses the tools that there are lines for; where there are too few, the
// healthy ones go first.
func fit(tools []expediter.ToolStatus, lines int) (shown []expediter.ToolStatus, hidden int) {
	if len(tools) <= lines {
		return tools, 0
	}
	for _, t := range tools {
		if t.State != breaker.Closed || t.Consecutive > 0 || t.Score != capability.Available {
			shown = append(shown, t)
		}
	}
	shown = shown[:min(len(shown), max(lines, 0))]
	return shown, len(tools) - len(shown)
}

// state is a tool's state in nine columns.
func (t *table) state(tool expediter.ToolStatus) string {
	name := strings.ReplaceAll(tool.State.String(), "_", "-")
	text := fmt.Sprintf("%-9s", name)
	if !t.colour {
		return text
	}
	return inColour(name, text)
}
