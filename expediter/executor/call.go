package executor

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

// way is how a call ended. The zero value is the one that promises least.
type way uint8

const (
	abandoned way = iota // its caller stopped waiting
	returned
	panicked
	exited // runtime.Goexit
)

// ending is what came of a call.
type ending struct {
	way     way
	outcome expediter.Outcome
	err     error // returned or abandoned: what the caller gets
	cut     bool  // its context had ended when it came back
	value   any   // panicked: what it panicked with
	stack   []byte
}

// attempt is Do without fallbacks. What the call holds is given back on every
// path that leaves it. The receipt is its caller's, since it is too large to be
// handed from func to func.
func attempt[T any](ctx context.Context, e *Executor, tool string, fn func(context.Context) (T, error), r *Receipt) (T, error) {
	p := permit{tool: tool}
	if err := e.enter(ctx, &p, r); err != nil {
		var none T
		return none, err
	}
	if p.decision.Verb == expediter.Probe {
		var t *trial
		ctx, t = e.carrying(ctx, tool)
		defer t.over.Store(true)
	}
	if limit := e.deadline(tool); limit > 0 || ctx.Done() != nil {
		return away(ctx, e, &p, limit, fn, r)
	}
	return here(ctx, e, &p, fn, r)
}

// enter is admit with a receipt.
func (e *Executor) enter(ctx context.Context, p *permit, r *Receipt) error {
	err := e.admit(ctx, p)
	r.Decision = p.decision
	if err != nil && r.Decision.Verb.Go() { // ctx ended while it waited for a place
		r.Outcome = expediter.Ignored()
	}
	return err
}

// away runs fn in a goroutine of its own.
func away[T any](ctx context.Context, e *Executor, p *permit, limit time.Duration, fn func(context.Context) (T, error), r *Receipt) (T, error) {
	var value, none T // value belongs to the goroutine of fn until that has answered
	end, f := e.apart(ctx, p, limit, func(ctx context.Context) (err error) {
		value, err = fn(ctx)
		return err
	})
	if end.way == abandoned {
		defer f.recorded()
	}
	e.settle(p, end, r)
	switch end.way {
	case abandoned:
		return none, end.err
	case panicked:
		e.tellPanic(p.tool, end)
		panic(end.value)
	case exited:
		runtime.Goexit()
	}
	return value, end.err
}

// here runs fn on its caller's goroutine, for a call that nobody can end.
func here[T any](ctx context.Context, e *Executor, p *permit, fn func(context.Context) (T, error), r *Receipt) (T, error) {
	back := false
	defer func() {
		if !back {
			e.broke(p, recover(), r)
		}
	}()
	value, err := fn(ctx)
	var end ending
	end.way, end.err = returned, err
	if err == nil { // a copy of the whole outcome would cost more than the rest
		end.outcome.Result = cascade.Succeeded
	} else {
		end.outcome = e.judge(p.tool, err, nil)
	}
	back = true
	e.settle(p, &end, r)
	return value, err
}

// broke settles a call on its caller's goroutine that did not return, and lets
// the panic go on.
func (e *Executor) broke(p *permit, value any, r *Receipt) {
	end := e.broken(p.tool, value)
	e.settle(p, &end, r)
	if end.way == panicked {
		e.tellPanic(p.tool, &end)
		panic(end.value)
	}
}

// settle records an ending, and then gives back what the call held.
func (e *Executor) settle(p *permit, end *ending, r *Receipt) {
	now := e.now()
	if end.outcome.Duration == 0 { // nobody else has measured it
		end.outcome.Duration = max(now.Sub(p.start), 0)
	}
	if end.way != returned || end.err != nil {
		r.MayHaveTakenEffect = e.mayHaveTakenEffect(p.tool, end)
		end.outcome.MayHaveTakenEffect = r.MayHaveTakenEffect && end.outcome.Result == cascade.Failed
	}
	if end.way == returned {
		r.Answered, r.Used = true, UsedTool
	}
	r.Outcome = end.outcome
	defer p.release(end) // whatever observers of the engine do
	if p.part {
		return
	}
	r.Recorded, r.Err = e.cfg.Engine.Record(p.decision.Call, end.outcome, e.step(), now)
}

func (e *Executor) now() time.Time {
	if e.cfg.Now == nil {
		return time.Now()
	}
	return e.cfg.Now()
}

func (e *Executor) step() int64 {
	if e.cfg.Step == nil {
		return expediter.NoStep
	}
	return e.cfg.Step()
}

// deadline is the tool's own, or its parent's, or the default.
func (e *Executor) deadline(tool string) time.Duration {
	if len(e.cfg.Deadlines) == 0 {
		return e.cfg.Deadline
	}
	if name, ok := capability.Nearest(e.cfg.Deadlines, tool); ok {
		return e.cfg.Deadlines[name]
	}
	return e.cfg.Deadline
}

// Overdue is the error of a call whose tool passed its deadline without coming
// back. errors.Is says context.DeadlineExceeded.
type Overdue struct {
	Tool               string
	After              time.Duration // the deadline
	MayHaveTakenEffect bool          // the tool has side effects, and nobody knows whether they happened
}

// Error says what to do next.
func (o *Overdue) Error() string {
	next := "do not repeat the call blindly"
	if o.MayHaveTakenEffect {
		next = "it may have taken effect: verify that before you repeat it"
	}
	return fmt.Sprintf("%.64q did not answer within %v and goes on alone; %s. Raise its deadline or make it honour its context", o.Tool, o.After, next)
}

// Unwrap returns context.DeadlineExceeded.
func (o *Overdue) Unwrap() error { return context.DeadlineExceeded }

// Timeout is true, as for a net.Error.
func (o *Overdue) Timeout() bool { return true }

// noAnswer is the outcome of a tool that called runtime.Goexit.
func noAnswer() expediter.Outcome {
	return expediter.Failure(cascade.Unknown, "the tool ended its goroutine without an answer")
}
