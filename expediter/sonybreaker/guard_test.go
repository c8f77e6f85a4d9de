package sonybreaker_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/sonybreaker"
)

// way is one way to put a guard over a gobreaker.
type way struct {
	name string
	over func(gobreaker.Settings, sonybreaker.Config) (*sonybreaker.Guard, error)
}

var ways = []way{
	{"New", sonybreaker.New},
	{"Over", func(st gobreaker.Settings, cfg sonybreaker.Config) (*sonybreaker.Guard, error) {
		return sonybreaker.Over(gobreaker.NewTwoStepCircuitBreaker[int](st), cfg)
	}},
	{"Observe", func(st gobreaker.Settings, cfg sonybreaker.Config) (*sonybreaker.Guard, error) {
		o, err := sonybreaker.Observe(gobreaker.NewCircuitBreaker[string](st), cfg)
		if err != nil {
			return nil, err
		}
		return o.Guard, nil
	}},
}

func (w way) guard(t *testing.T, st gobreaker.Settings, cfg sonybreaker.Config) *sonybreaker.Guard {
	t.Helper()
	g, err := w.over(st, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// inEachWay runs the test in a bubble for each way to make a guard.
func inEachWay(t *testing.T, test func(*testing.T, way)) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, w) }) })
	}
}

func newEngine(t *testing.T, cfg expediter.Config) *expediter.Engine {
	t.Helper()
	x, err := expediter.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func settings(t *testing.T, p sonybreaker.Policy) gobreaker.Settings {
	t.Helper()
	st, err := sonybreaker.Settings(p)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// minute opens at the second failure, for a minute.
var minute = sonybreaker.Policy{FailureThreshold: 2, HalfOpenSuccesses: 1, Cooldown: time.Minute}

// rig is a guard and its engine.
type rig struct {
	*sonybreaker.Guard
	engine *expediter.Engine
}

func newRig(t *testing.T, w way, st gobreaker.Settings) rig {
	t.Helper()
	x := newEngine(t, expediter.Config{})
	return rig{w.guard(t, st, sonybreaker.Config{Engine: x, Tool: "Search"}), x}
}

func (r rig) state() breaker.State {
	for _, row := range r.engine.Status().Tools {
		if row.Tool == "Search" {
			return row.State
		}
	}
	return breaker.Closed // it has not been heard of
}

// let asks for a call that must be allowed.
func let(t *testing.T, g twoStep) (done func(error)) {
	t.Helper()
	done, err := g.Allow()
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// trip lets the breaker of minute open.
func trip(t *testing.T, g twoStep) {
	t.Helper()
	for range minute.FailureThreshold {
		let(t, g)(errDown)
	}
}

func refused(t *testing.T, g twoStep, want error) {
	t.Helper()
	if done, err := g.Allow(); !errors.Is(err, want) || done != nil {
		t.Fatalf("got %v, want %v", err, want)
	}
}

func TestGuardTellsTheEngine(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		r := newRig(t, w, settings(t, minute))
		trip(t, r)
		if got := r.state(); got != breaker.Open {
			t.Fatalf("the engine says %v, want OPEN", got)
		}
		refused(t, r, gobreaker.ErrOpenState)
		time.Sleep(time.Minute)
		done := let(t, r)
		if got := r.state(); got != breaker.HalfOpen {
			t.Fatalf("the engine says %v, want HALF_OPEN", got)
		}
		done(nil)
		if got := r.state(); got != breaker.Closed {
			t.Errorf("the engine says %v, want CLOSED", got)
		}
	})
}

func TestGuardSaysWhy(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		var why []string
		x := newEngine(t, expediter.Config{Events: expediter.Events{Transition: func(m expediter.Transition) { why = append(why, m.Why) }}})
		g := w.guard(t, settings(t, minute), sonybreaker.Config{Engine: x, Tool: "Search"})
		let(t, g)(nil)
		trip(t, g)
		time.Sleep(time.Minute)
		let(t, g)(errDown)
		time.Sleep(time.Minute)
		let(t, g)(nil)
		want := []string{"another breaker: gobreaker: 2 failures in a row, 2 of 3 calls failed", "another breaker: gobreaker: a trial is due",
			"another breaker: gobreaker: its trial failed", "another breaker: gobreaker: a trial is due", "another breaker: gobreaker: its trials succeeded"}
		if diff := cmp.Diff(want, why); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// At the moment of recovery one call goes through, however many trials it takes
// to close the breaker.
func TestOneTrialAtRecovery(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		p := minute
		p.HalfOpenSuccesses = 5
		r := newRig(t, w, settings(t, p))
		trip(t, r)
		time.Sleep(time.Minute)
		var allowed atomic.Int32
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				done, err := r.Allow()
				if err == nil {
					allowed.Add(1)
					time.Sleep(time.Second)
					done(nil)
				} else if !errors.Is(err, gobreaker.ErrTooManyRequests) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := allowed.Load(); got != 1 {
			t.Errorf("%d trials at once, want 1", got)
		}
		for range 4 {
			let(t, r)(nil)
		}
		if got := r.state(); got != breaker.Closed {
			t.Errorf("after five good trials: %v", got)
		}
	})
}

