package executor

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// Ticket is one call that the engine allowed, for those who see a call begin in
// one place and end in another and so have no func for Do: interceptors and
// transports. Whoever holds one must End it, whatever happens: the ticket of a
// trial holds the tool's only slot until then, or until the engine's probe TTL
// has passed. It is safe for concurrent use. Make one with Begin.
type Ticket struct {
	e        *Executor
	tool     string
	decision expediter.Decision
	start    time.Time
	ended    atomic.Bool
}

// Begin asks for one call of the tool. It returns *Refused if the engine said
// SKIP or PAUSE, and ctx.Err() if ctx had ended: then nothing was asked.
func (e *Executor) Begin(ctx context.Context, tool string) (*Ticket, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	start := e.cfg.Now()
	d := e.cfg.Engine.Decide(tool, e.cfg.Step(), start)
	if !d.Verb.Go() {
		return nil, &Refused{Tool: tool, Decision: d}
	}
	return &Ticket{e: e, tool: tool, decision: d, start: start}, nil
}

// Decision is the engine's: CALL or PROBE.
func (t *Ticket) Decision() expediter.Decision { return t.decision }

// Elapsed is the time since Begin; never below zero.
func (t *Ticket) Elapsed() time.Duration { return max(t.e.cfg.Now().Sub(t.start), 0) }

// End records what came of the call and reports true, the first time; later
// calls change nothing and report false. Of o the zero Tool, At and Duration are
// those of the ticket, and the rules are those of the tool's map entry. A
// refusal of any executor, anywhere in o.Err, is recorded as ignored: the tool
// was not reached.
func (t *Ticket) End(o classify.Observation) (Receipt, bool) {
	if !t.ended.CompareAndSwap(false, true) {
		return Receipt{}, false
	}
	now := t.e.cfg.Now()
	if o.Tool == "" && o.Server == "" {
		o.Tool = t.tool
	}
	if o.At.IsZero() {
		o.At = now
	}
	name, _ := capability.Nearest(t.e.rules, t.tool)
	o.Duration, o.Rules = cmp.Or(o.Duration, max(now.Sub(t.start), 0)), t.e.rules[name]
	receipt := Receipt{Decision: t.decision, Answered: o.Err == nil, Outcome: observed(o)}
	receipt.Recorded, receipt.Err = t.e.cfg.Engine.Record(t.decision.Call, receipt.Outcome, t.e.cfg.Step(), now)
	return receipt, true
}
