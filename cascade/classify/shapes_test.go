package classify

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

type shaped struct {
	name, tool, payload, result string
	failed                      bool
	want                        string
}

func testShape(t *testing.T, base Observation, tests []shaped) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := base
			o.Tool, o.Payload, o.Result, o.Failed = tt.tool, []byte(tt.payload), tt.result, tt.failed
			if got := Observe(o); got.Class != tt.want {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
}

func TestClaudeCode(t *testing.T) {
	testShape(t, Observation{Protocol: Agent, Agent: ClaudeCode}, []shaped{
		{"a page that is down", "WebFetch", `{"bytes":10,"code":503,"codeText":"Service Unavailable","result":"sorry"}`, "sorry", false, "upstream"},
		{"a page that is limited", "WebFetch", `{"code":429,"codeText":"Too Many Requests","result":"x"}`, "", false, "rate_limit"},
		{"a page that is not there", "WebFetch", `{"code":404,"codeText":"Not Found","result":"connection refused"}`, "", false, "invalid_input"},
		{"a page that needs a login", "WebFetch", `{"code":401,"codeText":"Unauthorized","result":"x"}`, "", false, "auth"},
		{"a page that is forbidden", "WebFetch", `{"code":403,"codeText":"Forbidden","result":"rate limit"}`, "", false, "permission"},
		{"a page about errors", "WebFetch", `{"code":200,"codeText":"OK","result":"503 Service Unavailable"}`, "503 Service Unavailable", false, "ok"},
		{"a status that is a text", "WebFetch", `{"code":"503"}`, "", false, "ok"},
		{"interrupted", "Bash", `{"stdout":"x","interrupted":true}`, "x", false, "cancelled"},
		{"limited by GitHub", "Bash", `{"stdout":"x","interrupted":false,"ghRateLimitHint":true}`, "x", false, "rate_limit"},
		{"output that prints the words", "Bash", `{"stdout":"connect ECONNREFUSED","stderr":"429","interrupted":false}`, "connect ECONNREFUSED", false, "ok"},
		{"a search that ran out of time", "Grep", `{"numFiles":0,"filenames":[],"timedOut":true}`, "", false, "timeout"},
		{"a search that did not", "Grep", `{"numFiles":1,"content":"timed out","timedOut":false}`, "", false, "ok"},
		{"a search that found the word", "Grep", `{"mode":"content","content":"a.go:1: ECONNREFUSED"}`, "a.go:1: ECONNREFUSED", false, "ok"},
		{"an MCP server's own data", "mcp__x__y", `{"code":503,"timedOut":true,"interrupted":true,"error":"x"}`, "", false, "ok"},
		{"an MCP error", "mcp__x__y", `{"content":[{"type":"text","text":"connection refused"}],"isError":true}`, "", false, "network"},
		{"the user interrupts", "Bash", `{"error":"x","is_interrupt":true}`, "x", true, "cancelled"},
		{"a failure event", "Bash", `{"error":"Exit code 7\ncurl: (7) Failed to connect to x","is_interrupt":false}`, "", false, "network"},
		{"the text of a failure", "Bash", `"Error: connect ECONNREFUSED 127.0.0.1:1"`, "", true, "network"},
		{"a sibling", "Read", "", "<tool_use_error>Sibling tool call errored</tool_use_error>", true, "cancelled"},
		{"a refusal", "Edit", "", "The user doesn't want to proceed with this tool use.", true, "user_denied"},
		{"a hook's refusal", "WebFetch", "", "PreToolUse:WebFetch hook error: [h.sh]: blocked", true, "user_denied"},
		{"a hook's advice", "Bash", "", "Use the Read tool to read file contents", true, "user_denied"},
		{"a classifier's refusal", "Bash", "", "Permission for this action was denied by the Claude Code auto mode classifier.", true, "user_denied"},
		{"our own denial", "WebFetch", "", "expediter: SKIP. WebFetch is open (network, connection refused)", true, "none"},
		{"a wrong argument", "Read", "", "<tool_use_error>InputValidationError: file_path is missing</tool_use_error>", true, "invalid_input"},
	})
}

