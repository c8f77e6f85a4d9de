package hook

import (
	"encoding/json"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

// claudeKinds are the events of Claude Code that say something here. It has
// some thirty others.
var claudeKinds = map[string]Kind{
	"PreToolUse": Before, "PostToolUse": After, "PostToolUseFailure": After, "PostToolBatch": BatchEnd,
	"UserPromptSubmit": Prompt, "SessionStart": SessionStart, "SessionEnd": SessionEnd,
	"Stop": Stop, "StopFailure": Stop, "SubagentStop": SubagentStop,
}

// claudeEvent reads what all events have, session_id, cwd, hook_event_name and
// in a subagent agent_id, and:
//
//	PreToolUse          tool_name, tool_input, tool_use_id, mcp_server {name}
//	PostToolUse         the same, tool_response, duration_ms
//	PostToolUseFailure  as PreToolUse, error, is_interrupt, duration_ms
//	PostToolBatch       tool_calls of {tool_name, tool_input, tool_use_id, tool_response}
//	UserPromptSubmit    source
//	SessionStart        source
func claudeEvent(f fields) Event {
	e := Event{Name: f.name("hook_event_name"), Session: f.name("session_id"), Subagent: f.name("agent_id"), Project: f.text("cwd")}
	e.Kind = claudeKinds[e.Name]
	switch e.Kind {
	case Before, After:
		e.Call = claudeCall(f)
		if e.Kind == After {
			claudeResult(&e.Call, f)
		}
	case BatchEnd:
		for _, raw := range f.list("tool_calls") {
			if c := claudeBatched(object(raw)); c.Observation.Tool != "" && len(e.Batch) < maxBatch {
				e.Batch = append(e.Batch, c)
			}
		}
	case SessionStart:
		e.Source = f.name("source")
	case Prompt:
		if e.Subagent != "" || !claudeTyped(f) {
			e.Kind = Other
		}
	}
	return e
}

// claudeTyped reports whether the user is behind a prompt: typed it, or gave it
// to claude -p or an SDK. Other sources are wake-ups, schedules, messages of
// the system and of peers. Versions before the field sent some of those as
// prompts too, each in a tag of its own.
func claudeTyped(f fields) bool {
	switch source := f.text("source"); source {
	case "user", "sdk":
		return true
	case "":
		prompt := strings.TrimSpace(f.text("prompt"))
		return !strings.HasPrefix(prompt, "<task-notification>") && !strings.HasPrefix(prompt, "<teammate-message")
	}
	return false
}

func claudeCall(f fields) Call {
	tool := f.name("tool_name")
	c, in := newCall(classify.ClaudeCode, f.name("tool_use_id"), tool, f.object("mcp_server").name("name"), f.raw("tool_input"))
	c.Todos = claudeTodos(tool, in)
	return c
}

// claudeResult completes a call. A failure has a text and no payload, but for
// an interrupt, which classify reads as a field of it.
func claudeResult(c *Call, f fields) {
	o := &c.Observation
	o.Duration = f.milliseconds("duration_ms")
	if f.text("hook_event_name") == "PostToolUseFailure" {
		c.failed(f.text("error"))
		if f.says("is_interrupt", true) {
			o.Payload = json.RawMessage(`{"is_interrupt":true}`)
		}
		return
	}
	o.Payload = f.raw("tool_response")
	switch o.Tool {
	case "TaskCreate":
		c.Todos = claudeCreated(object(o.Input), object(o.Payload))
	case "TaskUpdate":
		if object(o.Payload).says("success", false) {
			c.Todos = nil
		}
	}
}

// claudeBatched is a call of a batch. Its response is what the model gets to
// read: a text or content blocks, without a mark of failure.
func claudeBatched(f fields) Call {
	c := claudeCall(f)
	c.Todos = nil
	c.Observation.Unmarked = true
	if c.Observation.Result = str(f["tool_response"]); c.Observation.Result == "" {
		c.Observation.Result = blocks(f["tool_response"])
	}
	return c
}

// claudeTodos reads the two generations of Claude Code's list: TodoWrite writes
// it as a whole, TaskUpdate changes one item. What TaskCreate adds has its id in
// the result alone.
func claudeTodos(tool string, in fields) *session.Todos {
	switch tool {
	case "TodoWrite":
		return todoList(in["todos"], false)
	case "TaskUpdate":
		id := in.name("taskId")
		if id == "" {
			return nil
		}
		todos := &session.Todos{Items: []session.Todo{{
			ID: id, Text: strings.TrimSpace(in.text("subject")), State: todoState(in.text("status")), DependsOn: todoIDs(in["addBlockedBy"]),
		}}}
		for _, blocked := range todoIDs(in["addBlocks"]) {
			todos.Items = append(todos.Items, session.Todo{ID: blocked, DependsOn: []string{id}})
		}
		return todos
	}
	return nil
}

func claudeCreated(in, out fields) *session.Todos {
	task := out.object("task")
	text := task.text("subject")
	if text == "" {
		text = in.text("subject")
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return &session.Todos{Items: []session.Todo{{ID: task.name("id"), Text: text, State: session.TodoPending}}}
}

// nestedOutput is the part of Claude Code's hook output that is used here. Codex
// and VS Code have taken it over.
type nestedOutput struct {
	SystemMessage string          `json:"systemMessage,omitempty"` // to the user
	Specific      *nestedSpecific `json:"hookSpecificOutput,omitempty"`
}

type nestedSpecific struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`       // PreToolUse alone
	Reason   string `json:"permissionDecisionReason,omitempty"` // to the model
	Context  string `json:"additionalContext,omitempty"`
}

// nested says an answer in Claude Code's form. It never allows: that would pass
// over the user's own permissions.
func nested(event string, a Answer) Output {
	out := nestedOutput{SystemMessage: said(a.Notice)}
	specific := nestedSpecific{Event: event, Context: said(a.Context)}
	if a.Deny {
		specific.Decision, specific.Reason = "deny", said(a.Reason)
	}
	if specific != (nestedSpecific{Event: event}) {
		out.Specific = &specific
	}
	return printed(out)
}

// claudeAnswer leaves out the context of a stop, which would make the agent go
// on, and of a session's end, which has none.
func claudeAnswer(e Event, a Answer) Output {
	switch e.Kind {
	case Stop, SubagentStop, SessionEnd:
		a.Context = ""
	}
	return nested(e.Name, a)
}