// A trial that hangs is given up when its lease ends, and its place goes to the
// next call. What it says later is dropped.
func TestHungTrialLosesItsLease(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		r := newRig(t, w, settings(t, minute))
		trip(t, r)
		time.Sleep(time.Minute)
		late := let(t, r)
		time.Sleep(sonybreaker.DefaultLease - 1)
		refused(t, r, gobreaker.ErrTooManyRequests)
		time.Sleep(time.Nanosecond)
		next := let(t, r)
		late(errDown)
		if got := r.state(); got != breaker.HalfOpen {
			t.Fatalf("after the late failure: %v, want HALF_OPEN", got)
		}
		refused(t, r, gobreaker.ErrTooManyRequests)
		next(nil)
		if got := r.state(); got != breaker.Closed {
			t.Errorf("after the good trial: %v, want CLOSED", got)
		}
	})
}

// A breaker of the program's own that does not ask Ignored counts the trial as
// failed. It opens again, and is not held for ever.
func TestHungTrialOfABreakerThatExcludesNothing(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		st := settings(t, minute)
		st.IsExcluded = nil
		r := newRig(t, w, st)
		trip(t, r)
		time.Sleep(time.Minute)
		late := let(t, r)
		time.Sleep(sonybreaker.DefaultLease)
		if w.name != "New" {
			refused(t, r, gobreaker.ErrOpenState)
			time.Sleep(time.Minute)
		}
		let(t, r)(nil)
		late(errDown)
		if got := r.state(); got != breaker.Closed {
			t.Errorf("got %v, want CLOSED", got)
		}
	})
}

func TestLeaseIsTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := sonybreaker.New(settings(t, minute), sonybreaker.Config{Engine: newEngine(t, expediter.Config{}), Tool: "Search", Lease: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		trip(t, g)
		time.Sleep(time.Minute)
		let(t, g)
		time.Sleep(time.Second)
		let(t, g)(nil)
	})
}

// done counts once, whatever its caller does.
func TestDoneCountsOnce(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		p := minute
		p.HalfOpenSuccesses = 2
		r := newRig(t, w, settings(t, p))
		done := let(t, r)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { done(errDown) })
		}
		wg.Wait()
		if got := r.state(); got != breaker.Closed {
			t.Fatalf("one failure told a hundred times: %v", got)
		}
		let(t, r)(errDown)
		time.Sleep(time.Minute)
		done = let(t, r)
		done(nil)
		done(nil)
		if got := r.state(); got != breaker.HalfOpen {
			t.Errorf("one of two trials told twice: %v", got)
		}
	})
}

// A call of an older generation neither closes nor opens, nor makes an open
// breaker half-open.
func TestOlderGenerationIsDropped(t *testing.T) {
	for _, result := range []error{nil, errDown} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, ways[0], settings(t, minute))
			old := let(t, r)
			trip(t, r)
			time.Sleep(2 * time.Minute)
			old(result)
			if got := r.state(); got != breaker.Open {
				t.Fatalf("%v, and it is %v; want OPEN: only a request makes it half-open", result, got)
			}
			let(t, r)(nil)
			if got := r.state(); got != breaker.Closed {
				t.Errorf("then %v", got)
			}
		})
	}
}

// A cancelled trial says nothing: its place is free, and nothing is counted.
func TestIgnoredTrialFreesItsPlace(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		r := newRig(t, w, settings(t, minute))
		trip(t, r)
		time.Sleep(time.Minute)
		for range 3 {
			done := let(t, r)
			done(context.Canceled)
			done(context.Canceled)
		}
		done := let(t, r)
		refused(t, r, gobreaker.ErrTooManyRequests)
		done(nil)
		if got := r.state(); got != breaker.Closed {
			t.Errorf("got %v", got)
		}
	})
}

// The funcs of the program's settings run outside every lock.
func TestFuncsMayComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *sonybreaker.Guard
		var moves []string
		ask := func() {
			if done, err := g.Allow(); err == nil {
				done(context.Canceled)
			}
		}
		st := settings(t, minute)
		st.Name = "search"
		st.IsSuccessful = func(err error) bool { ask(); return err == nil }
		st.IsExcluded = func(err error) bool {
			if err != context.Canceled {
				ask()
			}
			return err == context.Canceled
		}
		st.OnStateChange = func(name string, from, to gobreaker.State) {
			ask()
			moves = append(moves, name+": "+from.String()+" -> "+to.String())
		}
		g = ways[0].guard(t, st, sonybreaker.Config{Engine: newEngine(t, expediter.Config{}), Tool: "Search"})
		trip(t, g)
		want := []string{"search: closed -> open"}
		if diff := cmp.Diff(want, moves); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A call whose error cannot be judged has failed.
