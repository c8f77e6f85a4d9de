package main

import (
	"container/heap"
	"context"
	"time"
)

// gate is a breaker with all that belongs to it, in virtual time: it says
// whether a call of its peer may be made now.
type gate func(now time.Duration) pass

// pass is a gate's answer. The zero pass refuses.
type pass struct {
	probe bool
	done  func(now time.Duration, err error) // to be called at the end of the call; nil: refused
}

// virtual is the orchestrator in virtual time: one event after the other, no
// goroutine, no clock. TestVirtualTimeIsTheRealThing holds it against live.go.
type virtual struct {
	plan
	gates    []gate
	standsIn bool
	now      time.Duration
	free     int // slots
	queue    []int
	requests []request
	visits   []visit // by number of the request
	calls    calls   // that are under way
}

// call is a call under way.
type call struct {
	ends   time.Duration
	number int
	err    error
	done   func(now time.Duration, err error)
}

func simulate(p plan, gates []gate, standsIn bool) []visit {
	v := &virtual{plan: p, gates: gates, standsIn: standsIn, free: p.slots, requests: p.requests()}
	v.visits = make([]visit, len(v.requests))
	for arrived := 0; arrived < len(v.requests) || len(v.calls) > 0; {
		if len(v.calls) > 0 && (arrived == len(v.requests) || v.calls[0].ends < v.requests[arrived].arrives) {
			v.finish(heap.Pop(&v.calls).(call))
			continue
		}
		v.arrive(v.requests[arrived])
		arrived++
	}
	return v.visits
}

func (v *virtual) arrive(r request) {
	v.now = r.arrives
	v.visits[r.number] = visit{peer: r.peer, arrived: r.arrives}
	v.queue = append(v.queue, r.number)
	v.serve()
}

func (v *virtual) finish(c call) {
	v.now = c.ends
	c.done(c.ends, c.err)
	v.leave(c.number, failed, c.err == nil)
	v.free++
	v.serve()
}

// serve gives the free slots to those who have waited longest.
func (v *virtual) serve() {
	for v.free > 0 && len(v.queue) > 0 {
		number := v.queue[0]
		v.queue = v.queue[1:]
		at := &v.visits[number]
		if limit := at.arrived + v.patience; limit <= v.now {
			at.started, at.ended = limit, limit
			continue
		}
		at.started = v.now
		v.call(number)
	}
}

// call asks the gate and makes the call.
func (v *virtual) call(number int) {
	r, at := v.requests[number], &v.visits[number]
	p := v.gates[r.peer](v.now)
	if p.done == nil {
		v.leave(number, refused, false)
		return
	}
	at.reached, at.probe = true, p.probe
	c := call{number: number, done: p.done, ends: v.now + v.serves(r, v.now)}
	if limit := v.now + v.deadline; v.deadline > 0 && limit < c.ends {
		c.ends, c.err = limit, context.DeadlineExceeded
	}
	v.free--
	heap.Push(&v.calls, c)
}

func (v *virtual) leave(number int, otherwise ending, answered bool) {
	at := &v.visits[number]
	at.ended, at.end = v.now, own
	if !answered {
		at.end = instead(otherwise, v.standsIn)
	}
}

// calls is a heap, the next to end first.
type calls []call

func (c calls) Len() int           { return len(c) }
func (c calls) Less(i, j int) bool { return c[i].ends < c[j].ends }
func (c calls) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *calls) Push(x any)        { *c = append(*c, x.(call)) }
func (c *calls) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