func TestClaudeCodeTimeLimit(t *testing.T) {
	tests := []struct{ name, command, payload, result, want string }{
		{"a build", "make all", `{"stdout":"","timedOutAfterMs":120000}`, "", "none"},
		{"a client", "curl https://x.invalid", `{"stdout":"","timedOutAfterMs":120000}`, "", "timeout"},
		{"a client, in the text", "curl https://x.invalid", "", "Command did not complete within its 120s timeout and was moved to the background", "timeout"},
		{"a build, in the text", "make all", "", "Command did not complete within its 120s timeout and was moved to the background", "none"},
		{"in time", "curl https://x.invalid", `{"stdout":"","timedOutAfterMs":0}`, "It did not complete within its 120s timeout", "ok"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Observe(Observation{Protocol: Agent, Agent: ClaudeCode, Tool: "Bash", Shell: tt.command, Payload: []byte(tt.payload), Result: tt.result})
			if got.Class != tt.want {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
}

func TestAHiddenFailureHasASignatureOfItsOwn(t *testing.T) {
	got := Observe(Observation{Protocol: Agent, Agent: ClaudeCode, Tool: "Grep", Result: "a.go:1: x", Payload: []byte(`{"timedOut":true}`)})
	if got.Signature != "Grep: timedOut" || got.Class != "timeout" {
		t.Errorf("got signature %q of %s", got.Signature, got.Class)
	}
}

func TestCodex(t *testing.T) {
	testShape(t, Observation{Protocol: Agent, Agent: Codex}, []shaped{
		{"a head with an exit code", "Bash", "", "Chunk ID: 1\nProcess exited with code 7\nFinal output:\ncurl: (7) Failed to connect", false, "network"},
		{"the same as a payload", "Bash", `"Exit code: 6\nWall time: 0.1 seconds\nOutput:\ncurl: (6) Could not resolve host: x"`, "", false, "network"},
		{"a success that prints the words", "Bash", "", "Process exited with code 0\nOutput:\nconnect ECONNREFUSED", false, "ok"},
		{"an output that looks like a head", "Bash", "", "Process exited with code 0\nOutput:\nProcess exited with code 7\nconnection refused", false, "ok"},
		{"a text without a head", "Bash", "", "connection refused", false, "ok"},
		{"a head far down", "Bash", "", strings.Repeat("x", 600) + "\nProcess exited with code 7\n", false, "ok"},
		{"output and metadata", "shell", "", `{"output":"rg: command not found","metadata":{"exit_code":127,"duration_seconds":0.1}}`, false, "tool_missing"},
		{"output and metadata of a success", "shell", "", `{"output":"ECONNREFUSED","metadata":{"exit_code":0}}`, false, "ok"},
		{"a tool's own object", "my_tool", "", `{"status":"failed","success":false}`, false, "ok"},
		{"the end of a command", "shell", `{"exit_code":2,"stdout":"","stderr":"ls: x: No such file","status":"failed"}`, "", false, "invalid_input"},
		{"a declined command", "shell", `{"status":"declined"}`, "", false, "user_denied"},
		{"a patch that failed", "apply_patch", `{"success":false,"stderr":"Failed to find expected lines in a.go"}`, "", false, "invalid_input"},
		{"an MCP error", "mcp__x__y", `{"content":[{"type":"text","text":"503 Service Unavailable"}],"isError":true}`, "", false, "upstream"},
		{"an MCP result", "mcp__x__y", `{"Ok":{"content":[{"type":"text","text":"connection refused"}],"is_error":false}}`, "", false, "ok"},
		{"an MCP transport error", "mcp__x__y", `{"Err":"timed out awaiting tools/call after 60s"}`, "", false, "timeout"},
		{"an exit code of another type", "shell", `{"exit_code":"7"}`, "", false, "ok"},
	})
}

func TestGemini(t *testing.T) {
	testShape(t, Observation{Protocol: Agent, Agent: Gemini}, []shaped{
		{"the text decides", "run_shell_command", `{"llmContent":"x","error":{"type":"shell_execute_error","message":"curl: (6) Could not resolve host: x"}}`, "", false, "network"},
		{"the text says nothing", "web_fetch", `{"llmContent":"x","error":{"type":"web_fetch_fallback_failed","message":"odd"}}`, "", false, "upstream"},
		{"a type that is clear", "read_file", `{"error":{"type":"file_not_found","message":"permission denied"}}`, "", false, "invalid_input"},
		{"refused by a policy", "run_shell_command", `{"error":{"type":"policy_violation","message":"x"}}`, "", false, "user_denied"},
		{"an unknown type", "x", `{"error":{"type":"weather","message":"connection refused"}}`, "", false, "network"},
		{"a full disk", "write_file", `{"error":{"type":"no_space_left","message":"x"}}`, "", false, "filesystem"},
		{"the exit code below the output", "run_shell_command", `{"llmContent":"Command: curl x\nOutput: curl: (6) Could not resolve host\nExit Code: 6"}`, "", false, "network"},
		{"with more lines below", "run_shell_command", `{"llmContent":"Output: x\nExit Code: 1\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 7"}`, "", false, "invalid_input"},
		{"an output that prints such a line", "run_shell_command", `{"llmContent":"Output: Exit Code: 6\nconnection refused\nExit Code: 0"}`, "", false, "ok"},
		{"another tool's output", "read_file", `{"llmContent":"x\nExit Code: 6"}`, "", false, "ok"},
		{"ended by the harness", "read_many", `{"llmContent":"Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output."}`, "", false, "timeout"},
		{"ended by the user", "run_shell_command", `{"llmContent":"Command was cancelled by user before it could complete."}`, "", false, "cancelled"},
		{"a chat file's error", "x", `{"error":"connect ECONNREFUSED"}`, "", false, "network"},
		{"a chat file's status", "x", `{"status":"cancelled"}`, "", false, "cancelled"},
		{"a success that prints the words", "grep_search", `{"llmContent":"a.go:1: ECONNREFUSED","returnDisplay":"timed out"}`, "", false, "ok"},
	})
}

func TestOtherAgents(t *testing.T) {
	tests := []struct {
		agent AgentName
		shaped
	}{
		{Cursor, shaped{"a timeout", "Read", `{"failure_type":"timeout","error_message":"x"}`, "", false, "timeout"}},
		{Cursor, shaped{"a refusal", "Read", `{"failure_type":"permission_denied","error_message":"x"}`, "", false, "user_denied"}},
		{Cursor, shaped{"an error", "Read", `{"failure_type":"error","error_message":"connect ECONNREFUSED"}`, "", false, "network"}},
		{Cursor, shaped{"an interrupt", "Read", `{"failure_type":"error","error_message":"x","is_interrupt":true}`, "", false, "cancelled"}},
		{Cursor, shaped{"an exit code in a text", "Shell", `"{\"exitCode\":127,\"stderr\":\"rg: command not found\"}"`, "", false, "tool_missing"}},
		{Cursor, shaped{"a success", "Shell", `"{\"exitCode\":0,\"stdout\":\"ECONNREFUSED\"}"`, "", false, "ok"}},
		{Copilot, shaped{"a failure", "bash", `{"resultType":"failure","textResultForLlm":"connection refused"}`, "", false, "network"}},
		{Copilot, shaped{"a failure, other case", "bash", `{"result_type":"failure","text_result_for_llm":"connection refused"}`, "", false, "network"}},
		{Copilot, shaped{"rejected", "bash", `{"resultType":"rejected"}`, "", false, "user_denied"}},
		{Copilot, shaped{"denied", "bash", `{"success":false,"error":{"code":"denied","message":"x"}}`, "", false, "user_denied"}},
		{Copilot, shaped{"an error", "bash", `{"success":false,"error":{"code":"failure","message":"fetch failed"}}`, "", false, "network"}},
		{Copilot, shaped{"a success", "bash", `{"resultType":"success","textResultForLlm":"ECONNREFUSED"}`, "", false, "ok"}},
		{Cline, shaped{"a failure", "execute_command", `{"success":false,"result":"connection refused"}`, "", false, "network"}},
		{Cline, shaped{"a refusal", "execute_command", `{"success":false,"result":"The user denied this operation and gave a reason"}`, "", false, "user_denied"}},
		{Cline, shaped{"a refusal, as a word", "execute_command", `{"status":"denied","feedback":"connection refused"}`, "", true, "user_denied"}},
		{Cline, shaped{"a refusal with feedback", "execute_command", "", "The user denied this operation: connection refused", true, "user_denied"}},
		{Cline, shaped{"one call a message", "read_file", "", "Tool [read_file] was not executed because a tool has already been used", true, "cancelled"}},
		{Cline, shaped{"the call before was refused", "read_file", "", "Skipping tool execution due to user rejecting a previous tool.", true, "cancelled"}},
		{Inspect, shaped{"a type", "bash", `{"type":"approval","message":"x"}`, "x", true, "user_denied"}},
		{Inspect, shaped{"a message that knows more", "search", `{"type":"permission","message":"x"}`, "connection refused", true, "network"}},
		{Inspect, shaped{"an unknown type", "search", `{"type":"unknown","message":"x"}`, "connection refused", true, "network"}},
		{Inspect, shaped{"the error alone", "search", `{"type":"timeout","message":"x"}`, "", false, "timeout"}},
		{Cline, shaped{"a success", "execute_command", `{"success":true,"result":"ECONNREFUSED"}`, "", false, "ok"}},
		{Windsurf, shaped{"an MCP error", "x", `{"mcp_result":"{\"isError\":true,\"content\":[{\"text\":\"Bad Gateway\"}]}"}`, "", false, "upstream"}},
		{Windsurf, shaped{"a success", "x", `{"mcp_result":"Bad Gateway"}`, "", false, "ok"}},
		{SWEAgent, shaped{"an exit code", "bash", `{"output":"rg: command not found","returncode":127,"exception_info":""}`, "", false, "tool_missing"}},
		{SWEAgent, shaped{"an exception", "x", `{"output":"","returncode":-1,"exception_info":"timed out after 30 seconds"}`, "", false, "timeout"}},
		{SWEAgent, shaped{"a success", "bash", `{"output":"connection refused","returncode":0}`, "", false, "ok"}},
		{OpenHands, shaped{"an exit code", "execute_bash", `{"content":"rg: command not found","extras":{"metadata":{"exit_code":127}}}`, "", false, "tool_missing"}},
		{OpenHands, shaped{"it still runs", "execute_bash", `{"content":"connection refused","metadata":{"exit_code":-1}}`, "", false, "ok"}},
		{OpenHands, shaped{"an error", "x", `{"observation":{"is_error":true,"content":[{"type":"text","text":"fetch failed"}]}}`, "", false, "network"}},
		{OpenHands, shaped{"a classified error", "x", `{"error":"odd","classification":{"cause":"quota"}}`, "", false, "rate_limit"}},
		{OpenHands, shaped{"a refusal", "x", `{"rejection_reason":"no","rejection_source":"hook"}`, "", false, "user_denied"}},
		{OpenHands, shaped{"a success", "x", `{"observation":{"is_error":false,"content":"connection refused"}}`, "", false, "ok"}},
		{"some-agent", shaped{"an agent that nobody knows", "x", `{"isError":true}`, "", false, "ok"}},
	}
	for _, tt := range tests {
		t.Run(string(tt.agent), func(t *testing.T) {
			testShape(t, Observation{Protocol: Agent, Agent: tt.agent}, []shaped{tt.shaped})
		})
	}
}

func TestProtocolResults(t *testing.T) {
	tests := []struct {
		protocol Protocol
		shaped
	}{
		{MCP, shaped{"an error as a result", "x", `{"content":[{"type":"text","text":"HTTP 401 Unauthorized"}],"isError":true}`, "", false, "auth"}},
		{MCP, shaped{"around it the answer", "x", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"x"}],"isError":true}}`, "", false, "none"}},
		{MCP, shaped{"a success that prints the words", "x", `{"content":[{"text":"connection refused"}],"isError":false}`, "", false, "ok"}},
		{MCP, shaped{"structured data of its own", "x", `{"content":[],"structuredContent":{"isError":true,"error":"x"}}`, "", false, "ok"}},
		{MCP, shaped{"an error object", "x", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: x"}}`, "", false, "tool_missing"}},
		{MCP, shaped{"a timeout", "x", `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"x"}}`, "", false, "timeout"}},
		{MCP, shaped{"a question", "x", `{"resultType":"input_required","inputRequests":{"a":{}}}`, "", false, "none"}},
		{MCP, shaped{"our own denial", "x", `{"content":[{"text":"expediter SKIP: x is failing (network)"}],"isError":true}`, "", false, "none"}},
		{A2A, shaped{"a failed task", "x", `{"jsonrpc":"2.0","result":{"task":{"status":{"state":"TASK_STATE_FAILED","message":{"parts":[{"text":"upstream 503 Service Unavailable"}]}}}}}`, "", false, "upstream"}},
		{A2A, shaped{"a failed task, older", "x", `{"result":{"kind":"task","status":{"state":"failed"}}}`, "", false, "unknown"}},
		{A2A, shaped{"rejected", "x", `{"task":{"status":{"state":"TASK_STATE_REJECTED"}}}`, "", false, "user_denied"}},
		{A2A, shaped{"a login is needed", "x", `{"task":{"status":{"state":"auth-required"}}}`, "", false, "auth"}},
		{A2A, shaped{"a question", "x", `{"task":{"status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}`, "", false, "none"}},
		{A2A, shaped{"canceled", "x", `{"statusUpdate":{"status":{"state":"TASK_STATE_CANCELED"}}}`, "", false, "cancelled"}},
		{A2A, shaped{"completed", "x", `{"task":{"status":{"state":"TASK_STATE_COMPLETED","message":{"parts":[{"text":"connection refused"}]}}}}`, "", false, "ok"}},
		{A2A, shaped{"task not found", "x", `{"error":{"code":-32001,"message":"task not found"}}`, "", false, "invalid_input"}},
		{A2A, shaped{"task not found over HTTP", "x", `{"error":{"code":404,"status":"NOT_FOUND","message":"x","details":[{"reason":"TASK_NOT_FOUND"}]}}`, "", false, "invalid_input"}},
		{A2A, shaped{"no such agent", "x", `{"error":{"code":404,"message":"page not found"}}`, "", false, "tool_missing"}},
		{Plain, shaped{"a function's own data", "x", `{"isError":true,"error":"connection refused"}`, "", false, "ok"}},
	}
	for _, tt := range tests {
		t.Run(tt.protocol.String(), func(t *testing.T) {
			testShape(t, Observation{Protocol: tt.protocol}, []shaped{tt.shaped})
		})
	}
}

