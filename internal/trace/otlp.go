package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// otlpLines and otlpDocument read spans in OTLP/JSON: export requests, one a
// line as the collector's file exporter writes them, or one document. A call
// is a span of the GenAI conventions (execute_tool), of the MCP conventions
// (tools/call), or both. Spans have no prompts.
//
// Spans come when they end, in any order, and a session's over many requests.
// They are put into the order of their times within a window of otlpWindow
// spans that matter; what comes later than that is told late.
var (
	otlpLines = &format{
		name:  "otlp",
		sniff: sniffOTLPLines,
		open:  openOTLP,
	}
	otlpDocument = &format{
		name: "otlp",
		sniff: func(h *head) bool {
			return h.keys["resourceSpans"] || bytes.Contains(h.element, []byte(`"resourceSpans"`))
		},
		stream: []string{"resourceSpans.scopeSpans.spans"},
		keep:   []string{"resourceSpans.resource"},
		open:   openOTLP,
	}
)

// sniffOTLPLines looks at the first key: an export request has no other.
func sniffOTLPLines(h *head) bool {
	for _, line := range h.first {
		dec := json.NewDecoder(bytes.NewReader(line))
		for range 2 {
			if t, err := dec.Token(); err == nil && t == "resourceSpans" {
				return true
			}
		}
	}
	return false
}

func openOTLP(s *sink) decoder { return &otlpDecoder{window: newSpanWindow(s)} }

type otlpRequest struct {
	ResourceSpans []struct {
		Resource   otlpResource `json:"resource"`
		ScopeSpans []struct {
			Spans []json.RawMessage `json:"spans"`
		} `json:"scopeSpans"`
	} `json:"resourceSpans"`
}

type otlpResource struct {
	Attributes otlpAttributes `json:"attributes"`
}

type otlpDecoder struct {
	window   *spanWindow
	resource otlpAttributes // of the spans that come
}

func (d *otlpDecoder) record(path string, raw json.RawMessage) error {
	switch path {
	case "":
		return d.request(raw)
	case "resourceSpans.resource":
		var r otlpResource
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		d.resource = r.Attributes
	case "resourceSpans.scopeSpans.spans":
		return d.span(raw)
	case "resourceSpans":
		d.resource = nil
	}
	return nil
}

func (d *otlpDecoder) request(raw json.RawMessage) error {
	var request otlpRequest
	if err := json.Unmarshal(raw, &request); err != nil {
		return err
	}
	if request.ResourceSpans == nil {
		d.window.sink.foreign() // metrics, logs
		return nil
	}
	var broken error
	for _, r := range request.ResourceSpans {
		d.resource = r.Resource.Attributes
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				if err := d.span(s); err != nil {
					broken = err
				}
			}
		}
	}
	return broken
}

func (d *otlpDecoder) span(raw json.RawMessage) error {
	var s otlpSpan
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	if s.SpanID == "" {
		return errNoSpanID
	}
	d.window.add(s.reduce(d.resource))
	return nil
}

func (d *otlpDecoder) finish() { d.window.tell(0) }

var errNoSpanID = errors.New("a span has no spanId; every span must have one")

// otlpSpan is a span of OTLP/JSON. Numbers of 64 bits are texts there; some
// exporters write them as numbers.
type otlpSpan struct {
	TraceID    string          `json:"traceId"`
	SpanID     string          `json:"spanId"`
	Parent     string          `json:"parentSpanId"`
	Name       string          `json:"name"`
	Start      json.RawMessage `json:"startTimeUnixNano"`
	End        json.RawMessage `json:"endTimeUnixNano"`
	Attributes otlpAttributes  `json:"attributes"`
	Status     struct {
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
	} `json:"status"`
	Events []struct {
		Name       string         `json:"name"`
		Attributes otlpAttributes `json:"attributes"`
	} `json:"events"`
}

// failed: the status is an error, or error.type names one.
func (s *otlpSpan) failed() bool {
	code := scalar(s.Status.Code)
	return code == "2" || code == "STATUS_CODE_ERROR" || s.Attributes.text("error.type") != ""
}

// exception is the last one that the span recorded.
func (s *otlpSpan) exception() (kind, message string) {
	for _, e := range s.Events {
		if e.Name == "exception" || strings.HasSuffix(e.Name, ".exception") {
			kind, message = e.Attributes.text("exception.type"), e.Attributes.text("exception.message")
		}
	}
	return kind, message
}

// otlpAttributes are attributes in their order.
type otlpAttributes []struct {
	Key   string    `json:"key"`
	Value otlpValue `json:"value"`
}

// otlpValue is a value of any kind: one of its fields is set.
type otlpValue struct {
	String *string         `json:"stringValue"`
	Int    json.RawMessage `json:"intValue"`
	Double json.RawMessage `json:"doubleValue"`
	Bool   json.RawMessage `json:"boolValue"`
	Array  *struct {
		Values []otlpValue `json:"values"`
	} `json:"arrayValue"`
	Map *struct {
		Values otlpAttributes `json:"values"`
	} `json:"kvlistValue"`
}

// value returns an attribute as JSON; a text that is JSON as what it holds.
// It is nil if there is none.
func (a otlpAttributes) value(key string) json.RawMessage {
	for i := range a {
		if a[i].Key != key {
			continue
		}
		if s := a[i].Value.String; s != nil && json.Valid([]byte(*s)) {
			return json.RawMessage(*s)
		}
		raw, err := json.Marshal(a[i].Value.plain())
		if err != nil {
			return nil
		}
		return raw
	}
	return nil
}

// text returns an attribute as a text, empty if it is none of the keys.
func (a otlpAttributes) text(keys ...string) string {
	for _, key := range keys {
		for i := range a {
			v := &a[i].Value
			switch {
			case a[i].Key != key:
			case v.String != nil:
				if *v.String != "" {
					return *v.String
				}
			case v.Array == nil && v.Map == nil:
				return scalar(firstOf(v.Int, v.Double, v.Bool))
			default:
				return string(a.value(key))
			}
		}
	}
	return ""
}

// number returns an attribute as a number; zero if it is none of the keys.
func (a otlpAttributes) number(keys ...string) int64 {
	n, err := strconv.ParseInt(a.text(keys...), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// plain is the value without the names of the kinds.
func (v *otlpValue) plain() any {
	switch {
	case v.String != nil:
		return *v.String
	case v.Array != nil:
		list := make([]any, len(v.Array.Values))
		for i := range v.Array.Values {
			list[i] = v.Array.Values[i].plain()
		}
		return list
	case v.Map != nil:
		object := map[string]any{}
		for i := range v.Map.Values {
			object[v.Map.Values[i].Key] = v.Map.Values[i].Value.plain()
		}
		return object
	}
	if raw := firstOf(v.Int, v.Double, v.Bool); raw != nil {
		return unquoted(raw)
	}
	return nil
}

func firstOf(raws ...json.RawMessage) json.RawMessage {
	for _, raw := range raws {
		if raw != nil {
			return raw
		}
	}
	return nil
}
