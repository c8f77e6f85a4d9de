package hook

import (
	"testing"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

const cursorHead = `{"conversation_id":"s1","generation_id":"g1","model":"m","cursor_version":"2.0.0","workspace_roots":["/w"],"user_email":null,"transcript_path":null,`

func cursorIs(kind Kind, name string, more ...func(*Event)) Event {
	return is(Event{Agent: classify.Cursor, Session: "s1", Project: "/w", Kind: kind, Name: name}, more...)
}

const (
	cursorShell   = `{"command":"npm test","working_directory":"/w"}`
	cursorReplace = `{"merge":false,"todos":[{"id":"1","content":"One","status":"in_progress"},{"id":"2","content":"Two","status":"pending"}]}`
	cursorMerge   = `{"merge":true,"todos":[{"id":"2","status":"cancelled"}]}`
)

var cursorDecodes = []decodeTest{
	{"before a shell", cursorHead + `"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":` + cursorShell + `,"tool_use_id":"abc","cwd":"/w","agent_message":"x"}`,
		cursorIs(Before, "preToolUse", called("abc", "Shell", cursorShell), shell("npm test"))},
	{"after a success", cursorHead + `"hook_event_name":"postToolUse","tool_name":"Shell","tool_input":` + cursorShell + `,"tool_output":"{\"exitCode\":0,\"stdout\":\"x\"}","tool_use_id":"abc","cwd":"/w","duration":5432}`,
		cursorIs(After, "postToolUse", called("abc", "Shell", cursorShell), shell("npm test"), payload(`"{\"exitCode\":0,\"stdout\":\"x\"}"`), took(5432*time.Millisecond))},
	{"after a failure", cursorHead + `"hook_event_name":"postToolUseFailure","tool_name":"Shell","tool_input":` + cursorShell + `,"tool_use_id":"abc","cwd":"/w","error_message":"Command timed out after 30s","failure_type":"timeout","duration":5000,"is_interrupt":false}`,
		cursorIs(After, "postToolUseFailure", called("abc", "Shell", cursorShell), shell("npm test"), failed("Command timed out after 30s"),
			payload(`{"error_message":"Command timed out after 30s","failure_type":"timeout","is_interrupt":false}`), took(5*time.Second))},
	{"a server's tool", cursorHead + `"hook_event_name":"preToolUse","tool_name":"MCP:query","tool_input":{},"tool_use_id":"abc"}`,
		cursorIs(Before, "preToolUse", called("abc", "MCP:query", `{}`))},
	{"a whole to-do list", cursorHead + `"hook_event_name":"preToolUse","tool_name":"TodoWrite","tool_input":` + cursorReplace + `,"tool_use_id":"abc"}`,
		cursorIs(Before, "preToolUse", called("abc", "TodoWrite", cursorReplace),
			todos(session.Todo{ID: "1", Text: "One", State: session.TodoActive}, session.Todo{ID: "2", Text: "Two", State: session.TodoPending}))},
	{"a change of it", cursorHead + `"hook_event_name":"preToolUse","tool_name":"TodoWrite","tool_input":` + cursorMerge + `,"tool_use_id":"abc"}`,
		cursorIs(Before, "preToolUse", called("abc", "TodoWrite", cursorMerge), func(e *Event) {
			e.Call.Todos = &session.Todos{Items: []session.Todo{{ID: "2", State: session.TodoDropped}}}
		})},
	{"the user", cursorHead + `"hook_event_name":"beforeSubmitPrompt","prompt":"do it","attachments":[]}`, cursorIs(Prompt, "beforeSubmitPrompt")},
	{"a start", cursorHead + `"hook_event_name":"sessionStart","session_id":"s1","is_background_agent":false}`, cursorIs(SessionStart, "sessionStart", began("startup"))},
	{"an end", `{"session_id":"s1","hook_event_name":"sessionEnd","cursor_version":"2.0.0","workspace_roots":["/w"],"reason":"completed"}`, cursorIs(SessionEnd, "sessionEnd")},
	{"a stop", cursorHead + `"hook_event_name":"stop","status":"completed","loop_count":0}`, cursorIs(Stop, "stop")},
	{"a subagent's stop", cursorHead + `"hook_event_name":"subagentStop","subagent_type":"explore","status":"completed"}`, cursorIs(SubagentStop, "subagentStop")},
	{"a shell, told again", cursorHead + `"hook_event_name":"beforeShellExecution","command":"npm test","cwd":"/w","sandbox":false}`, cursorIs(Other, "beforeShellExecution")},
	{"a shell's end, told again", cursorHead + `"hook_event_name":"afterShellExecution","command":"npm test","output":"x","duration":1}`, cursorIs(Other, "afterShellExecution")},
	{"a server's tool, told again", cursorHead + `"hook_event_name":"beforeMCPExecution","tool_name":"query","tool_input":"{}","mcp_server_name":"db"}`, cursorIs(Other, "beforeMCPExecution")},
	{"a server's result, told again", cursorHead + `"hook_event_name":"afterMCPExecution","tool_name":"query","tool_input":"{}","result_json":"{}"}`, cursorIs(Other, "afterMCPExecution")},
	{"an event of Claude Code's names", cursorHead + `"hook_event_name":"PreToolUse","tool_name":"Shell","tool_input":{}}`, cursorIs(Other, "PreToolUse")},
}

func TestCursorEvents(t *testing.T) { checkDecode(t, cursorDecodes) }

func TestCursorAnswers(t *testing.T) {
	full := Answer{Deny: true, Reason: "r", Context: "c", Notice: "n"}
	checkAnswers(t, classify.Cursor, []answerTest{
		{"nothing to say", Before, "preToolUse", Answer{}, `{}`},
		{"a denial", Before, "preToolUse", Answer{Deny: true, Reason: "r"}, `{"permission":"deny","agent_message":"r"}`},
		{"a denial and a notice", Before, "preToolUse", full, `{"permission":"deny","user_message":"n","agent_message":"r"}`},
		{"a probe", Before, "preToolUse", Answer{Context: "c", Notice: "n"}, `{}`},
		{"after a success", After, "postToolUse", full, `{"additional_context":"c"}`},
		{"nothing to say afterwards", After, "postToolUse", Answer{}, `{}`},
		{"after a failure", After, "postToolUseFailure", full, `{}`},
		{"a start", SessionStart, "sessionStart", full, `{"additional_context":"c"}`},
		{"a prompt", Prompt, "beforeSubmitPrompt", full, `{"continue":true}`},
		{"a stop", Stop, "stop", full, `{}`},
		{"a subagent's stop", SubagentStop, "subagentStop", full, `{}`},
		{"an end", SessionEnd, "sessionEnd", full, `{}`},
		{"what is told again", Other, "beforeShellExecution", full, `{}`},
		{"no event that anybody knows", Other, "", full, `{}`},
	})
}
