package hook

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

// copilotKinds are the events of Copilot CLI and of the cloud agent, by both of
// their names, that say something here.
var copilotKinds = map[string]Kind{
	"preToolUse": Before, "postToolUse": After, "postToolUseFailure": After, "userPromptSubmitted": Prompt,
	"sessionStart": SessionStart, "sessionEnd": SessionEnd, "agentStop": Stop, "subagentStop": SubagentStop,
	"PreToolUse": Before, "PostToolUse": After, "PostToolUseFailure": After, "UserPromptSubmit": Prompt,
	"SessionStart": SessionStart, "SessionEnd": SessionEnd, "Stop": Stop, "SubagentStop": SubagentStop,
}

// inVSCode marks the name of an event as one of Copilot in VS Code. It reads the
// same hook files, but has an output of its own.
const inVSCode = "vscode:"

// copilotEvent reads an event in one of the forms
//
//	configured by a name in camelCase: sessionId, cwd, toolName, toolArgs, toolResult
//	    {resultType, textResultForLlm}, error, source; no name
//	configured by a name in PascalCase: hook_event_name, session_id, cwd, tool_name as
//	    Claude Code has it, tool_input, tool_result {result_type, text_result_for_llm}, error
//	in VS Code: hookEventName or hook_event_name, sessionId or session_id, tool_name,
//	    tool_input, tool_use_id, tool_response, always transcript_path
//
// Only VS Code gives ids of calls. Results that are neither a success nor a
// failure, such as a rejected or timed-out call, have no event.
func copilotEvent(f fields) Event {
	e := Event{
		Name: copilotName(f), Session: f.name("sessionId", "session_id"), Subagent: f.name("agentId", "agent_id"), Project: f.text("cwd"),
	}
	e.Kind = copilotKinds[strings.TrimPrefix(e.Name, inVSCode)]
	switch e.Kind {
	case Before, After:
		e.Call = copilotCall(f)
		if e.Kind == After {
			copilotResult(&e.Call, f)
		}
	case SessionStart:
		if e.Source = f.name("source"); e.Source == "new" {
			e.Source = "startup"
		}
	}
	return e
}

func copilotName(f fields) string {
	name := f.name("hook_event_name", "hookEventName")
	switch {
	case name == "":
		return copilotNameless(f)
	case f.has("hookEventName"), f.has("tool_use_id"), f.has("transcript_path") && !f.has("stop_reason"):
		return inVSCode + name
	}
	return name
}

// copilotNameless tells an event in camelCase by its fields. Of the prompt's two
// events only the first counts. Empty: it is none of those that matter.
func copilotNameless(f fields) string {
	switch {
	case f.has("toolName", "toolResult"):
		return "postToolUse"
	case f.has("toolName", "error"):
		return "postToolUseFailure"
	case f.has("toolName", "toolArgs"):
		return "preToolUse"
	case f.has("prompt") && !f.has("transformedPrompt"):
		return "userPromptSubmitted"
	case f.has("stopReason") && (f.has("agentName") || f.has("agentId")):
		return "subagentStop"
	case f.has("stopReason"):
		return "agentStop"
	case f.has("source"):
		return "sessionStart"
	case f.has("reason"):
		return "sessionEnd"
	}
	return ""
}

// copilotCall: the arguments may be an object or a text that is one. They are
// made the same, for a call without an id is known again by them.
func copilotCall(f fields) Call {
	tool := f.name("toolName", "tool_name")
	var input bytes.Buffer
	if json.Compact(&input, unquoted(f.raw("toolArgs", "tool_input"))) != nil {
		input.Reset()
	}
	c, in := newCall(classify.Copilot, f.name("tool_use_id"), tool, "", input.Bytes())
	c.Todos = copilotTodos(tool, in)
	return c
}

// copilotTodos: the CLI's list is a Markdown text in todos, that of VS Code a
// list in todoList; both are always the whole list.
func copilotTodos(tool string, in fields) *session.Todos {
	switch tool {
	case "update_todo", "TodoWrite":
		if text := in.text("todos"); text != "" {
			return checklist(text)
		}
		return todoList(in["todos"], false)
	case "manage_todo_list":
		if in.text("operation") != "read" {
			return todoList(in["todoList"], false)
		}
	}
	return nil
}

func copilotResult(c *Call, f fields) {
	result := f.raw("toolResult", "tool_result", "tool_response")
	if result == nil {
		text := f.text("error")
		if text == "" {
			text = f.object("error").text("message")
		}
		c.failed(text)
		return
	}
	c.Observation.Payload = result
}

// copilotOutput is the part of Copilot's hook output that is used here.
type copilotOutput struct {
	Decision string `json:"permissionDecision,omitempty"`       // before a tool alone
	Reason   string `json:"permissionDecisionReason,omitempty"` // to the model
	Context  string `json:"additionalContext,omitempty"`
}

// copilotAnswer prints nothing where nothing is to be said: that leaves it to
// the user's permissions. Copilot CLI has no word to the user, and before a tool
// and at a prompt none to the model.
func copilotAnswer(e Event, a Answer) Output {
	if name, ok := strings.CutPrefix(e.Name, inVSCode); ok {
		switch e.Kind {
		case Prompt, Stop, SubagentStop, SessionEnd:
			a.Context = ""
		}
		return nested(name, a)
	}
	var out copilotOutput
	switch e.Kind {
	case Before:
		if a.Deny {
			out.Decision, out.Reason = "deny", said(a.Reason)
		}
	case After, SessionStart:
		out.Context = said(a.Context)
	}
	return printed(out)
}
