package sonybreaker_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
	"github.com/expediter-go/expediter/expediter/replay"
	"github.com/expediter-go/expediter/expediter/sonybreaker"
)

// Each row of the table in docs/sonybreaker.md is a test here: first what a
// plain gobreaker does, then what stands in this package does instead.

type plainBreaker = gobreaker.TwoStepCircuitBreaker[any]

// naive are the settings that suggest themselves for minute.
func naive() gobreaker.Settings {
	return gobreaker.Settings{Timeout: minute.Cooldown, MaxRequests: 1, ReadyToTrip: func(c gobreaker.Counts) bool {
		return c.ConsecutiveFailures >= uint32(minute.FailureThreshold)
	}}
}

func newPlain(st gobreaker.Settings) *plainBreaker {
	return gobreaker.NewTwoStepCircuitBreaker[any](st)
}

// compared runs the test in a bubble with a plain breaker and a guard of New.
func compared(t *testing.T, st gobreaker.Settings, test func(t *testing.T, plain *plainBreaker, ours rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newPlain(st), newRig(t, ways[0], st)) })
}

func TestPlainRefusesAtTheEndOfTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain, ours := newPlain(naive()), newRig(t, ways[0], settings(t, minute))
		trip(t, plain)
		trip(t, ours)
		time.Sleep(minute.Cooldown)
		refused(t, plain, gobreaker.ErrOpenState)
		let(t, ours)
	})
}

func TestPlainMakesAMinuteOfNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := naive()
		st.Timeout = 0
		plain := newPlain(st)
		trip(t, plain)
		time.Sleep(time.Minute)
		refused(t, plain, gobreaker.ErrOpenState)
		time.Sleep(time.Nanosecond)
		let(t, plain)
	})
	r, err := replay.Breaker([]replay.Event{{T: 1, Failed: true}, {T: 1}}, replay.Params{FailureThreshold: 1, HalfOpenSuccesses: 1})
	if err != nil || len(r.Rejected) != 0 || r.FinalState != breaker.Closed {
		t.Errorf("the seed's machine without a cooldown: %+v, %v", r, err)
	}
	if _, err := sonybreaker.Settings(sonybreaker.Policy{FailureThreshold: 1, HalfOpenSuccesses: 1}); err == nil {
		t.Error("Settings takes a cooldown that gobreaker has not")
	}
}

func TestPlainTripsAtTheSixthFailure(t *testing.T) {
	plain := newPlain(gobreaker.Settings{})
	for range 5 {
		let(t, plain)(errDown)
	}
	if got := plain.State(); got != gobreaker.StateClosed {
		t.Errorf("five failures: %v", got)
	}
	let(t, plain)(errDown)
	refused(t, plain, gobreaker.ErrOpenState)
	p, err := sonybreaker.PolicyOf(breaker.Policy{Probe: breaker.Pacing{Unit: breaker.Time}})
	if err != nil {
		t.Fatal(err)
	}
	ours := newRig(t, ways[0], settings(t, p))
	for range 3 {
		let(t, ours)(errDown)
	}
	refused(t, ours, gobreaker.ErrOpenState)
}

func TestPlainCannotCountAttempts(t *testing.T) {
	compared(t, naive(), func(t *testing.T, plain *plainBreaker, _ rig) {
		trip(t, plain)
		for range 1000 {
			refused(t, plain, gobreaker.ErrOpenState)
		}
	})
	for _, unit := range []breaker.Unit{breaker.Attempts, breaker.Steps} {
		if _, err := sonybreaker.PolicyOf(breaker.Policy{Probe: breaker.Pacing{Unit: unit}}); err == nil {
			t.Errorf("PolicyOf takes pacing by %v", unit)
		}
	}
}

func TestPlainTakesManyTrialsAtOnce(t *testing.T) {
	st := naive()
	st.MaxRequests = 5
	compared(t, st, func(t *testing.T, plain *plainBreaker, ours rig) {
		trip(t, plain)
		trip(t, ours)
		time.Sleep(2 * minute.Cooldown)
		for range 5 {
			let(t, plain)
		}
		refused(t, plain, gobreaker.ErrTooManyRequests)
		let(t, ours)
		refused(t, ours, gobreaker.ErrTooManyRequests)
	})
}

