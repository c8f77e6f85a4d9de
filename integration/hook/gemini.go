package hook

import "github.com/expediter-go/expediter/cascade/classify"

// geminiKinds are the events of Gemini CLI that say something here; Notification,
// PreCompress, BeforeModel, AfterModel and BeforeToolSelection do not.
var geminiKinds = map[string]Kind{
	"BeforeTool": Before, "AfterTool": After, "BeforeAgent": Prompt, "AfterAgent": Stop, "SessionStart": SessionStart, "SessionEnd": SessionEnd,
}

// geminiEvent reads session_id, cwd, hook_event_name, and:
//
//	BeforeTool    tool_name, tool_input, mcp_context {server_name}
//	AfterTool     the same, tool_response {llmContent, returnDisplay, error}
//	SessionStart  source
//
// Calls have no ids.
func geminiEvent(f fields) Event {
	e := Event{Name: f.name("hook_event_name"), Session: f.name("session_id"), Project: f.text("cwd")}
	e.Kind = geminiKinds[e.Name]
	switch e.Kind {
	case Before, After:
		tool := f.name("tool_name")
		c, in := newCall(classify.Gemini, "", tool, f.object("mcp_context").name("server_name"), f.raw("tool_input"))
		if tool == "write_todos" { // {todos: [{description, status}]}, always the whole list
			c.Todos = todoList(in["todos"], false)
		}
		if e.Kind == After {
			c.Observation.Payload = f.raw("tool_response")
			if object(c.Observation.Payload).raw("error") != nil {
				c.Todos = nil
			}
		}
		e.Call = c
	case SessionStart:
		e.Source = f.name("source")
	}
	return e
}

// geminiOutput is the part of Gemini CLI's hook output that is used here.
type geminiOutput struct {
	Decision      string          `json:"decision,omitempty"` // BeforeTool alone
	Reason        string          `json:"reason,omitempty"`   // to the model
	SystemMessage string          `json:"systemMessage,omitempty"`
	Specific      *geminiSpecific `json:"hookSpecificOutput,omitempty"`
}

type geminiSpecific struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext"`
}

// geminiAnswer has no channel to the model before a tool: there the user reads
// the context, as the agent's message of a trial.
func geminiAnswer(e Event, a Answer) Output {
	out := geminiOutput{SystemMessage: said(a.Notice)}
	if a.Deny {
		out.Decision, out.Reason = "deny", said(a.Reason)
	}
	switch e.Name {
	case "BeforeTool":
		if out.SystemMessage == "" && !a.Deny {
			out.SystemMessage = said(a.Context)
		}
	case "AfterTool", "BeforeAgent", "SessionStart":
		if a.Context != "" {
			out.Specific = &geminiSpecific{Event: e.Name, Context: said(a.Context)}
		}
	}
	return printed(out)
}
