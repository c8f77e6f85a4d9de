package hook

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade/classify"
)

// A call has the same id, key, arguments and shell text before and after it: by
// these the session pairs both events.
func TestBeforeAndAfterAreOneCall(t *testing.T) {
	tests := []struct{ name, agent, before, after, key string }{
		{"Claude Code's shell", "claude-code",
			claudeHead + `"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cd /w && npm test"},"tool_use_id":"t"}`,
			claudeHead + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"cd /w && npm test"},"tool_use_id":"t","tool_response":{"stdout":"x"}}`, "Bash/npm"},
		{"Claude Code's shell, failing", "claude-code",
			claudeHead + `"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"npm test"},"tool_use_id":"t"}`,
			claudeHead + `"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"npm test"},"tool_use_id":"t","error":"Exit code 1"}`, "Bash/npm"},
		{"Claude Code's fetch", "claude-code",
			claudeHead + `"hook_event_name":"PreToolUse","tool_name":"WebFetch","tool_input":{"url":"https://a.example/x","prompt":"p"},"tool_use_id":"t"}`,
			claudeHead + `"hook_event_name":"PostToolUse","tool_name":"WebFetch","tool_input":{"url":"https://a.example/x","prompt":"p"},"tool_use_id":"t","tool_response":{"code":503}}`, "WebFetch/a.example"},
		{"Claude Code's server, named before alone", "claude-code",
			claudeHead + `"hook_event_name":"PreToolUse","tool_name":"mcp__db__query","tool_input":{},"tool_use_id":"t","mcp_server":{"name":"db","source":"user"}}`,
			claudeHead + `"hook_event_name":"PostToolUse","tool_name":"mcp__db__query","tool_input":{},"tool_use_id":"t","tool_response":[]}`, "db/query"},
		{"Codex", "codex",
			codexHead + `"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rg x"},"tool_use_id":"t"}`,
			codexHead + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"rg x"},"tool_use_id":"t","tool_response":"a"}`, "Bash/rg"},
		{"Gemini", "gemini",
			geminiHead + `"hook_event_name":"BeforeTool","tool_name":"web_fetch","tool_input":{"url":"https://a.example"}}`,
			geminiHead + `"hook_event_name":"AfterTool","tool_name":"web_fetch","tool_input":{"url":"https://a.example"},"tool_response":{"llmContent":"x"}}`, "web_fetch/a.example"},
		{"Gemini's server", "gemini",
			geminiHead + `"hook_event_name":"BeforeTool","tool_name":"mcp_my_db_query","tool_input":{},"mcp_context":{"server_name":"my.db"}}`,
			geminiHead + `"hook_event_name":"AfterTool","tool_name":"mcp_my_db_query","tool_input":{},"mcp_context":{"server_name":"my.db"},"tool_response":{}}`, "my.db/query"},
		{"Cursor", "cursor",
			cursorHead + `"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{"command":"npm i"},"tool_use_id":"t"}`,
			cursorHead + `"hook_event_name":"postToolUseFailure","tool_name":"Shell","tool_input":{"command":"npm i"},"tool_use_id":"t","error_message":"x","failure_type":"error"}`, "Shell/npm"},
		{"Copilot, arguments in two forms", "copilot",
			copilotHead + `"toolName":"bash","toolArgs":"{\"command\": \"ls -l\"}"}`,
			copilotHead + `"toolName":"bash","toolArgs":{"command":"ls -l"},"toolResult":{"resultType":"success"}}`, "bash/ls"},
		{"Cline", "cline",
			clineHead + `"hookName":"PreToolUse","preToolUse":{"toolName":"execute_command","parameters":{"command":"ls"}}}`,
			clineHead + `"hookName":"PostToolUse","postToolUse":{"toolName":"execute_command","parameters":{"command":"ls"},"success":true}}`, "execute_command/ls"},
		{"Cline's server", "cline",
			clineHead + `"hookName":"PreToolUse","preToolUse":{"toolName":"use_mcp_tool","parameters":{"server_name":"db","tool_name":"query"}}}`,
			clineHead + `"hookName":"PostToolUse","postToolUse":{"toolName":"use_mcp_tool","parameters":{"server_name":"db","tool_name":"query"},"success":false,"result":"x"}}`, "db/query"},
		{"Windsurf", "windsurf",
			windsurfHead + `"agent_action_name":"pre_run_command","tool_info":{"command_line":"npm i","cwd":"/w"}}`,
			windsurfHead + `"agent_action_name":"post_run_command","tool_info":{"cwd":"/w","command_line":"npm i"}}`, "run_command/npm"},
		{"Windsurf's server", "windsurf",
			windsurfHead + `"agent_action_name":"pre_mcp_tool_use","tool_info":` + windsurfMCP + `}`,
			windsurfHead + `"agent_action_name":"post_mcp_tool_use","tool_info":{"mcp_result":"x","mcp_server_name":"db","mcp_tool_arguments":{"b":1,"a":2},"mcp_tool_name":"query"}}`, "db/query"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before, after := decoded(t, tt.agent, tt.before), decoded(t, tt.agent, tt.after)
			if before.Kind != Before || after.Kind != After {
				t.Fatalf("got %s and %s", before.Kind, after.Kind)
			}
			if got := classify.Key(before.Call.Observation); got != tt.key {
				t.Errorf("before: got key %q, want %q", got, tt.key)
			}
			if got := classify.Observe(after.Call.Observation).Key; got != tt.key {
				t.Errorf("after: got key %q, want %q", got, tt.key)
			}
			same := func(e Event) []string {
				return []string{e.Session, e.Call.ID, e.Call.Observation.Tool, string(e.Call.Observation.Input), e.Call.Shell}
			}
			if diff := cmp.Diff(same(before), same(after)); diff != "" {
				t.Errorf("before and after differ:\n%s", diff)
			}
		})
	}
}

