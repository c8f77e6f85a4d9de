package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
)

// Answer is what is to be said. The zero Answer lets everything go on.
type Answer struct {
	Deny    bool   // the tool must not run; of effect before a tool alone
	Reason  string // why, to the model; a denial without one says that there is none
	Context string // to the model beside the tool's result or at the start, as fact; empty: nothing
	Notice  string // to the user; empty: nothing
}

// Output is what the process prints, and how it exits.
type Output struct {
	Stdout, Stderr []byte
	Exit           int
}

// Encode says an Answer in the format of the event's agent. The zero Answer, an
// event of kind Other and one of no known agent say nothing and exit with 0: for
// all agents but Cursor that is no output at all. What the agent has no channel
// for is left out, and no field is written that the agent does not document for
// this event. Texts are cut to what the agent takes, control characters but line
// ends and tabs taken out.
func Encode(e Event, a Answer) Output {
	known, ok := adapterOf(e.Agent)
	if !ok {
		return Output{}
	}
	if e.Kind == Other {
		a = Answer{}
	}
	a.Deny = a.Deny && e.Kind == Before
	if a.Deny && strings.TrimSpace(said(a.Reason)) == "" { // Codex takes no denial without a reason
		a.Reason = "expediter: the tool must not run now; no reason was given"
	}
	return known.encode(e, a)
}

// Silence is the output of a call that says nothing, where no more than the name
// of its agent is known: the tool runs.
func Silence(agent string) Output { return Encode(Event{Agent: classify.AgentName(agent)}, Answer{}) }

// maxAnswer bounds a text of an answer, in bytes. Claude Code puts a text of
// more than 10,000 UTF-16 units into a file, Codex cuts one at about 2,500
// tokens of four bytes. No text has more units than bytes.
const maxAnswer = 9500

// said is a text made ready for an answer.
func said(text string) string {
	if text = strip(text, "\n\t"); len(text) > maxAnswer {
		return cut(text, maxAnswer-len("…")) + "…"
	}
	return text
}

// printed is one JSON object and a line end. An object without members is not
// worth printing.
func printed(v any) Output {
	out := printedAlways(v)
	if string(out.Stdout) == "{}\n" {
		return Output{}
	}
	return out
}

// printedAlways prints an object without members, too.
func printedAlways(v any) Output {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return Output{}
	}
	return Output{Stdout: b.Bytes()}
}
