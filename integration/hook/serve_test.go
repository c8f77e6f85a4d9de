package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

// agent is a Claude Code in a folder, with a clock of its own.
type agent struct {
	*testing.T
	st      *store.Store
	env     map[string]string
	opts    Options
	session string
	at      time.Time
	every   time.Duration // between two events; 0: 3 s
	calls   int
	garbage string // that is told in the place of an event
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newAgent(t *testing.T, files map[string]string) *agent {
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	a := &agent{T: t, st: store.Open(filepath.Join(dir, "store")), session: "s1", at: noon,
		env: map[string]string{"CLAUDE_PROJECT_DIR": project, "HOME": filepath.Join(dir, "home")}}
	a.opts = Options{Agent: "claude-code", Env: func(name string) string { return a.env[name] }}
	a.write("project/.keep", "")
	for name, text := range files {
		a.write(name, text)
	}
	return a
}

// write puts a file below the folder that holds project and home.
func (a *agent) write(name, text string) {
	a.Helper()
	path := filepath.Join(filepath.Dir(a.env["CLAUDE_PROJECT_DIR"]), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.Fatal(err)
	}
}

// tell gives one event to the hook and returns all the texts of its answer. An
// error of the hook is a failure.
func (a *agent) tell(event string, fields map[string]any) string {
	a.Helper()
	out, err := a.serve(event, fields)
	if err != nil {
		a.Fatalf("%s: %v", event, err)
	}
	if len(out.Stdout) == 0 {
		return ""
	}
	var v map[string]any
	if err := json.Unmarshal(out.Stdout, &v); err != nil {
		a.Fatalf("%s: %q: %v", event, out.Stdout, err)
	}
	inner, _ := v["hookSpecificOutput"].(map[string]any)
	var texts []string
	for _, text := range []any{inner["permissionDecisionReason"], inner["additionalContext"], v["systemMessage"]} {
		if s, ok := text.(string); ok {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}

func (a *agent) serve(event string, fields map[string]any) (Output, error) {
	a.Helper()
	a.at = a.at.Add(cmp.Or(a.every, 3*time.Second))
	in := map[string]any{"session_id": a.session, "cwd": "/elsewhere", "hook_event_name": event}
	for k, v := range fields {
		in[k] = v
	}
	data, err := json.Marshal(in)
	if err != nil {
		a.Fatal(err)
	}
	if a.garbage != "" {
		data = []byte(a.garbage)
	}
	return Serve(context.Background(), a.st, data, a.opts, a.at)
}

// call asks for a tool and, if it is allowed, tells how it ended: an error text,
// or nothing for a success. It returns what the agent was told before and after.
func (a *agent) call(tool string, input map[string]any, failure string) (before, after string) {
	a.Helper()
	a.calls++
	id := fmt.Sprintf("toolu_%d", a.calls)
	fields := map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": id}
	before = a.tell("PreToolUse", fields)
	if strings.Contains(before, "expediter: SKIP") || strings.Contains(before, "expediter: PAUSE") {
		return before, ""
	}
	if failure == "" {
		fields["tool_response"] = map[string]any{"ok": true}
		return before, a.tell("PostToolUse", fields)
	}
	fields["error"] = failure
	return before, a.tell("PostToolUseFailure", fields)
}

// fails lets a tool fail n times, each in a batch of its own.
func (a *agent) fails(n int, tool, failure string) (after string) {
	a.Helper()
	for range n {
		var before string
		if before, after = a.call(tool, nil, failure); strings.Contains(before, "SKIP") {
			a.Fatalf("%s was skipped: %s", tool, before)
		}
		a.tell("PostToolBatch", nil)
	}
	return after
}

func (a *agent) wants(got string, parts ...string) {
	a.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			a.Errorf("got  %q\nlacks %q", got, part)
		}
	}
}

const webMap = `
capability_map:
  - tool: WebSearch
    provides: search
    alternatives:
      - {tool: Bash, method: with curl, degradation: finds less, level: high}
    fallback: ask the user for the page
  - tool: Bash
    fallback: ask the user to run it
  - tool: Gate
    no_substitute: true
`

const refused = "connect ECONNREFUSED 10.1.2.3:443; authorization: Bearer abcdefghij0123456789"

func TestSkip(t *testing.T) {
	a := newAgent(t, map[string]string{"project/.expediter.yaml": webMap})
	if got := a.fails(2, "WebSearch", refused); got != "" {
		t.Errorf("after two failures: %q, want nothing", got)
	}
	got := a.fails(1, "WebSearch", refused)
	a.wants(got, "expediter: WebSearch is open since 12:00:24Z: 3 failures in a row. The latest: network, ",
		"Declared alternative: Bash, with curl (PARTIAL: finds less).", "Its next trial: after 2 more requests for it")
	if strings.Contains(got, "abcdefghij") {
		t.Errorf("a secret shows: %s", got)
	}
	for _, left := range []string{"after 1 more request for it, or any request for it from 12:00:54Z on.", "the next request for it"} {
		got, _ = a.call("WebSearch", nil, "")
		a.wants(got, "expediter: SKIP. WebSearch is open since 12:00:24Z (", "Declared alternative: Bash", left, "Other tools are not affected.")
	}
	before, after := a.call("WebSearch", nil, "")
	a.wants(before, "expediter: PROBE. This call of WebSearch is a trial: it has been open since 12:00:24Z.")
	a.wants(after, "WebSearch works again")
	if before, after = a.call("WebSearch", nil, ""); before+after != "" {
		t.Errorf("a healthy tool: %q %q, want silence", before, after)
	}
}

// TestWrongCalls: a tool that tells the agent that it is wrong stays in use.
func TestWrongCalls(t *testing.T) {
	a := newAgent(t, nil)
	for range 20 {
		for tool, text := range map[string]string{
			"Edit": "String to replace not found in file.", "Bash": "Exit code 1\nFAIL: TestX", "Read": "File does not exist.",
		} {
			if before, after := a.call(tool, map[string]any{"command": "go test ./..."}, text); before+after != "" {
				t.Fatalf("%s: %q %q, want silence", tool, before, after)
			}
		}
	}
}

func TestPauseOfBudget(t *testing.T) {
	a := newAgent(t, map[string]string{"project/.expediter.yaml": "expediter: {budget: 2, cascade: {min_tools: 9}}\n" + webMap})
	a.tell("UserPromptSubmit", map[string]any{"prompt": "go on"})
	a.fails(1, "Gate", "upstream: 503 Service Unavailable")
	got := a.fails(1, "WebSearch", "HTTP 429 Too Many Requests")
	a.wants(got, "expediter: PAUSE begins. The failure budget of this prompt is spent: 2 of 2 failures (Gate 1, WebSearch 1).")
	got, _ = a.call("Read", nil, "")
	a.wants(got, "expediter: PAUSE. ", "No tool is called until the user's next message", "`expediter resume`")
	got, _ = a.call("AskUserQuestion", map[string]any{"questions": []string{"What now?"}}, "") // SPEC section 4: every tool
	a.wants(got, "expediter: PAUSE. ", "The user is to hear what was done, what was not, and why.")
	a.wants(a.tell("Stop", nil), "expediter: 2 calls paused since the prompt", "`expediter report`")
	if got := a.tell("UserPromptSubmit", map[string]any{"prompt": "again"}); got != "" {
		t.Errorf("at the next prompt: %q, want nothing", got)
	}
	if got, _ = a.call("Read", nil, ""); got != "" {
		t.Errorf("in the next cycle: %q, want silence", got)
	}
	if got := a.tell("Stop", nil); got != "" {
		t.Errorf("at the end of it: %q, want nothing", got)
	}
}

func TestPauseOfAnIncident(t *testing.T) {
	a := newAgent(t, nil)
	a.fails(3, "WebSearch", "getaddrinfo ENOTFOUND api.example.com")
	got := a.fails(2, "WebFetch", "getaddrinfo ENOTFOUND docs.example.com")
	got += a.fails(1, "WebFetch", "getaddrinfo ENOTFOUND docs.example.com")
	a.wants(got, "PAUSE begins. Multiple tools failing with", "likely network issue", "WebFetch", "WebSearch", "`expediter confirm` in a terminal of their own")
	got, _ = a.call("Read", nil, "")
	a.wants(got, "expediter: PAUSE. Multiple tools")
	a.wants(a.tell("UserPromptSubmit", map[string]any{"prompt": "and?"}), "expediter: PAUSE. Multiple tools")
	a.wants(a.tell("SessionStart", map[string]any{"source": "resume"}), "expediter: PAUSE. Multiple tools")
	a.change(func(s *session.Session) error {
		_, err := s.Engine().ConfirmRecovery("the line is back", s.Step(), s.At())
		return err
	})
	if got, _ = a.call("Read", nil, ""); got != "" {
		t.Errorf("once recovery is confirmed: %q, want silence", got)
	}
	for _, want := range []string{"SKIP", "SKIP", "PROBE"} {
		got, _ = a.call("WebSearch", nil, "")
		a.wants(got, want)
	}
}

// TestTrialsOfAnIncident: of tools that failed together one is tried at a time, and
// one that waits for another's trial is not said to be on trial itself.
func TestTrialsOfAnIncident(t *testing.T) {
	a := newAgent(t, map[string]string{"project/.expediter.yaml": "expediter: {half_open_successes: 2, probe: {unit: steps, every: 1}}\n" + webMap})
	a.fails(3, "WebSearch", "getaddrinfo ENOTFOUND api.example.com")
	a.fails(2, "WebFetch", "getaddrinfo ENOTFOUND docs.example.com")
	a.change(func(s *session.Session) error {
		_, err := s.Engine().ConfirmRecovery("the line is back", s.Step(), s.At())
		return err
	})
	before, after := a.call("WebSearch", nil, "") // one success of two
	a.wants(before, "expediter: PROBE.")
	a.tell("PostToolBatch", nil)
	if after != "" {
		t.Errorf("after the first success: %q, want nothing", after)
	}
	a.wants(a.tell("UserPromptSubmit", map[string]any{"prompt": "go on"}), "WebSearch is half-open, opened at 12:0", "WebFetch is open since 12:0")
	a.wants(a.tell("PreToolUse", map[string]any{"tool_name": "WebFetch", "tool_use_id": "trial"}), "expediter: PROBE. This call of WebFetch is a trial")
	a.wants(a.tell("PreToolUse", map[string]any{"tool_name": "WebFetch", "tool_use_id": "beside"}), "expediter: SKIP. WebFetch is on trial: one call of it is under way")
	a.wants(a.tell("PreToolUse", map[string]any{"tool_name": "WebSearch", "tool_use_id": "waits"}), "expediter: SKIP. WebSearch waits: a tool that failed with it is on trial")
}

// change does to the session what a command of the user's does.
func (a *agent) change(f func(*session.Session) error) {
	a.Helper()
	id := store.ID{Agent: "claude-code", Session: a.session}
	if err := session.Update(context.Background(), a.st, id, a.at, nil, f); err != nil {
		a.Fatal(err)
	}
}

func TestOpenedByTheUser(t *testing.T) {
	a := newAgent(t, map[string]string{"project/.expediter.yaml": webMap})
	a.call("Gate", nil, "")
	a.change(func(s *session.Session) error {
		return s.Engine().ForceOpen("Gate", "it deletes\x1b[2J things", s.Step(), s.At())
	})
	got, _ := a.call("Gate", nil, "")
	a.wants(got, "expediter: SKIP. Gate was opened by the user: it deletes", "Nothing may stand in for it", "It stays so until the user resets it.")
	if strings.Contains(got, "\x1b") {
		t.Errorf("a control character shows: %q", got)
	}
}

func TestHumansOnly(t *testing.T) {
	a := newAgent(t, nil)
	got, _ := a.call("Bash", map[string]any{"command": "cd /w && expediter confirm --why done"}, "")
	a.wants(got, "expediter: SKIP. This is for the user alone")
	if got, _ = a.call("Bash", map[string]any{"command": "expediter status"}, ""); got != "" {
		t.Errorf("a command for everybody: %q", got)
	}
}

func TestNextSession(t *testing.T) {
	a := newAgent(t, nil)
	a.fails(3, "WebSearch", "getaddrinfo ENOTFOUND api.example.com")
	a.session = "s2"
	got := a.tell("SessionStart", map[string]any{"source": "startup"})
	a.wants(got, "expediter: In another session of this project (3 s ago), not checked since: WebSearch is open")
	if got, _ := a.call("WebSearch", nil, ""); got != "" {
		t.Errorf("the new session: %q, want a call: it finds out for itself", got)
	}
	a.fails(3, "WebSearch", "getaddrinfo ENOTFOUND api.example.com")
	a.wants(a.fails(2, "WebFetch", "getaddrinfo ENOTFOUND api.example.com"), "expediter: PAUSE begins.")
	a.session = "s3"
	got = a.tell("SessionStart", map[string]any{"source": "startup"})
	a.wants(got, "not checked since: WebSearch is open", "\nWebFetch is open")
	if strings.Contains(got, "No tool is called") {
		t.Errorf("after a session that pauses: %q, want what is open alone", got)
	}
	a.session, a.at = "s4", a.at.Add(2*time.Hour)
	if got := a.tell("SessionStart", map[string]any{"source": "startup"}); got != "" {
		t.Errorf("two hours later: %q, want nothing", got)
	}
}

// TestTrouble: whatever goes wrong, the tool runs and nothing is printed.
func TestTrouble(t *testing.T) {
	deny := map[string]any{"tool_name": "WebSearch", "tool_use_id": "x"}
	tests := []struct {
		name string
		ruin func(a *agent)
		want string
	}{
		{"an agent that nobody knows", func(a *agent) { a.opts.Agent = "nobody" }, "nobody"},
		{"no JSON", func(a *agent) { a.garbage = `{"session_id":"s1",` }, "at byte"},
		{"no session", func(a *agent) { a.garbage = `{"hook_event_name":"PreToolUse","tool_name":"WebSearch"}`; a.env = nil }, "neither a session nor a folder"},
		{"a store that is a file", func(a *agent) { a.write("file", "x"); a.st = store.Open(a.path("file")) }, "file"},
		{"a store below a file", func(a *agent) { a.write("file", "x"); a.st = store.Open(a.path("file/store")) }, "file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, nil)
			a.fails(3, "WebSearch", "getaddrinfo ENOTFOUND api.example.com")
			tt.ruin(a)
			out, err := a.serve("PreToolUse", deny)
			if len(out.Stdout)+len(out.Stderr) != 0 || out.Exit != 0 {
				t.Errorf("got %q %q %d, want silence", out.Stdout, out.Stderr, out.Exit)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that names %q", err, tt.want)
			}
		})
	}
}

