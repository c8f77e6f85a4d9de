package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// guard is a breaker with all that belongs to it, as a program uses it. It
// makes the call of a peer, or does not.
type guard func(ctx context.Context, r request, call func(context.Context) error) (end ending, probe bool)

// peers answers a request; it is what lies behind the network.
type peers func(ctx context.Context, r request) error

// live is the orchestrator in real time: a goroutine for each caller, who waits
// for a slot, calls, and leaves.
func live(ctx context.Context, p plan, g guard, ask peers, began time.Time) []visit {
	requests := p.requests()
	visits := make([]visit, len(requests))
	slots := make(chan struct{}, p.slots)
	var wg sync.WaitGroup
	for _, r := range requests {
		if !sleep(ctx, time.Until(began.Add(r.arrives))) {
			break
		}
		wg.Go(func() { visits[r.number] = attend(ctx, p, r, slots, g, ask, began) })
	}
	wg.Wait()
	return visits
}

// attend is the way of one caller.
func attend(ctx context.Context, p plan, r request, slots chan struct{}, g guard, ask peers, began time.Time) visit {
	v := visit{peer: r.peer, arrived: r.arrives, late: time.Since(began) - r.arrives}
	patience := time.NewTimer(time.Until(began.Add(r.arrives + p.patience)))
	defer patience.Stop()
	select {
	case slots <- struct{}{}:
	case <-patience.C:
		v.started = time.Since(began)
		v.ended = v.started
		return v
	}
	defer func() { <-slots }()
	v.started = time.Since(began)
	var reached atomic.Bool // a call that is given up may still begin
	v.end, v.probe = g(ctx, r, func(ctx context.Context) error {
		reached.Store(true)
		return ask(ctx, r)
	})
	v.reached, v.ended = reached.Load(), time.Since(began)
	return v
}

// sleep reports whether the time passed before the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
