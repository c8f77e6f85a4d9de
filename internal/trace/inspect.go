package trace

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// inspectAI reads logs of inspect_ai in their JSON form; .eval files are zip
// archives and are not read. Each epoch of a sample is a session. Its tool
// events are told where there are any, for they have times, and its messages
// where there are none.
var inspectAI = &format{
	name:   "inspect-ai",
	sniff:  func(h *head) bool { return h.keys["eval"] && h.keys["version"] && h.keys["status"] },
	stream: []string{"samples.messages", "samples.events"},
	keep:   []string{"eval.run_id", "samples.id", "samples.epoch", "samples.attachments"},
	open:   func(s *sink) decoder { return &inspectDecoder{sink: s} },
}

// maxSample bounds what is kept of a sample until it ends, in bytes; what is
// more is told at once, without the long texts that a log keeps apart.
const maxSample = 16 << 20

type inspectDecoder struct {
	sink *sink
	run  string
	inspectSample
}

// inspectSample is what is known of the current sample.
type inspectSample struct {
	id, epoch   string
	messages    []happening
	events      []happening
	asked       map[string]bool   // ids of calls in messages that wait for a result
	attachments map[string]string // by hash
	size        int               // of messages and events, about
	prompted    bool
	timed       bool // there are tool events
	spilled     bool // a part was told
}

func (d *inspectDecoder) record(path string, raw json.RawMessage) error {
	switch path {
	case "eval.run_id":
		d.run = scalar(raw)
	case "samples.id":
		d.id = scalar(raw)
	case "samples.epoch":
		d.epoch = scalar(raw)
	case "samples.attachments":
		return json.Unmarshal(raw, &d.attachments)
	case "samples.messages":
		return d.message(raw)
	case "samples.events":
		return d.anyEvent(raw)
	case "samples":
		d.finish()
	}
	return nil
}

// finish tells the rest of the sample.
func (d *inspectDecoder) finish() {
	d.spill()
	d.inspectSample = inspectSample{}
}

func (d *inspectDecoder) spill() {
	moments := d.messages
	if d.timed {
		moments = d.events
	}
	for i := range moments {
		d.attach(&moments[i])
	}
	if len(moments) > 0 {
		tellInOrder(d.sink.session(d.run+"/"+runName(d.id, d.epoch)), moments)
	}
	d.messages, d.events, d.size = nil, nil, 0
}

func (d *inspectDecoder) grow(n int) {
	if d.size += n + 512; d.size > maxSample {
		d.spill()
		d.spilled = true
	}
}

// inspectEvent is an event of a sample. Older logs have events within events.
type inspectEvent struct {
	Event       string          `json:"event"`
	ID          string          `json:"id"`
	Function    string          `json:"function"`
	Arguments   json.RawMessage `json:"arguments"`
	Error       json.RawMessage `json:"error"` // an inspectError; of other events a text
	Failed      bool            `json:"failed"`
	Pending     bool            `json:"pending"`
	Timestamp   string          `json:"timestamp"`
	Completed   string          `json:"completed"`
	WorkingTime float64         `json:"working_time"` // seconds
	Output      json.RawMessage `json:"output"`       // of a model event
	Events      []inspectEvent  `json:"events"`
}

// inspectError is a ToolCallError.
type inspectError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// anyEvent passes over events of other kinds whatever their fields hold.
func (d *inspectDecoder) anyEvent(raw json.RawMessage) error {
	var e inspectEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		if e.Event == "tool" || e.Event == "model" {
			return err
		}
		return nil
	}
	if !d.spilled || d.timed {
		d.event(&e)
	}
	return nil
}

func (d *inspectDecoder) event(e *inspectEvent) {
	at := isoTime(e.Timestamp)
	switch e.Event {
	case "model":
		d.events = append(d.events, e.answer(at))
	case "tool":
		d.toolEvent(e, at)
	}
	for i := range e.Events {
		d.event(&e.Events[i])
	}
	d.grow(len(e.Arguments))
}

// answer is the moment at which the model has spoken.
func (e *inspectEvent) answer(at time.Time) happening {
	var output struct {
		Usage totalTokens `json:"usage"`
	}
	if json.Unmarshal(e.Output, &output) != nil {
		output.Usage.Total = 0
	}
	if done := isoTime(e.Completed); !done.IsZero() {
		at = done
	}
	return happening{at: at, tokens: output.Usage.Total}
}

