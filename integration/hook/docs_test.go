package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/expediter-go/expediter/internal/store"
)

// told is a session of Claude Code that is told to Serve at times of a day.
type told struct {
	t     *testing.T
	store *store.Store
	calls int
	said  []string // every text that came back
}

func newTold(t *testing.T) *told {
	t.Helper()
	s := &told{t: t, store: store.Open(t.TempDir())}
	s.event("09:13:58", "SessionStart", `"source":"startup"`)
	s.event("09:13:58", "UserPromptSubmit", `"prompt":"see to issue 7"`)
	return s
}

func (s *told) event(clock, name, more string) {
	s.t.Helper()
	at, err := time.Parse(time.RFC3339, "2026-01-02T"+clock+"Z")
	if err != nil {
		s.t.Fatal(err)
	}
	input := fmt.Sprintf(`{"session_id":"4f3c2b1a","cwd":%q,"hook_event_name":%q,%s}`, s.t.TempDir(), name, more)
	out, err := Serve(s.t.Context(), s.store, []byte(input), Options{Agent: "claude-code"}, at)
	if err != nil {
		s.t.Fatal(err)
	}
	var text struct {
		SystemMessage      string
		HookSpecificOutput struct{ AdditionalContext, PermissionDecisionReason string }
	}
	if len(out.Stdout) > 0 {
		if err := json.Unmarshal(out.Stdout, &text); err != nil {
			s.t.Fatal(err)
		}
	}
	s.said = append(s.said, text.SystemMessage+text.HookSpecificOutput.AdditionalContext+text.HookSpecificOutput.PermissionDecisionReason)
}

// ask is a call that is about to be made, and fails when there is an error.
func (s *told) ask(clock, tool, input, failure string) {
	s.t.Helper()
	s.calls++
	call := fmt.Sprintf(`"tool_name":%q,"tool_input":%s,"tool_use_id":"toolu_%d"`, tool, input, s.calls)
	s.event(clock, "PreToolUse", call)
	if failure != "" {
		s.event(clock, "PostToolUseFailure", fmt.Sprintf(`%s,"error":%q`, call, failure))
	}
	s.event(clock, "PostToolBatch", `"tool_calls":[]`)
}

// What docs/hooks.md quotes is what agents and users are told.
func TestDocumentedTexts(t *testing.T) {
	const gh, denied = `{"command":"gh issue view 7"}`, "Exit code 1\nHTTP 401: Bad credentials (https://api.github.com/graphql)"
	one := newTold(t)
	for _, clock := range []string{"09:14:20", "09:14:24", "09:14:27"} {
		one.ask(clock, "Bash", gh, denied)
	}
	one.ask("09:14:39", "Bash", gh, "") // SKIP
	one.ask("09:14:40", "Bash", gh, "") // SKIP
	one.ask("09:14:41", "Bash", gh, "") // PROBE

	two := newTold(t) // a common cause
	for range 3 {
		two.ask("09:14:20", "Bash", `{"command":"curl https://a.example"}`, "Exit code 6\ncurl: (6) Could not resolve host: a.example")
	}
	for range 2 {
		two.ask("09:14:24", "mcp__github__get_issue", `{"number":7}`, "getaddrinfo ENOTFOUND api.github.com")
	}
	two.ask("09:14:30", "Read", `{"file_path":"a.go"}`, "") // PAUSE

	three := newTold(t) // a budget that is spent
	for range 3 {
		three.ask("09:14:27", "Bash", gh, denied)
	}
	three.ask("09:14:28", "Bash", gh, "") // SKIP
	for range 2 {
		three.ask("09:14:38", "Bash", `{"command":"rg x"}`, "Exit code 127\n/bin/bash: line 1: rg: command not found")
	}
	three.ask("09:14:39", "Read", `{"file_path":"a.go"}`, "") // PAUSE
	three.event("09:14:40", "Stop", `"stop_hook_active":false`)

	said := strings.Join(append(append(one.said, two.said...), three.said...), "\n")
	page, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("(?ms)^```text\n(expediter: .*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(quoted) != 4 {
		t.Errorf("docs/hooks.md quotes %d texts; this test makes SKIP, PROBE, PAUSE and the line to the user", len(quoted))
	}
	for _, m := range quoted {
		if text := strings.Join(strings.Fields(m[1]), " "); !strings.Contains(said, text) {
			t.Errorf("docs/hooks.md quotes what nobody is told; correct it, or this test:\n%s\n\nwhat is told:\n%s", text, said)
		}
	}
}
