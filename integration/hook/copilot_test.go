package hook

import (
	"testing"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

const (
	copilotHead  = `{"sessionId":"s1","timestamp":1719990000000,"cwd":"/w",`
	copilotSnake = `{"session_id":"s1","timestamp":"2026-08-01T10:00:00.000Z","cwd":"/w",`
	copilotCode  = `{"sessionId":"s1","timestamp":"2026-08-01T10:00:00.000Z","cwd":"/w","transcript_path":"/h/t.json",`
)

func copilotIs(kind Kind, name string, more ...func(*Event)) Event {
	return is(Event{Agent: classify.Copilot, Session: "s1", Project: "/w", Kind: kind, Name: name}, more...)
}

const copilotList = `{"todos":"Plan:\n- [x] read\n  * [X] test\n1. [-] write\n- [ ] ship\n- [?] what\n- plain\n- [ ]"}`

var copilotTodo = todos(todo("read", session.TodoDone), todo("test", session.TodoDone), todo("write", session.TodoActive), todo("ship", session.TodoPending))

var copilotDecodes = []decodeTest{
	{"before a shell", copilotHead + `"toolName":"bash","toolArgs":{"command": "ls"}}`,
		copilotIs(Before, "preToolUse", called("", "bash", `{"command":"ls"}`), shell("ls"))},
	{"arguments in a text", copilotHead + `"toolName":"bash","toolArgs":"{\"command\": \"ls\"}"}`,
		copilotIs(Before, "preToolUse", called("", "bash", `{"command":"ls"}`), shell("ls"))},
	{"after a success", copilotHead + `"toolName":"bash","toolArgs":{"command":"ls"},"toolResult":{"resultType":"success","textResultForLlm":"a\n<exited with exit code 0>"}}`,
		copilotIs(After, "postToolUse", called("", "bash", `{"command":"ls"}`), shell("ls"),
			payload(`{"resultType":"success","textResultForLlm":"a\n<exited with exit code 0>"}`))},
	{"after a failure", copilotHead + `"toolName":"bash","toolArgs":{"command":"ls"},"error":"boom"}`,
		copilotIs(After, "postToolUseFailure", called("", "bash", `{"command":"ls"}`), shell("ls"), failed("boom"))},
	{"after a failure that is an object", copilotHead + `"toolName":"bash","toolArgs":{},"error":{"message":"boom"}}`,
		copilotIs(After, "postToolUseFailure", called("", "bash", `{}`), failed("boom"))},
	{"the user", copilotHead + `"prompt":"do it"}`, copilotIs(Prompt, "userPromptSubmitted")},
	{"the user, told again", copilotHead + `"prompt":"do it","transformedPrompt":"<x>do it"}`, copilotIs(Other, "")},
	{"a start", copilotHead + `"source":"new","initialPrompt":"do it"}`, copilotIs(SessionStart, "sessionStart", began("startup"))},
	{"a resumed session", copilotHead + `"source":"resume"}`, copilotIs(SessionStart, "sessionStart", began("resume"))},
	{"an end", copilotHead + `"reason":"user_exit"}`, copilotIs(SessionEnd, "sessionEnd")},
	{"a stop", copilotHead + `"transcriptPath":"/h/t.jsonl","stopReason":"end_turn","stop_hook_active":false}`, copilotIs(Stop, "agentStop")},
	{"a subagent's stop", copilotHead + `"agentId":"a1","agentType":"explore","agentName":"explore","response":"x","stopReason":"end_turn"}`, copilotIs(SubagentStop, "subagentStop", subagent("a1"))},
	{"an error", copilotHead + `"error":{"message":"x","name":"y"},"errorContext":"model_call","recoverable":true}`, copilotIs(Other, "")},
	{"a question", copilotHead + `"toolName":"bash","toolInput":{"command":"ls"}}`, copilotIs(Other, "")},
	{"a notice", copilotHead + `"hook_event_name":"Notification","message":"x","notification_type":"agent_idle"}`, copilotIs(Other, "Notification")},
	{"a to-do list", copilotHead + `"toolName":"update_todo","toolArgs":` + copilotList + `,"toolResult":{"resultType":"success"}}`,
		copilotIs(After, "postToolUse", called("", "update_todo", copilotList), payload(`{"resultType":"success"}`), copilotTodo)},
	{"a to-do list that is none", copilotHead + `"toolName":"update_todo","toolArgs":{"todos":"nothing yet"}}`,
		copilotIs(Before, "preToolUse", called("", "update_todo", `{"todos":"nothing yet"}`))},

	{"before a shell, by Claude Code's names", copilotSnake + `"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`,
		copilotIs(Before, "PreToolUse", called("", "Bash", `{"command":"ls"}`), shell("ls"))},
	{"after a success, by Claude Code's names", copilotSnake + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{},"tool_result":{"result_type":"success","text_result_for_llm":"x"}}`,
		copilotIs(After, "PostToolUse", called("", "Bash", `{}`), payload(`{"result_type":"success","text_result_for_llm":"x"}`))},
	{"after a failure, by Claude Code's names", copilotSnake + `"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{},"error":"boom"}`,
		copilotIs(After, "PostToolUseFailure", called("", "Bash", `{}`), failed("boom"))},
	{"a stop, by Claude Code's name", copilotSnake + `"hook_event_name":"Stop","transcript_path":"/h/t.jsonl","stop_reason":"end_turn"}`, copilotIs(Stop, "Stop")},

	{"before a tool, in VS Code", copilotCode + `"hookEventName":"PreToolUse","tool_name":"run_in_terminal","tool_input":{"command":"ls"},"tool_use_id":"t1"}`,
		copilotIs(Before, "vscode:PreToolUse", called("t1", "run_in_terminal", `{"command":"ls"}`), shell("ls"))},
	{"after a tool, in VS Code", copilotCode + `"hookEventName":"PostToolUse","tool_name":"run_in_terminal","tool_input":{},"tool_use_id":"t1","tool_response":"x"}`,
		copilotIs(After, "vscode:PostToolUse", called("t1", "run_in_terminal", `{}`), payload(`"x"`))},
	{"the user, in VS Code", `{"session_id":"s1","timestamp":"x","cwd":"/w","transcript_path":"/h/t","hook_event_name":"UserPromptSubmit","prompt":"do it"}`, copilotIs(Prompt, "vscode:UserPromptSubmit")},
	{"a to-do list, in VS Code", copilotCode + `"hookEventName":"PreToolUse","tool_name":"manage_todo_list","tool_input":{"todoList":[{"id":1,"title":"a","status":"not-started"}]},"tool_use_id":"t1"}`,
		copilotIs(Before, "vscode:PreToolUse", called("t1", "manage_todo_list", `{"todoList":[{"id":1,"title":"a","status":"not-started"}]}`),
			todos(session.Todo{ID: "1", Text: "a", State: session.TodoPending}))},
}

