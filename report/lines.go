package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/expediter-go/expediter/expediter"
)

// line is one fact of a report, the same in every format but for the marks
// around it.
type line struct {
	Mark string // "[x]" or "[ ]" before it
	Text string
	Sub  []string // what belongs to it
}

func nothing() []line { return []line{{Text: "none"}} }

// when is a moment in words: the step, and the time where it was given; the
// date too when it is not that of the report's end. Callers without steps leave
// it at 0, which then says nothing.
func (r Report) when(m Moment) string {
	var parts []string
	if m.Step > 0 || m.Step == 0 && m.At == 0 {
		parts = append(parts, fmt.Sprintf("step %d", m.Step))
	}
	if m.At != 0 {
		t := time.UnixMilli(m.At).UTC()
		layout := "2006-01-02 15:04:05Z"
		if r.Until != nil && time.UnixMilli(r.Until.At).UTC().Format(time.DateOnly) == t.Format(time.DateOnly) {
			layout = "15:04:05Z"
		}
		parts = append(parts, t.Format(layout))
	}
	if len(parts) == 0 {
		return "—"
	}
	return strings.Join(parts, " ")
}

func (r Report) policyLines() []line {
	if r.Policy == nil {
		return []line{{Text: "unknown"}}
	}
	list := []line{{Text: "Threshold: " + r.Policy.Threshold}, {Text: "Budget: " + r.Policy.Budget}, {Text: "Pacing: " + r.Policy.Pacing}}
	for _, own := range r.Policy.Own {
		list = append(list, line{Text: own.Tool + ": " + own.Threshold + "; " + own.Pacing})
	}
	return list
}

// workLines are the sub-tasks that are done, or those that are not.
func (r Report) workLines(done bool) []line {
	var list []line
	for _, w := range r.Work {
		if (w.State == Succeeded) == done {
			list = append(list, workLine(w))
		}
	}
	if r.Work == nil {
		return []line{{Text: "unknown"}}
	}
	if list == nil {
		return nothing()
	}
	return list
}

func workLine(w Work) line {
	state := w.State.String()
	if len(w.Degraded) > 0 {
		state += ", DEGRADED"
	}
	l := line{Text: fmt.Sprintf("Sub-task %d: %s (%s)", w.Number, w.Title, because(state, w.Reason))}
	for _, d := range w.Degraded {
		through := d.Through
		if through == "" {
			through = "the user"
		}
		l.Sub = append(l.Sub, withText(fmt.Sprintf("%s through %s (%s)", d.Tool, through, d.Label), d.Lost))
	}
	if len(w.Unblock) > 0 {
		l.Sub = append(l.Sub, "Unblocked by: "+strings.Join(w.Unblock, ", or "))
	}
	return l
}

func withText(head, text string) string {
	if text == "" {
		return head
	}
	return head + ": " + text
}

// healthLines list the healthy tools before the others, each in table order.
func (r Report) healthLines() []line {
	var list []line
	for _, closed := range []bool{true, false} {
		for _, t := range r.Tools {
			if (t.State == "CLOSED") == closed {
				list = append(list, line{Text: fmt.Sprintf("%s: %s (%s)", t.Tool, t.State, t.Health)})
			}
		}
	}
	switch {
	case r.Policy == nil:
		return []line{{Text: "unknown"}}
	case list == nil:
		return nothing()
	}
	return list
}

// spent is the budget in the form "4 / 5".
func (b *Budget) spent() string {
	if b.Limit < 0 {
		return fmt.Sprintf("%d", b.Consumed)
	}
	return fmt.Sprintf("%d / %d", b.Consumed, b.Limit)
}

func (r Report) chargeLines() []line {
	n := r.Budget.Consumed
	for _, c := range r.Budget.Charges {
		if c.Counts {
			n--
		}
	}
	var list []line
	if r.Budget.Omitted > 0 {
		list = append(list, line{Text: fmt.Sprintf("(%s not listed)", count(r.Budget.Omitted, "older failure"))})
	}
	for _, c := range r.Budget.Charges {
		what := c.Category
		if c.Text != "" {
			what = `"` + c.Text + `"`
		}
		what = fmt.Sprintf("%s — %s (%s)", c.Tool, what, r.when(c.Moment))
		if !c.Counts {
			list = append(list, line{Text: "Not counted: " + what + ", part of an incident that counts once"})
			continue
		}
		n++
		list = append(list, line{Text: fmt.Sprintf("Failure %d: %s", n, what)})
	}
	return list
}

