package trace

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
)

// clineHistory reads what Cline and Roo Code keep of a task: the array of
// api_conversation_history.json, or the session document <id>.messages.json.
// Both hold messages in the shape of Anthropic's API. Calls are blocks of
// their own, or in older tasks XML within the text; see clineMarkup.
var clineHistory = &format{
	name:   "cline",
	sniff:  sniffCline,
	stream: []string{"", "messages"},
	keep:   []string{"sessionId"},
	open:   func(s *sink) decoder { return &clineDecoder{sink: s} },
}

// sniffCline wants what only Cline writes: the tags around what the user says,
// or the keys that the session document must have.
func sniffCline(h *head) bool {
	if !h.array {
		return h.keys["version"] && h.keys["sessionId"] && h.keys["messages"] && !h.keys["projectHash"]
	}
	first := h.element
	if len(first) == 0 { // with images, longer than the head
		first = h.raw
	}
	if !bytes.Contains(first, []byte(`"role"`)) {
		return false
	}
	for _, tag := range [...]string{"task", "user_message", "environment_details"} {
		if bytes.Contains(first, []byte("<"+tag+">")) || bytes.Contains(first, []byte(`\u003c`+tag+`\u003e`)) {
			return true
		}
	}
	return false
}

type clineMessage struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	At      json.RawMessage `json:"ts"`
	Metrics struct {
		InputTokens  int64 `json:"inputTokens"`
		OutputTokens int64 `json:"outputTokens"`
	} `json:"metrics"`
}

type clineBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Of a tool_use.
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	// Of a tool_result.
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// blocks are those of the content, which may be a text alone.
func (m *clineMessage) blocks() ([]clineBlock, error) {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []clineBlock{{Type: "text", Text: text}}, nil
	}
	var blocks []clineBlock
	err := json.Unmarshal(m.Content, &blocks)
	return blocks, err
}

type clineDecoder struct {
	sink     *sink
	name     string // of the session; empty: a task, whose file does not say
	document bool
	markup   clineMarkup
}

func (d *clineDecoder) record(path string, raw json.RawMessage) error {
	if path == "sessionId" {
		return json.Unmarshal(raw, &d.name)
	}
	d.document = path == "messages"
	var m clineMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	blocks, err := m.blocks()
	if err != nil {
		return err
	}
	switch m.Role {
	case "assistant":
		d.assistant(&m, blocks)
	case "user":
		d.user(&m, blocks)
	default:
		d.sink.foreign()
	}
	return nil
}

func (d *clineDecoder) assistant(m *clineMessage, blocks []clineBlock) {
	s, at := d.sink.session(d.name), when(m.At)
	s.turn()
	s.spent(m.Metrics.InputTokens + m.Metrics.OutputTokens)
	native := false
	for _, b := range blocks {
		if b.Type == "tool_use" {
			native = true
			c := issued{id: b.ID, tool: b.Name, agent: classify.Cline, protocol: classify.Agent, input: b.Input, at: at}
			s.issue(c.direct())
		}
	}
	d.markup.pending = nil
	if native || d.document {
		return
	}
	for _, b := range blocks {
		for _, c := range d.markup.calls(b.Text) {
			c.at = at
			s.issue(c)
		}
	}
}

func (d *clineDecoder) user(m *clineMessage, blocks []clineBlock) {
	s, at := d.sink.session(d.name), when(m.At)
	spoke := false
	d.markup.asked = ""
	for _, b := range blocks {
		switch b.Type {
		case "tool_result":
			s.result(resulted{id: b.ToolUseID, how: Flagged, at: at, obs: classify.Observation{Result: contentText(b.Content), Failed: b.IsError}})
		case "text":
			if r, ok := d.markup.result(b.Text); ok {
				r.at = at
				s.result(r)
			} else {
				spoke = spoke || d.speech(b.Text)
			}
		}
	}
	if spoke {
		s.promptOf(m.ID, at)
	}
}

// speech tells what the user says from what Cline adds to it. A task puts the
// user's words into tags; a session document has them bare.
func (d *clineDecoder) speech(text string) bool {
	text = strings.TrimSpace(text)
	for _, said := range [...]string{"<task>", "<user_message>", "<feedback>", "<answer>", "<user_input", "The user provided the following feedback"} {
		if strings.HasPrefix(text, said) {
			return true
		}
	}
	return d.document && text != "" && !strings.HasPrefix(text, "<environment_details>") && !strings.HasPrefix(text, "[ERROR]")
}
