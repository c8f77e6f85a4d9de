package mcpproxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/zap"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
)

// maxText bounds the text of a failure that is kept, in characters.
const maxText = 512

// maxPauses is how often one call is decided anew after the human was asked: once
// for an incident, once for the budget, and once for what came between.
const maxPauses = 3

var errPanic = errors.New("the proxy failed while the call was under way")

// forwardFunc makes a call on a target. Its errors are those of upstream.call.
type forwardFunc func(context.Context, target, json.RawMessage) (answer, error)

// callTool answers a tools/call: params are raw, and forward makes the call if it
// is to be made. Each call that the engine allows is recorded once, whatever
// forward does.
func (c *client) callTool(ctx context.Context, t target, params json.RawMessage, forward forwardFunc) (json.RawMessage, *jsonrpc.Error) {
	if t.up == nil {
		return c.callOwn(t.tool.Name, params)
	}
	c.fleet.await(ctx)
	c.begin(c.now())
	defer c.leave()
	params = c.takeAnswer(params)
	var asked string
	for range maxPauses {
		d := c.decide(t)
		switch d.Verb {
		case expediter.Call, expediter.Probe:
			return c.call(ctx, t, params, forward, d)
		case expediter.Skip:
			return c.skip(ctx, t, params, forward, d), nil
		}
		var question json.RawMessage
		var again bool
		if question, asked, again = c.ask(ctx, params); question != nil {
			return question, nil
		} else if !again {
			return c.pauseAnswer(t.key, d, asked), nil
		}
	}
	return c.pauseAnswer(t.key, expediter.Decision{Verb: expediter.Pause, Reason: c.engine.Status().Paused}, asked), nil
}

// decide asks the engine. A tool whose server is not connected is unavailable.
func (c *client) decide(t target) expediter.Decision {
	if c.meet(t.up) {
		return c.engine.DecideScored(t.key, capability.Unavailable, expediter.NoStep, c.now())
	}
	return c.engine.Decide(t.key, expediter.NoStep, c.now())
}

// call makes a call that was allowed, and answers with what came of it.
func (c *client) call(ctx context.Context, t target, params json.RawMessage, forward forwardFunc, d expediter.Decision) (json.RawMessage, *jsonrpc.Error) {
	e := c.try(ctx, t, params, forward, d.Call)
	switch {
	case e.refused:
		return c.skip(ctx, t, params, forward, e.instead), nil
	case e.err != nil && ctx.Err() != nil:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the call was cancelled"}
	case e.err != nil:
		return c.failedAnswer(t, d, e), nil
	case e.answer.Error == nil:
		return c.labelled(t, params, e), nil
	case e.answer.Status >= 400 && e.answer.Error.Code == jsonrpc.CodeInternalError:
		return c.failedAnswer(t, d, e), nil // HTTP said no; an error object makes some clients drop the server
	}
	return nil, e.answer.Error
}

// ending is what came of a call.
type ending struct {
	answer  answer
	err     error
	outcome expediter.Outcome
	refused bool               // the call was never sent
	instead expediter.Decision // of a refused one
	ended   time.Time
}

// try makes a call and records what came of it, once: also when forward panics,
// or ends its goroutine.
func (c *client) try(ctx context.Context, t target, params json.RawMessage, forward forwardFunc, call expediter.CallID) (e ending) {
	recorded := false
	defer func() {
		if recorded {
			return
		}
		p := recover() // nil: the goroutine ends
		e.err = fmt.Errorf("%w: %v", errPanic, p)
		c.record(call, expediter.Ignored(), c.now())
		c.log().Error("panic in a call", zap.String("tool", t.key), zap.Any("panic", p), zap.Stack("stack"))
	}()
	began := c.now()
	c.noteArguments(t.key, call, params, began)
	e.answer, e.err = forward(ctx, t, params)
	e.ended = c.now()
	if errors.Is(e.err, errDown) && ctx.Err() == nil {
		recorded = true
		c.refuse(&e, t, call)
		return e
	}
	if rpc := (*jsonrpc.Error)(nil); !errors.Is(e.err, errLost) && errors.As(e.err, &rpc) { // refused on the way, by the proxy or the client
		e.answer, e.err, e.outcome = answer{Error: rpc}, nil, expediter.Ignored()
		recorded = true
		c.record(call, e.outcome, e.ended)
		return e
	}
	if errors.Is(e.err, errLost) {
		c.lost(t.up, e.err, began)
	}
	e.outcome = c.judge(ctx, t, e, e.ended.Sub(began))
	recorded = true
	c.record(call, e.outcome, e.ended)
	return e
}

