package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/redact"
)

// Routing is what RoutingNote explains: where calls of one tool may go. Only
// declared routes are named.
type Routing struct {
	Entry   capability.Entry  // of the tool that is needed
	Reason  string            // why it is not called: "circuit OPEN", which is the default
	Task    string            // what it is needed for
	Limits  map[string]string // by alternative: how far it will be used; empty: words by its label
	Ask     string            // the words to the user; empty: the entry's fallback
	Subtask string            // what scope reduction removes; empty: Task
	Skipped string            // the same, in a few words; empty: Subtask
}

// askWidth is where the words to the user are wrapped, in columns.
const askWidth = 56

var labelAdvice = map[capability.Label]string{
	capability.Acceptable: "use this route",
	capability.Partial:    "label what is missing",
	capability.Unverified: "test before relying on this route",
}

// RoutingNote writes the routes of a tool in the order in which they are
// tried: its alternatives, the user, scope reduction.
func RoutingNote(w io.Writer, n Routing) error {
	tool := redact.Text(n.Entry.Tool, maxName)
	head := "Tool needed: " + tool + " (" + orText(redact.Text(n.Reason, maxText), "circuit OPEN") + ")\n"
	if task := redact.Text(n.Task, maxText); task != "" {
		head += "Task: " + task + "\n"
	}
	parts, number, condition := []string{head}, 0, ""
	route := func(title string, lines ...string) {
		number++
		text := condition + fmt.Sprintf("Route %d: %s\n", number, title)
		for _, l := range lines {
			text += "  → " + l + "\n"
		}
		parts = append(parts, text)
	}
	if !n.Entry.NoSubstitute {
		for _, a := range capability.NewPlan(n.Entry).Alternatives {
			route(routeTitle(a), n.alternative(a)...)
			condition = "If " + redact.Text(a.Tool, maxName) + " also OPEN:\n"
		}
		if n.Entry.Fallback != "" {
			route("Ask user", n.ask(), "Decision: FALLBACK — user provides the information")
			condition = "If user unavailable:\n"
		}
	}
	subtask := orText(redact.Text(n.Subtask, maxText), redact.Text(n.Task, maxText), "the sub-task")
	route("Scope reduction", `Remove "`+subtask+`" from task scope`,
		`Document: "SKIPPED: `+orText(redact.Text(n.Skipped, maxText), subtask)+` — no tools available"`)
	return write(w, parts...)
}

func routeTitle(a capability.Alternative) string {
	tool, method := redact.Text(a.Tool, maxName), redact.Text(a.Method, maxText)
	if method == "" {
		return tool
	}
	if first, rest, ok := strings.Cut(method, " "); ok && strings.EqualFold(first, tool) {
		return tool + " " + rest // "read suspected files directly"
	}
	return tool + " with " + method
}

func (n Routing) alternative(a capability.Alternative) []string {
	var lines []string
	if lost := redact.Text(a.Degradation, maxText); lost != "" {
		lines = append(lines, "Degradation: "+lost)
	}
	label := map[capability.Level]capability.Label{
		capability.Low: capability.Acceptable, capability.High: capability.Partial, capability.Unknown: capability.Unverified,
	}[a.Effective()]
	return append(lines, "Decision: "+label.String()+" — "+orText(redact.Text(n.Limits[a.Tool], maxText), labelAdvice[label]))
}

// ask is what the user is told: the caller's words quoted, or the fallback.
func (n Routing) ask() string {
	if n.Ask == "" {
		return redact.Text(n.Entry.Fallback, maxAsk)
	}
	return `"` + strings.Join(redact.Wrap(redact.Text(n.Ask, maxAsk)+`"`, askWidth), "\n     ")
}

func orText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
