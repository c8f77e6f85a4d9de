package operator

import (
	"errors"
	"strings"
	"testing"
)

func from(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

func TestRequireInAnAgentsShell(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"Claude Code":            {"CLAUDECODE": "1"},
		"Codex, sandboxed":       {"CODEX_SANDBOX": "seatbelt"},
		"Codex, without network": {"CODEX_SANDBOX_NETWORK_DISABLED": "1"},
		"Codex":                  {"CODEX_CI": "1", "CODEX_THREAD_ID": "x"},
		"Codex, by its thread":   {"CODEX_THREAD_ID": "x"},
		"Gemini CLI":             {"GEMINI_CLI": "1"},
		"Cursor":                 {"CURSOR_AGENT": "1", "CURSOR_TRACE_ID": "x"},
		"Cursor's host":          {"CURSOR_EXTENSION_HOST_ROLE": "agent-exec"},
		"Copilot CLI":            {"COPILOT_CLI": "1"},
		"VS Code":                {"COPILOT_AGENT": "1"},
		"VS Code, any agent":     {"VSCODE_AGENT": "1"},
		"Cline":                  {"CLINE_ACTIVE": "true"},
		"not quite an operator":  {"CLAUDECODE": "1", Variable: "true"},
		"an operator with blank": {"CLAUDECODE": "1", Variable: "1 "},
	} {
		t.Run(name, func(t *testing.T) {
			err := Require("reset", from(env))
			var refusal *Refusal
			if !errors.Is(err, ErrAgentShell) || errors.Is(err, ErrNoTerminal) || !errors.As(err, &refusal) {
				t.Fatalf("got %v, want a refusal for the agent's shell", err)
			}
			if env[refusal.Mark] == "" || refusal.Command != "reset" {
				t.Errorf("got mark %q and command %q", refusal.Mark, refusal.Command)
			}
			for _, want := range []string{"expediter reset", refusal.Mark, "a terminal of your own", Variable + "=1"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
		})
	}
}

func TestRequireOfAnOperator(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"alone":               {Variable: "1"},
		"in an agent's shell": {Variable: "1", "CLAUDECODE": "1"},
	} {
		if err := Require("confirm", from(env)); err != nil {
			t.Errorf("%s: got %v, want nil", name, err)
		}
	}
}

// What editors set in the user's own terminals marks no agent.
func TestNoMark(t *testing.T) {
	for _, env := range []map[string]string{
		{},
		{"CURSOR_TRACE_ID": "x", "TERM_PROGRAM": "vscode", "VSCODE_PID": "1"},
		{"CURSOR_EXTENSION_HOST_ROLE": "user"},
		{"CLAUDE_CODE_SSE_PORT": "1234", "ENABLE_IDE_INTEGRATION": "true"},
		{"COPILOT_MODEL": "x", "CODEX_HOME": "/home/u/.codex", "GEMINI_API_KEY": "x", "CLINE_DIR": "x"},
		{"CLAUDECODE": "", "GEMINI_CLI": ""},
	} {
		if got := agentMark(from(env)); got != "" {
			t.Errorf("%v: got %q, want no mark", env, got)
		}
	}
}