// TestTroubleInCursor: for Cursor a hook without output has failed, and what
// fails may keep the tool from running.
func TestTroubleInCursor(t *testing.T) {
	tests := []struct {
		name, as, input, store string
	}{
		{"no JSON", "cursor", `{`, "store"},
		{"no session and no folder", "cursor", `{"hook_event_name":"preToolUse","tool_name":"Shell"}`, "store"},
		{"a store that cannot be made", "cursor", cursorHead + `"hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{},"tool_use_id":"t"}`, "file/store"},
		{"an event that nobody knows", "cursor", cursorHead + `"hook_event_name":"afterAgentThought"}`, "store"},
		{"the hooks of Claude Code", "claude-code", cursorHead + `"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Shell"}`, "store"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			out, _ := Serve(t.Context(), store.Open(filepath.Join(dir, tt.store)), []byte(tt.input), Options{Agent: tt.as}, time.Now())
			if string(out.Stdout) != "{}\n" || len(out.Stderr) != 0 || out.Exit != 0 {
				t.Errorf("got %q %q %d, want {}", out.Stdout, out.Stderr, out.Exit)
			}
		})
	}
}

func (a *agent) path(name string) string {
	return filepath.Join(filepath.Dir(a.env["CLAUDE_PROJECT_DIR"]), name)
}

