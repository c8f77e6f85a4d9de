package executor_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
)

// newEngine makes an engine in which one failure opens a circuit and the next
// request is a trial.
func newEngine(t *testing.T, m capability.Map) *expediter.Engine {
	t.Helper()
	x, err := newEngineOf(m)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func newEngineOf(m capability.Map) (*expediter.Engine, error) {
	return expediter.New(expediter.Config{Tools: m, Policy: eager()})
}

func eager() expediter.Policy {
	return expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1, Probe: breaker.Pacing{Every: 1}}, Budget: 100}
}

func newExecutor(t *testing.T, cfg executor.Config) *executor.Executor {
	t.Helper()
	e, err := executor.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// open makes the tool's next request a trial.
func open(t *testing.T, x *expediter.Engine, tool string) {
	t.Helper()
	d := x.Decide(tool, 1, time.Time{})
	if _, err := x.Record(d.Call, expediter.Failure(cascade.Upstream, "503"), 1, time.Time{}); err != nil {
		t.Fatal(err)
	}
}

func row(t *testing.T, x *expediter.Engine, tool string) expediter.ToolStatus {
	t.Helper()
	for _, r := range x.Status().Tools {
		if r.Tool == tool {
			return r
		}
	}
	t.Fatalf("%s is not in the table", tool)
	return expediter.ToolStatus{}
}

func TestToolsErrorIsReturnedUntouched(t *testing.T) {
	e := newExecutor(t, executor.Config{Engine: newEngine(t, nil)})
	_, _, err := executor.Do(t.Context(), e, "Grep", func(context.Context) (int, error) { return 0, errBoom })
	if err != errBoom {
		t.Errorf("got %#v, want the same value", err)
	}
}

// A tool that comes back in the very moment in which its caller leaves is
// either an answer or a late one, never both and never neither.
func TestBackAtTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 500 {
			e := newExecutor(t, executor.Config{Engine: newEngine(t, nil), Deadline: time.Second})
			value, receipt, err := executor.Do(t.Context(), e, "Grep", func(context.Context) (int, error) {
				time.Sleep(time.Second + executor.Grace)
				return 1, nil
			})
			synctest.Wait()
			running, late := e.Abandoned()
			if receipt.Answered != (value == 1) || receipt.Answered != (err == nil) || receipt.Answered != (late == 0) || running != 0 {
				t.Fatalf("got %d, %v, answered %v, %d running, %d late", value, err, receipt.Answered, running, late)
			}
		}
	})
}

func TestDeadlines(t *testing.T) {
	limits := map[string]time.Duration{"mail": time.Second, "mail/send": 2 * time.Second, "mail/wait": 0}
	slow := func(context.Context) (int, error) { time.Sleep(3 * time.Hour); return 1, nil }
	for tool, want := range map[string]time.Duration{
		"mail": time.Second, "mail/read": time.Second, "mail/send": 2 * time.Second, "mail/send/x": 2 * time.Second,
		"mail/wait": 0, "mailbox": time.Hour, "Grep": time.Hour,
	} {
		t.Run(tool, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newExecutor(t, executor.Config{Engine: newEngine(t, nil), Deadline: time.Hour, Deadlines: limits})
				_, receipt, err := executor.Do(t.Context(), e, tool, slow)
				var over *executor.Overdue
				switch {
				case want == 0 && (err != nil || receipt.Outcome.Duration != 3*time.Hour):
					t.Errorf("got %v after %v, want an answer after 3h", err, receipt.Outcome.Duration)
				case want > 0 && (!errors.As(err, &over) || over.After != want || over.Tool != tool || !over.Timeout()):
					t.Errorf("got %v, want Overdue after %v", err, want)
				}
				time.Sleep(3 * time.Hour)
			})
		})
	}
}

func TestEndedContextAsksNothing(t *testing.T) {
	x := newEngine(t, nil)
	e := newExecutor(t, executor.Config{Engine: x})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, receipt, err := executor.Do(ctx, e, "Grep", func(context.Context) (int, error) { t.Error("the tool ran"); return 0, nil })
	if err != context.Canceled {
		t.Errorf("error: got %v, want context.Canceled", err)
	}
	if diff := cmp.Diff(executor.Receipt{}, receipt); diff != "" {
		t.Errorf("receipt (-want +got):\n%s", diff)
	}
	if got := len(x.Status().Tools); got != 0 {
		t.Errorf("tools seen by the engine: got %d, want 0", got)
	}
}

func TestContextOfTheToolEndsWithTheCall(t *testing.T) {
	e := newExecutor(t, executor.Config{Engine: newEngine(t, nil)})
	type key struct{}
	inner, _, err := executor.Do(context.WithValue(t.Context(), key{}, "v"), e, "Grep",
		func(ctx context.Context) (context.Context, error) { return ctx, ctx.Err() })
	if err != nil {
		t.Fatal(err)
	}
	if inner.Err() == nil || inner.Value(key{}) != "v" {
		t.Errorf("after the call: err %v, value %v; want ended, with the caller's values", inner.Err(), inner.Value(key{}))
	}
}

func TestPanicked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []any
		e := newExecutor(t, executor.Config{Engine: newEngine(t, nil), Deadline: time.Second,
			Panicked: func(tool string, value any, stack []byte) {
				heard = append(heard, value)
				if tool != "Grep" || !strings.Contains(string(stack), "breaks") {
					t.Errorf("%s: the stack does not show the tool:\n%s", tool, stack)
				}
			}})
		try(t.Context(), e, func(context.Context) (string, error) { return breaks("now") })
		try(t.Context(), e, func(context.Context) (string, error) { time.Sleep(time.Minute); return breaks("late") })
		time.Sleep(time.Hour)
		synctest.Wait()
		if diff := cmp.Diff([]any{"now", "late"}, heard); diff != "" {
			t.Errorf("heard (-want +got):\n%s", diff)
		}
	})
}