func TestCopilotEvents(t *testing.T) { checkDecode(t, copilotDecodes) }

func TestCopilotAnswers(t *testing.T) {
	full := Answer{Deny: true, Reason: "r", Context: "c", Notice: "n"}
	checkAnswers(t, classify.Copilot, []answerTest{
		{"nothing to say", Before, "preToolUse", Answer{}, ""},
		{"a denial", Before, "preToolUse", full, `{"permissionDecision":"deny","permissionDecisionReason":"r"}`},
		{"a denial, by Claude Code's name", Before, "PreToolUse", full, `{"permissionDecision":"deny","permissionDecisionReason":"r"}`},
		{"a probe", Before, "preToolUse", Answer{Context: "c", Notice: "n"}, ""},
		{"after a success", After, "postToolUse", full, `{"additionalContext":"c"}`},
		{"after a failure", After, "postToolUseFailure", full, `{"additionalContext":"c"}`},
		{"a start", SessionStart, "sessionStart", full, `{"additionalContext":"c"}`},
		{"a prompt", Prompt, "userPromptSubmitted", full, ""},
		{"a stop", Stop, "agentStop", full, ""},
		{"a subagent's stop", SubagentStop, "subagentStop", full, ""},
		{"an end", SessionEnd, "sessionEnd", full, ""},
		{"nothing to say, in VS Code", Before, "vscode:PreToolUse", Answer{}, ""},
		{"a denial, in VS Code", Before, "vscode:PreToolUse", Answer{Deny: true, Reason: "r"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}`},
		{"a start, in VS Code", SessionStart, "vscode:SessionStart", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}`},
		{"a prompt, in VS Code", Prompt, "vscode:UserPromptSubmit", full, `{"systemMessage":"n"}`},
		{"a stop, in VS Code", Stop, "vscode:Stop", full, `{"systemMessage":"n"}`},
	})
}
