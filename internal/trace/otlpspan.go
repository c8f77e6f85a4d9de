package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// span is what matters of a span.
type span struct {
	trace, id, parent string
	start, end        time.Time
	session           string // the conversation, by its own word; empty: none
	tool              bool   // a call of a tool
	mcp               bool   // told by an MCP client or server
	model             bool   // an answer of the model
	tokens            int64  // of a model

	// Of a tool.
	name   string
	callID string
	server string
	// mcpSession is one server's: an agent has several at a time.
	mcpSession string
	input      json.RawMessage
	obs        classify.Observation

	inner []*span // of the same call
	outer *span
}

// conversations are the attributes that name one, of the agent and of whoever
// called it.
var conversations = []string{"gen_ai.conversation.id", "session.id"}

const (
	spanExecute = "execute_tool"
	spanCall    = "tools/call"
)

// reduce keeps what matters of the span.
func (s *otlpSpan) reduce(resource otlpAttributes) *span {
	a := s.Attributes
	operation, method := a.text("gen_ai.operation.name"), a.text("mcp.method.name")
	verb, target, _ := strings.Cut(s.Name, " ")
	if operation == "" && method == "" {
		operation = verb
	}
	r := &span{trace: s.TraceID, id: s.SpanID, parent: s.Parent, start: nanos(s.Start), end: nanos(s.End),
		session: a.text(conversations...), mcp: method == spanCall || method == "" && verb == spanCall}
	if r.session == "" {
		r.session = resource.text(conversations...)
	}
	switch r.tool = r.mcp || operation == spanExecute; {
	case r.tool:
		if r.name = a.text("gen_ai.tool.name"); r.name == "" && (verb == spanExecute || verb == spanCall) {
			r.name = target
		}
		s.reduceTool(r)
	case operation == "chat" || operation == "generate_content" || operation == "text_completion":
		r.model = true
		r.tokens = a.number("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens") +
			a.number("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
	}
	return r
}

func (s *otlpSpan) reduceTool(r *span) {
	a := s.Attributes
	r.callID = a.text("gen_ai.tool.call.id")
	if r.input = a.value("gen_ai.tool.call.arguments"); len(r.input) > maxInput {
		r.input = nil
	}
	r.obs = s.observation()
	if r.mcp {
		r.server, r.mcpSession = a.text("mcp.server.name", "server.address"), a.text("mcp.session.id")
		r.obs.Protocol = classify.MCP
	}
}

// observation is what the span says of its result.
func (s *otlpSpan) observation() classify.Observation {
	a := s.Attributes
	o := classify.Observation{Protocol: classify.Agent, Failed: s.failed(),
		HTTPStatus: int(a.number("http.response.status_code", "http.status_code")), GRPCCode: int(a.number("rpc.grpc.status_code"))}
	if code, err := strconv.Atoi(a.text("process.exit.code")); err == nil {
		o.ExitCode = &code
	}
	kind := a.text("error.type")
	for _, code := range [...]string{kind, a.text("rpc.response.status_code", "rpc.jsonrpc.error_code", "jsonrpc.error.code")} {
		n, err := strconv.Atoi(code)
		switch {
		case err != nil:
		case n < 0 && o.RPCCode == 0:
			o.RPCCode, o.Protocol = n, classify.MCP
		case n >= 400 && n < 600 && o.HTTPStatus == 0:
			o.HTTPStatus = n
		}
	}
	if result := a.value("gen_ai.tool.call.result"); bytes.HasPrefix(result, []byte("{")) && len(result) <= maxInput {
		o.Payload = result
	}
	if o.Failed {
		o.Result = s.errorText(kind)
	}
	return o
}

// maxSpanText bounds the text of an error, in bytes; classify looks at both
// ends of less.
const maxSpanText = 8 << 10

// errorText is what went wrong: the status, else the exception, else what the
// tool returned; after the type of the error where that says more.
func (s *otlpSpan) errorText(kind string) string {
	thrown, message := s.exception()
	text := s.Status.Message
	if text == "" {
		text = message
	}
	if text == "" {
		text = s.Attributes.text("gen_ai.tool.call.result")
	}
	if len(text) > maxSpanText {
		text = text[:maxSpanText/2] + "\n" + text[len(text)-maxSpanText/2:]
	}
	if thrown == "" {
		thrown = kind
	}
	if _, err := strconv.Atoi(thrown); err == nil || thrown == "_OTHER" || thrown == "tool_error" || strings.Contains(text, thrown) {
		return text
	}
	return strings.TrimSuffix(thrown+": "+text, ": ")
}

// sameCall reports whether a span and one within it are of one call: the
// agent's and the MCP client's, or the client's and the server's.
func sameCall(outer, inner *span) bool {
	return (outer.mcp || inner.mcp) && (outer.name == inner.name || outer.name == "" || inner.name == "")
}

// enclose makes inner a part of the call that s is.
func (s *span) enclose(inner *span) {
	inner.outer = s
	s.inner = append(s.inner, inner)
}

// merge takes over what the spans within know. The call failed if its span
// says so, or if that of every try within does: what a retry healed is not
// recorded outside.
func (s *span) merge() {
	all := len(s.inner) > 0
	for _, in := range s.inner {
		in.merge()
		all = all && in.obs.Failed
		s.take(in)
	}
	if s.obs.Failed = s.obs.Failed || all; !s.obs.Failed {
		return
	}
	for _, in := range s.inner {
		s.takeFailure(&in.obs)
	}
}

func (s *span) take(in *span) {
	if s.name == "" {
		s.name = in.name
	}
	if s.callID == "" {
		s.callID = in.callID
	}
	if s.server == "" {
		s.server = in.server
	}
	if s.input == nil {
		s.input = in.input
	}
	if s.session == "" {
		s.session = in.session
	}
	if s.mcpSession == "" {
		s.mcpSession = in.mcpSession
	}
	if in.obs.Protocol == classify.MCP {
		s.obs.Protocol = classify.MCP
	}
	if s.obs.Payload == nil {
		s.obs.Payload = in.obs.Payload
	}
}

func (s *span) takeFailure(in *classify.Observation) {
	if s.obs.Result == "" {
		s.obs.Result = in.Result
	}
	if s.obs.RPCCode == 0 {
		s.obs.RPCCode = in.RPCCode
	}
	if s.obs.HTTPStatus == 0 {
		s.obs.HTTPStatus = in.HTTPStatus
	}
	if s.obs.ExitCode == nil {
		s.obs.ExitCode = in.ExitCode
	}
	if s.obs.GRPCCode == 0 {
		s.obs.GRPCCode = in.GRPCCode
	}
}

// moments are the call, or the answer of the model.
func (s *span) moments() []happening {
	if s.model {
		return []happening{{at: s.end, tokens: s.tokens}}
	}
	id := s.callID
	if id == "" {
		id = s.trace + "/" + s.id
	}
	call := happening{at: s.start, kind: Issue, issue: issued{id: id, tool: s.name, server: s.server, protocol: s.obs.Protocol,
		input: s.input, at: s.start}}
	r := resulted{id: id, how: Flagged, obs: s.obs, at: s.end}
	if !s.start.IsZero() && s.end.After(s.start) {
		r.duration = s.end.Sub(s.start)
	}
	return []happening{call, {at: s.end, kind: Result, result: r}}
}

// size is about what the span costs in memory, in bytes.
func (s *span) size() int {
	return 1024 + len(s.input) + len(s.obs.Result) + len(s.obs.Payload)
}
