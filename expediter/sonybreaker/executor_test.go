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

	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
	"github.com/expediter-go/expediter/expediter/sonybreaker"
	"github.com/expediter-go/expediter/report"
)

func newExecutor(t *testing.T, r rig) *executor.Executor {
	t.Helper()
	e, err := executor.New(executor.Config{Engine: r.engine, Deadline: time.Minute, Guards: map[string]executor.Guard{"Search": r}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// routed is an engine that has something to do instead of Search, and leaves
// tripping to the breakers behind the guards.
func routed(t *testing.T) *expediter.Engine {
	t.Helper()
	return newEngine(t, expediter.Config{Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 100}, Budget: 100}, Tools: capability.Map{
		{Tool: "Search", Provides: "search", Fallback: "ask the user", Alternatives: []capability.Alternative{{Tool: "Index", Degradation: "a day old"}}},
		{Tool: "Index", Provides: "search", Fallback: "ask the user"},
	}})
}

func search(t *testing.T, e *executor.Executor, result error) error {
	t.Helper()
	_, _, err := executor.Do(t.Context(), e, "Search", func(context.Context) (string, error) { return "found", result })
	return err
}

// Routes, counts and reports work on top of a breaker that the program has, in
// each way to guard it.
func TestExecutorOverGobreaker(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		x := routed(t)
		r := rig{w.guard(t, settings(t, minute), sonybreaker.Config{Engine: x, Tool: "Search"}), x}
		e := newExecutor(t, r)
		for range minute.FailureThreshold {
			if err := search(t, e, errDown); !errors.Is(err, errDown) {
				t.Fatalf("got %v, want the tool's own error", err)
			}
		}
		var refusal *executor.Refused
		err := search(t, e, nil)
		if !errors.As(err, &refusal) || refusal.Decision.Route == nil || refusal.Decision.Route.Tool != "Index" {
			t.Fatalf("got %v, want a refusal with the route to Index", err)
		}
		if !errors.Is(refusal.Cause, gobreaker.ErrOpenState) {
			t.Errorf("the cause is %v", refusal.Cause)
		}
		s := x.Status()
		if c := s.Counts; c.Failures != 2 || c.Skips != 1 || s.Consumed != 2 || c.Alternatives != 1 {
			t.Errorf("got %+v and %d of the budget; want two failures, one skip and one alternative", c, s.Consumed)
		}
		if got := s.Tools[0]; got.External == nil || !strings.HasPrefix(got.External.Why, "gobreaker: 2 failures in a row") || got.State != breaker.Open || got.Trip.Category != cascade.Network {
			t.Errorf("the engine says %v of a failure of category %v, by the word of %+v", got.State, got.Trip.Category, got.External)
		}
		var table strings.Builder
		if err := report.StateTable(&table, s); err != nil || !strings.Contains(table.String(), "| Search     | OPEN   | 2 ") {
			t.Errorf("the state table does not show it (%v):\n%s", err, &table)
		}
		time.Sleep(minute.Cooldown)
		if err := search(t, e, nil); err != nil || r.state() != breaker.Closed {
			t.Errorf("at recovery: %v, and it is %v", err, r.state())
		}
	})
}

// Two tools whose breakers open for one cause are one incident.
func TestIncidentOverGobreakers(t *testing.T) {
	x := newEngine(t, expediter.Config{Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 100}, Budget: 100}})
	guards := map[string]executor.Guard{}
	for _, tool := range []string{"Search", "Fetch"} {
		guards[tool] = ways[0].guard(t, settings(t, minute), sonybreaker.Config{Engine: x, Tool: tool})
	}
	e, err := executor.New(executor.Config{Engine: x, Guards: guards})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"Search", "Fetch"} {
		for range minute.FailureThreshold {
			_, _, _ = executor.Do(t.Context(), e, tool, func(context.Context) (any, error) { return nil, errDown })
		}
	}
	s := x.Status()
	if s.Paused != expediter.Systemic || len(s.Incidents) != 1 || s.Incidents[0].Cause != "network" {
		t.Errorf("paused for %q with incidents %+v, want one of the network", s.Paused, s.Incidents)
	}
}

// A wrong call is no failure for a gobreaker either, though it has an error.
func TestWrongCallsDoNotTripGobreaker(t *testing.T) {
	r := newRig(t, ways[0], settings(t, minute))
	e := newExecutor(t, r)
	wrong := errors.New("invalid argument: query must not be empty")
	for range 10 {
		if err := search(t, e, wrong); err != wrong {
			t.Fatalf("got %v", err)
		}
	}
	if got := r.state(); got != breaker.Closed {
		t.Errorf("got %v", got)
	}
}

// A tool that ignores its context is given up by the executor, which tells the
// breaker: the trial's place is free long before its lease ends.
func TestHungToolBehindTheExecutor(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		x := routed(t)
		r := rig{w.guard(t, settings(t, minute), sonybreaker.Config{Engine: x, Tool: "Search"}), x}
		e := newExecutor(t, r)
		hang := func() error {
			_, _, err := executor.Do(t.Context(), e, "Search", func(context.Context) (any, error) { time.Sleep(time.Hour); return nil, nil })
			return err
		}
		for range minute.FailureThreshold {
			if err := hang(); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		time.Sleep(minute.Cooldown)
		if err := hang(); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if got := r.state(); got != breaker.Open {
			t.Fatalf("after the trial that hung: %v, want OPEN", got)
		}
		time.Sleep(minute.Cooldown)
		if err := search(t, e, nil); err != nil || r.state() != breaker.Closed {
			t.Errorf("at recovery: %v, and it is %v", err, r.state())
		}
		time.Sleep(2 * time.Hour) // the tools come back
	})
}

