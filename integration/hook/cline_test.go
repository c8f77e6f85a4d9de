package hook

import (
	"testing"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

const (
	clineHead = `{"clineVersion":"3.40.0","timestamp":"1719990000000","taskId":"s1","workspaceRoots":["/w"],"userId":"u",`
	clineLine = `{"clineVersion":"4","timestamp":"x","taskId":"c1","sessionContext":{"rootSessionId":"s1"},"workspaceRoots":["/w"],"userId":"u","agent_id":"a1","parent_agent_id":null,`
	clineSub  = `{"clineVersion":"4","timestamp":"x","taskId":"c2","sessionContext":{"rootSessionId":"s1"},"workspaceRoots":["/w"],"userId":"u","agent_id":"a2","parent_agent_id":"a1",`
)

func clineIs(kind Kind, name string, more ...func(*Event)) Event {
	return is(Event{Agent: classify.Cline, Session: "s1", Project: "/w", Kind: kind, Name: name}, more...)
}

const clineProgress = `{"path":"a.go","task_progress":"- [x] read\n- [ ] write"}`

var clineDecodes = []decodeTest{
	{"before a shell", clineHead + `"hookName":"PreToolUse","preToolUse":{"toolName":"execute_command","parameters":{"command":"npm test","requires_approval":"false"}}}`,
		clineIs(Before, "PreToolUse", called("", "execute_command", `{"command":"npm test","requires_approval":"false"}`), shell("npm test"))},
	{"after a failure", clineHead + `"hookName":"PostToolUse","postToolUse":{"toolName":"execute_command","parameters":{"command":"npm test"},"result":"boom","success":false,"executionTimeMs":4187}}`,
		clineIs(After, "PostToolUse", called("", "execute_command", `{"command":"npm test"}`), shell("npm test"), failed("boom"), took(4187*time.Millisecond))},
	{"after a success", clineHead + `"hookName":"PostToolUse","postToolUse":{"toolName":"read_file","parameters":{"path":"a.go"},"result":"x","success":true,"executionTimeMs":3}}`,
		clineIs(After, "PostToolUse", called("", "read_file", `{"path":"a.go"}`), result("x"), took(3*time.Millisecond))},
	{"a server's tool", clineHead + `"hookName":"PreToolUse","preToolUse":{"toolName":"use_mcp_tool","parameters":{"server_name":"db","tool_name":"query","arguments":"{}"}}}`,
		clineIs(Before, "PreToolUse", called("", "use_mcp_tool", `{"server_name":"db","tool_name":"query","arguments":"{}"}`))},
	{"a to-do list beside a call", clineHead + `"hookName":"PreToolUse","preToolUse":{"toolName":"read_file","parameters":` + clineProgress + `}}`,
		clineIs(Before, "PreToolUse", called("", "read_file", clineProgress), todos(todo("read", session.TodoDone), todo("write", session.TodoPending)))},
	{"the user", clineHead + `"hookName":"UserPromptSubmit","userPromptSubmit":{"prompt":"do it","attachments":[]}}`, clineIs(Prompt, "UserPromptSubmit")},
	{"a start", clineHead + `"hookName":"TaskStart","taskStart":{"taskMetadata":{"taskId":"s1"}}}`, clineIs(SessionStart, "TaskStart", began("startup"))},
	{"a task taken up again", clineHead + `"hookName":"TaskResume","taskResume":{}}`, clineIs(SessionStart, "TaskResume", began("resume"))},
	{"the user ends the task", clineHead + `"hookName":"TaskCancel","taskCancel":{}}`, clineIs(Stop, "TaskCancel")},
	{"a stop", clineHead + `"hookName":"TaskComplete","taskComplete":{}}`, clineIs(Stop, "TaskComplete")},
	{"of its history", clineHead + `"hookName":"PreCompact","preCompact":{}}`, clineIs(Other, "PreCompact")},

	{"before a call of the command line", clineLine + `"hookName":"tool_call","iteration":1,"tool_call":{"id":"t1","name":"run_commands","input":{"commands":["ls"]}},"preToolUse":{"toolName":"run_commands","parameters":{}}}`,
		clineIs(Before, "tool_call", called("t1", "run_commands", `{"commands":["ls"]}`), shell("ls"))},
	{"after a call of the command line", clineLine + `"hookName":"tool_result","tool_result":{"id":"t1","name":"run_commands","input":{"commands":["ls"]},"output":"a","durationMs":7}}`,
		clineIs(After, "tool_result", called("t1", "run_commands", `{"commands":["ls"]}`), shell("ls"), result("a"), took(7*time.Millisecond))},
	{"after an error of the command line", clineLine + `"hookName":"tool_result","tool_result":{"id":"t1","name":"x","input":{},"output":null,"error":"boom","durationMs":7}}`,
		clineIs(After, "tool_result", called("t1", "x", `{}`), failed("boom"), took(7*time.Millisecond))},
	{"after a call that was not made", clineLine + `"hookName":"tool_result","tool_result":{"id":"t1","name":"x","input":{},"output":{"error":"boom"},"error":"{\"error\":\"boom\"}","durationMs":7}}`,
		clineIs(After, "tool_result", called("t1", "x", `{}`), failed("boom"), took(7*time.Millisecond))},
	{"after an object of the command line", clineLine + `"hookName":"tool_result","tool_result":{"id":"t1","name":"x","input":{},"output":{"a":1}}}`,
		clineIs(After, "tool_result", called("t1", "x", `{}`), payload(`{"a":1}`))},
	{"the user of the command line", clineLine + `"hookName":"prompt_submit","userPromptSubmit":{"prompt":"do it"}}`, clineIs(Prompt, "prompt_submit")},
	{"a start of the command line", clineLine + `"hookName":"agent_start"}`, clineIs(SessionStart, "agent_start", began("startup"))},
	{"a stop of the command line", clineLine + `"hookName":"agent_end","iteration":3}`, clineIs(Stop, "agent_end")},
	{"an end of the command line", clineLine + `"hookName":"session_shutdown"}`, clineIs(SessionEnd, "session_shutdown")},
	{"a call of a subagent", clineSub + `"hookName":"tool_call","tool_call":{"id":"t2","name":"x","input":{}}}`, clineIs(Before, "tool_call", subagent("a2"), called("t2", "x", `{}`))},
	{"a start of a subagent", clineSub + `"hookName":"agent_start"}`, clineIs(Other, "agent_start", subagent("a2"), began("startup"))},
	{"a prompt of a subagent", clineSub + `"hookName":"prompt_submit"}`, clineIs(Other, "prompt_submit", subagent("a2"))},
	{"a stop of a subagent", clineSub + `"hookName":"agent_end"}`, clineIs(SubagentStop, "agent_end", subagent("a2"))},
}

func TestClineEvents(t *testing.T) { checkDecode(t, clineDecodes) }

func TestClineAnswers(t *testing.T) {
	full := Answer{Deny: true, Reason: "r", Context: "c", Notice: "n"}
	checkAnswers(t, classify.Cline, []answerTest{
		{"nothing to say", Before, "PreToolUse", Answer{}, ""},
		{"a denial", Before, "PreToolUse", full, `{"cancel":true,"errorMessage":"r"}`},
		{"a probe", Before, "PreToolUse", Answer{Context: "c", Notice: "n"}, `{"cancel":false,"contextModification":"c"}`},
		{"after a tool", After, "PostToolUse", full, `{"cancel":false,"contextModification":"c"}`},
		{"a start", SessionStart, "TaskStart", full, `{"cancel":false,"contextModification":"c"}`},
		{"a prompt", Prompt, "UserPromptSubmit", full, `{"cancel":false,"contextModification":"c"}`},
		{"a stop", Stop, "TaskComplete", full, ""},
		{"an end", SessionEnd, "session_shutdown", full, ""},
	})
}
