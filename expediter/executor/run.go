package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
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
	value   any   // panicked: what it panicked with
	stack   []byte
}

// Overdue is the error of a call whose tool passed its deadline without coming
// back. errors.Is says context.DeadlineExceeded.
type Overdue struct {
	Tool  string
	After time.Duration // the deadline
}

// Error says what to do next.
func (o *Overdue) Error() string {
	return fmt.Sprintf("%.64q did not answer within %v and goes on alone; do not repeat the call blindly, raise its deadline or make it honour its context", o.Tool, o.After)
}

// Unwrap returns context.DeadlineExceeded.
func (o *Overdue) Unwrap() error { return context.DeadlineExceeded }

// Timeout is true, as for a net.Error.
func (o *Overdue) Timeout() bool { return true }

// Who settled a call first: the tool by coming back, or its caller by leaving.
const (
	toolBack int32 = iota + 1
	callerGone
)

// run runs fn in a goroutine of its own and waits for it, or until Grace after
// its time is up.
func (e *Executor) run(ctx context.Context, tool string, fn func(context.Context) error) ending {
	limit := e.deadline(tool)
	mine, cancel := within(ctx, limit)
	defer cancel()
	var settled atomic.Int32
	done := make(chan ending, 1)
	go e.guarded(mine, tool, fn, func(end ending) {
		if settled.CompareAndSwap(0, toolBack) {
			done <- end
			return
		}
		e.late.Add(1)
		e.running.Add(-1)
		e.tellPanic(tool, end)
	})
	select {
	case end := <-done:
		return end
	case <-mine.Done():
	}
	err := ctx.Err() // before Grace: what ended the wait, not what came on top
	if err == nil {
		err = &Overdue{Tool: tool, After: limit}
	}
	grace := time.NewTimer(Grace)
	defer grace.Stop()
	select {
	case end := <-done:
		return end
	case <-grace.C:
	}
	e.running.Add(1)
	if !settled.CompareAndSwap(0, callerGone) {
		e.running.Add(-1)
		return <-done
	}
	return left(err)
}

// within is a call's own context: it ends with the call at the latest.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return context.WithCancel(ctx)
}

// guarded runs fn and delivers its ending, whichever way it ends. It is the
// whole of the tool's goroutine.
func (e *Executor) guarded(ctx context.Context, tool string, fn func(context.Context) error, deliver func(ending)) {
	end := ending{way: exited, outcome: expediter.Failure(cascade.Unknown, "the tool ended its goroutine without an answer")}
	name, _ := capability.Nearest(e.rules, tool)
	rules := e.rules[name]
	defer func() {
		if p := recover(); p != nil {
			end = ending{way: panicked, value: p, stack: debug.Stack(), outcome: judgePanic(tool, rules, p)}
		}
		deliver(end)
	}()
	err := fn(ctx)
	end = ending{way: returned, err: err, outcome: judge(tool, rules, err, ctx.Err())}
}

// left is the ending of a call whose caller stops waiting, for the reason err.
func left(err error) ending {
	end := ending{way: abandoned, err: err, outcome: expediter.Ignored()}
	if errors.Is(err, context.DeadlineExceeded) {
		end.outcome = expediter.Failure(cascade.Timeout, err.Error())
	}
	return end
}

func (e *Executor) tellPanic(tool string, end ending) {
	if end.way == panicked && e.cfg.Panicked != nil {
		e.cfg.Panicked(tool, end.value, end.stack)
	}
}
