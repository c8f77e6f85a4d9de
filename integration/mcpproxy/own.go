package mcpproxy

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	sessions "github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/report"
)

// The expediter's own tools and its prompt. Beginning a cycle and confirming a
// recovery are not among them: only the human does that.
const (
	ownStatus = "expediter_status"
	ownPlan   = "expediter_plan"
	ownReport = "expediter_report"
	ownPrompt = "expediter"
)

func ownTool(name, description, schema string) rawTool {
	raw := encode(map[string]any{"name": name, "description": description, "inputSchema": json.RawMessage(schema),
		"annotations": map[string]any{"readOnlyHint": name != ownPlan, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}})
	return rawTool{Name: name, Raw: raw}
}

var owns = []rawTool{
	ownTool(ownStatus, "Which tools work, which are open, since when and why, when they are tried again, and what the failure budget has left. Calls nothing.",
		`{"type":"object","additionalProperties":false}`),
	ownTool(ownPlan, "Declares the sub-tasks of the work at hand with the tools that each needs, and says which of them can be done with the tools that work now. A later call replaces the list; so the progress of a sub-task is told by its state.",
		`{"type":"object","properties":{"task":{"type":"string","description":"what the work is, in one line"},"subtasks":{"type":"array","maxItems":200,"items":{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},"tools":{"type":"array","items":{"type":"string"},"description":"names of the tools that it needs"},"after":{"type":"array","items":{"type":"string"},"description":"ids of sub-tasks that come first"},"state":{"type":"string","enum":["pending","active","done","dropped"]}},"required":["title"]}}},"required":["subtasks"]}`),
	ownTool(ownReport, "What was done, what was not, and why, as a report for the user in Markdown. Calls nothing.",
		`{"type":"object","additionalProperties":false}`),
}

// ownTools are the expediter's own, as they are listed. They are not to be changed.
func (c *client) ownTools() []rawTool { return owns }

func (c *client) callOwn(name string, params json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	switch name {
	case ownStatus:
		return c.statusResult(), nil
	case ownPlan:
		return c.planResult(argumentsOf(params)), nil
	case ownReport:
		var b strings.Builder
		if err := report.New(c.report()).Markdown(&b); err != nil {
			return errorText("expediter: the report cannot be made: " + err.Error()), nil
		}
		return textResult(b.String()), nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("Unknown tool: %.64q", name)}
}

func textResult(text string) json.RawMessage {
	return encode(toolResult{Content: []textBlock{{Type: "text", Text: text}}})
}

func errorText(text string) json.RawMessage {
	return encode(toolResult{Content: []textBlock{{Type: "text", Text: text}}, IsError: true})
}

// statusResult is the standing of what is not well first, then the table.
func (c *client) statusResult() json.RawMessage {
	c.outages.Range(func(u, _ any) bool { c.meetQuietly(u.(*upstream)); return true })
	st, now := c.engine.Status(), c.now()
	st.At = max(st.At, now.UnixMilli())
	var b strings.Builder
	if st.Paused != expediter.NoReason {
		fmt.Fprintf(&b, "PAUSE. %s Only the user ends it.\n", pauseCause(st, st.Paused))
	}
	lost := map[string]bool{} // the keys of what is open for the loss of a server
	c.outages.Range(func(key, value any) bool {
		if u := key.(*upstream); !u.isUp() {
			lost[connectionKey(u.name())] = true
			for _, t := range u.tools() {
				lost[toolKey(u, t.Name)] = true
			}
			why, since := value.(*outage).words()
			fmt.Fprintf(&b, "The server %s is not connected since %s (%q); it is being connected anew. Its tools are skipped until then, and called after.\n",
				u.shownName(), report.Clock(since.UnixMilli()), why)
		}
		return true
	})
	if stands := c.fleet.stands(); stands != "" {
		fmt.Fprintln(&b, stands)
	}
	for _, u := range c.p.ups {
		if address := u.auth.loginURL(); address != "" {
			fmt.Fprintf(&b, "The server %s wants a login: the user is to open %s\n", u.shownName(), address)
		}
	}
	c.writeOpen(&b, st, lost)
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	if err := report.StateTable(&b, st); err != nil {
		return errorText("expediter: the status cannot be printed: " + err.Error())
	}
	return textResult(b.String())
}

