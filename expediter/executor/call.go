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

// job is what one call runs, without its type.
type job interface {
	run(context.Context) error // once
	result() any               // what it returned beside the error
	accept(any) bool           // takes a value instead of that; false: it is of another type
}

type typed[T any] struct {
	fn      func(context.Context) (T, error)
	value   T // belongs to the goroutine of fn until that has answered
	instead T
}

func (j *typed[T]) run(ctx context.Context) (err error) {
	j.value, err = j.fn(ctx)
	return err
}

func (j *typed[T]) result() any { return j.value }

func (j *typed[T]) accept(v any) (ok bool) {
	j.instead, ok = v.(T)
	return ok
}

// given is what Do returns.
func (j *typed[T]) given(used Used) T {
	switch used {
	case UsedTool:
		return j.value
	case UsedAlternative, UsedLastGood, UsedDefault:
		return j.instead
	}
	var none T
	return none
}

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

// call is Do without its type. What the call holds is given back on every path
// that leaves it. The receipt is the caller's, since it is too large to be handed
// from func to func.
func (e *Executor) call(ctx context.Context, tool string, j job, r *Receipt) error {
	err := e.attempt(ctx, tool, j, r)
	if len(e.cfg.Fallbacks) == 0 {
		return err
	}
	return e.orElse(ctx, tool, j, r, err)
}

// attempt is call without fallbacks.
func (e *Executor) attempt(ctx context.Context, tool string, j job, r *Receipt) error {
	p := permit{tool: tool}
	err := e.admit(ctx, &p)
	r.Decision = p.decision
	if err != nil {
		if r.Decision.Verb.Go() { // ctx ended while it waited for a place
			r.Outcome = expediter.Ignored()
		}
		return err
	}
	limit := e.deadline(tool)
	if limit == 0 && ctx.Done() == nil {
		return e.here(ctx, &p, j, r)
	}
	return e.away(ctx, &p, limit, j, r)
}

// away runs the job in a goroutine of its own.
func (e *Executor) away(ctx context.Context, p *permit, limit time.Duration, j job, r *Receipt) error {
	end, f := e.apart(ctx, p, limit, j)
	e.settle(p, end, r)
	switch end.way {
	case abandoned:
		f.recorded()
	case panicked:
		e.tellPanic(p.tool, end)
		panic(end.value)
	case exited:
		runtime.Goexit()
	}
	return end.err
}

// settle records an ending, tells the guard and gives the place back. An
// abandoned call keeps its place.
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
	r.Recorded, r.Err = e.cfg.Engine.Record(p.decision.Call, end.outcome, e.step(), now)
	if end.way != abandoned {
		p.place.leave()
	}
	if p.tell != nil {
		p.tell(end.told())
	}
}

// here runs the job on its caller's goroutine, for a call that nobody can end.
func (e *Executor) here(ctx context.Context, p *permit, j job, r *Receipt) error {
	back := false
	defer func() {
		if back {
			return
		}
		end := e.broken(p.tool, recover())
		e.settle(p, &end, r)
		if end.way == panicked {
			e.tellPanic(p.tool, &end)
			panic(end.value)
		}
	}()
	err := j.run(ctx)
	var end ending
	end.way, end.err = returned, err
	if err == nil { // a copy of the whole outcome would cost more than the rest
		end.outcome.Result = cascade.Succeeded
	} else {
		end.outcome = e.judge(p.tool, err, nil)
	}
	back = true
	e.settle(p, &end, r)
	return err
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
	return fmt.Sprintf("%.64q did not answer within %v and goes on alone; %s, raise its deadline or make it honour its context", o.Tool, o.After, next)
}

// Unwrap returns context.DeadlineExceeded.
func (o *Overdue) Unwrap() error { return context.DeadlineExceeded }

// Timeout is true, as for a net.Error.
func (o *Overdue) Timeout() bool { return true }

// noAnswer is the outcome of a tool that called runtime.Goexit.
func noAnswer() expediter.Outcome {
	return expediter.Failure(cascade.Unknown, "the tool ended its goroutine without an answer")
}