// TestSources: which map a session has.
func TestSources(t *testing.T) {
	one := func(name string) string {
		return "expediter: {budget: 7}\ncapability_map:\n  - {tool: " + name + ", fallback: ask the user}\n"
	}
	files := map[string]string{
		"flag.yaml": one("Flag"), "env.yaml": one("Env"), "project/.expediter.yaml": one("Project"), "home/.config/expediter/claude-code.yaml": one("Home"),
	}
	tests := []struct {
		name  string
		first func(a *agent)
		want  string
	}{
		{"flag", func(a *agent) { a.opts.Map, a.env["EXPEDITER_MAP"] = a.path("flag.yaml"), a.path("env.yaml") }, "Flag"},
		{"environment", func(a *agent) { a.env["EXPEDITER_MAP"] = a.path("env.yaml") }, "Env"},
		{"project", func(*agent) {}, "Project"},
		{"user", func(a *agent) { a.remove("project/.expediter.yaml") }, "Home"},
		{"user's XDG folder", func(a *agent) {
			a.remove("project/.expediter.yaml")
			a.env["XDG_CONFIG_HOME"] = a.path("xdg")
			a.write("xdg/expediter/claude-code.yaml", one("XDG"))
		}, "XDG"},
		{"built in", func(a *agent) {
			a.remove("project/.expediter.yaml")
			a.remove("home/.config/expediter/claude-code.yaml")
		}, "Grep"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(t, files)
			tt.first(a)
			a.call("Read", nil, "")
			a.change(func(s *session.Session) error {
				if _, ok := s.Setup().Map.Lookup(tt.want); !ok || s.Setup().Problem != "" {
					t.Errorf("got the map of %s (%s), want the one with %s", s.Setup().Source, s.Setup().Problem, tt.want)
				}
				if st := s.Status(); tt.want != "Grep" && st.Limit != 7 || st.Policy.ChargePerTool != 3 {
					t.Errorf("policy %+v, want interactive, and a budget of 7 where the file says so", st.Policy)
				}
				return nil
			})
		})
	}
}

