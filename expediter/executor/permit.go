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
	place    *bulkhead   // nil: it holds none
	tell     func(error) // the guard's; nil: none
}

// admit asks for one call of the tool: the engine first, then the bulkhead, then
// the guard. What one of the last two refuses, the engine takes back and routes.
// A call that had to wait for its place is decided anew: the tool may have
// broken meanwhile.
func (e *Executor) admit(ctx context.Context, tool string) (permit, error) {
	if err := ctx.Err(); err != nil {
		return permit{tool: tool}, err
	}
	p := permit{tool: tool, place: e.bulkhead(tool)}
	placed := p.place.try()
	e.decide(&p)
	if p.decision.Verb == expediter.Call && !placed {
		switch err := p.place.await(ctx); {
		case err == ErrSaturated:
			p.place = nil
			return p, e.takeBack(&p, err)
		case err != nil:
			p.place = nil
			e.ignore(p)
			return p, err
		}
		placed = true
		e.ignore(p)
		e.decide(&p)
	}
	switch {
	case !p.decision.Verb.Go() && placed:
		p.place.leave()
		fallthrough
	case !p.decision.Verb.Go():
		p.place = nil
		return p, &Refused{Tool: tool, Decision: p.decision}
	case !placed:
		p.place = nil // a trial
	}
	return p, e.ask(&p)
}

// ask asks the tool's guard.
func (e *Executor) ask(p *permit) error {
	name, ok := capability.Nearest(e.cfg.Guards, p.tool)
	if !ok || e.cfg.Guards[name] == nil {
		return nil
	}
	tell, err := e.cfg.Guards[name].Allow()
	if err == nil {
		p.tell = tell
		return nil
	}
	p.place.leave()
	p.place = nil
	return e.takeBack(p, err)
}

// takeBack gives up a call that the engine allowed, and says why it was not made.
func (e *Executor) takeBack(p *permit, why error) error {
	d, err := e.cfg.Engine.Refuse(p.decision.Call, text(why), e.cfg.Step(), e.cfg.Now())
	if err != nil {
		d = expediter.Decision{Verb: expediter.Skip, Reason: expediter.Refused}
	}
	p.decision = d
	return &Refused{Tool: p.tool, Decision: d, Cause: why}
}

func (e *Executor) decide(p *permit) {
	p.start = e.cfg.Now()
	p.decision = e.cfg.Engine.Decide(p.tool, e.cfg.Step(), p.start)
}

// ignore records that the call was not made.
func (e *Executor) ignore(p permit) {
	_, _ = e.cfg.Engine.Record(p.decision.Call, expediter.Ignored(), e.cfg.Step(), e.cfg.Now()) // forgotten is as good
}

// bulkhead is the tool's own, or its parent's, whose places they then share.
func (e *Executor) bulkhead(tool string) *bulkhead {
	if len(e.bulkheads) == 0 {
		return nil
	}
	name, _ := capability.Nearest(e.bulkheads, tool)
	return e.bulkheads[name]
}
