package hook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/report"
)

// What agents are told is fact, never an order: what is open, since when, why,
// what was declared for that case, and when it is tried again. Agents take
// orders in such a place for an attack. Only declared routes are named (SPEC
// section 8).

// Bounds within an answer.
const (
	maxQuote  = 200 // characters of a text from outside
	maxListed = 8   // tools of a list
)

// skipped says why a tool is not called.
func skipped(s *session.Session, r session.Ruling) string {
	st := s.Status()
	t := toolOf(st, r.Key)
	parts := []string{"expediter: SKIP. " + why(st, t, r)}
	if r.Unverified || t.Unverified > 0 {
		parts = append(parts, fmt.Sprintf("An earlier call of %s may have taken effect, and nobody has verified that yet: nothing stands in for it until then.", t.Tool))
	} else {
		parts = append(parts, routeWords(t, r.Route))
	}
	if next := nextTrial(st, t); next != "" && r.Reason != expediter.UnknownTool {
		parts = append(parts, next)
	}
	if r.Reason == expediter.OpenCircuit {
		parts = append(parts, "Other tools are not affected.")
	}
	return strings.Join(parts, " ")
}

// toolOf is the row of a tool; one that the engine does not know has its name
// alone.
func toolOf(st expediter.Status, key string) expediter.ToolStatus {
	i := slices.IndexFunc(st.Tools, func(t expediter.ToolStatus) bool { return t.Tool == key })
	if i < 0 {
		return expediter.ToolStatus{Tool: redact.Text(key, maxQuote), State: breaker.Closed}
	}
	t := st.Tools[i]
	t.Tool = redact.Text(t.Tool, maxQuote)
	return t
}

func why(st expediter.Status, t expediter.ToolStatus, r session.Ruling) string {
	switch r.Reason {
	case expediter.UnknownTool:
		return t.Tool + " is not in the capability map, which is strict."
	case expediter.Unavailable:
		return t.Tool + " is unavailable, as its check before the call found."
	case expediter.ProbeInFlight:
		if !t.ProbeInFlight {
			return t.Tool + " waits: a tool that failed with it is on trial, and one of them is tried at a time."
		}
		return fmt.Sprintf("%s is on trial: one call of it is under way, and others wait for its outcome.", t.Tool)
	}
	return open(st, t)
}

func reasonWords(reason string) string {
	if reason = redact.Text(reason, maxQuote); reason != "" {
		return ": " + reason
	}
	return ""
}

// open says since when a tool is not closed, and why.
func open(st expediter.Status, t expediter.ToolStatus) string {
	text, since := t.Tool+" is open", " since "
	switch {
	case t.Forced:
		return fmt.Sprintf("%s was opened by the user%s.", t.Tool, reasonWords(t.Reason))
	case t.State == breaker.HalfOpen:
		text, since = t.Tool+" is half-open", ", opened at "
	}
	if t.OpenedAt > 0 {
		text += since + clock(t.OpenedAt) + ago(st.At-t.OpenedAt)
	}
	switch {
	case t.Run == 1:
		text += ": a failure"
	case t.Run > 1:
		text += fmt.Sprintf(": %d failures in a row", t.Run)
	}
	if t.FailedProbes > 0 {
		text += fmt.Sprintf(", and %s since", plural(t.FailedProbes, "failed trial"))
	}
	if f := t.LastFailure; f != nil {
		text += ". The latest: " + f.Category.String()
		if quote := redact.Text(f.Text, maxQuote); quote != "" {
			text += fmt.Sprintf(", %q", quote)
		}
	}
	return text + "."
}

// routeWords is what was declared for the case that the tool is open.
func routeWords(t expediter.ToolStatus, r *capability.Route) string {
	if r == nil {
		r = t.ViableRoute
	}
	switch {
	case r != nil && r.Kind == capability.UseAlternative:
		text := "Declared alternative: " + redact.Text(r.Tool, maxQuote)
		if method := redact.Text(r.Method, maxQuote); method != "" {
			text += ", " + method
		}
		text += " (" + r.Label.String()
		if lost := redact.Text(r.Degradation, maxQuote); lost != "" {
			text += ": " + lost
		}
		return text + ")."
	case r != nil && r.Kind == capability.UseFallback:
		return "Declared for this case: " + redact.Text(r.Ask, maxQuote) + "."
	case t.Entry.NoSubstitute:
		return "Nothing may stand in for it: what needs it waits until it works again."
	}
	return "No alternative is declared: what needs it waits, and belongs in the report to the user."
}