func TestHostilePayloads(t *testing.T) {
	deep := strings.Repeat(`{"error":`, 20_000) + strings.Repeat("}", 20_000)
	payloads := []string{"", " ", "{", `{"code":1e999}`, `{"code":null,"error":[1]}`, `"\ud800"`, `[[[`, deep,
		`{"x":"` + strings.Repeat("y", maxPayload) + `","is_interrupt":true,"isError":true,"success":false}`}
	for agent := range shapes {
		for i, p := range payloads {
			got := Observe(Observation{Agent: agent, Tool: "Bash", Payload: json.RawMessage(p)})
			if got.Class != "ok" {
				t.Errorf("%s, payload %d: got %s by %s", agent, i, got.Class, got.Rule)
			}
		}
	}
}

func TestUnmarked(t *testing.T) {
	for _, f := range reportForms {
		if !isReport(f.example) {
			t.Errorf("%q: no report", f.example)
		}
	}
	tests := []struct {
		name, text, want string
	}{
		{"an error", "Error: connect ECONNREFUSED 127.0.0.1:1", "network"},
		{"an answer", "Error: user not found", "invalid_input"},
		{"a traceback", "\n Traceback (most recent call last):\n  File \"a.py\", line 1\nConnectionResetError: [Errno 104] Connection reset by peer", "network"},
		{"an object", `{"error":"rate limit exceeded"}`, "rate_limit"},
		{"an object without an error", `{"error":null,"text":"rate limit exceeded"}`, "ok"},
		{"an object that failed", `{"success":false,"reason":"connection refused"}`, "network"},
		{"the limit of a harness", "EXECUTION TIMED OUT because the command ran for more than 25 seconds.", "timeout"},
		{"output that prints the words", "a.go:1: connection refused\nError: x", "ok"},
		{"prose about errors", "Error handling in Go is explicit.", "ok"},
		{"a log", "[info] request timed out", "ok"},
		{"a list", "errors.go\nexception.py", "ok"},
		{"a listing", "404 files", "ok"},
		{"nothing", "", "ok"},
		{"our own denial", "expediter SKIP: x is open", "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Observe(Observation{Unmarked: true, Result: tt.text}); got.Class != tt.want {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
}

// TestOrdinaryOutputIsNotSearched: whatever a success prints, it is one.
func TestOrdinaryOutputIsNotSearched(t *testing.T) {
	words := "connect ECONNREFUSED 127.0.0.1:1; 429 Too Many Requests; No space left on device; timed out"
	quoted := fmt.Sprintf("%q", words)
	agents := []AgentName{""}
	for agent := range shapes {
		agents = append(agents, agent)
	}
	for _, agent := range agents {
		for _, tool := range []string{"Bash", "Grep", "Read", "WebFetch", "mcp__a__b", "run_shell_command"} {
			for _, payload := range []string{"", quoted, `{"stdout":` + quoted + `}`, `{"content":[{"type":"text","text":` + quoted + `}]}`,
				`{"llmContent":` + quoted + `}`, `{"result":` + quoted + `,"success":true}`, `{"output":` + quoted + `,"exit_code":0}`} {
				for _, unmarked := range []bool{false, true} {
					got := Observe(Observation{Agent: agent, Tool: tool, Result: words, Payload: json.RawMessage(payload), Unmarked: unmarked})
					if got.Class != "ok" {
						t.Errorf("%s %s %s: got %s by %s", agent, tool, payload, got.Class, got.Rule)
					}
				}
			}
		}
	}
}
