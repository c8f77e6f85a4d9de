package executor

import (
	"context"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
)

// permit is one call that may be made, with what it holds until it is settled.
type permit struct {
	tool     string
	decision expediter.Decision
	start    time.Time
	part     bool        // of a trial under way: the engine knows nothing of it
	place    *bulkhead   // nil: it holds none
	tell     func(error) // the guard's; nil: none
}

// leave gives the place back.
func (p *permit) leave() {
	p.place.leave()
	p.place = nil
}

// release gives back what a call held that has ended. An abandoned one keeps its
// place.
func (p *permit) release(end *ending) {
	if end.way != abandoned {
		p.leave()
	}
	if p.tell != nil {
		p.tell(end.told())
	}
}

// admit asks for one call of the tool. If a guard or an observer of the engine
// panics, the panic goes on and the call holds nothing.
func (e *Executor) admit(ctx context.Context, p *permit) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	back := false
	defer func() {
		if !back {
			p.leave()
			e.ignore(p)
		}
	}()
	err := e.pass(ctx, p)
	back = true
	return err
}

// pass asks the engine first, then the bulkhead, then the guard. What one of the
// last two refuses, the engine takes back and routes. A call that had to wait for
// its place is decided anew: the tool may have broken meanwhile. A trial, of the
// engine or of the guard, goes without a place if there is none.
func (e *Executor) pass(ctx context.Context, p *permit) error {
	if e.within(ctx, p.tool) {
		p.part, p.start, p.decision = true, e.now(), expediter.Decision{Verb: expediter.Call, Would: expediter.Call}
		return nil
	}
	place := e.bulkhead(p.tool)
	if place.try() {
		p.place = place
	}
	e.decide(p)
	if p.decision.Verb == expediter.Call && !p.decision.External && p.place != place {
		if err := e.await(ctx, p, place); err != nil {
			return err
		}
	}
	if !p.decision.Verb.Go() {
		p.leave()
		return &Refused{Tool: p.tool, Decision: p.decision}
	}
	return e.ask(p)
}

// await gets the place for a call that found none, and has it decided again.
func (e *Executor) await(ctx context.Context, p *permit, place *bulkhead) error {
	err := place.await(ctx)
	if err == ErrSaturated {
		return e.takeBack(p, err)
	}
	if err == nil {
		p.place = place
	}
	e.ignore(p)
	if err == nil {
		e.decide(p)
	}
	return err
}

// ask asks the tool's guard.
func (e *Executor) ask(p *permit) error {
	if len(e.cfg.Guards) == 0 {
		return nil
	}
	name, ok := capability.Nearest(e.cfg.Guards, p.tool)
	if !ok {
		return nil
	}
	tell, err := e.cfg.Guards[name].Allow()
	if err == nil {
		p.tell = tell
		return nil
	}
	p.leave()
	return e.takeBack(p, err)
}

// takeBack gives up a call that the engine allowed, and says why it was not made.
func (e *Executor) takeBack(p *permit, why error) error {
	d, err := e.cfg.Engine.Refuse(p.decision.Call, text(why), e.step(), e.now())
	if err != nil {
		d = expediter.Decision{Verb: expediter.Skip, Reason: expediter.Refused}
	}
	p.decision = d
	return &Refused{Tool: p.tool, Decision: d, Cause: why}
}

func (e *Executor) decide(p *permit) {
	p.start = e.now()
	p.decision = e.cfg.Engine.Decide(p.tool, e.step(), p.start)
}

// ignore records that the call was not made.
func (e *Executor) ignore(p *permit) {
	if p.decision.Call == 0 {
		return
	}
	_, _ = e.cfg.Engine.Record(p.decision.Call, expediter.Ignored(), e.step(), e.now()) // forgotten is as good
}

// bulkhead is the tool's own, or its parent's, whose places they then share.
func (e *Executor) bulkhead(tool string) *bulkhead {
	if len(e.bulkheads) == 0 {
		return nil
	}
	name, _ := capability.Nearest(e.bulkheads, tool)
	return e.bulkheads[name]
}
