package classify

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// maxPayload bounds a payload and a call's arguments, in bytes; longer ones are
// not read.
const maxPayload = 1 << 20

// fields are those of a JSON object. A field of another type than the one
// asked for is as good as absent: payloads come from outside.
type fields map[string]json.RawMessage

// object is the JSON object that raw is, also one inside a JSON string. Nil:
// it is none, or too long.
func object(raw json.RawMessage) fields {
	if len(raw) == 0 || len(raw) > maxPayload {
		return nil
	}
	var f fields
	switch raw[0] {
	case '{':
		if json.Unmarshal(raw, &f) == nil {
			return f
		}
	case '"':
		if s := strings.TrimSpace(str(raw)); strings.HasPrefix(s, "{") && json.Unmarshal([]byte(s), &f) == nil {
			return f
		}
	case ' ', '\t', '\r', '\n':
		return object(json.RawMessage(strings.TrimLeft(string(raw), " \t\r\n")))
	}
	return nil
}

// str is the text that raw is, empty for all that is no JSON string.
func str(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || len(raw) > maxPayload || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func (f fields) object(name string) fields { return object(f[name]) }

// text is the first of the named fields that is a text.
func (f fields) text(names ...string) string {
	for _, name := range names {
		if s := str(f[name]); s != "" {
			return s
		}
	}
	return ""
}

// says reports whether a field is there and is this truth value.
func (f fields) says(name string, value bool) bool {
	return string(f[name]) == strconv.FormatBool(value)
}

// number is a whole number; ok is false for anything else.
func (f fields) number(names ...string) (n int, ok bool) {
	for _, name := range names {
		x, err := strconv.ParseFloat(string(f[name]), 64)
		if err == nil && x == math.Trunc(x) && math.Abs(x) <= math.MaxInt32 {
			return int(x), true
		}
	}
	return 0, false
}

// array is the JSON list that raw is.
func array(raw json.RawMessage) []json.RawMessage {
	var list []json.RawMessage
	if len(raw) == 0 || len(raw) > maxPayload || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// blocks is the text of a list of content blocks: {"type":"text","text":…} or
// {"text":…}, at most 16 of them.
func (f fields) blocks(name string) string {
	list := array(f[name])
	var texts []string
	for _, raw := range list[:min(len(list), 16)] {
		if s := object(raw).text("text"); s != "" {
			texts = append(texts, ends(s))
		}
	}
	return strings.Join(texts, "\n")
}

// readPayload takes over what the structured result says in the fixed fields
// of its agent or protocol, and nothing else: ordinary output is not searched.
func (e *evidence) readPayload() {
	switch shape, known := shapes[e.Agent]; {
	case known && (len(e.Payload) > 0 || e.toldInText()):
		shape(e, object(e.Payload))
	case len(e.Payload) == 0:
	case e.Protocol == MCP:
		mcpShape(e, object(e.Payload))
	case e.Protocol == A2A:
		a2aShape(e, object(e.Payload))
	}
}

// toldInText: the agent's harness may write into the text what others put into
// a payload.
func (o Observation) toldInText() bool {
	switch o.Agent {
	case Codex, Cline, Copilot:
		return o.Result != ""
	case ClaudeCode:
		return strings.HasPrefix(o.Result, movedAway)
	}
	return false
}

// payloadPrefix begins the name of a rule that is a field of the payload.
const payloadPrefix = "payload:"

// tell is what a field of the payload settles by itself.
func (e *evidence) tell(c class, by string) {
	if e.toldBy == "" {
		e.told, e.toldBy = c, payloadPrefix+by
	}
}

// fail marks the result as an error, with the text that the payload gives for
// it unless there is one already.
func (e *evidence) fail(text string) {
	e.Failed = true
	if e.Result == "" {
		e.Result = text
	}
}

// exited takes over an exit code.
func (e *evidence) exited(code int, output string) {
	if e.ExitCode == nil {
		e.ExitCode = &code
	}
	if e.Result == "" {
		e.Result = output
	}
}

// byPayload asks what the payload settled.
func (e *evidence) byPayload() (class, string, bool) { return e.told, e.toldBy, e.toldBy != "" }