// nextTrial says when an open tool is tried again.
func nextTrial(st expediter.Status, t expediter.ToolStatus) string {
	switch {
	case t.Forced:
		return "It stays so until the user resets it."
	case t.State != breaker.Open || t.External != nil:
		return ""
	}
	var ways []string
	switch {
	case t.Unit == breaker.Attempts && t.Next <= 1:
		ways = append(ways, "the next request for it")
	case t.Unit == breaker.Attempts:
		ways = append(ways, "after "+plural(int(t.Next-1), "more request")+" for it")
	case t.Unit == breaker.Steps:
		ways = append(ways, "a request for it in "+plural(int(t.Next), "step"))
	}
	if t.NotBefore > 0 && len(ways) > 0 {
		ways[0] += ", not before " + clock(t.NotBefore)
	}
	if t.NextAt > 0 {
		ways = append(ways, "any request for it from "+clock(t.NextAt)+" on")
	}
	if len(ways) == 0 {
		return ""
	}
	return "Its next trial: " + strings.Join(ways, ", or ") + "."
}

// probing says that a call is a trial.
func probing(s *session.Session, r session.Ruling) string {
	st := s.Status()
	t := toolOf(st, r.Key)
	return fmt.Sprintf("expediter: PROBE. This call of %s is a trial: it has been open since %s. If it works, its circuit closes.", t.Tool, clock(t.OpenedAt))
}

// opened says that a tool has just opened.
func opened(s *session.Session, key string) string {
	st := s.Status()
	t := toolOf(st, key)
	if t.State == breaker.Closed {
		return ""
	}
	return strings.TrimSpace("expediter: " + open(st, t) + " " + routeWords(t, nil) + " " + nextTrial(st, t))
}

// paused says why no tool is called, and what the user must do.
func paused(s *session.Session, r session.Ruling) string {
	return "expediter: PAUSE. " + pauseWords(s.Status(), r.Reason)
}

// pauseBegins says that a pause has begun with the end of a call.
func pauseBegins(s *session.Session, reason expediter.Reason) string {
	return "expediter: PAUSE begins. " + pauseWords(s.Status(), reason)
}

func pauseWords(st expediter.Status, reason expediter.Reason) string {
	if reason == expediter.Systemic {
		for _, i := range report.New(report.Input{Status: &st}).Incidents {
			if i.Active {
				return fmt.Sprintf("%s: %s. No tool is called until the user has looked into it and has run `expediter confirm` in a terminal of their own.",
					i.Line, enumerate(i.Members))
			}
		}
	}
	return fmt.Sprintf("The failure budget of this prompt is spent: %d of %d failures (%s). No tool is called until the user's next message, "+
		"or until the user runs `expediter resume`. The user is to hear what was done, what was not, and why.",
		st.Consumed, st.Limit, enumerate(charged(st)))
}

// charged are the tools whose failures the budget holds, with their number.
func charged(st expediter.Status) []string {
	count := map[string]int{}
	var names []string
	for _, c := range st.Charges {
		if count[c.Tool]++; count[c.Tool] == 1 {
			names = append(names, c.Tool)
		}
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", redact.Text(n, maxQuote), count[n])
	}
	return names
}

func enumerate(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		names = append(slices.Clone(names[:maxListed]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// clock is a time of day in UTC, as reports print it; ms is since 1970.
func clock(ms int64) string { return time.UnixMilli(ms).UTC().Format("15:04:05Z") }

// ago is how long ago something was, in round words; nothing for a moment. ms is a
// span.
func ago(ms int64) string {
	switch d := time.Duration(ms) * time.Millisecond; {
	case d < 2*time.Second:
		return ""
	case d < 2*time.Minute:
		return fmt.Sprintf(" (%d s ago)", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf(" (%d min ago)", int(d.Minutes()))
	default:
		return fmt.Sprintf(" (%d h ago)", int(d.Hours()))
	}
}
