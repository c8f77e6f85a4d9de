package hook

import (
	"strings"
	"testing"

	"github.com/expediter-go/expediter/cascade/classify"
)

// Every documented event is told to be its agent's without being named.
func TestDetect(t *testing.T) {
	for _, tt := range documented() {
		t.Run(string(tt.want.Agent)+"/"+tt.name, func(t *testing.T) {
			f, err := readInput([]byte(tt.input))
			if err != nil {
				t.Fatal(err)
			}
			if got := detect(f, nil); got != tt.want.Agent {
				t.Errorf("got %q, want %q", got, tt.want.Agent)
			}
			e, err := Decode(Auto, []byte(tt.input), nil)
			if err != nil || e.Kind != tt.want.Kind || e.Agent != tt.want.Agent {
				t.Errorf("got %s of %s, %v, want %s of %s", e.Kind, e.Agent, err, tt.want.Kind, tt.want.Agent)
			}
		})
	}
}

func TestDetectByTheEnvironment(t *testing.T) {
	f, err := readInput([]byte(`{"session_id":"s","cwd":"/w","hook_event_name":"SessionStart","model":"m","permission_mode":"default","source":"startup"}`))
	if err != nil {
		t.Fatal(err)
	}
	inside := func(name string) string { return map[string]string{"CLAUDE_PROJECT_DIR": "/w"}[name] }
	if got := detect(f, inside); got != classify.ClaudeCode {
		t.Errorf("with Claude Code's environment: got %s", got)
	}
	if got := detect(f, nil); got != classify.Codex {
		t.Errorf("without: got %s", got)
	}
}

// Agents that load Claude Code's settings are told, and nothing is decided.
func TestForeign(t *testing.T) {
	for _, tt := range documented() {
		e, err := Decode(string(classify.ClaudeCode), []byte(tt.input), nil)
		if err != nil {
			t.Errorf("%s of %s: %v", tt.name, tt.want.Agent, err)
			continue
		}
		marks := tt.want.Agent != classify.ClaudeCode
		if tt.want.Agent == classify.Codex && tt.want.Kind == SessionStart {
			continue // it has no mark
		}
		if (e.Foreign != "") != marks {
			t.Errorf("%s of %s: got %q", tt.name, tt.want.Agent, e.Foreign)
		}
		if e.Foreign != "" && (e.Agent != tt.want.Agent || e.Kind != Other || e.Call.Observation.Tool != "" || !strings.Contains(e.Foreign, "expediter install "+string(tt.want.Agent))) {
			t.Errorf("%s of %s: got %s of %s with %q and %q", tt.name, tt.want.Agent, e.Kind, e.Agent, e.Call.Observation.Tool, e.Foreign)
		}
	}
	const cursor = `{"session_id":"s","cursor_version":"2.0.0","hook_event_name":"PreToolUse","tool_name":"Shell","tool_input":{"command":"ls"},"tool_use_id":"t"}`
	e, err := Decode("claude-code", []byte(cursor), nil)
	if want := "Cursor runs the hooks that were installed for Claude Code: nothing was decided or recorded; for hooks of its own run expediter install cursor"; err != nil || e.Foreign != want {
		t.Errorf("got %q, %v, want %q", e.Foreign, err, want)
	}
}

// A named agent beats what the input looks like, but for Claude Code.
func TestANamedAgentIsBelieved(t *testing.T) {
	for _, agent := range Agents() {
		e, err := Decode(agent, []byte(`{"session_id":"s","taskId":"s","hookName":"x","trajectory_id":"s","agent_action_name":"x"}`), nil)
		if believed := string(e.Agent) == agent && e.Foreign == ""; err != nil || believed == (agent == string(classify.ClaudeCode)) {
			t.Errorf("%s: got %s, %q, %v", agent, e.Agent, e.Foreign, err)
		}
	}
}
