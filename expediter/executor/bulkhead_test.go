package executor_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
)

func answer(context.Context) (string, error) { return "ran", nil }

func hour(ctx context.Context) (string, error) {
	select {
	case <-time.After(time.Hour):
		return "done", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// occupy starts n calls of the tool that take an hour.
func occupy(t *testing.T, e *executor.Executor, tool string, n int) *sync.WaitGroup {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			if _, _, err := executor.Do(t.Context(), e, tool, hour); err != nil {
				t.Errorf("a call that has its place: got %v", err)
			}
		})
	}
	synctest.Wait()
	return &all
}

func TestSaturated(t *testing.T) {
	search := capability.Map{{Tool: "peer", Provides: "answers", Fallback: "ask",
		Alternatives: []capability.Alternative{{Tool: "other", Method: "ask it", Degradation: "slower"}}}}
	tests := []struct {
		name   string
		limit  executor.Limit
		waited time.Duration
		free   bool // a place is given back meanwhile
	}{
		{name: "at once", limit: executor.Limit{Concurrent: 2}},
		{name: "after its wait", limit: executor.Limit{Concurrent: 2, Wait: time.Minute}, waited: time.Minute},
		{name: "a place in time", limit: executor.Limit{Concurrent: 2, Wait: 2 * time.Hour}, waited: time.Hour, free: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newEngine(t, search)
				e := newExecutor(t, executor.Config{Engine: x, Limits: map[string]executor.Limit{"peer": tt.limit}})
				busy := occupy(t, e, "peer", 2)
				began := time.Now()
				got, receipt, err := executor.Do(t.Context(), e, "peer", answer)
				if waited := time.Since(began); waited != tt.waited {
					t.Errorf("waited %v, want %v", waited, tt.waited)
				}
				switch {
				case tt.free && (got != "ran" || err != nil):
					t.Errorf("got %q, %v; want an answer", got, err)
				case !tt.free && (got != "" || !errors.Is(err, executor.ErrSaturated) || !errors.Is(err, executor.ErrSkipped) ||
					receipt.Decision.Route == nil || receipt.Decision.Route.Tool != "other"):
					t.Errorf("got %q, %v, route %+v; want a refusal that names the alternative", got, err, receipt.Decision.Route)
				}
				busy.Wait()
				if got := x.Status(); got.Consumed != 0 || got.Counts.Failures != 0 || row(t, x, "peer").Consecutive != 0 {
					t.Errorf("a full bulkhead counts against the tool: %+v", got.Counts)
				}
				occupy(t, e, "peer", 2).Wait() // every place is free again
			})
		})
	}
}

func TestWaitForAPlaceEndsWithTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newEngine(t, nil)
		e := newExecutor(t, executor.Config{Engine: x, Limits: map[string]executor.Limit{"peer": {Concurrent: 1, Wait: 2 * time.Hour}}})
		busy := occupy(t, e, "peer", 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, receipt, err := executor.Do(ctx, e, "peer", hour)
		if err != context.DeadlineExceeded || receipt.Answered || receipt.Outcome.Result != cascade.Ignored {
			t.Errorf("got %v, %+v; want the context's error, and the call ignored", err, receipt)
		}
		busy.Wait()
		occupy(t, e, "peer", 1).Wait()
	})
}

// What broke while a call waited for its place is not called after all.
func TestAfterTheWaitTheEngineIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newEngine(t, nil)
		e := newExecutor(t, executor.Config{Engine: x, Limits: map[string]executor.Limit{"peer": {Concurrent: 1, Wait: 2 * time.Hour}}})
		busy := occupy(t, e, "peer", 1)
		var err error
		busy.Go(func() { _, _, err = executor.Do(t.Context(), e, "peer", hour) })
		synctest.Wait()
		if err := x.ForceOpen("peer", "maintenance", 1, time.Now()); err != nil {
			t.Fatal(err)
		}
		busy.Wait()
		if !errors.Is(err, executor.ErrForcedOpen) {
			t.Errorf("got %v, want a refusal", err)
		}
		if err := x.Reset("peer", "done", 1, time.Now()); err != nil {
			t.Fatal(err)
		}
		occupy(t, e, "peer", 1).Wait()
	})
}

// A tool that hangs keeps its places, and is found well all the same.
func TestTrialGoesBesideAFullBulkhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newEngine(t, nil)
		e := newExecutor(t, executor.Config{Engine: x, Deadline: time.Second, Limits: map[string]executor.Limit{"Grep": {Concurrent: 1}}})
		hangs := func(context.Context) (string, error) { time.Sleep(executor.Hold / 2); return "late", nil }
		if got := try(t.Context(), e, hangs); !errors.Is(got.err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want a timeout", got.err)
		}
		got := try(t.Context(), e, answer)
		if got.value != "ran" || got.receipt.Decision.Verb != expediter.Probe || row(t, x, "Grep").State != breaker.Closed {
			t.Errorf("the trial: got %q by %v, error %v", got.value, got.receipt.Decision.Verb, got.err)
		}
		if got := try(t.Context(), e, answer); !errors.Is(got.err, executor.ErrSaturated) {
			t.Errorf("while the abandoned call runs: got %v, want ErrSaturated", got.err)
		}
		time.Sleep(executor.Hold / 2)
		if got := try(t.Context(), e, answer); got.err != nil {
			t.Errorf("when it is back: got %v", got.err)
		}
	})
}

