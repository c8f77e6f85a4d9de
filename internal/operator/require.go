package operator

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"
)

// What a Refusal is about.
var (
	// ErrAgentShell: a coding agent runs this shell.
	ErrAgentShell = errors.New("a coding agent runs this shell")
	// ErrNoTerminal: the process has no controlling terminal, so nobody sits there.
	ErrNoTerminal = errors.New("there is no terminal")
)

// Refusal is the error of Require. It is ErrAgentShell or ErrNoTerminal for
// errors.Is, and its text says what to do.
type Refusal struct {
	Command string // as it was given to Require
	Mark    string // the variable that marks the agent's shell; empty: there is none
	Reason  error  // ErrAgentShell or ErrNoTerminal
}

// Error says what was refused, why, and what to do.
func (r *Refusal) Error() string {
	why := r.Reason.Error()
	if r.Mark != "" {
		why += " (" + r.Mark + " is set)"
	}
	return fmt.Sprintf("%s %s is for a human, and %s; run it yourself in a terminal of your own, or, "+
		"on a machine that you operate without one, set %s=1 for this command. An agent does neither: it asks its user",
		program, r.Command, why, Variable)
}

// Unwrap gives errors.Is the reason.
func (r *Refusal) Unwrap() error { return r.Reason }

// Require is nil where a human may be taken to be: EXPEDITER_OPERATOR is exactly
// "1", or the process has a controlling terminal and no coding agent has left
// its mark in the environment. Else it is a *Refusal. command is what is to be
// run, for the text ("confirm"); env looks up environment variables.
//
// It opens the terminal and reads nothing from it. It says nothing of where the
// standard streams lead: a human may pipe them.
func Require(command string, env func(string) string) error {
	if env(Variable) == "1" {
		return nil
	}
	if mark := agentMark(env); mark != "" {
		return &Refusal{Command: command, Mark: mark, Reason: ErrAgentShell}
	}
	if !atTerminal() {
		return &Refusal{Command: command, Reason: ErrNoTerminal}
	}
	return nil
}

// mark is a variable that an agent sets in the shells that it runs, and that
// the user's own terminals lack, those inside an editor included. Which is why
// CURSOR_TRACE_ID, TERM_PROGRAM and the like are not here: editors set them in
// every terminal.
type mark struct{ name, value string } // an empty value stands for any but the empty one

var marks = []mark{
	{name: "CLAUDECODE"},                                                                                             // Claude Code
	{name: "CODEX_SANDBOX"}, {name: "CODEX_SANDBOX_NETWORK_DISABLED"}, {name: "CODEX_CI"}, {name: "CODEX_THREAD_ID"}, // Codex
	{name: "GEMINI_CLI"},                                                              // Gemini CLI
	{name: "CURSOR_AGENT"}, {name: "CURSOR_EXTENSION_HOST_ROLE", value: "agent-exec"}, // Cursor
	{name: "COPILOT_CLI"}, {name: "COPILOT_AGENT"}, {name: "VSCODE_AGENT"}, // Copilot CLI, and the agents' terminals of VS Code
	{name: "CLINE_ACTIVE"}, // Cline
}

// agentMark is the name of a mark that is set.
func agentMark(env func(string) string) string {
	for _, m := range marks {
		if v := env(m.name); v != "" && (m.value == "" || v == m.value) {
			return m.name
		}
	}
	return ""
}

// atTerminal reports whether the process has a controlling terminal.
func atTerminal() bool {
	f, err := os.OpenFile(controllingTerminal, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return term.IsTerminal(int(f.Fd()))
}
