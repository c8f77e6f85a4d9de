package trace

import (
	"encoding/json"
	"slices"
	"strings"
)

// claudeCode reads transcripts of Claude Code, and what claude -p prints with
// --output-format stream-json.
var claudeCode = &format{name: "claude-code", sniff: sniffClaude, open: func(s *sink) decoder {
	return &claudeDecoder{sink: s}
}}

// claudeLine is what matters of a line. Transcripts and streams spell some
// names differently.
type claudeLine struct {
	kind, uuid, parent, session, agent, task, at string
	sidechain, meta                              bool
	message, result, data                        json.RawMessage
}

func readClaude(raw []byte) (*claudeLine, error) {
	l := new(claudeLine)
	err := eachField(raw, func(key, value []byte) {
		switch string(key) {
		case "type":
			l.kind = textOf(value)
		case "uuid":
			l.uuid = textOf(value)
		case "parentUuid":
			l.parent = textOf(value)
		case "sessionId", "session_id":
			l.session = textOf(value)
		case "agentId":
			l.agent = textOf(value)
		case "parent_tool_use_id":
			l.task = textOf(value)
		case "timestamp":
			l.at = textOf(value)
		case "isSidechain":
			l.sidechain = isTrue(value)
		case "isMeta", "isCompactSummary":
			l.meta = l.meta || isTrue(value)
		case "message":
			l.message = value
		case "toolUseResult", "tool_use_result":
			l.result = value
		case "data":
			l.data = value
		}
	})
	return l, err
}

// claudeQuiet are the types of lines that tell of no call.
var claudeQuiet = []string{
	"system", "summary", "progress", "attachment", "file-history-snapshot", "queue-operation", "result", "last-prompt",
	"custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "permission-mode", "mode", "tag", "pr-link",
	"worktree-state", "content-replacement", "marble-origami-commit", "marble-origami-snapshot", "speculation-accept",
	"stream_event", "tool_progress", "tool_use_summary", "rate_limit_event", "auth_status", "keep_alive",
	"control_request", "control_response", "control_cancel_request", "streamlined_text", "streamlined_tool_use_summary",
}

func sniffClaude(h *head) bool {
	known := 0
	for _, raw := range h.first {
		var line struct {
			Type, Subtype, SessionID, UUID, LeafUUID, MessageID string
			Session_ID                                          string
			Message, Snapshot                                   struct{}
		}
		if json.Unmarshal(raw, &line) != nil && line.Type == "" {
			continue
		}
		switch {
		case line.Type == "tool_call": // a neighbour's stream
			return false
		case line.Type == "user" || line.Type == "assistant":
			if (line.SessionID != "" || line.Session_ID != "") && fieldOf(raw, "message") != nil {
				known++
			}
		case line.Type == "summary" && line.LeafUUID != "", line.Type == "file-history-snapshot" && line.MessageID != "",
			line.Type == "system" && line.Subtype == "init" && line.Session_ID != "",
			slices.Contains(claudeQuiet, line.Type) && (line.SessionID != "" || line.Session_ID != ""):
			known++
		}
	}
	return known > 0
}

type claudeDecoder struct {
	*sink
	chains chains
}

func (d *claudeDecoder) record(_ string, raw json.RawMessage) error {
	l, err := readClaude(raw)
	if err != nil {
		return err
	}
	return d.line(l)
}

func (d *claudeDecoder) line(l *claudeLine) error {
	switch {
	case l.kind == "progress":
		if inner := l.inner(); inner != nil {
			return d.line(inner)
		}
	case l.kind == "user" || l.kind == "assistant":
		m, err := readClaudeMessage(l.message)
		if err != nil {
			return err
		}
		at := isoTime(l.at)
		if s := d.session(d.nameOf(l)); l.kind == "assistant" {
			claudeTurn(s, m, at)
		} else {
			claudeUser(s, l, m, at)
		}
	case !slices.Contains(claudeQuiet, l.kind):
		d.foreign()
	}
	return nil
}

// inner is the line of a subagent that a progress line carries; nil: none.
func (l *claudeLine) inner() *claudeLine {
	var kind, agent string
	var message json.RawMessage
	_ = eachField(l.data, func(key, value []byte) {
		switch string(key) {
		case "type":
			kind = textOf(value)
		case "agentId":
			agent = textOf(value)
		case "message":
			message = value
		}
	})
	if kind != "agent_progress" {
		return nil
	}
	inner, err := readClaude(message)
	if err != nil || inner.kind == "progress" {
		return nil
	}
	inner.session, inner.agent, inner.sidechain = l.session, agent, true
	return inner
}

// nameOf gives each subagent a session of its own. Old transcripts tell their
// lines only by the chain of parents.
func (d *claudeDecoder) nameOf(l *claudeLine) string {
	switch {
	case l.agent != "":
		return l.session + "/" + l.agent
	case l.task != "":
		return l.session + "/" + l.task
	case l.sidechain:
		return l.session + "/" + d.chains.root(l.uuid, l.parent)
	}
	return l.session
}

func (l *claudeLine) sub() bool { return l.sidechain || l.agent != "" || l.task != "" }

// chains knows the root of each line of a sidechain. A chain that rests for long
// begins anew.
type chains struct{ roots recent[string, string] }

const maxChained = 1 << 14

func (c *chains) root(id, parent string) string {
	root, ok := c.roots.get(parent)
	if !ok || parent == "" {
		root = id
	}
	c.roots.put(id, root, maxChained)
	return root
}

// claudeMarkers begin the texts that commands and the program itself put into
// the user's mouth.
var claudeMarkers = []string{
	"<command-name>", "<command-message>", "<command-args>", "<local-command-stdout>", "<local-command-stderr>",
	"<local-command-caveat>", "<bash-stdout>", "<bash-stderr>", "<bash-input>", "<task-notification>", "<system-reminder>",
	"<user-memory-input>", "<teammate-message", "Caveat: The messages below were generated by the user while running local commands",
	"[Request interrupted by user",
}

func claudePrompt(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && !slices.ContainsFunc(claudeMarkers, func(m string) bool { return strings.HasPrefix(text, m) })
}