// budgetStatus says what is left before a pause.
func (b *Budget) status() string {
	left := b.Limit - b.Consumed
	switch {
	case b.Limit < 0:
		return "no limit, no mandatory pause"
	case left <= 0:
		return "exhausted — mandatory pause"
	}
	return count(left, "failure") + " remaining before mandatory pause"
}

// openLines are the tools that cannot be used now, and what would change that.
func (r Report) openLines() []line {
	var list []line
	for _, t := range r.Tools {
		if len(t.Unblock) == 0 {
			continue
		}
		l := line{Text: t.Tool + ": " + t.State}
		if t.Opened != nil {
			l.Text += ", opened at " + r.when(*t.Opened)
		}
		if t.FailedProbes > 0 {
			l.Text += ", " + count(t.FailedProbes, "failed probe")
		}
		if t.Opened != nil && t.LastFailure != nil && t.LastFailure.Text != "" {
			l.Sub = append(l.Sub, "Last failure: "+t.LastFailure.Text)
		}
		l.Sub = append(l.Sub, "Unblocked by: "+strings.Join(t.Unblock, ", or "))
		list = append(list, l)
	}
	return list
}

func (r Report) incidentLines() []line {
	var list []line
	for _, i := range r.Incidents {
		state := "recovering: one of its tools is probed at a time"
		if i.Active {
			state = "every call is paused until its recovery is confirmed"
		}
		list = append(list, line{Text: r.when(i.Moment) + ": " + i.Line,
			Sub: []string{"Cause: " + i.Cause, "Flagged with: " + orNone(i.Flagged), "Still affected: " + orNone(i.Members), "State: " + state}})
	}
	return list
}

func (r Report) historyLines() []line {
	var list []line
	for _, h := range r.History {
		what := r.when(h.Moment) + ": " + h.Kind
		if h.Cause != "" {
			what += " (" + h.Cause + ")"
		}
		list = append(list, line{Text: withText(what, strings.Join(h.Members, ", "))})
	}
	return list
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (r Report) routeLines() []line {
	var list []line
	for _, t := range r.Routes {
		to, text := "out of scope", ""
		switch {
		case t.To != "":
			to, text = t.To, strings.Trim(t.Method+"; "+t.Degradation, "; ")
		case t.Ask != "":
			to, text = "the user", t.Ask
		}
		l := withText(fmt.Sprintf("%s: %s → %s (%s)", r.when(t.Moment), t.Tool, to, t.Label), text)
		if t.Times > 1 {
			l += fmt.Sprintf(" [%d times]", t.Times)
		}
		list = append(list, line{Text: l})
	}
	return list
}

func (r Report) issueLines() []line {
	var list []line
	for _, t := range r.Tools {
		if t.KnownIssues != "" {
			list = append(list, line{Text: t.Tool + ": " + t.KnownIssues})
		}
	}
	return list
}

func plainLines(texts []string) []line {
	var list []line
	for _, t := range texts {
		list = append(list, line{Text: t})
	}
	return list
}

func (d *Decisions) words() string {
	s := fmt.Sprintf("%d CALL, %d PROBE, %d SKIP, %d PAUSE", d.Calls, d.Probes, d.Skips, d.Pauses)
	if d.Refused > 0 {
		s += "; " + count(int(d.Refused), "allowed call") + " refused by a guard, and skipped"
	}
	return s
}

// banner is the headline of a pause.
func (r Report) banner() string {
	switch {
	case r.Paused == expediter.Systemic.String():
		return "SYSTEMIC FAILURE — PAUSING"
	case r.Paused != "":
		return "FAILURE BUDGET EXHAUSTED — PAUSING"
	case r.Outcome == Interrupted:
		return "INTERRUPTED — STOPPING"
	case r.Scope != nil && r.Scope.AllDeferred():
		return "EVERY SUB-TASK DEFERRED — PAUSING"
	}
	return ""
}