func TestPlainIsHeldByAHungTrial(t *testing.T) {
	compared(t, naive(), func(t *testing.T, plain *plainBreaker, ours rig) {
		trip(t, plain)
		trip(t, ours)
		time.Sleep(2 * minute.Cooldown)
		let(t, plain)
		let(t, ours)
		time.Sleep(10_000 * time.Hour)
		refused(t, plain, gobreaker.ErrTooManyRequests)
		let(t, ours)
	})
}

func TestPlainIsHeldByGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain, ours := gobreaker.NewCircuitBreaker[any](naive()), newRig(t, ways[0], naive())
		for range minute.FailureThreshold {
			_, _ = plain.Execute(func() (any, error) { return nil, errDown })
		}
		trip(t, ours)
		time.Sleep(2 * minute.Cooldown)
		go func() { _, _ = plain.Execute(func() (any, error) { runtime.Goexit(); return nil, nil }) }()
		go func() { _, _ = ours.Allow(); runtime.Goexit() }()
		synctest.Wait()
		time.Sleep(10_000 * time.Hour)
		if _, err := plain.Execute(func() (any, error) { return nil, nil }); !errors.Is(err, gobreaker.ErrTooManyRequests) {
			t.Errorf("plain: %v", err)
		}
		let(t, ours)
	})
}

func TestPlainCountsEachDone(t *testing.T) {
	compared(t, naive(), func(t *testing.T, plain *plainBreaker, ours rig) {
		for _, g := range []twoStep{plain, ours} {
			done := let(t, g)
			done(errDown)
			done(errDown)
		}
		refused(t, plain, gobreaker.ErrOpenState)
		let(t, ours)
	})
}

func TestPlainMakesRoomForEachExclusion(t *testing.T) {
	st := naive()
	st.IsExcluded = sonybreaker.Ignored
	compared(t, st, func(t *testing.T, plain *plainBreaker, ours rig) {
		for _, g := range []twoStep{plain, ours} {
			trip(t, g)
		}
		time.Sleep(2 * minute.Cooldown)
		for _, g := range []twoStep{plain, ours} {
			done := let(t, g)
			for range 3 {
				done(context.Canceled)
			}
			let(t, g)
		}
		let(t, plain)
		let(t, plain)
		refused(t, ours, gobreaker.ErrTooManyRequests)
	})
}

func TestPlainChangesWhenLookedAt(t *testing.T) {
	compared(t, naive(), func(t *testing.T, plain *plainBreaker, ours rig) {
		trip(t, plain)
		trip(t, ours)
		time.Sleep(2 * minute.Cooldown)
		if got := plain.State(); got != gobreaker.StateHalfOpen {
			t.Errorf("plain: %v", got)
		}
		if got := ours.state(); got != breaker.Open {
			t.Errorf("ours: %v; want OPEN until somebody asks for a call", got)
		}
	})
}

func TestPlainCallbackHoldsTheLock(t *testing.T) {
	var plain *plainBreaker
	var ours *sonybreaker.Guard
	back := make(chan struct{})
	st := naive()
	st.OnStateChange = func(string, gobreaker.State, gobreaker.State) {
		go func() { plain.State(); close(back) }()
		select {
		case <-back:
			t.Error("the callback was not under the lock")
		case <-time.After(20 * time.Millisecond):
		}
	}
	plain = newPlain(st)
	trip(t, plain)
	<-back
	called := false
	st.OnStateChange = func(string, gobreaker.State, gobreaker.State) {
		_, err := ours.Allow()
		called = errors.Is(err, gobreaker.ErrOpenState)
	}
	ours = newRig(t, ways[0], st).Guard
	trip(t, ours)
	if !called {
		t.Error("the callback could not come back")
	}
}

func TestPlainForgetsWhyItOpened(t *testing.T) {
	plain := newPlain(naive())
	trip(t, plain)
	if got := plain.Counts(); got != (gobreaker.Counts{}) {
		t.Errorf("plain: %+v", got)
	}
	var why string
	x := newEngine(t, expediter.Config{Events: expediter.Events{Transition: func(m expediter.Transition) { why = m.Why }}})
	trip(t, ways[0].guard(t, naive(), sonybreaker.Config{Engine: x, Tool: "Search"}))
	if !strings.Contains(why, "2 failures in a row, 2 of 2 calls failed") {
		t.Errorf("ours: %q", why)
	}
}