func (a *agent) remove(name string) {
	a.Helper()
	if err := os.Remove(a.path(name)); err != nil {
		a.Fatal(err)
	}
}

// TestMapChanges: a map that is mended in the midst of a session is taken up, a
// broken one is told and the last good one goes on, and breakers stay.
func TestMapChanges(t *testing.T) {
	a := newAgent(t, map[string]string{"project/.expediter.yaml": webMap})
	a.fails(3, "WebSearch", refused)
	a.write("project/.expediter.yaml", "capability_map:\n  - tool: WebSearch\n    colour: red\n")
	got, _ := a.call("WebSearch", nil, "")
	a.wants(got, "SKIP", "Declared alternative: Bash")
	a.wants(a.tell("SessionStart", map[string]any{"source": "resume"}), "the capability map is not used: ", ".expediter.yaml:3:", "colour")
	a.write("project/.expediter.yaml", "capability_map:\n  - {tool: WebSearch, fallback: ask the user, policy: {probe: {every: 50}}}\n")
	a.wants(a.tell("SessionStart", map[string]any{"source": "resume"}), "the capability map is not used: ", ".expediter.yaml:2:", "probe.max")
	a.write("project/.expediter.yaml", "capability_map:\n  - {tool: WebSearch, fallback: ask the user to look it up}\n")
	got, _ = a.call("WebSearch", nil, "")
	a.wants(got, "SKIP", "Declared for this case: ask the user to look it up.")
}
