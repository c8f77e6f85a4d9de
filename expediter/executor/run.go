package executor

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

// flight is a call whose tool runs in a goroutine of its own. Tool and caller
// settle by its state who of them ends it.
type flight struct {
	e     *Executor
	p     permit
	state atomic.Int32
	done  chan struct{} // the tool is back in time
	end   ending        // the tool's own, in time or late; its goroutine's until it is back
	back  func()        // gives the place back
}

// The states of a flight. A late ending is noted after the caller has recorded
// that it left: by the tool's goroutine, or by the caller if the tool was
// faster.
const (
	aloft     int32 = iota
	toolBack        // in time
	callerOff       // the caller has left and has not recorded it yet
	noted           // it has
	lateBack        // the tool came back before it had
)

// apart runs run in a goroutine of its own and waits for it, or until Grace
// after its time is up. An abandoned flight is recorded by its caller, who then
// calls recorded.
func (e *Executor) apart(ctx context.Context, p *permit, limit time.Duration, run func(context.Context) error) (*ending, *flight) {
	mine, cancel := within(ctx, limit)
	defer cancel()
	f := &flight{e: e, p: *p, done: make(chan struct{}, 1)}
	go f.fly(mine, run)
	select {
	case <-f.done:
		return &f.end, f
	case <-mine.Done():
	}
	err := ctx.Err() // before Grace: what ended the wait, not what came on top
	if err == nil {
		err = &Overdue{Tool: p.tool, After: limit, MayHaveTakenEffect: e.entry(p.tool).effects}
	}
	grace := time.NewTimer(Grace)
	defer grace.Stop()
	select {
	case <-f.done:
		return &f.end, f
	case <-grace.C:
	}
	return f.abandon(err), f
}

// within is a call's own context: it ends with the call at the latest.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return context.WithCancel(ctx)
}

// fly runs run and lands with its ending, whichever way it ends. It is the
// whole of the tool's goroutine.
func (f *flight) fly(ctx context.Context, run func(context.Context) error) {
	f.end.way = exited
	defer func() {
		if f.end.way != returned {
			f.end = f.e.broken(f.p.tool, recover())
		}
		f.end.cut = ctx.Err() != nil
		f.land()
	}()
	f.end.err = run(ctx)
	f.end.outcome = f.e.judge(f.p.tool, f.end.err, ctx.Err())
	f.end.way = returned
}

// broken is the ending of a tool that did not return: it panicked with that
// value, or with none called runtime.Goexit.
func (e *Executor) broken(tool string, value any) ending {
	if value == nil {
		return ending{way: exited, outcome: noAnswer()}
	}
	return ending{way: panicked, value: value, stack: debug.Stack(), outcome: e.judgePanic(tool, value)}
}

// land hands the ending to the caller, or notes that it comes late.
func (f *flight) land() {
	if f.state.CompareAndSwap(aloft, toolBack) {
		f.done <- struct{}{}
		return
	}
	if !f.state.CompareAndSwap(callerOff, lateBack) {
		f.note()
	}
}

// abandon ends the caller's wait, for the reason err, unless the tool is back
// in this very moment.
func (f *flight) abandon(err error) *ending {
	if !f.state.CompareAndSwap(aloft, callerOff) {
		<-f.done
		return &f.end
	}
	f.e.running.Add(1)
	f.back = f.p.place.abandon()
	end := &ending{way: abandoned, err: err, outcome: expediter.Ignored(), cut: true}
	if errors.Is(err, context.DeadlineExceeded) {
		end.outcome = expediter.Failure(cascade.Timeout, err.Error())
	}
	return end
}

// recorded says that the caller has recorded that it left.
func (f *flight) recorded() {
	if !f.state.CompareAndSwap(callerOff, noted) {
		f.note()
	}
}

// note takes in an ending that came late. The call is recorded already, so the
// engine refuses it and its journal shows what it was.
func (f *flight) note() {
	e, now := f.e, f.e.now()
	f.back()
	f.end.outcome.Duration = max(now.Sub(f.p.start), 0)
	if !f.p.part {
		_, _ = e.cfg.Engine.Record(f.p.decision.Call, f.end.outcome, e.step(), now)
	}
	e.late.Add(1)
	e.running.Add(-1)
	e.tellPanic(f.p.tool, &f.end)
	if e.cfg.CameBack != nil {
		e.cfg.CameBack(Late{Tool: f.p.tool, Call: f.p.decision.Call, Outcome: f.end.outcome})
	}
}

// Late is a call that came back after its caller had gone. What the caller left
// with was recorded then; this changes nothing.
type Late struct {
	Tool    string
	Call    expediter.CallID
	Outcome expediter.Outcome // of what it came back with; Duration is how long it took
}

func (e *Executor) tellPanic(tool string, end *ending) {
	if end.way == panicked && e.cfg.Panicked != nil {
		e.cfg.Panicked(tool, end.value, end.stack)
	}
}