func TestPanickingFuncsCountAsFailures(t *testing.T) {
	st := settings(t, minute)
	st.IsSuccessful = func(error) bool { panic("of the program") }
	r := newRig(t, ways[0], st)
	let(t, r)(nil)
	let(t, r)(nil)
	if got := r.state(); got != breaker.Open {
		t.Errorf("got %v, want OPEN", got)
	}
}

// An observer that panics in Allow leaves no trial behind that nobody makes, and
// what was waiting is told by the next caller.
func TestPanickingObserverHoldsNothing(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		angry := false
		x := newEngine(t, expediter.Config{Events: expediter.Events{Transition: func(expediter.Transition) {
			if angry {
				angry = false
				panic("of an observer")
			}
		}}})
		r := rig{w.guard(t, settings(t, minute), sonybreaker.Config{Engine: x, Tool: "Search"}), x}
		trip(t, r)
		time.Sleep(time.Minute)
		angry = true
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_, _ = r.Allow()
		}()
		let(t, r)(nil)
		if got := r.state(); got != breaker.Closed {
			t.Errorf("got %v", got)
		}
	})
}

func TestOnStateChangeHearsInSpiteOfObservers(t *testing.T) {
	x := newEngine(t, expediter.Config{Events: expediter.Events{Transition: func(expediter.Transition) { panic("of an observer") }}})
	st := settings(t, minute)
	told := 0
	st.OnStateChange = func(string, gobreaker.State, gobreaker.State) { told++ }
	g := ways[0].guard(t, st, sonybreaker.Config{Engine: x, Tool: "Search"})
	let(t, g)(errDown)
	defer func() {
		if recover() == nil || told != 1 {
			t.Errorf("told %d times, want once and the panic", told)
		}
	}()
	let(t, g)(errDown)
}

func TestRefusal(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		r := newRig(t, w, settings(t, minute))
		trip(t, r)
		_, err := r.Allow()
		var refusal *sonybreaker.Refusal
		if !errors.As(err, &refusal) || refusal.Tool != "Search" || !strings.Contains(err.Error(), `gobreaker is open for "Search"`) {
			t.Errorf("got %v", err)
		}
		time.Sleep(time.Minute)
		done := let(t, r)
		_, err = r.Allow()
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), `a trial of "Search" under way`) {
			t.Errorf("got %v", err)
		}
		done(nil)
	})
}

func TestConfigIsRefused(t *testing.T) {
	x := newEngine(t, expediter.Config{Strict: true})
	tests := []struct {
		name string
		cfg  sonybreaker.Config
		want string
	}{
		{"no engine", sonybreaker.Config{Tool: "Search"}, "Engine is nil; make one with expediter.New"},
		{"no tool", sonybreaker.Config{Engine: x}, "Tool is empty; give the name"},
		{"lease", sonybreaker.Config{Engine: x, Tool: "Search", Lease: -1}, "Lease -1ns is below zero; give 0 for 10m0s"},
		{"a tool that a strict engine does not know", sonybreaker.Config{Engine: x, Tool: "Serch"}, "unknown_tool"},
	}
	for _, w := range ways {
		for _, tt := range tests {
			t.Run(w.name+"/"+tt.name, func(t *testing.T) {
				g, err := w.over(gobreaker.Settings{}, tt.cfg)
				if err == nil || !strings.Contains(err.Error(), tt.want) || g != nil {
					t.Errorf("got %v and error %v, want %q in it", g, err, tt.want)
				}
			})
		}
	}
	if _, err := sonybreaker.Over[any](nil, sonybreaker.Config{Engine: x, Tool: "Search"}); err == nil {
		t.Error("no breaker, and no error")
	}
	if _, err := sonybreaker.Observe[any](nil, sonybreaker.Config{Engine: x, Tool: "Search"}); err == nil {
		t.Error("no breaker, and no error")
	}
}

// Whatever many callers do at once, the engine ends where the breaker is.
func TestEngineEndsWhereTheBreakerIs(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		p := sonybreaker.Policy{FailureThreshold: 2, HalfOpenSuccesses: 2, Cooldown: 5 * time.Millisecond}
		r := newRig(t, w, settings(t, p))
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				for j := range 100 {
					if done, err := r.Allow(); err == nil {
						time.Sleep(time.Duration(i%3) * time.Millisecond)
						done(map[bool]error{true: errDown}[(i+j)%3 == 0])
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		wg.Wait()
		time.Sleep(time.Second)
		for range 2 {
			let(t, r)(nil)
		}
		if got := r.state(); got != breaker.Closed {
			t.Errorf("the breaker is closed, and the engine says %v", got)
		}
		trip(t, r)
		if got := r.state(); got != breaker.Open {
			t.Errorf("the breaker is open, and the engine says %v", got)
		}
	})
}
