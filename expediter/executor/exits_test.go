package executor_test

import (
	"context"
	"errors"
	"io/fs"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
)

// exit is one way out of a call.
type exit struct {
	name    string
	caller  func(context.Context) (context.Context, context.CancelFunc) // nil: as it is
	limit   time.Duration
	fn      func(context.Context) (string, error)
	value   string
	err     error // by errors.Is
	panics  any
	exits   bool
	outcome cascade.Outcome
	failure cascade.Category
	left    bool // the caller goes and the tool stays
}

var (
	errBoom = errors.New("boom")
	refused = &fs.PathError{Op: "connect", Path: "x", Err: syscall.ECONNREFUSED}
)

func cancelSoon(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(time.Second, cancel)
	return ctx, cancel
}

func patience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Second)
}

func deaf(context.Context) (string, error) { time.Sleep(time.Hour); return "late", nil }

func obedient(ctx context.Context) (string, error) { <-ctx.Done(); return "part", ctx.Err() }

var exits = []exit{
	{name: "value", fn: func(context.Context) (string, error) { return "found", nil }, value: "found", outcome: cascade.Succeeded},
	{name: "error", fn: func(context.Context) (string, error) { return "part", refused }, value: "part", err: refused, failure: cascade.Network},
	{name: "error of no known class", fn: func(context.Context) (string, error) { return "", errBoom }, err: errBoom},
	{name: "the call was wrong", fn: func(context.Context) (string, error) { return "", fs.ErrNotExist }, err: fs.ErrNotExist, outcome: cascade.Succeeded},
	{name: "error that panics", fn: func(context.Context) (string, error) { var e *unreadable; return "", e }, err: (*unreadable)(nil)},
	{name: "panic", fn: func(context.Context) (string, error) { panic("boom") }, panics: "boom"},
	{name: "panic with an error", fn: func(context.Context) (string, error) { panic(refused) }, panics: refused, failure: cascade.Network},
	{name: "panic with no failure", fn: func(context.Context) (string, error) { panic(fs.ErrNotExist) }, panics: fs.ErrNotExist},
	{name: "Goexit", fn: func(context.Context) (string, error) { runtime.Goexit(); return "", nil }, exits: true},
	{name: "deadline, obedient", limit: time.Second, fn: obedient, value: "part", err: context.DeadlineExceeded, failure: cascade.Timeout},
	{name: "deadline, deaf", limit: time.Second, fn: deaf, err: context.DeadlineExceeded, failure: cascade.Timeout, left: true},
	{name: "deadline, just missed", limit: time.Second, fn: func(context.Context) (string, error) {
		time.Sleep(time.Second + executor.Grace/2)
		return "found", nil
	}, value: "found", outcome: cascade.Succeeded},
	{name: "caller cancels, obedient", caller: cancelSoon, fn: obedient, value: "part", err: context.Canceled, outcome: cascade.Ignored},
	{name: "caller cancels, deaf", caller: cancelSoon, fn: deaf, err: context.Canceled, outcome: cascade.Ignored, left: true},
	{name: "caller cancels first", caller: cancelSoon, limit: time.Minute, fn: deaf, err: context.Canceled, outcome: cascade.Ignored, left: true},
	{name: "caller cancels during the grace", caller: func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second+executor.Grace/2, cancel)
		return ctx, cancel
	}, limit: time.Second, fn: deaf, err: context.DeadlineExceeded, failure: cascade.Timeout, left: true},
	{name: "caller's deadline, obedient", caller: patience, fn: obedient, value: "part", err: context.DeadlineExceeded, failure: cascade.Timeout},
	{name: "caller's deadline, deaf", caller: patience, fn: deaf, err: context.DeadlineExceeded, failure: cascade.Timeout, left: true},
	{name: "late panic", limit: time.Second, fn: func(context.Context) (string, error) { time.Sleep(time.Hour); panic("late") },
		err: context.DeadlineExceeded, failure: cascade.Timeout, left: true},
	{name: "late Goexit", limit: time.Second, fn: func(context.Context) (string, error) { time.Sleep(time.Hour); runtime.Goexit(); return "", nil },
		err: context.DeadlineExceeded, failure: cascade.Timeout, left: true},
}

// unreadable is an error whose methods panic on a nil pointer.
type unreadable struct{ text string }

func (u *unreadable) Error() string { return u.text }

// did is what came of one Do, as its caller sees it.
type did struct {
	value   string
	receipt executor.Receipt
	err     error
	panics  any
	exits   bool
}

func try(ctx context.Context, e *executor.Executor, fn func(context.Context) (string, error)) did {
	got := did{exits: true}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				got.panics, got.exits = p, false
			}
		}()
		got.value, got.receipt, got.err = executor.Do(ctx, e, "Grep", fn)
		got.exits = false
	})
	wg.Wait()
	return got
}

