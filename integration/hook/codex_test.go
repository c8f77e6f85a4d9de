package hook

import (
	"testing"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

const codexHead = `{"session_id":"s1","turn_id":"turn_7","transcript_path":"/h/rollout-1.jsonl","cwd":"/w","model":"gpt-x","permission_mode":"default",`

func codexIs(kind Kind, name string, more ...func(*Event)) Event {
	return is(Event{Agent: classify.Codex, Session: "s1", Project: "/w", Kind: kind, Name: name}, more...)
}

const codexPlan = `{"explanation":"why","plan":[{"step":"read","status":"completed"},{"step":"write","status":"in_progress"},{"step":"ship","status":"pending"}]}`

var codexDecodes = []decodeTest{
	{"before a shell", codexHead + `"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rg x"},"tool_use_id":"call_9"}`,
		codexIs(Before, "PreToolUse", called("call_9", "Bash", `{"command":"rg x"}`), shell("rg x"))},
	{"after a shell, the output alone", codexHead + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"rg x"},"tool_use_id":"call_9","tool_response":"a.go:1: x\nExit code: 7"}`,
		codexIs(After, "PostToolUse", called("call_9", "Bash", `{"command":"rg x"}`), shell("rg x"), payload(`"a.go:1: x\nExit code: 7"`))},
	{"after a shell, with its end", codexHead + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"rg x"},"tool_use_id":"call_9","tool_response":"Chunk ID: 1\nProcess exited with code 7\nOutput:\nx"}`,
		codexIs(After, "PostToolUse", called("call_9", "Bash", `{"command":"rg x"}`), shell("rg x"), payload(`"Chunk ID: 1\nProcess exited with code 7\nOutput:\nx"`))},
	{"after a shell, an object in a text", codexHead + `"hook_event_name":"PostToolUse","tool_name":"shell","tool_input":{"command":["ls"]},"tool_use_id":"call_9","tool_response":"{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"}`,
		codexIs(After, "PostToolUse", called("call_9", "shell", `{"command":["ls"]}`), shell("'ls'"), payload(`"{\"output\":\"x\",\"metadata\":{\"exit_code\":0}}"`))},
	{"after a server's tool", codexHead + `"hook_event_name":"PostToolUse","tool_name":"mcp__db__query","tool_input":{},"tool_use_id":"call_9","tool_response":{"content":[],"isError":true}}`,
		codexIs(After, "PostToolUse", called("call_9", "mcp__db__query", `{}`), payload(`{"content":[],"isError":true}`))},
	{"a patch", codexHead + `"hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch"},"tool_use_id":"call_9"}`,
		codexIs(Before, "PreToolUse", called("call_9", "apply_patch", `{"command":"*** Begin Patch"}`))},
	{"a plan", codexHead + `"hook_event_name":"PostToolUse","tool_name":"update_plan","tool_input":` + codexPlan + `,"tool_use_id":"call_9","tool_response":"Plan updated"}`,
		codexIs(After, "PostToolUse", called("call_9", "update_plan", codexPlan), payload(`"Plan updated"`),
			todos(todo("read", session.TodoDone), todo("write", session.TodoActive), todo("ship", session.TodoPending)))},
	{"of a subagent", codexHead + `"agent_id":"a1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"call_9"}`,
		codexIs(Before, "PreToolUse", subagent("a1"), called("call_9", "Bash", `{}`))},
	{"the user", codexHead + `"hook_event_name":"UserPromptSubmit","prompt":"do it"}`, codexIs(Prompt, "UserPromptSubmit")},
	{"a start", `{"session_id":"s1","transcript_path":null,"cwd":"/w","hook_event_name":"SessionStart","model":"gpt-x","permission_mode":"default","source":"resume"}`,
		codexIs(SessionStart, "SessionStart", began("resume"))},
	{"a stop", codexHead + `"hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":null}`, codexIs(Stop, "Stop")},
	{"a subagent's stop", codexHead + `"hook_event_name":"SubagentStop","agent_id":"a1"}`, codexIs(SubagentStop, "SubagentStop", subagent("a1"))},
	{"an end", codexHead + `"hook_event_name":"SessionEnd"}`, codexIs(SessionEnd, "SessionEnd")},
	{"a question", codexHead + `"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}}`, codexIs(Other, "PermissionRequest")},
}

func TestCodexEvents(t *testing.T) { checkDecode(t, codexDecodes) }

func TestCodexAnswers(t *testing.T) {
	full := Answer{Deny: true, Reason: "r", Context: "c", Notice: "n"}
	checkAnswers(t, classify.Codex, []answerTest{
		{"nothing to say", Before, "PreToolUse", Answer{}, ""},
		{"a denial", Before, "PreToolUse", Answer{Deny: true, Reason: "r"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}`},
		{"a denial without a reason", Before, "PreToolUse", Answer{Deny: true, Reason: " \n\x00"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"expediter: the tool must not run now; no reason was given"}}`},
		{"a probe", Before, "PreToolUse", Answer{Context: "c"}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}`},
		{"after a tool", After, "PostToolUse", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c"}}`},
		{"a prompt", Prompt, "UserPromptSubmit", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}`},
		{"a start", SessionStart, "SessionStart", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}`},
		{"a stop", Stop, "Stop", full, `{"systemMessage":"n"}`},
		{"a subagent's stop", SubagentStop, "SubagentStop", full, `{"systemMessage":"n"}`},
		{"an end", SessionEnd, "SessionEnd", full, ""},
	})
}
