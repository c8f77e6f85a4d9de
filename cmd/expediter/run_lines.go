package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/runner"
)

// lines shows a run as plain lines, one for each event:
//
//	step 1  CALL   Grep       Find TODO comments ... ok
type lines struct {
	w       io.Writer
	column  int                         // width of the tools' names
	checked map[string]capability.Score // as last shown
	fleet   func() string               // how the run stands to its fleet; nil: others show it
	stands  string                      // what it has last said
}

// Bounds of what a line takes over from outside, in runes.
const (
	maxToolName = 40
	maxTitle    = 100
	maxWhy      = 200
)

func (l *lines) progress(p runner.Progress) {
	l.standing()
	if text := l.event(p); text != "" {
		fmt.Fprintln(l.w, text)
	}
}

func (l *lines) end() { l.standing() }

// standing is a line for each change of how the run stands to its fleet.
func (l *lines) standing() {
	if l.fleet == nil {
		return
	}
	if text := l.fleet(); text != l.stands {
		l.stands = text
		fmt.Fprintln(l.w, text)
	}
}

// event is the line of one event; empty: it has none.
func (l *lines) event(p runner.Progress) string {
	switch p.Kind {
	case runner.Checked:
		if l.checked[p.Tool] == p.Score {
			return ""
		}
		l.checked[p.Tool] = p.Score
		return l.line(p, "CHECK", p.Tool, p.Score.String())
	case runner.Decided:
		if p.Decision.Verb.Go() {
			return ""
		}
		why := refusal(p.Decision)
		if p.NoCall {
			why += " (the task has no call for it)"
		}
		return l.line(p, p.Decision.Verb.String(), p.Tool, titled(p, why))
	case runner.Ended:
		return l.line(p, p.Decision.Verb.String(), p.Tool, titled(p, ending(p)))
	case runner.Settled:
		if p.Work.State == runner.Deferred { // the others have had their line
			return l.line(p, "DEFER", p.Work.Tool, titled(p, redact.Text(p.Text, maxWhy)))
		}
	}
	return ""
}

func (l *lines) line(p runner.Progress, word, tool, text string) string {
	return fmt.Sprintf("step %-2d %-6s %-*s  %s", p.Step, word, l.column, redact.Text(tool, maxToolName), text)
}

func titled(p runner.Progress, what string) string {
	return redact.Text(p.Work.Subtask.Title, maxTitle) + " ... " + what
}

// ending is what came of a call, in words.
func ending(p runner.Progress) string {
	text := redact.Text(p.Text, maxWhy)
	switch {
	case p.Answered:
		return "ok"
	case p.Result == cascade.Failed:
		return fmt.Sprintf("failed (%s): %s", p.Category, text)
	case p.Result == cascade.Succeeded:
		return "answered: " + text
	}
	return "no outcome: " + text
}

var refusals = map[expediter.Reason]string{
	expediter.Systemic:      "several tools fail together",
	expediter.Budget:        "failure budget exhausted",
	expediter.UnknownTool:   "nobody declared it",
	expediter.Unavailable:   "unavailable",
	expediter.OpenCircuit:   "circuit OPEN",
	expediter.ProbeInFlight: "its probe is in flight",
	expediter.ForcedOpen:    "opened by an operator",
}

// refusal is why a call is not made, and where it may go instead.
func refusal(d expediter.Decision) string {
	parts := []string{refusals[d.Reason]}
	if d.Next > 0 {
		parts = append(parts, fmt.Sprintf("next probe in %d %s", d.Next, unitWords(d)))
	}
	if r := d.Route; r != nil {
		parts = append(parts, routeWords(r))
	}
	return strings.Join(parts, "; ")
}

func unitWords(d expediter.Decision) string {
	switch word := d.Unit.String(); {
	case word == "time":
		return "ms"
	case d.Next == 1:
		return strings.TrimSuffix(word, "s")
	default:
		return word
	}
}

func routeWords(r *capability.Route) string {
	switch r.Kind {
	case capability.UseAlternative:
		s := fmt.Sprintf("%s: use %s", r.Label, redact.Text(r.Tool, maxToolName))
		if lost := redact.Text(r.Degradation, maxWhy); lost != "" {
			s += ", " + lost
		}
		return s
	case capability.UseFallback:
		return fmt.Sprintf("%s: %s", r.Label, redact.Text(r.Ask, maxWhy))
	}
	return r.Label.String() + ": nothing stands in"
}