func (d *inspectDecoder) toolEvent(e *inspectEvent, at time.Time) {
	d.timed = true
	d.events = append(d.events, d.issue(e.ID, e.Function, e.Arguments, at))
	if e.Pending {
		return
	}
	done := isoTime(e.Completed)
	if done.IsZero() && !at.IsZero() {
		done = at.Add(seconds(e.WorkingTime))
	}
	var failure *inspectError
	if json.Unmarshal(e.Error, &failure) != nil {
		failure = nil
	}
	r := resulted{id: e.ID, how: Flagged, obs: failure.observation(), at: done, duration: seconds(e.WorkingTime)}
	r.obs.Failed = r.obs.Failed || e.Failed
	d.events = append(d.events, happening{at: done, kind: Result, result: r})
}

func (d *inspectDecoder) issue(id, tool string, input json.RawMessage, at time.Time) happening {
	if len(input) > maxInput {
		input = nil
	}
	return happening{at: at, kind: Issue, issue: issued{id: id, tool: tool, protocol: classify.Agent, input: bytes.Clone(input), at: at}}
}

func (e *inspectError) observation() classify.Observation {
	if e == nil {
		return classify.Observation{}
	}
	payload, _ := json.Marshal(e) // two texts
	return classify.Observation{Agent: classify.Inspect, Failed: true, Payload: payload, Result: e.Message}
}

// inspectMessage is a message of a sample. Unlike OpenAI's, a call has its
// function's name and arguments as they are.
type inspectMessage struct {
	Role      string          `json:"role"`
	Source    string          `json:"source"` // of user messages: input, operator; of an agent's own: none
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		ID        string          `json:"id"`
		Function  string          `json:"function"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"tool_calls"`
	ToolCallID json.RawMessage `json:"tool_call_id"` // a list in user messages
	Function   string          `json:"function"`
	Error      *inspectError   `json:"error"`
}

func (d *inspectDecoder) message(raw json.RawMessage) error {
	var m inspectMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	switch m.Role {
	case "user":
		if !d.prompted || m.Source == "input" || m.Source == "operator" {
			if !d.prompted { // the events do not tell when the others came
				d.events = append(d.events, happening{kind: Prompt})
			}
			d.prompted = true
			d.messages = append(d.messages, happening{kind: Prompt})
		}
	case "assistant":
		d.messages = append(d.messages, happening{})
		for _, c := range m.ToolCalls {
			d.messageCall(c.ID, c.Function, c.Arguments)
		}
	case "tool":
		d.messageResult(&m)
	case "system":
	default:
		d.sink.foreign()
	}
	return nil
}

func (d *inspectDecoder) messageCall(id, tool string, input json.RawMessage) {
	if d.asked == nil || len(d.asked) > maxAsked {
		d.asked = map[string]bool{}
	}
	d.asked[id] = true
	d.messages = append(d.messages, d.issue(id, tool, input, time.Time{}))
	d.grow(len(input))
}

// messageResult tells a result. Histories are cut to fit the model: the result
// names its call, so that one whose request was cut away is found.
func (d *inspectDecoder) messageResult(m *inspectMessage) {
	id := scalar(m.ToolCallID)
	if !d.asked[id] && m.Function != "" {
		d.messageCall(id, m.Function, nil)
	}
	delete(d.asked, id)
	d.messages = append(d.messages, happening{kind: Result, result: resulted{id: id, how: Flagged, obs: m.Error.observation()}})
}

const maxAsked = 1 << 14

const attachment = "attachment://"

// attach puts the long texts back that a log keeps apart.
func (d *inspectDecoder) attach(m *happening) {
	m.issue.input = d.attachTo(m.issue.input)
	m.result.obs.Payload = d.attachTo(m.result.obs.Payload)
	m.result.obs.Result = d.attached(m.result.obs.Result)
}

func (d *inspectDecoder) attachTo(object json.RawMessage) json.RawMessage {
	var fields map[string]any
	if !bytes.Contains(object, []byte(attachment)) || json.Unmarshal(object, &fields) != nil {
		return object
	}
	for name, value := range fields {
		if text, ok := value.(string); ok {
			fields[name] = d.attached(text)
		}
	}
	object, _ = json.Marshal(fields) // it was JSON
	return object
}

func (d *inspectDecoder) attached(text string) string {
	if id, ok := strings.CutPrefix(text, attachment); ok {
		if whole, ok := d.attachments[id]; ok {
			return whole
		}
	}
	return text
}
