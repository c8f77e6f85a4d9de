package hook

import "github.com/expediter-go/expediter/cascade/classify"

// codexKinds are the events of Codex that say something here; PermissionRequest,
// SubagentStart, PreCompact, PostCompact and others do not.
var codexKinds = map[string]Kind{
	"PreToolUse": Before, "PostToolUse": After, "UserPromptSubmit": Prompt, "SessionStart": SessionStart, "SessionEnd": SessionEnd,
	"Stop": Stop, "StopFailure": Stop, "SubagentStop": SubagentStop,
}

// codexEvent reads session_id, cwd, hook_event_name, in a subagent agent_id, and:
//
//	PreToolUse    tool_name, tool_input, tool_use_id
//	PostToolUse   the same, tool_response: of an MCP server's tool its result, of
//	              all others the text that the model gets to read
//	SessionStart  source
//
// A call of a hosted tool passes no hook, and a command that goes on in the
// background has no PostToolUse.
func codexEvent(f fields) Event {
	e := Event{Name: f.name("hook_event_name"), Session: f.name("session_id"), Subagent: f.name("agent_id"), Project: f.text("cwd")}
	e.Kind = codexKinds[e.Name]
	switch e.Kind {
	case Before, After:
		tool := f.name("tool_name")
		c, in := newCall(classify.Codex, f.name("tool_use_id"), tool, "", f.raw("tool_input"))
		if tool == "update_plan" { // {plan: [{step, status}]}, always the whole list
			c.Todos = todoList(in["plan"], false)
		}
		if e.Kind == After {
			c.Observation.Payload = f.raw("tool_response")
		}
		e.Call = c
	case SessionStart:
		e.Source = f.name("source")
	case Prompt:
		if e.Subagent != "" {
			e.Kind = Other
		}
	}
	return e
}

// codexAnswer writes no field beyond those of Codex's schemas, for which an
// unknown one makes the hook failed and the tool run. Of a stop and a
// subagent's stop only the notice is one, of a session's end none.
func codexAnswer(e Event, a Answer) Output {
	switch e.Name {
	case "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart":
		return nested(e.Name, a)
	case "Stop", "SubagentStop":
		return nested(e.Name, Answer{Notice: a.Notice})
	}
	return Output{}
}
