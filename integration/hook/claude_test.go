package hook

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

type decodeTest struct {
	name, input string
	want        Event
}

func checkDecode(t *testing.T, agent classify.AgentName, tests []decodeTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode(string(agent), []byte(tt.input), nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Agent = agent
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(classify.Rules{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// observed is an observation of a coding agent's hook.
func observed(agent classify.AgentName, tool, input string, more ...func(*classify.Observation)) classify.Observation {
	o := classify.Observation{Protocol: classify.Agent, Agent: agent, Tool: tool, Input: json.RawMessage(input)}
	for _, f := range more {
		f(&o)
	}
	return o
}

func TestClaudeEvents(t *testing.T) {
	const head = `{"session_id":"s1","transcript_path":"/h/s1.jsonl","cwd":"/w","permission_mode":"default",`
	base := Event{Session: "s1", Project: "/w"}
	event := func(kind Kind, name string, more ...func(*Event)) Event {
		e := base
		e.Kind, e.Name = kind, name
		for _, f := range more {
			f(&e)
		}
		return e
	}
	call := func(c Call) func(*Event) { return func(e *Event) { e.Call = c } }
	bash := `{"command":"npm test","description":"Run test suite"}`
	checkDecode(t, classify.ClaudeCode, []decodeTest{
		{"before a shell", head + `"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":` + bash + `,"tool_use_id":"toolu_1"}`,
			event(Before, "PreToolUse", call(Call{ID: "toolu_1", Observation: observed(classify.ClaudeCode, "Bash", bash), Shell: "npm test"}))},
		{"after a success", head + `"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":` + bash + `,"tool_response":{"stdout":"ok"},"tool_use_id":"toolu_1","duration_ms":12}`,
			event(After, "PostToolUse", call(Call{ID: "toolu_1", Shell: "npm test", Observation: observed(classify.ClaudeCode, "Bash", bash, func(o *classify.Observation) {
				o.Payload, o.Duration = json.RawMessage(`{"stdout":"ok"}`), 12*time.Millisecond
			})}))},
		{"after a failure", head + `"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":` + bash + `,"tool_use_id":"toolu_1","error":"Exit code 1\nboom","is_interrupt":false,"duration_ms":4187}`,
			event(After, "PostToolUseFailure", call(Call{ID: "toolu_1", Shell: "npm test", Observation: observed(classify.ClaudeCode, "Bash", bash, func(o *classify.Observation) {
				o.Failed, o.Result, o.Duration = true, "Exit code 1\nboom", 4187*time.Millisecond
			})}))},
		{"interrupted", head + `"hook_event_name":"PostToolUseFailure","tool_name":"Grep","tool_input":{},"tool_use_id":"toolu_1","error":"stopped","is_interrupt":true}`,
			event(After, "PostToolUseFailure", call(Call{ID: "toolu_1", Observation: observed(classify.ClaudeCode, "Grep", `{}`, func(o *classify.Observation) {
				o.Failed, o.Result, o.Payload = true, "stopped", json.RawMessage(`{"is_interrupt":true}`)
			})}))},
		{"a server's tool of a subagent", head + `"agent_id":"a1","agent_type":"Explore","hook_event_name":"PreToolUse","tool_name":"mcp__my_db__query","tool_input":{},"tool_use_id":"toolu_2","mcp_server":{"name":"my db","source":"user"}}`,
			event(Before, "PreToolUse", func(e *Event) { e.Subagent = "a1" }, call(Call{ID: "toolu_2", Observation: observed(classify.ClaudeCode, "mcp__my_db__query", `{}`, func(o *classify.Observation) { o.Server = "my db" })}))},
		{"a batch", head + `"hook_event_name":"PostToolBatch","tool_calls":[{"tool_name":"Read","tool_input":{},"tool_use_id":"t1","tool_response":"1\timport os"},{"tool_name":"Read","tool_input":{},"tool_use_id":"t2","tool_response":[{"type":"text","text":"x"},{"type":"image"}]},7]}`,
			event(BatchEnd, "PostToolBatch", func(e *Event) {
				unmarked := func(text string) func(*classify.Observation) {
					return func(o *classify.Observation) { o.Unmarked, o.Result = true, text }
				}
				e.Batch = []Call{
					{ID: "t1", Observation: observed(classify.ClaudeCode, "Read", `{}`, unmarked("1\timport os"))},
					{ID: "t2", Observation: observed(classify.ClaudeCode, "Read", `{}`, unmarked("x"))},
				}
			})},
		{"the user", head + `"hook_event_name":"UserPromptSubmit","prompt":"do it","source":"user"}`, event(Prompt, "UserPromptSubmit")},
		{"the user of an SDK", head + `"hook_event_name":"UserPromptSubmit","prompt":"do it","source":"sdk"}`, event(Prompt, "UserPromptSubmit")},
		{"a prompt of an older version", head + `"hook_event_name":"UserPromptSubmit","prompt":"do it"}`, event(Prompt, "UserPromptSubmit")},
		{"the system", head + `"hook_event_name":"UserPromptSubmit","prompt":"do it","source":"system"}`, event(Other, "UserPromptSubmit")},
		{"a wake-up", head + `"hook_event_name":"UserPromptSubmit","prompt":"do it","source":"loop_wakeup"}`, event(Other, "UserPromptSubmit")},
		{"a source that nobody knows", head + `"hook_event_name":"UserPromptSubmit","prompt":"do it","source":"weather"}`, event(Other, "UserPromptSubmit")},
		{"a task's notice of an older version", head + `"hook_event_name":"UserPromptSubmit","prompt":"<task-notification>done"}`, event(Other, "UserPromptSubmit")},
		{"a start", head + `"hook_event_name":"SessionStart","source":"compact","model":"m"}`, event(SessionStart, "SessionStart", func(e *Event) { e.Source = "compact" })},
		{"an end", head + `"hook_event_name":"SessionEnd","reason":"clear"}`, event(SessionEnd, "SessionEnd")},
		{"a stop", head + `"hook_event_name":"Stop","stop_hook_active":false}`, event(Stop, "Stop")},
		{"a stop by the model's failure", head + `"hook_event_name":"StopFailure","error":"rate_limit"}`, event(Stop, "StopFailure")},
		{"a subagent's stop", head + `"agent_id":"a1","hook_event_name":"SubagentStop"}`, event(SubagentStop, "SubagentStop", func(e *Event) { e.Subagent = "a1" })},
		{"a subagent's start", head + `"agent_id":"a1","hook_event_name":"SubagentStart"}`, event(Other, "SubagentStart", func(e *Event) { e.Subagent = "a1" })},
		{"an event that nobody knows", head + `"hook_event_name":"MessageDisplay"}`, event(Other, "MessageDisplay")},
	})
}

func TestClaudeTodos(t *testing.T) {
	item := func(id, text string, state session.TodoState, deps ...string) session.Todo {
		return session.Todo{ID: id, Text: text, State: state, DependsOn: deps}
	}
	tests := []struct {
		name, event, tool, input, response string
		want                               *session.Todos
	}{
		{"a whole list", "PreToolUse", "TodoWrite", `{"todos":[{"content":"a\u001b[31m","status":"completed","activeForm":"A"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"},{"content":""},7]}`, "",
			&session.Todos{Replace: true, Items: []session.Todo{item("", "a[31m", session.TodoDone), item("", "b", session.TodoActive), item("", "c", session.TodoPending)}}},
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
