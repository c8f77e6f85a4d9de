package hook

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

const claudeHead = `{"session_id":"s1","transcript_path":"/h/s1.jsonl","cwd":"/w","permission_mode":"default",`

func claudeIs(kind Kind, name string, more ...func(*Event)) Event {
	return is(Event{Agent: classify.ClaudeCode, Session: "s1", Project: "/w", Kind: kind, Name: name}, more...)
}

const claudeBash = `{"command":"npm test","description":"Run test suite"}`

var claudeDecodes = []decodeTest{
	{"before a shell", claudeHead + `"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":` + claudeBash + `,"tool_use_id":"toolu_1"}`,
		claudeIs(Before, "PreToolUse", called("toolu_1", "Bash", claudeBash), shell("npm test"))},
	{"after a success", claudeHead + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":` + claudeBash + `,"tool_response":{"stdout":"ok"},"tool_use_id":"toolu_1","duration_ms":12}`,
		claudeIs(After, "PostToolUse", called("toolu_1", "Bash", claudeBash), shell("npm test"), payload(`{"stdout":"ok"}`), took(12*time.Millisecond))},
	{"after a failure", claudeHead + `"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":` + claudeBash + `,"tool_use_id":"toolu_1","error":"Exit code 1\nboom","is_interrupt":false,"duration_ms":4187}`,
		claudeIs(After, "PostToolUseFailure", called("toolu_1", "Bash", claudeBash), shell("npm test"), failed("Exit code 1\nboom"), took(4187*time.Millisecond))},
	{"interrupted", claudeHead + `"hook_event_name":"PostToolUseFailure","tool_name":"Grep","tool_input":{},"tool_use_id":"toolu_1","error":"stopped","is_interrupt":true}`,
		claudeIs(After, "PostToolUseFailure", called("toolu_1", "Grep", `{}`), failed("stopped"), payload(`{"is_interrupt":true}`))},
	{"a server's tool of a subagent", claudeHead + `"agent_id":"a1","agent_type":"Explore","hook_event_name":"PreToolUse","tool_name":"mcp__my_db__query","tool_input":{},"tool_use_id":"toolu_2","mcp_server":{"name":"my db","source":"user"}}`,
		claudeIs(Before, "PreToolUse", subagent("a1"), called("toolu_2", "mcp__my_db__query", `{}`), served("my db"))},
	{"a batch", claudeHead + `"hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Read","tool_input":{},"tool_use_id":"t1","tool_response":"1\timport os"},{"tool_name":"Read","tool_input":{},"tool_use_id":"t2","tool_response":[{"type":"text","text":"x"},{"type":"image"}]},7]}`,
		claudeIs(BatchEnd, "PostToolBatch", func(e *Event) {
			for id, text := range map[string]string{"t1": "1\timport os", "t2": "x"} {
				of := is(*e, called(id, "Read", `{}`)).Call
				of.Observation.Unmarked, of.Observation.Result = true, text
				e.Batch = append(e.Batch, of)
			}
			slices.SortFunc(e.Batch, func(a, b Call) int { return strings.Compare(a.ID, b.ID) })
		})},
	{"the user", claudeHead + `"hook_event_name":"UserPromptSubmit","prompt":"do it","source":"user"}`, claudeIs(Prompt, "UserPromptSubmit")},
	{"the user of an SDK", claudeHead + `"hook_event_name":"UserPromptSubmit","prompt":"do it","source":"sdk"}`, claudeIs(Prompt, "UserPromptSubmit")},
	{"a prompt of an older version", claudeHead + `"hook_event_name":"UserPromptSubmit","prompt":"do it"}`, claudeIs(Prompt, "UserPromptSubmit")},
	{"the system", claudeHead + `"hook_event_name":"UserPromptSubmit","prompt":"do it","source":"system"}`, claudeIs(Other, "UserPromptSubmit")},
	{"a wake-up", claudeHead + `"hook_event_name":"UserPromptSubmit","prompt":"do it","source":"loop_wakeup"}`, claudeIs(Other, "UserPromptSubmit")},
	{"a source that nobody knows", claudeHead + `"hook_event_name":"UserPromptSubmit","prompt":"do it","source":"weather"}`, claudeIs(Other, "UserPromptSubmit")},
	{"a task's notice of an older version", claudeHead + `"hook_event_name":"UserPromptSubmit","prompt":"<task-notification>done"}`, claudeIs(Other, "UserPromptSubmit")},
	{"a subagent's prompt", claudeHead + `"agent_id":"a1","hook_event_name":"UserPromptSubmit","prompt":"do it","source":"user"}`, claudeIs(Other, "UserPromptSubmit", subagent("a1"))},
	{"a start", claudeHead + `"hook_event_name":"SessionStart","source":"compact","model":"m"}`, claudeIs(SessionStart, "SessionStart", began("compact"))},
	{"an end", claudeHead + `"hook_event_name":"SessionEnd","reason":"clear"}`, claudeIs(SessionEnd, "SessionEnd")},
	{"a stop", claudeHead + `"hook_event_name":"Stop","stop_hook_active":false}`, claudeIs(Stop, "Stop")},
	{"a stop by the model's failure", claudeHead + `"hook_event_name":"StopFailure","error":"rate_limit"}`, claudeIs(Stop, "StopFailure")},
	{"a subagent's stop", claudeHead + `"agent_id":"a1","hook_event_name":"SubagentStop"}`, claudeIs(SubagentStop, "SubagentStop", subagent("a1"))},
	{"a subagent's start", claudeHead + `"agent_id":"a1","hook_event_name":"SubagentStart"}`, claudeIs(Other, "SubagentStart", subagent("a1"))},
	{"an event that nobody knows", claudeHead + `"hook_event_name":"MessageDisplay"}`, claudeIs(Other, "MessageDisplay")},
}

