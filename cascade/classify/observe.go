package classify

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade"
)

// Protocol is how the result reached the observer. It tells what a code
// means, and what a failed result without a known text says.
type Protocol uint8

const (
	Plain Protocol = iota // a function or a program
	MCP                   // a Model Context Protocol server
	A2A                   // an agent peer
	Agent                 // a coding agent's hook or transcript
)

var protocolNames = [...]string{Plain: "plain", MCP: "mcp", A2A: "a2a", Agent: "agent"}

// String returns plain, mcp, a2a or agent.
func (p Protocol) String() string {
	if int(p) < len(protocolNames) {
		return protocolNames[p]
	}
	return "protocol(" + strconv.Itoa(int(p)) + ")"
}

// AgentName is a coding agent, or a harness for agents, whose results have a
// shape of their own.
type AgentName string

// The agents and harnesses whose shapes are known.
const (
	ClaudeCode AgentName = "claude-code"
	Codex      AgentName = "codex"
	Gemini     AgentName = "gemini"
	Cursor     AgentName = "cursor"
	Copilot    AgentName = "copilot"
	Cline      AgentName = "cline"
	Windsurf   AgentName = "windsurf"
	SWEAgent   AgentName = "swe-agent"
	OpenHands  AgentName = "openhands"
	Inspect    AgentName = "inspect-ai"
)

// Observation is one finished call, as far as the observer knows it. The zero
// Observation is a call that returned nothing and no error: a success. A
// result counts as failed when any of Failed, Class, Err, a non-zero ExitCode,
// an HTTPStatus from 400, RPCCode, GRPCCode or DeadlineHit says so; only then is its text
// looked at. Of a Payload only the fixed fields of its agent or protocol are
// read: they may say that a success hides a failure.
type Observation struct {
	Protocol    Protocol
	Agent       AgentName           // which agent or harness reported it; empty: none, or unknown
	Server      string              // the MCP server or agent peer, where the tool's name lacks it
	Tool        string              // as the agent calls it
	Input       json.RawMessage     // the call's arguments; read for shells, fetches and brokers of MCP, not at all beyond 1 MiB
	Payload     json.RawMessage     // the structured result as the agent or protocol gives it; read in fixed fields only, not at all beyond 1 MiB
	Argv        []string            // the command that ran, where it was run without a shell
	Shell       string              // or its shell text
	Result      string              // what the tool returned, or its error text
	Failed      bool                // the protocol marks the result as an error
	Unmarked    bool                // the source marks no result as an error: one whose form is that of an error report counts as failed
	Class       string              // what an earlier judgement found in the whole result; a word of Verdict.Class, or test_build, usage, no_file, nonzero, denied, no_command; empty: nothing
	Err         error               // a Go error
	ExitCode    *int                // nil: there was none
	HTTPStatus  int                 // zero: none
	Header      map[string][]string // of the HTTP answer, an http.Header; nil: none
	RPCCode     int                 // JSON-RPC error code; zero: none
	GRPCCode    int                 // gRPC status code; zero: OK or none
	RetryAfter  time.Duration       // what the answer's header asked for; zero: nothing
	ContextErr  error               // ctx.Err() of the call, its cause joined or not; nil: not done
	DeadlineHit bool                // the caller gave up waiting
	Duration    time.Duration       // zero: not measured; no built-in rule looks at it
	At          time.Time           // when the result came, for a Retry-After that is a date; zero: unknown
	Rules       Rules               // the user's own, asked first; zero: none
}

// Verdict is what an Observation says about its tool.
type Verdict struct {
	Key        string           // that of Key
	Outcome    cascade.Outcome  // zero: Failed
	Category   cascade.Category // of a failure; Unknown otherwise
	Class      string           // the category, or ok, invalid_input, cancelled, user_denied, config, none
	Signature  string           // of a result that is an error, bare or behind its scope; at most MaxSignature bytes
	RetryAfter time.Duration    // of a rate limit or an unavailable service; zero: none
	Rule       string           // which rule decided, for logs and reports
}

// Observe judges one call. The order is: the caller's context and deadline,
// the user's rules, what the structured result settles, an earlier judgement,
// Go error types, codes that mean one thing only, the text, and last the codes
// that are overloaded.
func Observe(o Observation) Verdict {
	cmd := o.command()
	if o.plain() {
		return Verdict{Key: keyOf(o, cmd), Outcome: cascade.Succeeded, Class: "ok", Rule: "ok"}
	}
	e := newEvidence(o, cmd)
	c, rule := e.judge()
	v := Verdict{Key: keyOf(o, cmd), Outcome: c.outcome(), Category: c.category(), Class: c.String(), Rule: rule}
	if own := e.own; own != nil {
		v.Outcome, v.Category, v.Class = own.outcome, own.category, own.class
	}
	if c == worked {
		return v
	}
	v.Signature = scoped(v.Category, e.scope(v.Key), signature(e.text))
	if rule == noOutputRule {
		v.Signature = noOutputSignature
	}
	if v.Outcome == cascade.Failed && (v.Category == cascade.RateLimit || v.Category == cascade.Upstream) {
		v.RetryAfter = e.retryAfter()
	}
	return v
}

// ErrorText is the text by which Observe judges a result that is an error, which
// may be one of the payload: clean, a few KiB at most, and not masked. Empty: there
// is none.
func ErrorText(o Observation) string {
	if o.plain() {
		return ""
	}
	return strings.TrimSpace(newEvidence(o, o.command()).text)
}

// FromError judges the error of a Go call: ctxErr is the ctx.Err() of that
// call, nil while its context is not done. A nil err is a success. Join the
// context's cause to ctxErr where there is one; a cause alone that is no
// timeout counts as a cancellation.
func FromError(err, ctxErr error) Verdict {
	return Observe(Observation{Err: err, ContextErr: ctxErr})
}
