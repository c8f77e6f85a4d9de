package trace

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/expediter-go/expediter/cascade/classify"
)

// tau2Bench reads results of tau2-bench: an object of simulations, or a file of
// one simulation. Each is a session. Unlike in tau-bench, messages have times
// and a tool's message says whether it is an error. The simulated user has
// tools of its own; its calls are not the agent's and are left out.
var tau2Bench = &format{
	name:   "tau2-bench",
	sniff:  sniffTau2Bench,
	stream: []string{"simulations.messages", "messages"},
	keep:   []string{"simulations.id", "simulations.task_id", "id", "task_id"},
	open:   func(s *sink) decoder { return &tau2Decoder{sink: s} },
}

func sniffTau2Bench(h *head) bool {
	return h.keys["tasks"] && (h.keys["simulations"] || bytes.Contains(h.raw, []byte(`"evaluation_criteria"`))) ||
		h.keys["termination_reason"] && h.keys["task_id"]
}

type tau2Decoder struct {
	sink     *sink
	id, task string
}

// tau2Message is a message of a simulation. Who asked for a tool says so.
type tau2Message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Timestamp string `json:"timestamp"`
	ToolCalls []struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"tool_calls"`
	Usage struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	} `json:"usage"`

	// Of a tool.
	ID        string        `json:"id"`
	Requestor string        `json:"requestor"` // assistant or user
	Error     bool          `json:"error"`
	Several   []tau2Message `json:"tool_messages"` // of one turn
}

func (d *tau2Decoder) record(path string, raw json.RawMessage) error {
	switch path {
	case "simulations.id", "id":
		d.id = scalar(raw)
	case "simulations.task_id", "task_id":
		d.task = scalar(raw)
	case "simulations":
		d.id, d.task = "", ""
	case "simulations.messages", "messages":
		var m tau2Message
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		d.message(d.sink.session(runName(d.task, d.id)), &m)
	}
	return nil
}

func (d *tau2Decoder) message(s *session, m *tau2Message) {
	at := isoTime(m.Timestamp)
	switch m.Role {
	case "user":
		if strings.TrimSpace(m.Content) != "" {
			s.prompt(at)
		}
	case "assistant":
		s.turn()
		s.spent(m.Usage.Prompt + m.Usage.Completion)
		for _, c := range m.ToolCalls {
			s.issue(issued{id: c.ID, tool: c.Name, protocol: classify.Agent, input: c.Arguments, at: at})
		}
	case "tool":
		for i := range m.Several {
			d.message(s, &m.Several[i])
		}
		if len(m.Several) == 0 && m.Requestor != "user" {
			s.result(resulted{id: m.ID, how: Flagged, at: at, obs: classify.Observation{Failed: m.Error, Result: m.Content}})
		}
	case "system":
	default:
		d.sink.foreign()
	}
}
