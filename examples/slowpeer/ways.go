package main

import (
	"context"
	"time"
)

// way is one thing that may stand between the orchestrator and its peers, in
// virtual time and as a program uses it.
type way struct {
	name     string
	healthy  bool // there is no outage: what the others are measured by
	deadline bool // calls have one
	standsIn bool // a caller without an answer gets something instead
	gates    func(plan) ([]gate, error)
	guard    func(plan) (guard, error)
}

var ways = []way{
	{name: "no outage", healthy: true, gates: noGates, guard: bare},
	{name: "no breaker", gates: noGates, guard: bare},
	{name: "deadline alone", deadline: true, gates: noGates, guard: bare},
	{name: "gobreaker alone", gates: gobreakerGates, guard: gobreakerGuard},
	{name: "gobreaker + deadline", deadline: true, gates: gobreakerGates, guard: gobreakerGuard},
	{name: "failsafe-go", deadline: true, standsIn: true, gates: failsafeGates, guard: failsafeGuard},
	{name: "Expediter", deadline: true, standsIn: true, gates: expediterGates, guard: expediterGuard},
}

// plan is p without what the way does not have.
func (w way) plan(p plan) plan {
	if w.healthy {
		p.slow = 0
	}
	if !w.deadline {
		p.deadline = 0
	}
	return p
}

// simulate runs the way in virtual time.
func (w way) simulate(p plan) ([]visit, error) {
	p = w.plan(p)
	gates, err := w.gates(p)
	if err != nil {
		return nil, err
	}
	return simulate(p, gates, w.standsIn), nil
}

// live runs the way by the clock.
func (w way) live(ctx context.Context, p plan, ask peers, began time.Time) ([]visit, error) {
	p = w.plan(p)
	g, err := w.guard(p)
	if err != nil {
		return nil, err
	}
	return live(ctx, p, g, ask, began), nil
}