func decoded(t *testing.T, agent, input string) Event {
	t.Helper()
	e, err := Decode(agent, []byte(input), nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What adapters fill in is what classify judges by.
func TestOutcomes(t *testing.T) {
	tests := []struct{ name, agent, input, want string }{
		{"Claude Code: a page that is down", "claude-code", claudeHead + `"hook_event_name":"PostToolUse","tool_name":"WebFetch","tool_input":{"url":"https://a.example"},"tool_use_id":"t","tool_response":{"code":503,"codeText":"Service Unavailable","result":"x"}}`, "upstream"},
		{"Claude Code: the user interrupts", "claude-code", claudeHead + `"hook_event_name":"PostToolUseFailure","tool_name":"WebFetch","tool_input":{},"tool_use_id":"t","error":"connection refused","is_interrupt":true}`, "cancelled"},
		{"Claude Code: no connection", "claude-code", claudeHead + `"hook_event_name":"PostToolUseFailure","tool_name":"WebFetch","tool_input":{},"tool_use_id":"t","error":"connect ECONNREFUSED 127.0.0.1:1","is_interrupt":false}`, "network"},
		{"Codex: a server's error", "codex", codexHead + `"hook_event_name":"PostToolUse","tool_name":"mcp__db__query","tool_input":{},"tool_use_id":"t","tool_response":{"isError":true,"content":[{"type":"text","text":"HTTP 401 Unauthorized"}]}}`, "auth"},
		{"Codex: an output that prints the words", "codex", codexHead + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"cat log"},"tool_use_id":"t","tool_response":"connect ECONNREFUSED"}`, "ok"},
		{"Codex: an end that is told", "codex", codexHead + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"curl https://a.example"},"tool_use_id":"t","tool_response":"Process exited with code 7\nOutput:\ncurl: (7) Failed to connect"}`, "network"},
		{"Codex: a success that begins like an error", "codex", codexHead + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_use_id":"t","tool_response":"Exit code: 0\nOutput:\nError: connection refused"}`, "ok"},
		{"Gemini: no name", "gemini", geminiHead + `"hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"curl x"},"tool_response":{"llmContent":"Output: curl: (6) Could not resolve host: x\nExit Code: 6","error":{"type":"shell_execute_error","message":"curl: (6) Could not resolve host: x"}}}`, "network"},
		{"Cursor: a refusal", "cursor", cursorHead + `"hook_event_name":"postToolUseFailure","tool_name":"Shell","tool_input":{"command":"ls"},"tool_use_id":"t","error_message":"x","failure_type":"permission_denied","is_interrupt":false}`, "user_denied"},
		{"Cursor: a limit of time", "cursor", cursorHead + `"hook_event_name":"postToolUseFailure","tool_name":"Read","tool_input":{},"tool_use_id":"t","error_message":"x","failure_type":"timeout"}`, "timeout"},
		{"Copilot: no connection", "copilot", copilotHead + `"toolName":"web_fetch","toolArgs":{"url":"https://a.example"},"error":"fetch failed"}`, "network"},
		{"Copilot: a success", "copilot", copilotHead + `"toolName":"bash","toolArgs":{"command":"cat log"},"toolResult":{"resultType":"success","textResultForLlm":"ECONNREFUSED"}}`, "ok"},
		{"Cline: no connection", "cline", clineHead + `"hookName":"PostToolUse","postToolUse":{"toolName":"web_fetch","parameters":{"url":"https://a.example"},"success":false,"result":"connect ECONNREFUSED"}}`, "network"},
		{"Cline: a refusal", "cline", clineHead + `"hookName":"PostToolUse","postToolUse":{"toolName":"read_file","parameters":{},"success":true,"result":"The user denied this operation."}}`, "user_denied"},
		{"Windsurf: a server's error", "windsurf", windsurfHead + `"agent_action_name":"post_mcp_tool_use","tool_info":{"mcp_server_name":"db","mcp_tool_name":"query","mcp_result":"{\"isError\":true,\"content\":[{\"text\":\"Bad Gateway\"}]}"}}`, "upstream"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if v := classify.Observe(decoded(t, tt.agent, tt.input).Call.Observation); v.Class != tt.want {
				t.Errorf("got %s by %s, want %s", v.Class, v.Rule, tt.want)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	input := []byte(claudeHead + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":` + claudeBash + `,"tool_response":{"stdout":"ok"},"tool_use_id":"toolu_1","duration_ms":12}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode("claude-code", input, nil); err != nil {
			b.Fatal(err)
		}
	}
}
