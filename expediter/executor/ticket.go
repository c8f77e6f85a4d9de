package executor

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// Ticket is one call that the engine allowed, for those who see a call begin in
// one place and end in another and so have no func for Do: interceptors and
// transports. Whoever holds one must End it, whatever happens: the ticket of a
// trial holds the tool's only slot until then, or until the engine's probe TTL
// has passed. It is safe for concurrent use. Make one with Begin.
type Ticket struct {
	e      *Executor
	ctx    context.Context
	permit permit
	back   func() // gives its place in the bulkhead back
	ended  atomic.Bool
}

// Begin asks for one call of the tool, which keeps its place in the bulkhead
// until it ends, at most for Hold: one that is never ended, such as that of a
// body which nobody closes, must not block its tool for ever. It returns *Refused
// if the engine said SKIP or PAUSE, or a bulkhead or guard refused the call, and
// ctx.Err() if ctx ended before. Deadlines and Fallbacks are for Do alone: a call
// of Begin lasts as long as its maker lets it, and nothing stands in for it.
func (e *Executor) Begin(ctx context.Context, tool string) (*Ticket, error) {
	t := &Ticket{e: e, ctx: ctx, permit: permit{tool: tool}}
	if err := e.admit(ctx, &t.permit); err != nil {
		return nil, err
	}
	t.back = t.permit.place.abandon()
	t.permit.place = nil
	return t, nil
}

// Decision is the engine's: CALL or PROBE.
func (t *Ticket) Decision() expediter.Decision { return t.permit.decision }

// Elapsed is the time since Begin; never below zero.
func (t *Ticket) Elapsed() time.Duration { return max(t.e.now().Sub(t.permit.start), 0) }

// End records what came of the call and reports true, the first time; later
// calls change nothing and report false. Of o the zero Tool, At and Duration are
// those of the ticket, an error's zero ContextErr is that of Begin's context,
// and the rules are those of the tool's map entry. A refusal
// (expediter.ErrNotCalled) anywhere in o.Err is recorded as ignored: the tool was not reached.
func (t *Ticket) End(o classify.Observation) (Receipt, bool) {
	if !t.ended.CompareAndSwap(false, true) {
		return Receipt{}, false
	}
	p, now := &t.permit, t.e.now()
	if o.Tool == "" && o.Server == "" {
		o.Tool = p.tool
	}
	if o.At.IsZero() {
		o.At = now
	}
	if o.Err != nil && o.ContextErr == nil {
		o.ContextErr = whyEnded(t.ctx)
	}
	o.Duration, o.Rules = cmp.Or(o.Duration, max(now.Sub(p.start), 0)), t.e.entry(p.tool).rules
	end := ending{way: returned, err: o.Err, outcome: observed(o), cut: o.ContextErr != nil}
	if end.err == nil && end.outcome.Result != cascade.Succeeded {
		end.err = errors.New(end.outcome.Text)
	}
	receipt := Receipt{Decision: p.decision}
	defer t.back()
	t.e.settle(p, &end, &receipt)
	receipt.Answered = o.Err == nil
	return receipt, true
}

// whyEnded is the context's error and its cause; nil while it has not ended. One
// whose deadline has passed has ended, even if its timer is yet to say so:
// http.Client cancels a request at its Timeout by a timer of its own. Contexts
// go by the wall clock, whatever Config.Now is.
func whyEnded(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	deadline, limited := ctx.Deadline()
	switch {
	case limited && !time.Now().Before(deadline):
		return context.DeadlineExceeded
	case cause == err:
		return err
	}
	return errors.Join(err, cause)
}