// What hangs in the tool fills its bulkhead, and does not keep the breaker from its
// trials.
func TestTrialGoesBesideAFullBulkhead(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		x := routed(t)
		r := rig{w.guard(t, settings(t, minute), sonybreaker.Config{Engine: x, Tool: "Search"}), x}
		e, err := executor.New(executor.Config{Engine: x, Deadline: time.Second, Guards: map[string]executor.Guard{"Search": r},
			Limits: map[string]executor.Limit{"Search": {Concurrent: minute.FailureThreshold}}})
		if err != nil {
			t.Fatal(err)
		}
		hang := func(context.Context) (any, error) { time.Sleep(executor.Hold / 2); return nil, nil }
		for range minute.FailureThreshold {
			if _, _, err := executor.Do(t.Context(), e, "Search", hang); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		if err := search(t, e, nil); errors.Is(err, executor.ErrSaturated) || !errors.Is(err, executor.ErrGuarded) {
			t.Errorf("while the breaker is open: got %v, want its refusal", err)
		}
		time.Sleep(minute.Cooldown)
		if err := search(t, e, nil); err != nil || r.state() != breaker.Closed {
			t.Errorf("at recovery: %v, and it is %v", err, r.state())
		}
		if err := search(t, e, nil); !errors.Is(err, executor.ErrSaturated) {
			t.Errorf("a call that is no trial: got %v, want ErrSaturated", err)
		}
		time.Sleep(executor.Hold) // the tools come back
	})
}

// A tool that asks a guard itself, and is refused, has not failed.
func TestRefusalWithinATool(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		r := newRig(t, w, settings(t, minute))
		trip(t, r)
		_, within := r.Allow()
		_, receipt, err := executor.Do(t.Context(), newExecutor(t, r), "Trip", func(context.Context) (any, error) { return nil, within })
		if err != within || receipt.Outcome.Result != cascade.Ignored {
			t.Errorf("got %v, recorded as %v; want the refusal, ignored", err, receipt.Outcome.Result)
		}
	})
}

// 1,000 callers at the moment of recovery: one call reaches the tool.
func TestOneTrialReachesTheTool(t *testing.T) {
	inEachWay(t, func(t *testing.T, w way) {
		x := routed(t)
		r := rig{w.guard(t, settings(t, minute), sonybreaker.Config{Engine: x, Tool: "Search"}), x}
		e := newExecutor(t, r)
		for range minute.FailureThreshold {
			_ = search(t, e, errDown)
		}
		time.Sleep(minute.Cooldown)
		var reached atomic.Int32
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				_, _, err := executor.Do(t.Context(), e, "Search", func(context.Context) (any, error) {
					reached.Add(1)
					time.Sleep(time.Second)
					return nil, nil
				})
				if err != nil && !errors.Is(err, executor.ErrSkipped) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := reached.Load(); got != 1 {
			t.Errorf("%d calls reached the tool, want 1", got)
		}
	})
}

// Observed.Execute is the breaker's own, and the engine hears of it.
func TestObservedExecute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := routed(t)
		cb := gobreaker.NewCircuitBreaker[string](settings(t, minute))
		o, err := sonybreaker.Observe(cb, sonybreaker.Config{Engine: x, Tool: "Search"})
		if err != nil {
			t.Fatal(err)
		}
		r := rig{o.Guard, x}
		for range minute.FailureThreshold {
			if _, err := o.Execute(func() (string, error) { return "", errDown }); err != errDown {
				t.Fatal(err)
			}
		}
		if _, err := o.Execute(nil); err != gobreaker.ErrOpenState || r.state() != breaker.Open {
			t.Fatalf("got %v, and the engine says %v", err, r.state())
		}
		time.Sleep(minute.Cooldown)
		v, err := o.Execute(func() (string, error) {
			if got := r.state(); got != breaker.HalfOpen {
				t.Errorf("during the trial the engine says %v", got)
			}
			return "found", nil
		})
		if v != "found" || err != nil || r.state() != breaker.Closed {
			t.Errorf("got %q, %v, and the engine says %v", v, err, r.state())
		}
		func() {
			defer func() {
				if recover() != "of the tool" {
					t.Error("the panic is not the tool's own")
				}
			}()
			for range minute.FailureThreshold {
				_, _ = o.Execute(func() (string, error) { panic("of the tool") })
			}
		}()
		_, _ = cb.Execute(func() (string, error) { return "", errDown })
		if got := r.state(); got != breaker.Closed {
			t.Fatalf("of a call beside the guard the engine knows: %v", got)
		}
		if o.Look(); r.state() != breaker.Open {
			t.Errorf("after a look: %v, want OPEN", r.state())
		}
	})
}

// A panic of the program's IsSuccessful, run by its own breaker, goes to the
// caller of done, and nothing is held.
func TestObservedPanickingFuncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := settings(t, minute)
		st.IsSuccessful = func(err error) bool {
			if err == errDown {
				panic("of the program")
			}
			return err == nil
		}
		r := newRig(t, ways[2], st)
		done := let(t, r)
		func() {
			defer func() {
				if recover() != "of the program" {
					t.Error("the panic is not the program's own")
				}
			}()
			done(errDown)
		}()
		let(t, r)(nil)
	})
}