func TestClaudeEvents(t *testing.T) { checkDecode(t, claudeDecodes) }

func TestClaudeTodos(t *testing.T) {
	item := func(id, text string, state session.TodoState, deps ...string) session.Todo {
		return session.Todo{ID: id, Text: text, State: state, DependsOn: deps}
	}
	tests := []struct {
		name, event, tool, input, response string
		want                               *session.Todos
	}{
		{"a whole list", "PreToolUse", "TodoWrite", `{"todos":[{"content":"a\u001b[31m","status":"completed","activeForm":"A"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"},{"content":""},7]}`, "",
			&session.Todos{Replace: true, Items: []session.Todo{item("", "a\x1b[31m", session.TodoDone), item("", "b", session.TodoActive), item("", "c", session.TodoPending)}}},
		{"an empty list", "PreToolUse", "TodoWrite", `{"todos":[]}`, "", &session.Todos{Replace: true}},
		{"no list", "PreToolUse", "TodoWrite", `{"todos":"x"}`, "", nil},
		{"an item to come", "PreToolUse", "TaskCreate", `{"subject":"a","description":"d"}`, "", nil},
		{"a new item", "PostToolUse", "TaskCreate", `{"subject":"a","description":"d"}`, `{"task":{"id":"3","subject":"A"}}`,
			&session.Todos{Items: []session.Todo{item("3", "A", session.TodoPending)}}},
		{"a new item without an answer", "PostToolUse", "TaskCreate", `{"subject":"a","description":"d"}`, `{}`,
			&session.Todos{Items: []session.Todo{item("", "a", session.TodoPending)}}},
		{"a change", "PostToolUse", "TaskUpdate", `{"taskId":"3","status":"deleted","addBlockedBy":["1","2"],"addBlocks":["4"]}`, `{"success":true}`,
			&session.Todos{Items: []session.Todo{item("3", "", session.TodoDropped, "1", "2"), item("4", "", session.TodoUnknown, "3")}}},
		{"a change that was refused", "PostToolUse", "TaskUpdate", `{"taskId":"3","status":"completed"}`, `{"success":false}`, nil},
		{"a list that was not written", "PostToolUseFailure", "TodoWrite", `{"todos":[{"content":"a"}]}`, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input := `{"session_id":"s","hook_event_name":"` + tt.event + `","tool_name":"` + tt.tool + `","tool_input":` + tt.input
			if tt.response != "" {
				input += `,"tool_response":` + tt.response
			}
			got, err := Decode("claude-code", []byte(input+"}"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Call.Todos); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestClaudeAnswers(t *testing.T) {
	full := Answer{Deny: true, Reason: "r", Context: "c", Notice: "n"}
	checkAnswers(t, classify.ClaudeCode, []answerTest{
		{"nothing to say", Before, "PreToolUse", Answer{}, ""},
		{"a denial", Before, "PreToolUse", Answer{Deny: true, Reason: "expediter: SKIP. <x> & \"y\""},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"expediter: SKIP. <x> & \"y\""}}`},
		{"a probe", Before, "PreToolUse", Answer{Context: "c"}, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}`},
		{"after a success", After, "PostToolUse", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"c"}}`},
		{"after a failure", After, "PostToolUseFailure", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"c"}}`},
		{"after a batch", BatchEnd, "PostToolBatch", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"PostToolBatch","additionalContext":"c"}}`},
		{"a prompt", Prompt, "UserPromptSubmit", full, `{"systemMessage":"n","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"c"}}`},
		{"a start", SessionStart, "SessionStart", Answer{Context: "c"}, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}`},
		{"a stop", Stop, "Stop", full, `{"systemMessage":"n"}`},
		{"an end", SessionEnd, "SessionEnd", full, `{"systemMessage":"n"}`},
		{"an event that says nothing", Other, "PreCompact", full, ""},
	})
}
