package trace

import (
	"encoding/json"

	"github.com/expediter-go/expediter/cascade/classify"
)

// openHands reads the events of an OpenHands conversation, an array. Since its
// software agent SDK events have a kind; see openHandsEvent. Before, an action
// had a number, and its observation named that as its cause.
var openHands = &format{
	name:   "openhands",
	sniff:  sniffOpenHands,
	stream: []string{""},
	open:   func(s *sink) decoder { return &openHandsDecoder{sink: s} },
}

func sniffOpenHands(h *head) bool { return h.array && isOpenHands(h.element) }

func isOpenHands(raw json.RawMessage) bool {
	var e openHandsRecord
	if len(raw) == 0 || json.Unmarshal(raw, &e) != nil || e.Source == "" || len(e.ID) == 0 || len(e.Timestamp) == 0 {
		return false
	}
	_, known := openHandsKinds[e.Kind]
	return known || e.Action != "" && len(e.Args) > 0 || textOf(e.Observation) != "" && len(e.Extras) > 0
}

type openHandsDecoder struct {
	sink *sink
	name string // of the session; empty: the file does not say
	paid string // the answer of the model that was counted last
}

// openHandsRecord is an event of either form.
type openHandsRecord struct {
	ID        json.RawMessage `json:"id"`
	Timestamp json.RawMessage `json:"timestamp"`
	Source    string          `json:"source"`

	// Before the SDK.
	Action      string          `json:"action"`
	Observation json.RawMessage `json:"observation"` // what kind it is
	Args        json.RawMessage `json:"args"`
	Cause       json.RawMessage `json:"cause"` // id of the action
	Content     string          `json:"content"`
	Extras      json.RawMessage `json:"extras"`
	Metadata    struct {
		Function string `json:"function_name"`
		Response struct {
			ID    string `json:"id"`
			Usage struct {
				Total int64 `json:"total_tokens"`
			} `json:"usage"`
		} `json:"model_response"`
	} `json:"tool_call_metadata"`

	Kind string `json:"kind"` // of the SDK
}

func (d *openHandsDecoder) record(_ string, raw json.RawMessage) error {
	var kind struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return err
	}
	s := d.sink.session(d.name)
	if kind.Kind != "" {
		return d.event(s, kind.Kind, raw)
	}
	return d.old(s, raw)
}

// old reads an event of before the SDK.
func (d *openHandsDecoder) old(s *session, raw json.RawMessage) error {
	var e openHandsRecord
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	switch seen := textOf(e.Observation); {
	case e.Action == "message" && e.Source == "user":
		s.prompt(when(e.Timestamp))
	case e.Action != "":
		if e.Source == "agent" && !openHandsSpeech[e.Action] {
			d.issue(s, &e)
		}
	case seen == "":
		d.sink.foreign()
	case len(e.Cause) > 0 && string(e.Cause) != "null" && !openHandsNotices[seen]:
		s.result(resulted{id: string(e.Cause), how: Flagged, obs: e.outcome(seen), at: when(e.Timestamp)})
	}
	return nil
}

// openHandsSpeech are the actions that call no tool.
var openHandsSpeech = map[string]bool{
	"message": true, "system": true, "finish": true, "reject": true, "null": true, "recall": true,
	"start": true, "stop": true, "pause": true, "resume": true, "change_agent_state": true,
	"condensation": true, "condensation_request": true, "summarize": true, "loop_recovery": true,
}

// openHandsNotices are the observations that answer no call.
var openHandsNotices = map[string]bool{
	"recall": true, "agent_state_changed": true, "null": true, "condense": true, "message": true,
	"microagent": true, "workspace_context": true, "loop_detection": true,
}

func (d *openHandsDecoder) issue(s *session, e *openHandsRecord) {
	answer := e.Metadata.Response.ID
	s.turnOf(answer)
	if answer == "" || answer != d.paid {
		s.spent(e.Metadata.Response.Usage.Total)
	}
	d.paid = answer
	c := issued{id: string(e.ID), tool: e.Metadata.Function, agent: classify.OpenHands, protocol: classify.Agent,
		input: e.Args, at: when(e.Timestamp)}
	var mcp struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	switch {
	case e.Action == "call_tool_mcp" && json.Unmarshal(e.Args, &mcp) == nil && mcp.Name != "":
		c.tool, c.input = mcp.Name, mcp.Arguments
	case c.tool == "" && e.Action == "run":
		c.tool = "execute_bash"
	case c.tool == "":
		c.tool = e.Action
	}
	s.issue(c)
}

// outcome reads an observation of a kind. Its extras are the payload.
func (e *openHandsRecord) outcome(kind string) classify.Observation {
	o := classify.Observation{Payload: e.Extras, Result: e.Content}
	var extras struct {
		ExitCode *int `json:"exit_code"`
		Metadata struct {
			ExitCode *int `json:"exit_code"`
		} `json:"metadata"`
		Error json.RawMessage `json:"error"` // of the browser: whether there was one
	}
	_ = json.Unmarshal(e.Extras, &extras) // what has another shape says nothing
	switch kind {
	case "error":
		o.Failed = true
	case "user_rejected":
		o.Failed, o.Class = true, "denied"
	case "mcp":
		mcpResult(&o, e.Content)
	case "browse":
		o.Failed = isTrue(extras.Error)
	case "run":
		if o.ExitCode = exited(extras.Metadata.ExitCode); o.ExitCode == nil {
			o.ExitCode = exited(extras.ExitCode)
		}
	}
	return o
}

// exited is an exit code; OpenHands writes -1 while the command still runs.
func exited(code *int) *int {
	if code != nil && *code < 0 {
		return nil
	}
	return code
}

// mcpResult reads the result of an MCP tool from its JSON.
func mcpResult(o *classify.Observation, raw string) {
	var result struct {
		IsError bool            `json:"isError"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal([]byte(raw), &result) != nil {
		return
	}
	o.Failed, o.Payload = result.IsError, json.RawMessage(raw)
	if said := contentText(result.Content); said != "" {
		o.Result = said
	}
}