func breaks(how string) (string, error) { panic(how) }

func TestStepsAndTimesAreRecorded(t *testing.T) {
	step, now := int64(6), time.UnixMilli(1000)
	var events []*expediter.Event
	x, err := expediter.New(expediter.Config{Events: expediter.Events{Journal: func(e *expediter.Event) { events = append(events, e) }}})
	if err != nil {
		t.Fatal(err)
	}
	e := newExecutor(t, executor.Config{Engine: x, Step: func() int64 { return step }, Now: func() time.Time { return now }})
	_, receipt, err := executor.Do(t.Context(), e, "Grep", func(context.Context) (int, error) {
		step, now = 7, now.Add(250*time.Millisecond)
		return 1, nil
	})
	if err != nil || receipt.Outcome.Duration != 250*time.Millisecond {
		t.Errorf("got %v, duration %v; want 250ms", err, receipt.Outcome.Duration)
	}
	type stamp struct {
		Op       expediter.Op
		Step, At int64
	}
	var got []stamp
	for _, ev := range events[1:] {
		got = append(got, stamp{ev.Op, ev.Step, ev.At})
	}
	if diff := cmp.Diff([]stamp{{expediter.OpDecide, 6, 1000}, {expediter.OpRecord, 7, 1250}}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestOwnRulesOfTheMapDecide(t *testing.T) {
	x := newEngine(t, capability.Map{
		{Tool: "mail", Provides: "mail", Fallback: "ask", Classify: []capability.ClassifyRule{{Match: "quota", Category: "rate_limit"}}},
		{Tool: "mail/send", Provides: "mail", Fallback: "ask"},
	})
	e := newExecutor(t, executor.Config{Engine: x})
	for tool, want := range map[string]cascade.Category{"mail/read": cascade.RateLimit, "mail/send": cascade.Unknown} {
		_, receipt, _ := executor.Do(t.Context(), e, tool, func(context.Context) (int, error) { return 0, errors.New("quota of today") })
		if got := receipt.Outcome; got.Result != cascade.Failed || got.Category != want {
			t.Errorf("%s: got %v %v, want failure %v", tool, got.Result, got.Category, want)
		}
	}
}

// Two tools that hang say nothing about a common cause: SPEC section 7 lets
// timeouts match only within one tool or between tools that share something.
func TestTimeoutsOfTwoToolsAreNoIncident(t *testing.T) {
	for name, fn := range map[string]func(context.Context) (string, error){"deaf": deaf, "obedient": obedient} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newEngine(t, nil)
				e := newExecutor(t, executor.Config{Engine: x, Deadline: time.Second})
				for _, tool := range []string{"a", "b"} {
					if _, _, err := executor.Do(t.Context(), e, tool, fn); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%s: got %v, want a timeout", tool, err)
					}
				}
				if got := x.Status(); got.Paused != expediter.NoReason || row(t, x, "b").State != breaker.Open {
					t.Errorf("got paused %v, b %v; want no pause and b open", got.Paused, row(t, x, "b").State)
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

func TestWrap(t *testing.T) {
	x := newEngine(t, nil)
	e := newExecutor(t, executor.Config{Engine: x})
	double := executor.Wrap(e, "double", func(_ context.Context, n int) (int, error) {
		if n < 0 {
			return n, errBoom
		}
		return 2 * n, nil
	})
	if got, err := double(t.Context(), 21); got != 42 || err != nil {
		t.Errorf("got %d, %v; want 42", got, err)
	}
	if got, err := double(t.Context(), -1); got != -1 || err != errBoom {
		t.Errorf("got %d, %v; want -1 and the tool's error", got, err)
	}
	x.ForceOpen("double", "test", 1, time.Time{})
	if got, err := double(t.Context(), 21); got != 0 || !errors.Is(err, executor.ErrForcedOpen) {
		t.Errorf("got %d, %v; want 0 and a refusal", got, err)
	}
}

func TestNeverRetries(t *testing.T) {
	runs := 0
	e := newExecutor(t, executor.Config{Engine: newEngine(t, nil)})
	executor.Do(t.Context(), e, "Grep", func(context.Context) (int, error) { runs++; return 0, refused })
	if runs != 1 {
		t.Errorf("runs: got %d, want 1", runs)
	}
}

func TestNewReportsEveryProblem(t *testing.T) {
	_, err := executor.New(executor.Config{Deadline: -1, Deadlines: map[string]time.Duration{"Grep": -1}, Guards: map[string]executor.Guard{"Grep": nil}})
	for _, want := range []string{"Engine is nil", "Deadline -1ns", `Deadlines["Grep"] -1ns`, `Guards["Grep"] is nil`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %s", err, want)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	x := newEngine(t, nil)
	e := newExecutor(t, executor.Config{Engine: x})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			got, _, err := executor.Do(t.Context(), e, "Grep", func(context.Context) (int, error) { return i, nil })
			if got != i || err != nil {
				t.Errorf("got %d, %v; want %d", got, err, i)
			}
		})
	}
	wg.Wait()
	if got := x.Status().Counts; got.Calls != 200 || got.Successes != 200 {
		t.Errorf("counts: got %+v, want 200 calls and successes", got)
	}
}

func TestDoAllocatesNothing(t *testing.T) {
	e := newExecutor(t, executor.Config{Engine: newEngine(t, nil)})
	got := testing.AllocsPerRun(100, func() {
		if _, _, err := executor.Do(context.Background(), e, "Grep", nothing); err != nil {
			t.Error(err)
		}
	})
	if got != 0 {
		t.Errorf("got %v allocations a call, want 0", got)
	}
}
