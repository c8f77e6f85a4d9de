package trace

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

type claudeMessage struct {
	id      string
	tokens  int64           // that it cost so far, cached ones too
	content json.RawMessage // a text, or blocks
}

func readClaudeMessage(raw []byte) (claudeMessage, error) {
	var m claudeMessage
	err := eachField(raw, func(key, value []byte) {
		switch string(key) {
		case "id":
			m.id = textOf(value)
		case "content":
			m.content = value
		case "usage":
			_ = eachField(value, func(key, value []byte) {
				switch string(key) {
				case "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens":
					m.tokens += max(numberOf(value), 0)
				}
			})
		}
	})
	return m, err
}

// claudeBlock is one block of a message's content.
type claudeBlock struct {
	kind, id, name, server, callID string
	isError                        bool
	input, content                 json.RawMessage
}

// claudeBlocks reads a content of blocks; one that is a text has none.
func claudeBlocks(content []byte) []claudeBlock {
	var blocks []claudeBlock
	_ = eachElement(content, func(raw []byte) {
		var b claudeBlock
		_ = eachField(raw, func(key, value []byte) { // what is no block stays empty
			switch string(key) {
			case "type":
				b.kind = textOf(value)
			case "id":
				b.id = textOf(value)
			case "name":
				b.name = textOf(value)
			case "server_name":
				b.server = textOf(value)
			case "tool_use_id":
				b.callID = textOf(value)
			case "is_error":
				b.isError = isTrue(value)
			case "input":
				b.input = value
			case "content":
				b.content = value
			}
		})
		blocks = append(blocks, b)
	})
	return blocks
}

// claudeTurn reads an answer of the model. One answer may come on several lines,
// each with one block and with the usage so far.
func claudeTurn(s *session, m claudeMessage, at time.Time) {
	s.turnOf(m.id)
	s.cost(m.tokens)
	for _, b := range claudeBlocks(m.content) {
		switch b.kind {
		case "tool_use", "server_tool_use":
			s.issue(issued{id: b.id, tool: b.name, agent: classify.ClaudeCode, protocol: classify.Agent, input: b.input, at: at})
		case "mcp_tool_use":
			s.issue(issued{id: b.id, tool: b.name, server: b.server, agent: classify.ClaudeCode, protocol: classify.MCP, input: b.input, at: at})
		default:
			claudeResult(s, &b, nil, at)
		}
	}
}

// claudeUser reads what comes back to the model: results, or words of the user.
func claudeUser(s *session, l *claudeLine, m claudeMessage, at time.Time) {
	blocks := claudeBlocks(m.content)
	results := 0
	for i := range blocks {
		if isClaudeResult(blocks[i].kind) {
			results++
		}
	}
	payload := l.result
	if results > 1 {
		payload = nil // of which one it is, is not said
	}
	for i := range blocks {
		claudeResult(s, &blocks[i], payload, at)
	}
	if results > 0 || l.meta || l.sub() {
		return
	}
	if text, ok := partsText(m.content); ok && claudePrompt(text) {
		s.promptOf(l.uuid, at)
	}
}

func isClaudeResult(kind string) bool {
	return kind == "tool_result" || strings.HasSuffix(kind, "_tool_result")
}

func claudeResult(s *session, b *claudeBlock, payload json.RawMessage, at time.Time) {
	if !isClaudeResult(b.kind) {
		return
	}
	r := resulted{id: b.callID, how: Flagged, at: at}
	r.obs.Failed, r.obs.Payload = b.isError, payload
	if b.isError {
		r.obs.Result = contentText(b.content)
	}
	if strings.HasPrefix(b.kind, "web_") || strings.HasPrefix(b.kind, "code_") {
		_ = eachField(b.content, func(key, value []byte) { // of an error it is an object
			if string(key) == "error_code" {
				r.obs.Failed, r.obs.Result = true, textOf(value)
			}
		})
	}
	s.result(r)
}
