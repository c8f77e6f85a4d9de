package hook

import "github.com/expediter-go/expediter/cascade/classify"

// cursorKinds are the events of Cursor that say something here. A shell command
// and a call of an MCP server come twice, as a tool of its own and as a tool at
// all: the general events count, and beforeShellExecution, afterShellExecution,
// beforeMCPExecution, afterMCPExecution, beforeReadFile and afterFileEdit are
// Other, so that a call counts once whatever is installed. Also the rest is.
var cursorKinds = map[string]Kind{
	"preToolUse": Before, "postToolUse": After, "postToolUseFailure": After, "beforeSubmitPrompt": Prompt,
	"sessionStart": SessionStart, "sessionEnd": SessionEnd, "stop": Stop, "subagentStop": SubagentStop,
}

// cursorEvent reads conversation_id, hook_event_name, workspace_roots, and:
//
//	preToolUse          tool_name, tool_input, tool_use_id, cwd
//	postToolUse         the same, tool_output, a text that is JSON, and duration in milliseconds
//	postToolUseFailure  as preToolUse, error_message, failure_type, is_interrupt, duration
//	sessionStart        session_id, which is the conversation's
//	subagentStop        subagent_id
func cursorEvent(f fields) Event {
	e := Event{
		Name: f.name("hook_event_name"), Session: f.name("conversation_id", "session_id"), Subagent: f.name("subagent_id"),
		Project: cursorProject(f),
	}
	e.Kind = cursorKinds[e.Name]
	switch e.Kind {
	case Before, After:
		e.Call = cursorCall(f)
		if e.Kind == After {
			cursorResult(&e.Call, f)
		}
	case SessionStart:
		e.Source = "startup" // of a conversation that is taken up again there is none
	}
	return e
}

func cursorProject(f fields) string {
	if roots := f.list("workspace_roots"); len(roots) > 0 {
		return str(roots[0])
	}
	return f.text("cwd")
}

func cursorCall(f fields) Call {
	tool := f.name("tool_name")
	c, in := newCall(classify.Cursor, f.name("tool_use_id"), tool, "", f.raw("tool_input"))
	if tool == "TodoWrite" || tool == "todo_write" { // {merge, todos: [{id, content, status}]}
		c.Todos = todoList(in["todos"], in.says("merge", true))
	}
	return c
}

func cursorResult(c *Call, f fields) {
	c.Observation.Duration = f.milliseconds("duration")
	if f.text("hook_event_name") == "postToolUse" {
		c.Observation.Payload = f.raw("tool_output")
		return
	}
	c.failed(f.text("error_message"))
	c.Observation.Payload = f.wrapped("error_message", "failure_type", "is_interrupt")
}

// cursorOutput is the part of Cursor's hook output that is used here.
type cursorOutput struct {
	Continue     bool   `json:"continue,omitempty"`      // beforeSubmitPrompt alone
	Permission   string `json:"permission,omitempty"`    // preToolUse alone
	UserMessage  string `json:"user_message,omitempty"`  // beside a denial
	AgentMessage string `json:"agent_message,omitempty"` // to the model, beside a denial
	Context      string `json:"additional_context,omitempty"`
}

// cursorAnswer always prints an object. For Cursor a hook without output has
// failed: some versions say so with each call, and where the user lets hooks
// fail closed the tool does not run. An empty object says nothing, while
// "permission": "allow" might pass for the user's own approval. A stop's
// followup_message would make the agent go on.
func cursorAnswer(e Event, a Answer) Output {
	var out cursorOutput
	switch e.Name {
	case "preToolUse":
		if a.Deny {
			out = cursorOutput{Permission: "deny", UserMessage: said(a.Notice), AgentMessage: said(a.Reason)}
		}
	case "beforeSubmitPrompt":
		out.Continue = true // as if nothing were said
	case "postToolUse", "sessionStart":
		out.Context = said(a.Context)
	}
	return printedAlways(out)
}