// writeOpen tells of each tool that is open. Those of a lost server have no trial
// of their own, and none has one in a pause; only what is declared for the first
// is told.
func (c *client) writeOpen(b *strings.Builder, st expediter.Status, lost map[string]bool) {
	for _, t := range st.Tools {
		told := report.Told{Tool: t, At: st.At, Names: c.name}
		switch {
		case t.State == breaker.Closed:
		case lost[t.Tool] && !t.Forced:
			if t.ViableRoute != nil && t.ViableRoute.Kind != capability.Reduce {
				fmt.Fprintf(b, "%s is unavailable with its server. %s\n", told.Name(), told.Route(nil))
			}
		case st.Paused != expediter.NoReason && !t.Forced:
			fmt.Fprintln(b, told.Open()+" "+told.Route(nil))
		default:
			fmt.Fprintln(b, strings.TrimSpace(told.Open()+" "+told.Route(nil)+" "+told.Trial()))
		}
	}
}

// meetQuietly tells the engine of a recovery; an outage is not met by asking how
// things are.
func (c *client) meetQuietly(u *upstream) {
	if u.isUp() {
		c.meet(u)
	}
}

// report is all that is known for a report.
func (c *client) report() report.Input {
	st := c.engine.Status()
	in := report.Input{Status: &st}
	in.History, in.Substitutes = c.told.all()
	if stands := c.fleet.stands(); stands != "" {
		in.Notes = []string{stands}
	}
	task, list := c.plan.get()
	in.Task = task
	if len(list) > 0 {
		reduced, work := sessions.Assess(task, list, &st)
		in.Scope, in.Work = &reduced, work
	}
	return in
}

// ownPrompts are the expediter's own, as prompts/list has them.
func (c *client) ownPrompts() []json.RawMessage {
	return []json.RawMessage{encode(map[string]any{"name": ownPrompt, "title": "Working with expediter",
		"description": "How to work with tools behind expediter: what SKIP, PROBE and PAUSE mean, and what to do then."})}
}

func (c *client) getPrompt(name string) (json.RawMessage, *jsonrpc.Error) {
	if name != ownPrompt {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("Unknown prompt: %.64q", name)}
	}
	return encode(map[string]any{
		"description": "How to work with tools behind expediter",
		"messages":    []any{map[string]any{"role": "user", "content": textBlock{Type: "text", Text: promptText}}},
	}), nil
}

const promptText = `The tools of this session are behind expediter, a circuit breaker. It decides before each call whether the tool is called.

- A result that begins with "expediter: SKIP" means that the tool was not called: it has failed before, and is left alone until its next trial, which the text tells. Calling it again before that costs nothing and brings nothing. If the text names a declared alternative, that is what was meant for this case; its label says how far its results can be trusted, and what they lack belongs into the answer. If it names something that the user can do, ask the user. If it names nothing, the sub-task waits: go on with others, and say in the end what was not done and why.
- When the next trial is due, the next call of the tool is that trial. There is nothing special to do.
- A result that begins with "expediter: PAUSE" means that no tool is called until the user has decided. Stop, and tell the user what was done, what was not, and why; expediter_report has it. Neither you nor a tool can end a pause.
- A note beside a result, in brackets or beginning with "expediter:", says that the result may be old, or that another tool has given it. Say so where it matters.
- A call that ended without a result may have taken effect all the same. Find out before it is repeated.

expediter_status shows which tools work. expediter_plan takes the sub-tasks of the work and the tools that each needs, and says what can be done now; use it at the beginning of longer work, and when tools fail. expediter_report is for the end.`
