package trace

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// claudeBlock is one block of a message's content.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Server    string          `json:"server_name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
}

// claudeBlocks reads a content of blocks; one that is a text has none.
func claudeBlocks(content json.RawMessage) []claudeBlock {
	if len(content) == 0 || content[0] != '[' {
		return nil
	}
	var raws []json.RawMessage
	if json.Unmarshal(content, &raws) != nil {
		return nil
	}
	blocks := make([]claudeBlock, len(raws))
	for i, raw := range raws {
		_ = json.Unmarshal(raw, &blocks[i]) // what does not fit stays empty
	}
	return blocks
}

// claudeTurn reads an answer of the model. One answer may come on several lines,
// each with one block and with the usage so far.
func claudeTurn(s *session, l *claudeLine, at time.Time) {
	s.turnOf(l.Message.ID)
	u := l.Message.Usage
	s.cost(u.Input + u.CacheCreation + u.CacheRead + u.Output)
	for _, b := range claudeBlocks(l.Message.Content) {
		switch b.Type {
		case "tool_use", "server_tool_use":
			s.issue(issued{id: b.ID, tool: b.Name, agent: classify.ClaudeCode, protocol: classify.Agent, input: b.Input, at: at})
		case "mcp_tool_use":
			s.issue(issued{id: b.ID, tool: b.Name, server: b.Server, agent: classify.ClaudeCode, protocol: classify.MCP, input: b.Input, at: at})
		default:
			claudeResult(s, &b, nil, at)
		}
	}
}

// claudeUser reads what comes back to the model: results, or words of the user.
func claudeUser(s *session, l *claudeLine, at time.Time) {
	blocks := claudeBlocks(l.Message.Content)
	results, spoken := 0, claudePrompt(blockText(l.Message.Content))
	for i := range blocks {
		if isClaudeResult(blocks[i].Type) {
			results++
		}
	}
	payload := l.ToolUseResult
	if payload == nil {
		payload = l.StreamResult
	}
	if results > 1 {
		payload = nil // of which one it is, is not said
	}
	for i := range blocks {
		claudeResult(s, &blocks[i], payload, at)
	}
	if spoken && results == 0 && !l.IsMeta && !l.IsSummary && !l.sub() {
		s.promptOf(l.UUID, at)
	}
}

func isClaudeResult(kind string) bool {
	return kind == "tool_result" || strings.HasSuffix(kind, "_tool_result")
}

func claudeResult(s *session, b *claudeBlock, payload json.RawMessage, at time.Time) {
	if !isClaudeResult(b.Type) {
		return
	}
	r := resulted{id: b.ToolUseID, how: Flagged, at: at}
	r.obs.Failed, r.obs.Payload = b.IsError, payload
	if b.IsError {
		r.obs.Result = blockText(b.Content)
	}
	if strings.HasPrefix(b.Type, "web_") || strings.HasPrefix(b.Type, "code_") {
		var fault struct {
			Code string `json:"error_code"`
		}
		if json.Unmarshal(b.Content, &fault) == nil && fault.Code != "" {
			r.obs.Failed, r.obs.Result = true, fault.Code
		}
	}
	s.result(r)
}

// blockText is the text of a content that is a text or a list of blocks.
func blockText(content json.RawMessage) string {
	content = bytes.TrimSpace(content)
	if len(content) == 0 {
		return ""
	}
	if content[0] == '"' {
		var text string
		_ = json.Unmarshal(content, &text)
		return text
	}
	var texts []string
	for _, b := range claudeBlocks(content) {
		if b.Type == "text" && b.Text != "" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}
