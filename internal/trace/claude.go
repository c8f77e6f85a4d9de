package trace

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// claudeCode reads transcripts of Claude Code, and what claude -p prints with
// --output-format stream-json.
var claudeCode = &format{name: "claude-code", sniff: sniffClaude, open: func(s *sink) decoder {
	return &claudeDecoder{sink: s}
}}

// claudeLine is what matters of a line. Transcripts and streams spell some
// names differently.
type claudeLine struct {
	Type            string          `json:"type"`
	UUID            string          `json:"uuid"`
	ParentUUID      string          `json:"parentUuid"`
	SessionID       string          `json:"sessionId"`
	StreamSession   string          `json:"session_id"`
	AgentID         string          `json:"agentId"`
	ParentToolUseID string          `json:"parent_tool_use_id"`
	IsSidechain     bool            `json:"isSidechain"`
	IsMeta          bool            `json:"isMeta"`
	IsSummary       bool            `json:"isCompactSummary"`
	Timestamp       string          `json:"timestamp"`
	Message         *claudeMessage  `json:"message"`
	ToolUseResult   json.RawMessage `json:"toolUseResult"`
	StreamResult    json.RawMessage `json:"tool_use_result"`
	Data            *struct {
		Type    string      `json:"type"`
		AgentID string      `json:"agentId"`
		Message *claudeLine `json:"message"`
	} `json:"data"` // of progress
}

type claudeMessage struct {
	ID      string          `json:"id"`
	Content json.RawMessage `json:"content"` // a text, or blocks
	Usage   struct {
		Input         int64 `json:"input_tokens"`
		CacheCreation int64 `json:"cache_creation_input_tokens"`
		CacheRead     int64 `json:"cache_read_input_tokens"`
		Output        int64 `json:"output_tokens"`
	} `json:"usage"`
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
			if (line.SessionID != "" || line.Session_ID != "") && hasKey(raw, "message") {
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

// hasKey reports whether an object has a key.
func hasKey(raw json.RawMessage, key string) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object[key] != nil
}

type claudeDecoder struct {
	*sink
	chains chains
}

func (d *claudeDecoder) record(_ string, raw json.RawMessage) error {
	line := new(claudeLine)
	err := json.Unmarshal(raw, line)
	if err != nil && !slices.Contains(claudeQuiet, line.Type) {
		return err
	}
	d.line(line)
	return nil
}

func (d *claudeDecoder) line(l *claudeLine) {
	switch {
	case l.Type == "progress" && l.Data != nil && l.Data.Type == "agent_progress" && l.Data.Message != nil:
		inner := l.Data.Message
		inner.SessionID, inner.AgentID, inner.IsSidechain = l.SessionID, l.Data.AgentID, true
		inner.Data = nil
		d.line(inner)
	case l.Message != nil && (l.Type == "user" || l.Type == "assistant"):
		s := d.session(d.nameOf(l))
		at, _ := time.Parse(time.RFC3339, l.Timestamp)
		if l.Type == "assistant" {
			claudeTurn(s, l, at)
		} else {
			claudeUser(s, l, at)
		}
	case !slices.Contains(claudeQuiet, l.Type):
		d.foreign()
	}
}

// nameOf gives each subagent a session of its own. Old transcripts tell their
// lines only by the chain of parents.
func (d *claudeDecoder) nameOf(l *claudeLine) string {
	name := l.SessionID
	if name == "" {
		name = l.StreamSession
	}
	switch {
	case l.AgentID != "":
		return name + "/" + l.AgentID
	case l.ParentToolUseID != "":
		return name + "/" + l.ParentToolUseID
	case l.IsSidechain:
		return name + "/" + d.chains.root(l.UUID, l.ParentUUID)
	}
	return name
}

func (l *claudeLine) sub() bool { return l.IsSidechain || l.AgentID != "" || l.ParentToolUseID != "" }

// chains knows the root of each line of a sidechain. It holds two generations,
// so a chain that rests for long begins anew.
type chains struct{ young, old map[string]string }

const maxChained = 1 << 14

func (c *chains) root(id, parent string) string {
	root, ok := c.young[parent]
	if !ok {
		root, ok = c.old[parent]
	}
	if !ok || parent == "" {
		root = id
	}
	if c.young == nil || len(c.young) >= maxChained {
		c.young, c.old = map[string]string{}, c.young
	}
	c.young[id] = root
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