func TestAbandonedCallKeepsItsPlaceForHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newEngine(t, nil)
		e := newExecutor(t, executor.Config{Engine: x, Limits: map[string]executor.Limit{"Grep": {Concurrent: 1}}})
		ctx, cancel := context.WithCancel(t.Context())
		cancel2 := time.AfterFunc(time.Second, cancel)
		defer cancel2.Stop()
		never := make(chan struct{})
		left := time.Now()
		try(ctx, e, func(context.Context) (string, error) { <-never; return "", nil })
		for {
			if got := try(t.Context(), e, answer); got.err == nil {
				break
			}
			time.Sleep(time.Minute)
		}
		if held := time.Since(left); held < executor.Hold || held > executor.Hold+2*time.Minute {
			t.Errorf("the place was held for %v, want %v", held, executor.Hold)
		}
		close(never) // a place that is free is not given back again
		synctest.Wait()
		if running, late := e.Abandoned(); running != 0 || late != 1 {
			t.Errorf("abandoned: got %d running, %d late", running, late)
		}
		if got := try(t.Context(), e, answer); got.err != nil {
			t.Errorf("when it is back: got %v", got.err)
		}
	})
}

func TestWhoseBulkhead(t *testing.T) {
	limits := map[string]executor.Limit{"mail": {Concurrent: 1}, "mail/free": {}, "mail/own": {Concurrent: 1}}
	for tool, want := range map[string]bool{"mail": true, "mail/read": true, "mail/own": false, "mail/own/x": false, "mail/free": false, "mailbox": false} {
		t.Run(tool, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newExecutor(t, executor.Config{Engine: newEngine(t, nil), Limits: limits})
				busy := occupy(t, e, "mail/send", 1)
				_, _, err := executor.Do(t.Context(), e, tool, hour)
				if got := errors.Is(err, executor.ErrSaturated); got != want || !want && err != nil {
					t.Errorf("got %v, want saturated: %v", err, want)
				}
				busy.Wait()
			})
		})
	}
}

func TestTicketHoldsAPlace(t *testing.T) {
	e := newExecutor(t, executor.Config{Engine: newEngine(t, nil), Limits: map[string]executor.Limit{"api": {Concurrent: 1}}})
	first, err := e.Begin(t.Context(), "api")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Begin(t.Context(), "api"); !errors.Is(err, executor.ErrSaturated) {
		t.Errorf("beside the first: got %v, want ErrSaturated", err)
	}
	first.End(classify.Observation{})
	if _, err := e.Begin(t.Context(), "api"); err != nil {
		t.Errorf("after the first: got %v", err)
	}
}

// gate is a guard that refuses with err, and notes what it is told.
type gate struct {
	err   error
	asked int
	told  []error
}

func (g *gate) Allow() (func(error), error) {
	g.asked++
	if g.err != nil {
		return nil, g.err
	}
	return func(err error) { g.told = append(g.told, err) }, nil
}

func TestGuardIsTold(t *testing.T) {
	for _, tt := range exits {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &gate{}
				e := newExecutor(t, executor.Config{Engine: newEngine(t, nil), Deadline: tt.limit, Guards: map[string]executor.Guard{"Grep": g}})
				ctx := t.Context()
				if tt.caller != nil {
					var cancel context.CancelFunc
					ctx, cancel = tt.caller(ctx)
					defer cancel()
				}
				try(ctx, e, tt.fn)
				time.Sleep(2 * time.Hour)
				if g.asked != 1 || len(g.told) != 1 || (g.told[0] == nil) != (tt.outcome == cascade.Succeeded) {
					t.Fatalf("asked %d times, told %v; want once each, nil only if the tool worked", g.asked, g.told)
				}
				if want, ok := tt.panics.(error); ok && !errors.Is(g.told[0], want) || tt.err != nil && g.told[0] != nil && !errors.Is(g.told[0], tt.err) {
					t.Errorf("told %v", g.told[0])
				}
			})
		})
	}
}

func TestGuardRefuses(t *testing.T) {
	for _, verb := range []expediter.Verb{expediter.Call, expediter.Probe} {
		t.Run(verb.String(), func(t *testing.T) {
			x := newEngine(t, nil)
			if verb == expediter.Probe {
				open(t, x, "api/x")
			}
			before := x.Status().Counts.Failures
			g := &gate{err: errBoom}
			e := newExecutor(t, executor.Config{Engine: x, Guards: map[string]executor.Guard{"api": g}, Limits: map[string]executor.Limit{"api": {Concurrent: 1}}})
			for range 3 { // the place and the trial's slot are free each time
				_, receipt, err := executor.Do(t.Context(), e, "api/x", func(context.Context) (int, error) { t.Error("the tool ran"); return 0, nil })
				if !errors.Is(err, errBoom) || !errors.Is(err, executor.ErrGuarded) || receipt.Decision.Reason != expediter.Refused {
					t.Errorf("got %v, %+v; want the guard's refusal", err, receipt.Decision)
				}
			}
			if got := x.Status().Counts; got.Failures != before || g.asked != 3 {
				t.Errorf("asked %d times, counts %+v", g.asked, got)
			}
			g.err = nil
			if _, _, err := executor.Do(t.Context(), e, "api/x", func(context.Context) (int, error) { return 1, nil }); err != nil {
				t.Errorf("when the guard allows it: got %v", err)
			}
			if diff := cmp.Diff([]error{nil}, g.told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGuardIsNotAskedInVain(t *testing.T) {
	x, g := newEngine(t, nil), &gate{}
	e := newExecutor(t, executor.Config{Engine: x, Guards: map[string]executor.Guard{"api": g}})
	if err := x.ForceOpen("api", "test", 1, time.Time{}); err != nil {
		t.Fatal(err)
	}
	executor.Do(t.Context(), e, "api", func(context.Context) (int, error) { return 0, nil })
	if g.asked != 0 {
		t.Errorf("asked %d times for a call that the engine refused", g.asked)
	}
}