func TestPlainCountsACancellation(t *testing.T) {
	plain, ours := newPlain(naive()), newRig(t, ways[0], settings(t, minute))
	for _, g := range []twoStep{plain, ours} {
		for range minute.FailureThreshold {
			let(t, g)(context.Canceled)
		}
	}
	refused(t, plain, gobreaker.ErrOpenState)
	let(t, ours)
}

func TestPlainLosesTheErrorOfAPanic(t *testing.T) {
	var asked []bool
	st := naive()
	st.IsExcluded = func(err error) bool {
		asked = append(asked, errors.Is(err, errDown))
		return false
	}
	panics := func(do func()) {
		defer func() {
			if recover() != errDown {
				t.Error("the panic is not the tool's own")
			}
		}()
		do()
	}
	plain, ours := gobreaker.NewCircuitBreaker[any](st), newRig(t, ways[0], st)
	panics(func() { _, _ = plain.Execute(func() (any, error) { panic(errDown) }) })
	e := newExecutor(t, ours)
	panics(func() {
		_, _, _ = executor.Do(t.Context(), e, "Search", func(context.Context) (any, error) { panic(errDown) })
	})
	if diff := cmp.Diff([]bool{false, true}, asked); diff != "" {
		t.Errorf("is it the tool's error that the settings are asked about (-want +got):\n%s", diff)
	}
}

func TestPlainNeverCountsACallLongerThanItsInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := naive()
		st.Interval = time.Second
		plain := newPlain(st)
		for range 100 {
			done := let(t, plain)
			time.Sleep(1500 * time.Millisecond)
			done(errDown)
		}
		if got := plain.Counts(); got.TotalFailures != 0 {
			t.Errorf("plain: %+v", got)
		}
		ours := newRig(t, ways[0], settings(t, minute))
		for range minute.FailureThreshold {
			done := let(t, ours)
			time.Sleep(10 * time.Hour)
			done(errDown)
		}
		refused(t, ours, gobreaker.ErrOpenState)
	})
}

func TestPlainRollingWindowForgetsARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := naive()
		st.Interval, st.BucketPeriod = 3*time.Second, time.Second
		st.ReadyToTrip = func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 5 }
		plain, ours := newPlain(st), newRig(t, ways[0], settings(t, sonybreaker.Policy{FailureThreshold: 5, HalfOpenSuccesses: 1, Cooldown: time.Minute}))
		for range 100 {
			let(t, plain)(errDown)
			time.Sleep(time.Second)
		}
		for range 5 {
			let(t, ours)(errDown)
			time.Sleep(time.Second)
		}
		refused(t, ours, gobreaker.ErrOpenState)
	})
}

func TestPlainRefusalReadsAsAFailure(t *testing.T) {
	got := classify.Observe(classify.Observation{Tool: "Search", Err: gobreaker.ErrTooManyRequests})
	if got.Outcome != cascade.Failed || got.Category != cascade.RateLimit {
		t.Errorf("plain: %v of %v; if this is told apart now, take the row out", got.Outcome, got.Category)
	}
	r := newRig(t, ways[0], naive())
	trip(t, r)
	d := r.engine.Decide("Search", 1, time.Time{})
	_, why := r.Allow()
	if why == nil || !d.Verb.Go() {
		t.Fatalf("the engine says %v, the guard %v", d.Verb, why)
	}
	if d, err := r.engine.Refuse(d.Call, why.Error(), 1, time.Time{}); err != nil || d.Verb != expediter.Skip || d.Route == nil {
		t.Errorf("ours: %v with route %v, %v", d.Verb, d.Route, err)
	}
	if s := r.engine.Status(); s.Counts.Failures != 0 || s.Consumed != 0 {
		t.Errorf("ours: %d failures, %d of the budget", s.Counts.Failures, s.Consumed)
	}
}

func TestPlainDropsALateResultSilently(t *testing.T) {
	compared(t, naive(), func(t *testing.T, plain *plainBreaker, ours rig) {
		late := let(t, plain)
		trip(t, plain)
		late(nil)
		refused(t, plain, gobreaker.ErrOpenState)
		d := ours.engine.Decide("Search", 1, time.Time{})
		late = let(t, ours)
		trip(t, ours)
		got, err := ours.engine.Record(d.Call, expediter.Success(), 1, time.Time{})
		if late(nil); err != nil || !got.Stale {
			t.Errorf("ours: %+v, %v; want it called stale", got, err)
		}
		refused(t, ours, gobreaker.ErrOpenState)
	})
}
