package hook

import (
	"fmt"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
)

// detect tells an agent by its input: by fields that it alone sends, by its
// environment, and what has none of those is Claude Code's. Empty: it is
// nobody's.
func detect(f fields, env func(string) string) classify.AgentName {
	if agent := marked(f); agent != "" {
		return agent
	}
	switch {
	case f.text("hook_event_name") == "":
		return ""
	case env != nil && env("CLAUDE_PROJECT_DIR") != "":
		return classify.ClaudeCode
	case strings.Contains(f.text("transcript_path"), "/rollout-"), f.text("transcript_path") == "" && f.has("model", "permission_mode"):
		return classify.Codex // whose start and end of a session have no turn
	}
	return classify.ClaudeCode
}

// marked is the agent whose marks the input bears; empty: it bears none.
func marked(f fields) classify.AgentName {
	switch {
	case f.has("cursor_version"), f.has("conversation_id", "generation_id"):
		return classify.Cursor
	case f.has("clineVersion"), f.has("taskId", "hookName"):
		return classify.Cline
	case f.has("agent_action_name"):
		return classify.Windsurf
	case f.has("turn_id", "model"):
		return classify.Codex
	case f.has("timestamp", "session_id", "transcript_path") && isGemini(f):
		return classify.Gemini
	case f.has("sessionId"), f.has("toolName"), f.has("timestamp", "cwd"):
		return classify.Copilot
	}
	return ""
}

// isGemini tells Gemini CLI from Copilot in VS Code, which share the names of a
// session's start and end.
func isGemini(f fields) bool {
	switch event := f.text("hook_event_name"); event {
	case "SessionStart", "SessionEnd":
		return !f.has("hookEventName") && f.text("source") != "new"
	case "Notification", "PreCompress":
		return true
	default:
		return strings.HasPrefix(event, "Before") || strings.HasPrefix(event, "After")
	}
}

// foreign is the agent that runs the hooks that were installed for Claude Code,
// and what to say of it: Cursor and Copilot load its settings, Codex its
// plugins. Empty: none does.
func foreign(a adapter, f fields) (agent classify.AgentName, text string) {
	if a.agent != classify.ClaudeCode {
		return "", ""
	}
	other, ok := adapterOf(marked(f))
	if !ok {
		return "", ""
	}
	return other.agent, fmt.Sprintf("%s runs the hooks that were installed for %s: nothing was decided or recorded; for hooks of its own run expediter install %s",
		other.title, a.title, other.agent)
}
