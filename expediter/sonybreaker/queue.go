package sonybreaker

import (
	"fmt"

	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/expediter/breaker"
)

// queue holds the changes of state that the engine is to hear of. gobreaker
// reports them under its lock, where nobody may be called who could come back
// to it; so they are added there, and delivered after it, in order, by one
// goroutine at a time.
type queue struct {
	waiting    []change
	delivering bool
}

// change is one change of a breaker's state.
type change struct {
	moment
	from, to gobreaker.State
	why      string
}

var states = map[gobreaker.State]breaker.State{
	gobreaker.StateClosed: breaker.Closed, gobreaker.StateHalfOpen: breaker.HalfOpen, gobreaker.StateOpen: breaker.Open,
}

// sawLocked notes a change of state. In a breaker of New it runs within
// gobreaker's OnStateChange.
func (g *Guard) sawLocked(from, to gobreaker.State) {
	g.state = to
	g.gen++
	g.queue.waiting = append(g.queue.waiting, change{g.now, from, to, why(from, to, g.before)})
}

// why puts a change into words. before is what the breaker had counted before
// the failure that opened it; zero if that is not known.
func why(from, to gobreaker.State, before gobreaker.Counts) string {
	switch {
	case to == gobreaker.StateHalfOpen:
		return "gobreaker: a trial is due"
	case to == gobreaker.StateClosed:
		return "gobreaker: its trials succeeded"
	case from == gobreaker.StateHalfOpen:
		return "gobreaker: its trial failed"
	case before.Requests == 0:
		return "gobreaker: open"
	}
	return fmt.Sprintf("gobreaker: %d failures in a row, %d of %d calls failed",
		before.ConsecutiveFailures+1, before.TotalFailures+1, before.Requests-before.TotalExclusions)
}

// deliver empties the queue. Whom it tells may call the guard: what that causes
// waits behind what is being delivered. If one panics, the rest is delivered by
// the next caller.
func (g *Guard) deliver() {
	for g.claim() {
		for c, ok := g.next(); ok; c, ok = g.next() {
			g.tell(c)
		}
	}
}

// claim makes this goroutine the one that delivers, if there is work and nobody
// else does it.
func (g *Guard) claim() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue.waiting) == 0 || g.queue.delivering {
		return false
	}
	g.queue.delivering = true
	return true
}

// next takes the next change, or gives the turn back.
func (g *Guard) next() (change, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue.waiting) == 0 {
		g.queue.delivering = false
		g.queue.waiting = nil
		return change{}, false
	}
	c := g.queue.waiting[0]
	g.queue.waiting = g.queue.waiting[1:]
	return c, true
}

// tell informs of one change. A panic goes on to the caller, but does not keep
// the turn.
func (g *Guard) tell(c change) {
	told := false
	defer func() {
		if !told {
			g.mu.Lock()
			g.queue.delivering = false
			g.mu.Unlock()
		}
	}()
	g.inform(c)
	told = true
}

// inform tells the engine, and then the program's own OnStateChange, which also
// hears of a change whose telling panics in an observer of the engine.
func (g *Guard) inform(c change) {
	if g.changed != nil {
		defer g.changed(c.from, c.to)
	}
	// Its only error is a tool that is not in the map, which start has ruled out.
	_ = g.cfg.Engine.External(g.cfg.Tool, states[c.to], c.why, c.step, c.at)
}
