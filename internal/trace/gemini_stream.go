package trace

import (
	"encoding/json"

	"github.com/expediter-go/expediter/cascade/classify"
)

// geminiStream reads what Gemini CLI prints with --output-format stream-json.
var geminiStream = &format{name: "gemini", sniff: sniffGeminiStream, open: func(s *sink) decoder { return &geminiStreamDecoder{sink: s} }}

func sniffGeminiStream(h *head) bool {
	for _, line := range h.first {
		var e geminiEvent
		if json.Unmarshal(line, &e) == nil && (e.Type == "init" && e.SessionID != "" || e.Type == "tool_use" && e.ToolID != "" && e.ToolName != "") {
			return true
		}
	}
	return false
}

type geminiStreamDecoder struct {
	sink     *sink
	name     string // of the session
	answered bool   // since the model spoke last
}

type geminiEvent struct {
	Type       string          `json:"type"`
	Timestamp  json.RawMessage `json:"timestamp"`
	SessionID  string          `json:"session_id"` // of init
	Role       string          `json:"role"`       // of a message
	ToolName   string          `json:"tool_name"`
	ToolID     string          `json:"tool_id"`
	Parameters json.RawMessage `json:"parameters"`
	Status     string          `json:"status"`
	Output     string          `json:"output"`
	Error      struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (d *geminiStreamDecoder) record(_ string, raw json.RawMessage) error {
	var e geminiEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	if e.Type == "init" {
		d.name = e.SessionID
		return nil
	}
	s, at := d.sink.session(d.name), when(e.Timestamp)
	switch e.Type {
	case "message":
		if e.Role == "user" {
			s.prompt(at)
			d.answered = true
		}
	case "tool_use":
		if d.answered {
			s.turn()
		}
		d.answered = false
		s.issue(issued{id: e.ToolID, tool: e.ToolName, agent: classify.Gemini, protocol: classify.Agent, input: e.Parameters, at: at})
	case "tool_result":
		d.answered = true
		s.result(resulted{id: e.ToolID, how: Flagged, obs: e.outcome(raw), at: at})
	case "error", "result":
	default:
		d.sink.foreign()
	}
	return nil
}

// outcome has the event as its payload, for the type of the error in it.
func (e *geminiEvent) outcome(raw json.RawMessage) classify.Observation {
	o := classify.Observation{Payload: raw, Failed: e.Status == "error", Result: e.Output}
	if e.Error.Message != "" {
		o.Result = e.Error.Message
	}
	return o
}
