package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// Bounds within what an agent is told.
const (
	maxQuote  = 200 // characters of a text from outside
	maxListed = 8   // tools of a list
)

// Told is one tool as its agent is told of it. All of its texts are fact, never
// an order: what is open, since when, why, what was declared for that case, and
// when it is tried again. Agents take orders in such a place for an attack. Only
// declared routes are named (SPEC section 8). The texts are bounded, masked, and
// free of control characters.
type Told struct {
	Tool  expediter.ToolStatus
	At    int64                    // now, in milliseconds since 1970
	Names func(tool string) string // what the agent calls a tool; nil: what the engine calls it
}

// Tell is the tool of an engine. One that the engine does not know has its name
// alone.
func Tell(st expediter.Status, tool string) Told {
	i := slices.IndexFunc(st.Tools, func(t expediter.ToolStatus) bool { return t.Tool == tool })
	if i < 0 {
		return Told{Tool: expediter.ToolStatus{Tool: tool, State: breaker.Closed}, At: st.At}
	}
	return Told{Tool: st.Tools[i], At: st.At}
}

// Name is what the agent calls the tool.
func (t Told) Name() string { return t.name(t.Tool.Tool) }

func (t Told) name(tool string) string {
	if t.Names != nil {
		tool = t.Names(tool)
	}
	return redact.Text(tool, maxQuote)
}

// Skip says why the tool is not called, what may stand in for it, and when it is
// tried again.
func (t Told) Skip(d expediter.Decision) string {
	parts := []string{t.why(d.Reason)}
	if d.Unverified || t.Tool.Unverified > 0 {
		parts = append(parts, fmt.Sprintf("An earlier call of %s may have taken effect, and nobody has verified that yet: nothing stands in for it until then.", t.Name()))
	} else {
		parts = append(parts, t.Route(d.Route))
	}
	if next := t.Trial(); next != "" && d.Reason != expediter.UnknownTool {
		parts = append(parts, next)
	}
	if d.Reason == expediter.OpenCircuit {
		parts = append(parts, "Other tools are not affected.")
	}
	return strings.Join(parts, " ")
}

func (t Told) why(reason expediter.Reason) string {
	name := t.Name()
	switch reason {
	case expediter.UnknownTool:
		return name + " is not in the capability map, which is strict."
	case expediter.Unavailable:
		return name + " is unavailable, as its check before the call found."
	case expediter.ProbeInFlight:
		if !t.Tool.ProbeInFlight {
			return name + " waits: a tool that failed with it is on trial, and one of them is tried at a time."
		}
		return fmt.Sprintf("%s is on trial: one call of it is under way, and others wait for its outcome.", name)
	}
	return t.Open()
}

// Open says since when the tool is not closed, and why.
func (t Told) Open() string {
	row := t.Tool
	name := t.Name()
	text, since := name+" is open", " since "
	switch {
	case row.Forced:
		return fmt.Sprintf("%s was opened by the user%s.", name, reasonWords(row.Reason))
	case row.State == breaker.HalfOpen:
		text, since = name+" is half-open", ", opened at "
	}
	if row.OpenedAt > 0 {
		text += since + Clock(row.OpenedAt) + Ago(t.At-row.OpenedAt)
	}
	switch {
	case row.Run == 1:
		text += ": a failure"
	case row.Run > 1:
		text += fmt.Sprintf(": %d failures in a row", row.Run)
	}
	if row.FailedProbes > 0 {
		text += fmt.Sprintf(", and %s since", Count(row.FailedProbes, "failed trial"))
	}
	if f := row.LastFailure; f != nil {
		text += ". The latest: " + f.Category.String()
		if quote := redact.Text(f.Text, maxQuote); quote != "" {
			text += fmt.Sprintf(", %q", quote)
		}
	}
	return text + "."
}

func reasonWords(reason string) string {
	if reason = redact.Text(reason, maxQuote); reason != "" {
		return ": " + reason
	}
	return ""
}

// Route is what was declared for the case that the tool is open: the route r,
// or with nil the one that would be chosen now.
func (t Told) Route(r *capability.Route) string {
	if r == nil {
		r = t.Tool.ViableRoute
	}
	switch {
	case r != nil && r.Kind == capability.UseAlternative:
		text := "Declared alternative: " + t.name(r.Tool)
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
	case t.Tool.Entry.NoSubstitute:
		return "Nothing may stand in for it: what needs it waits until it works again."
	}
	return "No alternative is declared: what needs it waits, and belongs in the report to the user."
}

// Trial says when the tool, being open, is tried again; empty: not known.
func (t Told) Trial() string {
	row := t.Tool
	switch {
	case row.Forced:
		return "It stays so until the user resets it."
	case row.State != breaker.Open || row.External != nil:
		return ""
	}
	var ways []string
	switch {
	case row.Unit == breaker.Attempts && row.Next <= 1:
		ways = append(ways, "the next request for it")
	case row.Unit == breaker.Attempts:
		ways = append(ways, "after "+Count(int(row.Next-1), "more request")+" for it")
	case row.Unit == breaker.Steps:
		ways = append(ways, "a request for it in "+Count(int(row.Next), "step"))
	}
	if row.NotBefore > 0 && len(ways) > 0 {
		ways[0] += ", not before " + Clock(row.NotBefore)
	}
	if row.NextAt > 0 {
		ways = append(ways, "any request for it from "+Clock(row.NextAt)+" on")
	}
	if len(ways) == 0 {
		return ""
	}
	return "Its next trial: " + strings.Join(ways, ", or ") + "."
}

// PauseCause says why nothing is called: an incident and its tools, or the
// failures that the budget went to. It is the beginning of a sentence.
func PauseCause(st expediter.Status, reason expediter.Reason) string {
	if reason == expediter.Systemic {
		for _, i := range New(Input{Status: &st}).Incidents {
			if i.Active {
				return i.Line + ": " + Listed(i.Members)
			}
		}
	}
	return fmt.Sprintf("%d of %d failures (%s)", st.Consumed, st.Limit, Listed(charged(st)))
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

// Listed is a list of names in words, at most 8 of them.
func Listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		names = append(slices.Clone(names[:maxListed]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// Count is a number of things in words: "1 step", "2 steps".
func Count(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Clock is a time of day in UTC, as reports print it; ms is since 1970.
func Clock(ms int64) string { return time.UnixMilli(ms).UTC().Format("15:04:05Z") }

// Ago is how long ago something was, in round words, with a space before them;
// nothing for a moment. ms is a span.
func Ago(ms int64) string {
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
