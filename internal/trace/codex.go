package trace

import (
	"encoding/json"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// codex reads the rollouts of Codex. One file is one session.
var codex = &format{name: "codex", sniff: sniffCodex, open: func(s *sink) decoder { return &codexDecoder{sink: s} }}

// codexItem is what matters of a payload, of whatever kind.
type codexItem struct {
	kind, id, role, name, namespace, callID, status, source string

	arguments json.RawMessage // a text that is JSON, or the object
	input     json.RawMessage // of a custom tool: a text
	action    json.RawMessage
	output    json.RawMessage
	exitCode  json.RawMessage
	success   json.RawMessage
	duration  json.RawMessage
	combined  json.RawMessage
	stdout    json.RawMessage
	stderr    json.RawMessage
	result    json.RawMessage
	info      json.RawMessage // of token_count
}

func readCodex(raw []byte) (*codexItem, error) {
	i := new(codexItem)
	err := eachField(raw, func(key, value []byte) {
		if text := i.text(string(key)); text != nil {
			*text = textOf(value)
		} else if other := i.other(string(key)); other != nil && string(value) != "null" {
			*other = value
		}
	})
	return i, err
}

func (i *codexItem) text(key string) *string {
	switch key {
	case "type":
		return &i.kind
	case "id":
		return &i.id
	case "role":
		return &i.role
	case "name":
		return &i.name
	case "namespace":
		return &i.namespace
	case "call_id":
		return &i.callID
	case "status":
		return &i.status
	case "source":
		return &i.source
	}
	return nil
}

func (i *codexItem) other(key string) *json.RawMessage {
	switch key {
	case "arguments":
		return &i.arguments
	case "input":
		return &i.input
	case "action":
		return &i.action
	case "output":
		return &i.output
	case "exit_code":
		return &i.exitCode
	case "success":
		return &i.success
	case "duration":
		return &i.duration
	case "aggregated_output":
		return &i.combined
	case "stdout":
		return &i.stdout
	case "stderr":
		return &i.stderr
	case "result":
		return &i.result
	case "info":
		return &i.info
	}
	return nil
}

func sniffCodex(h *head) bool {
	for _, raw := range h.first {
		kind, _, payload, err := readCodexLine(raw)
		if err != nil || len(payload) == 0 || payload[0] != '{' {
			continue
		}
		switch kind {
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

func readCodexLine(raw []byte) (kind string, at time.Time, payload json.RawMessage, err error) {
	err = eachField(raw, func(key, value []byte) {
		switch string(key) {
		case "type":
			kind = textOf(value)
		case "timestamp":
			at = isoTime(textOf(value))
		case "payload":
			payload = value
		}
	})
	return kind, at, payload, err
}

func (d *codexDecoder) record(_ string, raw json.RawMessage) error {
	kind, at, payload, err := readCodexLine(raw)
	if err != nil {
		return err
	}
	var tell func(*codexItem, time.Time)
	switch kind {
	case "session_meta":
		tell = d.meta
	case "response_item":
		tell = d.item
	case "event_msg":
		tell = d.event
	case "turn_context", "compacted", "world_state", "session_state", "ghost_snapshot":
		return nil
	default:
		d.foreign()
		return nil
	}
	item, err := readCodex(payload)
	if err == nil {
		tell(item, at)
	}
	return err
}

// meta names the session. In that of a fork, those of the sessions it came from
// follow.
func (d *codexDecoder) meta(i *codexItem, _ time.Time) {
	if d.name == "" {
		d.name = i.id
	}
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
	c := issued{id: i.callID, tool: i.name, agent: classify.Codex, protocol: classify.Agent, at: at}
	switch i.kind {
	case "reasoning":
		d.speaks()
	case "message", "agent_message":
		if i.role == "assistant" {
			d.speaks()
		}
	case "function_call":
		c.input = unquoted(i.arguments)
		if i.namespace != "" {
			c.tool = i.namespace + i.name
		}
		d.speaks().issue(c)
	case "custom_tool_call":
		c.input = customInput(i.input)
		d.speaks().issue(c)
	case "local_shell_call":
		c.tool, c.input = "local_shell", i.action
		if c.id == "" {
			c.id = i.id
		}
		d.speaks().issue(c)
	case "tool_search_call":
		c.tool, c.input = "tool_search", i.arguments
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
	c.id, c.input = i.id, i.action
	c.tool = map[string]string{"web_search_call": "web_search", "image_generation_call": "image_generation"}[i.kind]
	s := d.speaks()
	s.issue(c)
	switch i.status {
	case "completed", "failed", "incomplete":
		r := resulted{id: c.id, how: Flagged, at: c.at}
		r.obs.Failed = i.status != "completed"
		s.result(r)
	}
}

// event reads what the program told about: the user's words, the end of
// commands, the cost. Of a call's end and its output the first counts; the end
// comes first and says more.
func (d *codexDecoder) event(i *codexItem, at time.Time) {
	switch i.kind {
	case "user_message":
		d.now().prompt(at)
	case "token_count":
		d.count(i.info)
	case "exec_command_end":
		if i.exitCode == nil || i.status == "declined" || i.source == "user_shell" {
			return
		}
		code := int(numberOf(i.exitCode))
		r := resulted{id: i.callID, how: Flagged, at: at, duration: codexDuration(i.duration)}
		if r.obs.ExitCode = &code; code != 0 {
			r.obs.Result = i.printed()
		}
		d.now().result(r)
	case "patch_apply_end":
		if i.success == nil || i.status == "declined" {
			return
		}
		r := resulted{id: i.callID, how: Flagged, at: at}
		if r.obs.Failed = !isTrue(i.success); r.obs.Failed {
			r.obs.Result = i.printed()
		}
		d.now().result(r)
	case "mcp_tool_call_end":
		d.now().result(codexMCP(i, at))
	}
}

// count reads the tokens of the turn that has ended. The same count may come
// again, with news of the limits alone.
func (d *codexDecoder) count(info json.RawMessage) {
	var total, last int64
	usage := func(to *int64) func(key, value []byte) {
		return func(key, value []byte) {
			if string(key) == "total_tokens" {
				*to = numberOf(value)
			}
		}
	}
	_ = eachField(info, func(key, value []byte) {
		switch string(key) {
		case "total_token_usage":
			_ = eachField(value, usage(&total))
		case "last_token_usage":
			_ = eachField(value, usage(&last))
		}
	})
	if total != d.total {
		d.total = total
		d.now().spent(last)
		d.fresh = true
	}
}

// printed is the output of a command.
func (i *codexItem) printed() string {
	if text := textOf(i.combined); text != "" {
		return text
	}
	return textOf(i.stderr) + textOf(i.stdout)
}
