package trace

import (
	"encoding/json"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// copilot reads session events of GitHub Copilot CLI: session-state events.jsonl
// and its JSON output. A sub-agent is a session of its own.
var copilot = &format{
	name:  "copilot",
	sniff: sniffCopilot,
	open:  func(s *sink) decoder { return &copilotDecoder{sink: s, begun: map[string]time.Time{}} },
}

func sniffCopilot(h *head) bool {
	for _, line := range h.first {
		var e copilotEvent
		if json.Unmarshal(line, &e) != nil || len(e.Data) == 0 || e.Data[0] != '{' {
			continue
		}
		switch e.Type {
		case "session.start", "user.message", "assistant.message", "assistant.turn_start", "tool.execution_start", "tool.execution_complete":
			return true
		}
	}
	return false
}

type copilotDecoder struct {
	sink  *sink
	name  string               // of the session
	begun map[string]time.Time // issued calls, and when they began to run if that is known
}

// Bounds of the calls that are remembered while they run, and of an id of one
// in bytes.
const (
	maxBegun   = 4096
	maxBegunID = 256
)

type copilotEvent struct {
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
	Timestamp json.RawMessage `json:"timestamp"`
	AgentID   string          `json:"agentId"`
}

func (d *copilotDecoder) record(_ string, raw json.RawMessage) error {
	var e copilotEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	switch e.Type {
	case "session.start", "session.resume":
		var data struct {
			SessionID string `json:"sessionId"`
		}
		err := json.Unmarshal(e.Data, &data)
		if data.SessionID != "" {
			d.name = data.SessionID
		}
		return err
	case "user.message":
		return d.user(&e)
	case "assistant.message":
		return d.assistant(&e)
	case "tool.execution_start":
		return d.start(&e)
	case "tool.execution_complete":
		return d.complete(&e)
	case "":
		d.sink.foreign()
	}
	return nil
}

func (d *copilotDecoder) session(e *copilotEvent) *session {
	if e.AgentID == "" {
		return d.sink.session(d.name)
	}
	return d.sink.session(d.name + "/" + e.AgentID)
}

func (d *copilotDecoder) user(e *copilotEvent) error {
	var data struct {
		Source string `json:"source"` // who put it in; empty: the user
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	if data.Source == "" || data.Source == "user" {
		d.session(e).prompt(when(e.Timestamp))
	}
	return nil
}

type copilotRequest struct {
	ToolCallID    string          `json:"toolCallId"`
	Name          string          `json:"name"`     // in a message
	ToolName      string          `json:"toolName"` // in a start
	MCPServerName string          `json:"mcpServerName"`
	Arguments     json.RawMessage `json:"arguments"`
}

func (d *copilotDecoder) assistant(e *copilotEvent) error {
	var data struct {
		MessageID    string           `json:"messageId"`
		OutputTokens int64            `json:"outputTokens"`
		ToolRequests []copilotRequest `json:"toolRequests"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s := d.session(e)
	s.turnOf(data.MessageID)
	s.spent(data.OutputTokens)
	for _, r := range data.ToolRequests {
		d.issue(s, r, when(e.Timestamp))
		d.begin(r.ToolCallID, time.Time{})
	}
	return nil
}

// start is of a call that a message asked for, or of one of the user's own.
func (d *copilotDecoder) start(e *copilotEvent) error {
	var r copilotRequest
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	if _, ok := d.begun[r.ToolCallID]; !ok {
		d.issue(d.session(e), r, when(e.Timestamp))
	}
	d.begin(r.ToolCallID, when(e.Timestamp))
	return nil
}

func (d *copilotDecoder) begin(id string, at time.Time) {
	if len(d.begun) >= maxBegun {
		clear(d.begun)
	}
	if len(id) <= maxBegunID {
		d.begun[id] = at
	}
}

func (d *copilotDecoder) issue(s *session, r copilotRequest, at time.Time) {
	tool := r.Name
	if tool == "" {
		tool = r.ToolName
	}
	s.issue(issued{id: r.ToolCallID, tool: tool, server: r.MCPServerName, agent: classify.Copilot,
		protocol: classify.Agent, input: unquoted(r.Arguments), at: at})
}

type copilotCompletion struct {
	ToolCallID string          `json:"toolCallId"`
	Success    bool            `json:"success"`
	Result     json.RawMessage `json:"result"`
	Error      *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (d *copilotDecoder) complete(e *copilotEvent) error {
	var c copilotCompletion
	if err := json.Unmarshal(e.Data, &c); err != nil {
		return err
	}
	r := resulted{id: c.ToolCallID, how: Flagged, obs: c.observation(), at: when(e.Timestamp)}
	r.obs.Payload = e.Data
	if at := d.begun[c.ToolCallID]; !at.IsZero() && !r.at.IsZero() {
		r.duration = r.at.Sub(at)
	}
	delete(d.begun, c.ToolCallID)
	d.session(e).result(r)
	return nil
}

// observation is the text of the result; what it says is in the payload.
func (c *copilotCompletion) observation() classify.Observation {
	var result struct {
		Content string `json:"content"`
	}
	if json.Unmarshal(c.Result, &result) != nil {
		result.Content = contentText(c.Result)
	}
	o := classify.Observation{Failed: !c.Success, Result: result.Content}
	if c.Error != nil {
		o.Result = c.Error.Message
	}
	return o
}