// Every way out, of a call and of a trial: the caller gets what the tool gave,
// the outcome is recorded, and the trial's slot is free.
func TestEveryWayOut(t *testing.T) {
	for _, verb := range []expediter.Verb{expediter.Call, expediter.Probe} {
		for _, tt := range exits {
			t.Run(verb.String()+" "+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testExit(t, verb, tt) })
			})
		}
	}
}

func testExit(t *testing.T, verb expediter.Verb, want exit) {
	x := newEngine(t, nil)
	if verb == expediter.Probe {
		open(t, x, "Grep")
	}
	e := newExecutor(t, executor.Config{Engine: x, Deadline: want.limit})
	ctx := t.Context()
	if want.caller != nil {
		var cancel context.CancelFunc
		ctx, cancel = want.caller(ctx)
		defer cancel()
	}
	began := time.Now()
	got := try(ctx, e, want.fn)
	if took := time.Since(began); took > time.Second+executor.Grace {
		t.Errorf("the caller waited %v", took)
	}
	if got.value != want.value || got.panics != want.panics || got.exits != want.exits {
		t.Errorf("got value %q, panic %v, exit %v; want %q, %v, %v", got.value, got.panics, got.exits, want.value, want.panics, want.exits)
	}
	if want.err == nil && got.err != nil || want.err != nil && got.err != want.err && (got.err == nil || !errors.Is(got.err, want.err)) {
		t.Errorf("error: got %v, want %v", got.err, want.err)
	}
	checkRecord(t, x, e, verb, want, got)
	time.Sleep(2 * time.Hour)
	synctest.Wait()
	late := int64(0)
	if want.left {
		late = 1
	}
	if running, back := e.Abandoned(); running != 0 || back != late {
		t.Errorf("abandoned in the end: got %d running, %d late; want 0, %d", running, back, late)
	}
}

func checkRecord(t *testing.T, x *expediter.Engine, e *executor.Executor, verb expediter.Verb, want exit, got did) {
	t.Helper()
	if running, late := e.Abandoned(); (running == 1) != want.left || late != 0 {
		t.Errorf("abandoned: got %d running, %d late; want one running: %v", running, late, want.left)
	}
	if want.panics == nil && !want.exits {
		r := got.receipt
		if r.Decision.Verb != verb || r.Err != nil || r.Answered == want.left || r.Outcome.Result != want.outcome || r.Outcome.Category != want.failure {
			t.Errorf("receipt: got %+v", r)
		}
	}
	state := breaker.Closed
	switch {
	case want.outcome == cascade.Failed:
		state = breaker.Open
	case want.outcome == cascade.Ignored && verb == expediter.Probe:
		state = breaker.HalfOpen
	}
	r := row(t, x, "Grep")
	if r.State != state || r.ProbeInFlight {
		t.Errorf("state: got %v, probe in flight %v; want %v, free", r.State, r.ProbeInFlight, state)
	}
	if want.outcome == cascade.Failed && (r.LastFailure == nil || r.LastFailure.Category != want.failure) {
		t.Errorf("last failure: got %+v, want category %v", r.LastFailure, want.failure)
	}
	if d := x.Decide("Grep", 1, time.Time{}); !d.Verb.Go() {
		t.Errorf("the next request: got %v %v, want CALL or PROBE", d.Verb, d.Reason)
	}
}

// What an abandoned call came back with changes nothing, and is noted: by the
// observer, and in the journal behind the record of the timeout.
func TestLateReturnsAreNoted(t *testing.T) {
	for name, tt := range map[string]struct {
		fn   func(context.Context) (string, error)
		want cascade.Outcome
	}{
		"a value": {deaf, cascade.Succeeded},
		"a panic": {func(context.Context) (string, error) { time.Sleep(time.Hour); panic("late") }, cascade.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var records []*expediter.Event
				x, err := expediter.New(expediter.Config{Events: expediter.Events{Recorded: func(e *expediter.Event) { records = append(records, e) }}})
				if err != nil {
					t.Fatal(err)
				}
				var heard []executor.Late
				e := newExecutor(t, executor.Config{Engine: x, Deadline: time.Second, CameBack: func(l executor.Late) { heard = append(heard, l) }})
				got := try(t.Context(), e, tt.fn)
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				call := got.receipt.Decision.Call
				if len(heard) != 1 || heard[0].Call != call || heard[0].Tool != "Grep" || heard[0].Outcome.Result != tt.want || heard[0].Outcome.Duration != time.Hour {
					t.Errorf("heard %+v", heard)
				}
				if len(records) != 2 || records[0].Error != "" || records[1].Call != call || *records[1].Result != tt.want ||
					records[1].Error != expediter.ErrAlreadyRecorded.Error() {
					t.Errorf("the journal has %d records, want the timeout and a note", len(records))
				}
				if r := row(t, x, "Grep"); r.Consecutive != 1 || r.LastSuccess != nil {
					t.Errorf("the late return counts: %+v", r)
				}
			})
		})
	}
}