// refuse is the end of a call that was allowed and never sent: its server had
// gone in between.
func (c *client) refuse(e *ending, t target, call expediter.CallID) {
	c.noteDown(t.up, e.err)
	c.meet(t.up)
	d, err := c.engine.Refuse(call, "the server is not connected", expediter.NoStep, e.ended)
	if err != nil { // forgotten among very many others
		d = expediter.Decision{Verb: expediter.Skip, Reason: expediter.Refused, Route: capability.Reduced()}
	}
	e.refused, e.instead = true, d
}

func (c *client) record(call expediter.CallID, o expediter.Outcome, at time.Time) {
	if _, err := c.engine.Record(call, o, expediter.NoStep, at); err != nil {
		c.log().Warn("a call could not be recorded", zap.Error(err))
	}
	if o.Result == cascade.Failed {
		c.changed.Add(1)
	}
}

// judge is what a call's end says of its tool.
func (c *client) judge(ctx context.Context, t target, e ending, took time.Duration) expediter.Outcome {
	f := c.factsOf(t.key)
	o := classify.Observation{
		Protocol: classify.MCP, Server: t.up.name(), Tool: t.tool.Name, Payload: e.answer.Result,
		Header: e.answer.Header, Err: e.err, DeadlineHit: errors.Is(e.err, errDeadline), Duration: took, At: e.ended, Rules: f.rules,
	}
	if e.answer.Status >= http.StatusBadRequest {
		o.HTTPStatus = e.answer.Status
	}
	if rpc := e.answer.Error; rpc != nil {
		o.RPCCode, o.Result, o.Failed = int(rpc.Code), rpc.Message, true
	}
	if err := ctx.Err(); err != nil {
		o.ContextErr = errors.Join(err, context.Cause(ctx))
	}
	v := classify.Observe(o)
	if v.Outcome == cascade.Failed && e.answer.Excused {
		return expediter.Ignored()
	}
	out := expediter.Outcome{Result: v.Outcome, Category: v.Category, Signature: v.Signature, Duration: took, RetryAfter: v.RetryAfter}
	if v.Outcome == cascade.Failed {
		text := classify.ErrorText(o)
		if e.err != nil {
			text = e.err.Error()
		}
		out.Text = redact.Text(t.up.mask(cmp.Or(text, v.Signature)), maxText)
		came := errors.Is(e.err, errTooLarge) || errors.Is(e.err, errUnreadable)
		out.MayHaveTakenEffect = (came || classify.InDoubt(v.Category, e.err)) && hasEffects(f.Entry, t.tool)
	}
	return out
}

// noteArguments records what a tool is called with, if the config asks for it.
func (c *client) noteArguments(key string, call expediter.CallID, params json.RawMessage, at time.Time) {
	if !c.p.cfg.Proxy.RecordArguments || c.journal == nil && c.mirrored == nil {
		return
	}
	note := map[string]any{"tool": key, "call": call.String(), "arguments": redact.Text(string(argumentsOf(params)), maxArguments)}
	if err := c.engine.Note(expediter.OpNote, note, expediter.NoStep, at); err != nil {
		c.log().Warn("arguments could not be noted", zap.Error(err))
	}
}

// maxArguments bounds the arguments of one call in a journal, in characters.
const maxArguments = 4096

func argumentsOf(params json.RawMessage) json.RawMessage {
	ms, err := members(params)
	if err != nil {
		return nil
	}
	return getMember(ms, "arguments")
}
