package executor_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/executor"
)

// bomb is a guard that panics where it is told to.
type bomb struct{ allow, done bool }

func (b *bomb) Allow() (func(error), error) {
	if b.allow {
		panic("allow")
	}
	return func(error) {
		if b.done {
			panic("done")
		}
	}, nil
}

// A guard or an observer that panics does so in the caller, who holds nothing
// afterwards: no place, no trial, no tool that is thought to run.
func TestPanicsOfOthersHoldNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		guard    bomb
		recorded bool // the observer of records panics
		deadline time.Duration
		fn       func(context.Context) (string, error)
	}{
		"Allow":                          {guard: bomb{allow: true}, fn: answer},
		"done":                           {guard: bomb{done: true}, fn: answer},
		"done, in a goroutine":           {guard: bomb{done: true}, deadline: time.Second, fn: answer},
		"done of an abandoned call":      {guard: bomb{done: true}, deadline: time.Second, fn: deaf},
		"an observer":                    {recorded: true, fn: answer},
		"an observer of abandoned calls": {recorded: true, deadline: time.Second, fn: deaf},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sore atomic.Bool
				x, err := expediter.New(expediter.Config{Policy: eager(), Events: expediter.Events{Recorded: func(*expediter.Event) {
					if sore.Load() {
						panic("observer")
					}
				}}})
				if err != nil {
					t.Fatal(err)
				}
				g := &bomb{}
				e := newExecutor(t, executor.Config{Engine: x, Deadline: tt.deadline, Guards: map[string]executor.Guard{"Grep": g},
					Limits: map[string]executor.Limit{"Grep": {Concurrent: 1}}})
				open(t, x, "Grep")
				*g = tt.guard
				sore.Store(tt.recorded)
				if got := try(t.Context(), e, tt.fn); got.panics == nil {
					t.Fatalf("got %+v, want a panic", got)
				}
				*g = bomb{}
				sore.Store(false)
				time.Sleep(2 * time.Hour)
				if running, _ := e.Abandoned(); running != 0 || row(t, x, "Grep").ProbeInFlight {
					t.Errorf("%d tools are thought to run; a trial in flight: %v", running, row(t, x, "Grep").ProbeInFlight)
				}
				for range 3 {
					if got := try(t.Context(), e, answer); got.err != nil || got.value != "ran" {
						t.Errorf("afterwards: got %q, %v", got.value, got.err)
					}
				}
			})
		})
	}
}

// Who never ends a ticket, as with a body that is never closed, holds its place
// for Hold; the end that comes after that gives back nothing a second time.
func TestTicketNeverEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, executor.Config{Engine: newEngine(t, nil), Limits: map[string]executor.Limit{"api": {Concurrent: 1}}})
		lost, err := e.Begin(t.Context(), "api")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(executor.Hold - time.Second)
		if _, err := e.Begin(t.Context(), "api"); !errors.Is(err, executor.ErrSaturated) {
			t.Errorf("before Hold: got %v, want ErrSaturated", err)
		}
		time.Sleep(2 * time.Second)
		second, err := e.Begin(t.Context(), "api")
		if err != nil {
			t.Fatalf("after Hold: got %v", err)
		}
		lost.End(classify.Observation{})
		if _, err := e.Begin(t.Context(), "api"); !errors.Is(err, executor.ErrSaturated) {
			t.Errorf("a late end frees the place of another: got %v", err)
		}
		second.End(classify.Observation{})
		if _, err := e.Begin(t.Context(), "api"); err != nil {
			t.Errorf("after the second: got %v", err)
		}
	})
}
