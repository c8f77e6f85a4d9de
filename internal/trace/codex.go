package trace

import (
	"encoding/json"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// codex reads the rollouts of Codex. One file is one session.
var codex = &format{name: "codex", sniff: sniffCodex, open: func(s *sink) decoder { return &codexDecoder{sink: s} }}

type codexLine struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

// codexItem is what matters of a payload, of whatever kind.
type codexItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	SessionID string          `json:"session_id"` // of session_meta, beside id
	Role      string          `json:"role"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"` // a text that is JSON, or the object
	Input     json.RawMessage `json:"input"`     // of a custom tool: a text
	Action    json.RawMessage `json:"action"`
	Output    json.RawMessage `json:"output"`
	Status    string          `json:"status"`
	Source    string          `json:"source"`
	ExitCode  *int            `json:"exit_code"`
	Duration  json.RawMessage `json:"duration"`
	Combined  string          `json:"aggregated_output"`
	Stdout    string          `json:"stdout"`
	Stderr    string          `json:"stderr"`
	Success   *bool           `json:"success"`
	Result    json.RawMessage `json:"result"`
	Info      *struct {
		Total codexUsage `json:"total_token_usage"`
		Last  codexUsage `json:"last_token_usage"`
	} `json:"info"` // of token_count
}

type codexUsage struct {
	Total int64 `json:"total_tokens"`
}

func sniffCodex(h *head) bool {
	for _, raw := range h.first {
		var l codexLine
		if json.Unmarshal(raw, &l) != nil || len(l.Payload) == 0 || l.Payload[0] != '{' {
			continue
		}
		switch l.Type {
		case "session_meta", "response_item", "event_msg", "turn_context":
			return true
		}
	}
	return false
}

type codexDecoder struct {
	*sink
	name  string
	fresh bool  // what the model says next is a new turn
	total int64 // tokens of the session so far
}

func (d *codexDecoder) record(_ string, raw json.RawMessage) error {
	var l codexLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	var item codexItem
	switch l.Type {
	case "session_meta", "response_item", "event_msg":
		if err := json.Unmarshal(l.Payload, &item); err != nil {
			return err
		}
	case "turn_context", "compacted", "world_state", "session_state", "ghost_snapshot":
		return nil
	default:
		d.foreign()
		return nil
	}
	at, _ := time.Parse(time.RFC3339, l.Timestamp)
	switch l.Type {
	case "session_meta": // of a fork, those of the sessions it came from follow
		if d.name == "" {
			d.name = item.ID
		}
	case "response_item":
		d.item(&item, at)
	case "event_msg":
		d.event(&item, at)
	}
	return nil
}

func (d *codexDecoder) now() *session { return d.session(d.name) }

// speaks begins a new turn if the model has been given results since it last
// spoke. Rollouts do not mark turns.
func (d *codexDecoder) speaks() *session {
	s := d.now()
	if d.fresh {
		s.turn()
		d.fresh = false
	}
	return s
}

// item reads what model and tools say to each other.
func (d *codexDecoder) item(i *codexItem, at time.Time) {
	c := issued{id: i.CallID, tool: i.Name, agent: classify.Codex, protocol: classify.Agent, at: at}
	switch i.Type {
	case "reasoning":
		d.speaks()
	case "message", "agent_message":
		if i.Role == "assistant" {
			d.speaks()
		}
	case "function_call":
		c.input = unquoted(i.Arguments)
		if i.Namespace != "" {
			c.tool = i.Namespace + i.Name
		}
		d.speaks().issue(c)
	case "custom_tool_call":
		c.input = customInput(i.Input)
		d.speaks().issue(c)
	case "local_shell_call":
		c.tool, c.input = "local_shell", i.Action
		if c.id == "" {
			c.id = i.ID
		}
		d.speaks().issue(c)
	case "tool_search_call":
		c.tool, c.input = "tool_search", i.Arguments
		d.speaks().issue(c)
	case "web_search_call", "image_generation_call":
		d.hosted(i, c)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "mcp_tool_call_output", "tool_search_output":
		d.fresh = true
		d.now().result(codexOutput(i, at))
	case "compaction", "compaction_summary", "context_compaction", "ghost_snapshot", "other", "":
	default:
		d.foreign()
	}
}

// hosted is a call that the model's own side made: it comes with its end.
func (d *codexDecoder) hosted(i *codexItem, c issued) {
	c.id, c.input = i.ID, i.Action
	c.tool = map[string]string{"web_search_call": "web_search", "image_generation_call": "image_generation"}[i.Type]
	s := d.speaks()
	s.issue(c)
	switch i.Status {
	case "completed", "failed", "incomplete":
		r := resulted{id: c.id, how: Flagged, at: c.at}
		r.obs.Failed = i.Status != "completed"
		s.result(r)
	}
}

// event reads what the program told about: the user's words, the end of
// commands, the cost. Of a call's end and its output the first counts; the end
// comes first and says more.
func (d *codexDecoder) event(i *codexItem, at time.Time) {
	switch i.Type {
	case "user_message":
		d.now().prompt(at)
	case "token_count":
		if i.Info != nil && i.Info.Total.Total != d.total {
			d.total = i.Info.Total.Total
			d.now().spent(i.Info.Last.Total)
			d.fresh = true
		}
	case "exec_command_end":
		if i.ExitCode == nil || i.Status == "declined" || i.Source == "user_shell" {
			return
		}
		r := resulted{id: i.CallID, how: Flagged, at: at, duration: codexDuration(i.Duration)}
		if r.obs.ExitCode = i.ExitCode; *i.ExitCode != 0 {
			r.obs.Result = i.output()
		}
		d.now().result(r)
	case "patch_apply_end":
		if i.Success == nil || i.Status == "declined" {
			return
		}
		r := resulted{id: i.CallID, how: Flagged, at: at}
		if r.obs.Failed = !*i.Success; r.obs.Failed {
			r.obs.Result = i.output()
		}
		d.now().result(r)
	case "mcp_tool_call_end":
		d.now().result(codexMCP(i, at))
	}
}

func (i *codexItem) output() string {
	if i.Combined != "" {
		return i.Combined
	}
	return i.Stderr + i.Stdout
}
