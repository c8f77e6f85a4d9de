package main

import (
	"context"
	"time"

	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// The libraries read the wall clock for one thing alone: whether an open
// breaker's time is up. The gates below ask the virtual clock that question and
// leave everything else to the library itself.

// noGates lets everything through.
func noGates(p plan) ([]gate, error) {
	return each(p, func(int) gate {
		return func(time.Duration) pass { return pass{done: func(time.Duration, error) {}} }
	}), nil
}

func each(p plan, of func(peer int) gate) []gate {
	var gates []gate
	for peer := range p.peers {
		gates = append(gates, of(peer))
	}
	return gates
}

// gobreakerGates has one gobreaker for each peer. Its own timeout is so short
// that it has always passed: until the virtual one has, it is not asked.
func gobreakerGates(p plan) ([]gate, error) {
	return each(p, func(peer int) gate {
		var now, opened time.Duration
		isOpen := false
		settings := gobreakerSettings(p, peer)
		settings.Timeout = 1
		settings.OnStateChange = func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				isOpen, opened = true, now
			}
		}
		b := gobreaker.NewTwoStepCircuitBreaker[struct{}](settings)
		return func(at time.Duration) pass {
			now = at
			if isOpen && at <= opened+p.cooldown {
				return pass{}
			}
			for isOpen && b.State() == gobreaker.StateOpen { // until the wall clock has moved by its nanosecond
			}
			isOpen = false
			done, err := b.Allow()
			if err != nil {
				return pass{}
			}
			return pass{probe: b.State() == gobreaker.StateHalfOpen, done: func(at time.Duration, err error) {
				now = at
				done(err)
			}}
		}
	}), nil
}

// failsafeGates has failsafe-go's bulkhead in front of its circuit breaker, for
// each peer. The breaker's own delay never ends: the virtual clock half-opens it.
func failsafeGates(p plan) ([]gate, error) {
	return each(p, func(int) gate {
		var now, opened time.Duration
		room := bulkhead.New[string](uint(p.limit))
		b := failsafeBreaker(p).WithDelay(1 << 62).
			OnOpen(func(circuitbreaker.StateChangedEvent) { opened = now }).Build()
		return func(at time.Duration) pass {
			now = at
			if !room.TryAcquirePermit() {
				return pass{}
			}
			if b.IsOpen() && at >= opened+p.cooldown {
				b.HalfOpen()
			}
			if !b.TryAcquirePermit() {
				room.ReleasePermit()
				return pass{}
			}
			return pass{probe: b.IsHalfOpen(), done: func(at time.Duration, err error) {
				now = at
				b.RecordError(err)
				room.ReleasePermit()
			}}
		}
	}), nil
}

// epoch is the wall clock at the beginning of a run in virtual time.
var epoch = time.UnixMilli(1_700_000_000_000)

// expediterGates has the executor with its clock in our hands.
func expediterGates(p plan) ([]gate, error) {
	var now time.Duration
	e, err := newExecutor(p, func() time.Time { return epoch.Add(now) })
	if err != nil {
		return nil, err
	}
	return each(p, func(peer int) gate {
		return func(at time.Duration) pass {
			now = at
			ticket, err := e.Begin(context.Background(), name(peer))
			if err != nil {
				return pass{}
			}
			return pass{probe: ticket.Decision().Verb == expediter.Probe, done: func(at time.Duration, err error) {
				now = at
				ticket.End(classify.Observation{Err: err})
			}}
		}
	}), nil
}
