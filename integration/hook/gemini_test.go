package hook

import (
	"testing"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

const geminiHead = `{"session_id":"s1","transcript_path":"/h/.gemini/tmp/x/chats/s.json","cwd":"/w","timestamp":"2026-08-01T10:00:00.000Z",`

func geminiIs(kind Kind, name string, more ...func(*Event)) Event {
	return is(Event{Agent: classify.Gemini, Session: "s1", Project: "/w", Kind: kind, Name: name}, more...)
}

const geminiTodos = `{"todos":[{"description":"read","status":"completed"},{"description":"old","status":"cancelled"},{"description":"wait","status":"blocked"}]}`

var geminiDecodes = []decodeTest{
	{"before a shell", geminiHead + `"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`,
		geminiIs(Before, "BeforeTool", called("", "run_shell_command", `{"command":"ls"}`), shell("ls"))},
	{"after an error", geminiHead + `"hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"ls"},"tool_response":{"llmContent":"x","error":{"type":"shell_execute_error","message":"y"}}}`,
		geminiIs(After, "AfterTool", called("", "run_shell_command", `{"command":"ls"}`), shell("ls"), payload(`{"llmContent":"x","error":{"type":"shell_execute_error","message":"y"}}`))},
	{"a server's tool", geminiHead + `"hook_event_name":"BeforeTool","tool_name":"mcp_my_db_query","tool_input":{},"mcp_context":{"server_name":"my.db","tool_name":"query","command":"db"}}`,
		geminiIs(Before, "BeforeTool", called("", "mcp_my_db_query", `{}`), served("my.db"))},
	{"a to-do list", geminiHead + `"hook_event_name":"AfterTool","tool_name":"write_todos","tool_input":` + geminiTodos + `,"tool_response":{"llmContent":"ok","error":null}}`,
		geminiIs(After, "AfterTool", called("", "write_todos", geminiTodos), payload(`{"llmContent":"ok","error":null}`),
			todos(todo("read", session.TodoDone), todo("old", session.TodoDropped), todo("wait", session.TodoPending)))},
	{"a to-do list that was refused", geminiHead + `"hook_event_name":"AfterTool","tool_name":"write_todos","tool_input":` + geminiTodos + `,"tool_response":{"error":{"type":"invalid_tool_params","message":"x"}}}`,
		geminiIs(After, "AfterTool", called("", "write_todos", geminiTodos), payload(`{"error":{"type":"invalid_tool_params","message":"x"}}`))},
	{"the user", geminiHead + `"hook_event_name":"BeforeAgent","prompt":"do it"}`, geminiIs(Prompt, "BeforeAgent")},
	{"a stop", geminiHead + `"hook_event_name":"AfterAgent","prompt":"do it","prompt_response":"done","stop_hook_active":false}`, geminiIs(Stop, "AfterAgent")},
	{"a start", geminiHead + `"hook_event_name":"SessionStart","source":"clear"}`, geminiIs(SessionStart, "SessionStart", began("clear"))},
	{"an end", geminiHead + `"hook_event_name":"SessionEnd","reason":"exit"}`, geminiIs(SessionEnd, "SessionEnd")},
	{"of the model", geminiHead + `"hook_event_name":"BeforeModel","llm_request":{}}`, geminiIs(Other, "BeforeModel")},
	{"of its history", geminiHead + `"hook_event_name":"PreCompress","trigger":"auto"}`, geminiIs(Other, "PreCompress")},
}

func TestGeminiEvents(t *testing.T) { checkDecode(t, geminiDecodes) }

func TestGeminiAnswers(t *testing.T) {
	full := Answer{Deny: true, Reason: "r", Context: "c", Notice: "n"}
	checkAnswers(t, classify.Gemini, []answerTest{
		{"nothing to say", Before, "BeforeTool", Answer{}, ""},
		{"a denial", Before, "BeforeTool", Answer{Deny: true, Reason: "r", Context: "c"}, `{"decision":"deny","reason":"r"}`},
		{"a denial and a notice", Before, "BeforeTool", full, `{"decision":"deny","reason":"r","systemMessage":"n"}`},
		{"a probe", Before, "BeforeTool", Answer{Context: "c"}, `{"systemMessage":"c"}`},
		{"after a tool", After, "AfterTool", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"c"}}`},
		{"a prompt", Prompt, "BeforeAgent", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"c"}}`},
		{"a start", SessionStart, "SessionStart", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}`},
		{"a stop", Stop, "AfterAgent", full, `{"systemMessage":"n"}`},
		{"an end", SessionEnd, "SessionEnd", full, `{"systemMessage":"n"}`},
	})
}
