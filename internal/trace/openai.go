package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// openAIDocument reads messages of OpenAI's APIs from one document: an array of
// chat messages or of response items, or a request or response that has one.
var openAIDocument = &format{
	name:   "openai",
	sniff:  sniffOpenAIDocument,
	stream: []string{"", "messages", "input", "output"},
	keep:   []string{"created_at", "usage"},
	open:   openOpenAI,
}

// openAILines reads the same from lines: a message or item each, or a whole
// chat or response each, as in files for fine-tuning.
var openAILines = &format{name: "openai", sniff: sniffOpenAILines, open: openOpenAI}

func openOpenAI(s *sink) decoder {
	return &openAIDecoder{sink: s, items: responseItems{sink: s}}
}

func sniffOpenAIDocument(h *head) bool {
	switch {
	case sniffCline(h), sniffMiniSWEAgent(h), sniffTau2Bench(h), bytes.Contains(h.raw, []byte(`"tool_use"`)): // another API's
		return false
	case h.array:
		return isOpenAI(h.element)
	case h.keys["messages"]:
		return bytes.Contains(h.raw, []byte(`"role"`)) && !h.keys["sessionId"] && !h.keys["trajectory_format"] && !h.keys["info"]
	case h.keys["output"]:
		return h.keys["object"] && bytes.Contains(h.raw, []byte(`"response"`))
	default:
		return h.keys["input"] && h.keys["model"] && bytes.Contains(h.raw, []byte(`"role"`))
	}
}

func sniffOpenAILines(h *head) bool {
	if len(h.first) == 0 || !bytes.HasPrefix(bytes.TrimSpace(h.raw), h.first[0]) || bytes.Contains(h.raw, []byte(`"tool_use"`)) {
		return false
	}
	for _, line := range h.first {
		if isOpenAI(line) {
			return true
		}
		var whole openAIRecord
		if json.Unmarshal(line, &whole) == nil && len(whole.Messages) > 0 && isOpenAI(whole.Messages[0]) {
			return true
		}
		if whole.Object == "response" && whole.Output != nil {
			return true
		}
	}
	return false
}

// isOpenAI reports whether raw is a chat message or an item of a response.
func isOpenAI(raw json.RawMessage) bool {
	var m struct {
		openAIRecord
		Content   json.RawMessage `json:"content"`
		ToolCalls json.RawMessage `json:"tool_calls"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return false
	}
	if _, ok := responseItemTypes[m.Type]; ok {
		return m.Type != "message" || m.Role != ""
	}
	return m.Type == "" && chatRoles[m.Role] && (m.Content != nil || m.ToolCalls != nil)
}

var chatRoles = map[string]bool{"system": true, "developer": true, "user": true, "assistant": true, "tool": true, "function": true}

// openAIRecord is what tells the records apart.
type openAIRecord struct {
	Type     string            `json:"type"` // of an item
	Role     string            `json:"role"` // of a message
	Object   string            `json:"object"`
	Messages []json.RawMessage `json:"messages"`
	Output   []json.RawMessage `json:"output"`
	Created  json.RawMessage   `json:"created_at"`
	Usage    json.RawMessage   `json:"usage"`
}

type openAIDecoder struct {
	sink  *sink
	items responseItems
	chats int // whole ones, a line each
}

func (d *openAIDecoder) record(path string, raw json.RawMessage) error {
	switch path {
	case "created_at":
		d.items.at = createdAt(raw)
		return nil
	case "usage":
		return d.items.spent(d.sink.session(""), raw)
	case "":
	default:
		return d.one(d.sink.session(""), raw)
	}
	if fieldOf(raw, "messages") == nil && textOf(fieldOf(raw, "object")) != "response" {
		return d.one(d.sink.session(""), raw)
	}
	return d.whole(raw)
}

// whole reads a line that is a chat or a response.
func (d *openAIDecoder) whole(raw json.RawMessage) error {
	var r openAIRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	d.chats++
	s := d.sink.session(strconv.Itoa(d.chats))
	d.items = responseItems{sink: d.sink, at: createdAt(r.Created)}
	var broken error
	for _, m := range append(r.Messages, r.Output...) {
		if err := d.one(s, m); err != nil {
			broken = err
		}
	}
	if r.Usage != nil && r.Output != nil {
		if err := d.items.spent(s, r.Usage); err != nil {
			broken = err
		}
	}
	s.end()
	return broken
}

// one reads a message or an item.
func (d *openAIDecoder) one(s *session, raw json.RawMessage) error {
	if kind := textOf(fieldOf(raw, "type")); kind != "" {
		return d.items.tell(s, kind, raw)
	}
	var m chatMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	if !m.tell(s, d.items.at) {
		d.sink.foreign()
	}
	return nil
}
