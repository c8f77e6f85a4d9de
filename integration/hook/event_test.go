package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

// decodeTest is an event in its agent's documented format.
type decodeTest struct {
	name, input string
	want        Event
}

func checkDecode(t *testing.T, tests []decodeTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Decode(string(tt.want.Agent), []byte(tt.input), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(classify.Rules{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// documented are the events of all agents.
func documented() []decodeTest {
	var all []decodeTest
	for _, tests := range [][]decodeTest{claudeDecodes, codexDecodes, geminiDecodes, cursorDecodes, copilotDecodes, clineDecodes, windsurfDecodes} {
		all = append(all, tests...)
	}
	return all
}

func is(e Event, more ...func(*Event)) Event {
	for _, f := range more {
		f(&e)
	}
	return e
}

func subagent(id string) func(*Event) { return func(e *Event) { e.Subagent = id } }
func began(word string) func(*Event)  { return func(e *Event) { e.Source = word } }
func project(dir string) func(*Event) { return func(e *Event) { e.Project = dir } }
func shell(text string) func(*Event)  { return func(e *Event) { e.Call.Shell = text } }
func served(name string) func(*Event) { return func(e *Event) { e.Call.Observation.Server = name } }
func payload(raw string) func(*Event) {
	return func(e *Event) { e.Call.Observation.Payload = json.RawMessage(raw) }
}
func result(text string) func(*Event)   { return func(e *Event) { e.Call.Observation.Result = text } }
func took(d time.Duration) func(*Event) { return func(e *Event) { e.Call.Observation.Duration = d } }

func failed(text string) func(*Event) {
	return func(e *Event) { e.Call.Observation.Failed, e.Call.Observation.Result = true, text }
}

// todos is a whole to-do list of items without ids.
func todos(items ...session.Todo) func(*Event) {
	return func(e *Event) { e.Call.Todos = &session.Todos{Replace: true, Items: items} }
}

func todo(text string, state session.TodoState) session.Todo {
	return session.Todo{Text: text, State: state}
}

func called(id, tool, input string) func(*Event) {
	return func(e *Event) {
		e.Call.ID = id
		e.Call.Observation = classify.Observation{Protocol: classify.Agent, Agent: e.Agent, Tool: tool}
		if input != "" {
			e.Call.Observation.Input = json.RawMessage(input)
		}
	}
}

func TestKindsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for k := Other; k <= SubagentStop; k++ {
		if name := k.String(); seen[name] {
			t.Errorf("kind %d: %s is the name of another", k, name)
		} else {
			seen[name] = true
		}
	}
	if got := (SubagentStop + 1).String(); got != "other" {
		t.Errorf("beyond the last: got %s", got)
	}
}

func TestBadInput(t *testing.T) {
	tests := []struct {
		name, agent, input string
		want               error
		says               string
	}{
		{"nothing", "codex", "", ErrInput, "standard input"},
		{"white space", "codex", " \n\t", ErrInput, "standard input"},
		{"a byte order mark alone", "codex", "\xef\xbb\xbf", ErrInput, "standard input"},
		{"no object", "codex", "[1]", ErrInput, "not a JSON object"},
		{"a text", "codex", `"x"`, ErrInput, "not a JSON object"},
		{"torn", "codex", `{"session_id":"s"`, ErrInput, "at byte 17"},
		{"garbage behind", "codex", `{"session_id":"s"} x`, ErrInput, "at byte 20"},
		{"two objects", "codex", `{"session_id":"s"}{"session_id":"t"}`, ErrInput, "at byte 19"},
		{"too deep", "codex", `{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, ErrInput, "max depth"},
		{"too long", "codex", `{"a":"` + strings.Repeat("x", MaxInput) + `"}`, ErrInput, "8 MiB"},
		{"no agent", "weather", `{}`, ErrAgent, "claude-code, codex, gemini, cursor, copilot, cline, windsurf, or auto"},
		{"no agent's", "auto", `{"hello":"world"}`, ErrAgent, `"auto"`},
		{"neither session nor folder", "codex", `{"hook_event_name":"PreToolUse"}`, ErrInput, "before of codex"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Decode(tt.agent, []byte(tt.input), nil)
			if !errors.Is(err, tt.want) || !strings.Contains(fmt.Sprint(err), tt.says) {
				t.Errorf("got %v, want %v with %q", err, tt.want, tt.says)
			}
			if e.Kind == Before && e.Session != "" {
				t.Errorf("got an event of session %q with the error", e.Session)
			}
		})
	}
}

func TestOddInput(t *testing.T) {
	const call = `"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t"`
	bash := func(more ...func(*Event)) Event {
		return is(Event{Agent: classify.ClaudeCode, Kind: Before, Name: "PreToolUse", Session: "s", Call: Call{ID: "t"}},
			append([]func(*Event){called("t", "Bash", "")}, more...)...)
	}
	checkDecode(t, []decodeTest{
		{"a byte order mark and white space", "\xef\xbb\xbf\r\n{\"session_id\":\"s\"," + call + "}\n\n", bash()},
		{"a field that is there twice", `{"session_id":"r","session_id":"s",` + call + `}`, bash()},
		{"fields of another type", `{"session_id":"s","cwd":7,"agent_id":["a"],"mcp_server":"x","tool_input":null,"effort":0,` + call + `}`, bash()},
		{"arguments of another type", `{"session_id":"s","tool_input":{"command":7},` + call + `}`, bash(func(e *Event) { e.Call.Observation.Input = json.RawMessage(`{"command":7}`) })},
		{"invalid UTF-8", "{\"session_id\":\"s\",\"tool_input\":{\"command\":\"a\xffb\"}," + call + "}",
			bash(func(e *Event) { e.Call.Observation.Input = json.RawMessage("{\"command\":\"a\uFFFDb\"}") }, shell("a\uFFFDb"))},
		{"control characters in an id", `{"session_id":"s\u0000\u001b",` + call + `}`, bash()},
		{"a session without an id", `{"cwd":"/w",` + call + `}`, is(bash(project("/w")), func(e *Event) { e.Session = "project /w" })},
		{"nothing", `{}`, Event{Agent: classify.ClaudeCode}},
		{"an odd duration", `{"session_id":"s","duration_ms":-1e400,"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t"}`,
			bash(func(e *Event) { e.Kind, e.Name = After, "PostToolUse" })},
		{"an endless duration", `{"session_id":"s","duration_ms":1e300,"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t"}`,
			bash(took(maxDuration), func(e *Event) { e.Kind, e.Name = After, "PostToolUse" })},
	})
}

func TestLongNamesAreCut(t *testing.T) {
	long := strings.Repeat("é", 5000)
	e, err := Decode("claude-code", []byte(`{"session_id":"`+long+`","cwd":"/`+long+`","hook_event_name":"PreToolUse","tool_name":"`+long+`","tool_use_id":"`+long+`"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		text  string
		limit int
	}{"session": {e.Session, maxName}, "tool": {e.Call.Observation.Tool, maxName}, "id": {e.Call.ID, maxName}, "project": {e.Project, maxProject}} {
		if len(of.text) > of.limit || len(of.text) < of.limit-1 || strings.Contains(of.text, "\uFFFD") {
			t.Errorf("%s: got %d bytes, want whole characters in %d", name, len(of.text), of.limit)
		}
	}
}

func TestProject(t *testing.T) {
	env := func(vars map[string]string) func(string) string {
		return func(name string) string { return vars[name] }
	}
	all := env(map[string]string{"CLAUDE_PROJECT_DIR": "/claude", "CURSOR_PROJECT_DIR": "/cursor", "GEMINI_PROJECT_DIR": "/gemini", "PWD": "/pwd"})
	tests := []struct {
		agent, input string
		env          func(string) string
		want         string
	}{
		{"claude-code", `{"session_id":"s","cwd":"/w","hook_event_name":"Stop"}`, all, "/claude"},
		{"claude-code", `{"session_id":"s","cwd":"/w","hook_event_name":"Stop"}`, env(nil), "/w"},
		{"codex", `{"session_id":"s","cwd":"/w","hook_event_name":"Stop"}`, all, "/w"},
		{"gemini", `{"session_id":"s","cwd":"/w","hook_event_name":"AfterAgent"}`, all, "/gemini"},
		{"cursor", `{"conversation_id":"s","workspace_roots":["/a","/b"],"cwd":"/w","hook_event_name":"stop"}`, all, "/cursor"},
		{"cursor", `{"conversation_id":"s","workspace_roots":["/a","/b"],"cwd":"/w","hook_event_name":"stop"}`, nil, "/a"},
		{"cursor", `{"conversation_id":"s","workspace_roots":[],"cwd":"/w","hook_event_name":"stop"}`, nil, "/w"},
		{"copilot", `{"sessionId":"s","cwd":"/w","stopReason":"end_turn"}`, all, "/w"},
		{"cline", `{"taskId":"s","workspaceRoots":["/a"],"hookName":"TaskComplete"}`, all, "/a"},
		{"windsurf", `{"trajectory_id":"s","agent_action_name":"post_cascade_response"}`, all, "/pwd"},
	}
	for _, tt := range tests {
		t.Run(tt.agent, func(t *testing.T) {
			e, err := Decode(tt.agent, []byte(tt.input), tt.env)
			if err != nil || e.Project != tt.want {
				t.Errorf("got %q, %v, want %q", e.Project, err, tt.want)
			}
		})
	}
}

func TestShellTexts(t *testing.T) {
	tests := []struct{ name, tool, input, want string }{
		{"a text", "Bash", `{"command":"ls","description":"expediter confirm"}`, "ls"},
		{"words", "shell", `{"command":["bash","-lc","echo 'a'"]}`, `'bash' '-lc' 'echo '\''a'\'''`},
		{"another name", "exec_command", `{"cmd":"ls","yield_time_ms":1}`, "ls"},
		{"typed into a shell", "write_stdin", `{"session_id":1,"chars":"ls\n"}`, "ls\n"},
		{"typed, with a key of the line editor", "write_stdin", `{"chars":"\u0015ls\r"}`, "ls\r"},
		{"a program and its arguments", "mcp__host__start", `{"command":"ls","args":["a b"]}`, "ls 'a b'"},
		{"the operator's variable", "Bash", `{"command":"ls","env":{"A":"1","EXPEDITER_OPERATOR":"1"}}`, "EXPEDITER_OPERATOR=1\nls"},
		{"the operator's variable, empty", "Bash", `{"command":"ls","env":{"EXPEDITER_OPERATOR":""}}`, "ls"},
		{"a server's shell", "mcp__host__run", `{"script":"ls"}`, "ls"},
		{"arguments in a text", "bash", `"{\"command\":\"ls\"}"`, "ls"},
		{"several", "run_commands", `{"commands":["ls",{"command":"echo","args":["a b"]},7]}`, "ls\necho 'a b'"},
		{"one of several", "run_commands", `{"commands":"ls"}`, "ls"},
		{"two fields", "x", `{"command":"a","cmd":"b"}`, "a\nb"},
		{"a patch", "apply_patch", `{"command":"*** Begin Patch"}`, ""},
		{"no shell", "Read", `{"file_path":"/w/a"}`, ""},
		{"a prompt", "Task", `{"prompt":"run ls"}`, ""},
		{"another type", "Bash", `{"command":{"x":1}}`, ""},
		{"nothing", "Bash", ``, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if c, _ := newCall(classify.Codex, "", tt.tool, "", json.RawMessage(tt.input)); c.Shell != tt.want {
				t.Errorf("got %q, want %q", c.Shell, tt.want)
			}
		})
	}
}

// What the user says must not be kept: no event holds any of it.
func TestPromptsAreNotKept(t *testing.T) {
	const said = "my secret plan"
	for _, tt := range []struct{ agent, input string }{
		{"claude-code", claudeHead + `"hook_event_name":"UserPromptSubmit","prompt":"` + said + `","session_title":"` + said + `"}`},
		{"codex", codexHead + `"hook_event_name":"UserPromptSubmit","prompt":"` + said + `"}`},
		{"gemini", geminiHead + `"hook_event_name":"BeforeAgent","prompt":"` + said + `"}`},
		{"cursor", cursorHead + `"hook_event_name":"beforeSubmitPrompt","prompt":"` + said + `"}`},
		{"copilot", copilotHead + `"prompt":"` + said + `"}`},
		{"copilot", copilotHead + `"source":"new","initialPrompt":"` + said + `"}`},
		{"cline", clineHead + `"hookName":"UserPromptSubmit","userPromptSubmit":{"prompt":"` + said + `"}}`},
		{"cline", clineHead + `"hookName":"TaskStart","taskStart":{"taskMetadata":{"initialTask":"` + said + `"}}}`},
		{"windsurf", windsurfHead + `"agent_action_name":"pre_user_prompt","tool_info":{"user_prompt":"` + said + `"}}`},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			e, err := Decode(tt.agent, []byte(tt.input), nil)
			if err != nil || e.Kind != Prompt && e.Kind != SessionStart {
				t.Fatalf("got %v, %v", e.Kind, err)
			}
			if kept := fmt.Sprintf("%+v", e); strings.Contains(kept, said) {
				t.Errorf("the prompt is in %s", kept)
			}
		})
	}
}
