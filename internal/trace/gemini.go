package trace

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// geminiChat reads sessions of Gemini CLI, chats/session-*.json: a document
// with the messages of the user and the model, calls and their results within.
var geminiChat = &format{
	name:   "gemini",
	sniff:  func(h *head) bool { return isGemini(h) && h.keys["messages"] },
	stream: []string{"messages"},
	keep:   []string{"sessionId"},
	open:   openGemini,
}

// geminiRecords reads the newer form, session-*.jsonl: the session, then its
// messages, each told again whenever it has grown, and changes of the session.
var geminiRecords = &format{
	name:  "gemini",
	sniff: func(h *head) bool { return isGemini(h) && !h.keys["messages"] },
	open:  openGemini,
}

func isGemini(h *head) bool { return h.keys["sessionId"] && h.keys["projectHash"] }

func openGemini(s *sink) decoder { return &geminiDecoder{sink: s} }

type geminiDecoder struct {
	sink *sink
	name string // of the session
	// Of the message that the model said last.
	last     string
	paid     bool
	issued   map[string]bool
	answered map[string]bool
}

type geminiMessage struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Timestamp json.RawMessage `json:"timestamp"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []geminiCall    `json:"toolCalls"`
	Tokens    *struct {
		Total int64 `json:"total"`
	} `json:"tokens"`

	// Of the records that are no message.
	SessionID string          `json:"sessionId"`
	Set       json.RawMessage `json:"$set"`
	RewindTo  json.RawMessage `json:"$rewindTo"`
}

type geminiCall struct {
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	Args          json.RawMessage `json:"args"`
	Result        json.RawMessage `json:"result"`
	Status        string          `json:"status"`
	Timestamp     json.RawMessage `json:"timestamp"` // when it was over
	ResultDisplay json.RawMessage `json:"resultDisplay"`
}

func (d *geminiDecoder) record(path string, raw json.RawMessage) error {
	if path == "sessionId" {
		return json.Unmarshal(raw, &d.name)
	}
	var m geminiMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	switch {
	case m.ID != "":
		d.message(&m)
	case m.SessionID != "":
		d.name = m.SessionID
	case m.Set == nil && m.RewindTo == nil:
		d.sink.foreign()
	}
	return nil
}

func (d *geminiDecoder) message(m *geminiMessage) {
	s, at := d.sink.session(d.name), when(m.Timestamp)
	switch m.Type {
	case "user":
		if strings.TrimSpace(contentText(m.Content)) != "" {
			s.promptOf(m.ID, at)
		}
	case "gemini":
		if m.ID != d.last {
			d.last, d.paid, d.issued, d.answered = m.ID, false, map[string]bool{}, map[string]bool{}
		}
		s.turnOf(m.ID)
		if m.Tokens != nil && !d.paid {
			d.paid = true
			s.spent(m.Tokens.Total)
		}
		d.calls(s, m.ToolCalls, at)
	case "info", "error", "warning":
	default:
		d.sink.foreign()
	}
}

// calls tells what is new in a message's calls: all are issued at once, and
// their results come in the order of their ends.
func (d *geminiDecoder) calls(s *session, calls []geminiCall, at time.Time) {
	var over []geminiCall
	for _, c := range calls {
		if !d.issued[c.ID] {
			d.issued[c.ID] = true
			s.issue(issued{id: c.ID, tool: c.Name, agent: classify.Gemini, protocol: classify.Agent, input: c.Args, at: at})
		}
		if c.over() && !d.answered[c.ID] {
			d.answered[c.ID] = true
			over = append(over, c)
		}
	}
	slices.SortStableFunc(over, func(a, b geminiCall) int {
		return cmp.Compare(milliseconds(when(a.Timestamp)), milliseconds(when(b.Timestamp)))
	})
	for _, c := range over {
		s.result(resulted{id: c.ID, how: Flagged, obs: c.observation(), at: when(c.Timestamp)})
	}
}

func (c *geminiCall) over() bool {
	return c.Status == "success" || c.Status == "error" || c.Status == "cancelled"
}

// observation is what a call that is over says. Its payload is the response
// that the model got; there a shell's exit code is the end of the output.
func (c *geminiCall) observation() classify.Observation {
	payload, text := c.response()
	o := classify.Observation{Payload: payload, Result: text, Failed: c.Status == "error"}
	if o.Result == "" && o.Failed {
		o.Result = contentText(c.ResultDisplay)
	}
	if c.Status == "cancelled" {
		o.Failed, o.Class = true, "cancelled"
	}
	return o
}

// response is the first function response of a result, and its text. A result
// is a list of parts, one part or a text.
func (c *geminiCall) response() (json.RawMessage, string) {
	type part struct {
		FunctionResponse struct {
			Response json.RawMessage `json:"response"`
		} `json:"functionResponse"`
	}
	var parts []part
	if json.Unmarshal(c.Result, &parts) != nil {
		parts = make([]part, 1)
		if json.Unmarshal(c.Result, &parts[0]) != nil {
			return nil, contentText(c.Result)
		}
	}
	for _, p := range parts {
		if r := p.FunctionResponse.Response; len(r) > 0 {
			var said struct{ Error, Output json.RawMessage }
			if json.Unmarshal(r, &said) == nil && len(said.Error) > 0 {
				return r, contentText(said.Error)
			}
			return r, contentText(said.Output)
		}
	}
	return nil, ""
}
