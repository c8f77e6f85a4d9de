package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
)

// searching is a tool with an alternative, one that writes, and one that nothing
// may stand in for.
var searching = capability.Map{
	{Tool: "search", Provides: "the web", Fallback: "ask the user",
		Alternatives: []capability.Alternative{{Tool: "index", Method: "look it up", Degradation: "a week old", Level: capability.High}}},
	{Tool: "index", Provides: "an index", Fallback: "ask the user"},
	{Tool: "send", Provides: "mail", Fallback: "ask the user", SideEffects: capability.Destructive},
	{Tool: "gate", Provides: "approval", NoSubstitute: true},
}

// fallbackOf is all parts of a fallback.
func fallbackOf(alt func(context.Context) (any, error)) executor.Fallback {
	return executor.Fallback{Alternative: alt, AlternativeTool: "index", LastGood: true, MaxAge: time.Hour, Default: "by default"}
}

func indexed(context.Context) (any, error) { return "indexed", nil }

// stoodIn is what a caller of Do can tell of a substitute.
type stoodIn struct {
	Value, Used, Label, Lost string
	Age                      time.Duration
}

func seen(value string, r executor.Receipt) stoodIn {
	return stoodIn{value, r.Used.String(), r.Label, r.Lost, r.Age}
}

func TestFallbacks(t *testing.T) {
	byIndex := stoodIn{"indexed", "alternative", "PARTIAL", "a week old", 0}
	stale := stoodIn{"good", "last_good", "[STALE DATA — retrieved at 2000-01-01T00:00:00Z, may not reflect current state]", "what has changed since", time.Minute}
	byDefault := stoodIn{"by default", "default", "[DEGRADED — search gave no result; this is its declared default]", "the tool's own answer", 0}
	broken := func(context.Context) (any, error) { return nil, refused }
	tests := []struct {
		name    string
		f       executor.Fallback
		skipped bool // by the engine; else the call is made and fails
		asks    string
		later   time.Duration
		want    stoodIn
	}{
		{"skipped: the alternative", fallbackOf(indexed), true, "q", time.Minute, byIndex},
		{"skipped, the alternative is broken: the last good", fallbackOf(broken), true, "q", time.Minute, stale},
		{"skipped, the alternative is of another type", fallbackOf(func(context.Context) (any, error) { return 1, nil }), true, "q", time.Minute, stale},
		{"failed: no alternative", fallbackOf(indexed), false, "q", time.Minute, stale},
		{"failed, another question: the default", fallbackOf(indexed), false, "r", time.Minute, byDefault},
		{"failed, no question: the default", fallbackOf(indexed), false, "", time.Minute, byDefault},
		{"failed, too old: the default", fallbackOf(indexed), false, "q", 2 * time.Hour, byDefault},
		{"failed, nothing fits", executor.Fallback{LastGood: true}, false, "r", time.Minute, stoodIn{Value: "part", Used: "tool"}},
		{"skipped, nothing fits", executor.Fallback{LastGood: true}, true, "r", time.Minute, stoodIn{Used: "nothing"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newEngine(t, searching)
				e := newExecutor(t, executor.Config{Engine: x, Fallbacks: map[string]executor.Fallback{"search": tt.f}})
				if _, _, err := executor.Do(executor.Asking(t.Context(), "q"), e, "search", func(context.Context) (string, error) { return "good", nil }); err != nil {
					t.Fatal(err)
				}
				time.Sleep(tt.later)
				if tt.skipped {
					if err := x.ForceOpen("search", "test", 1, time.Now()); err != nil {
						t.Fatal(err)
					}
				}
				ctx := t.Context()
				if tt.asks != "" {
					ctx = executor.Asking(ctx, tt.asks)
				}
				got, receipt, err := executor.Do(ctx, e, "search", func(context.Context) (string, error) { return "part", errBoom })
				if diff := cmp.Diff(tt.want, seen(got, receipt)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				stood := tt.want.Used != "tool" && tt.want.Used != "nothing"
				if cause := errors.Join(err, receipt.Cause); (err == nil) != stood || (receipt.Cause != nil) != stood ||
					errors.Is(cause, executor.ErrForcedOpen) != tt.skipped || errors.Is(cause, errBoom) == tt.skipped {
					t.Errorf("error %v, cause %v", err, receipt.Cause)
				}
				if got := len(e.Substitutes()); (got == 1) != stood {
					t.Errorf("%d substitutes are remembered", got)
				}
			})
		})
	}
}

// The calls for which nothing may stand in, whatever is declared.
func TestNothingStandsIn(t *testing.T) {
	answered := func(context.Context) (string, error) { return "no", syscall.ENOENT }
	fails := func(context.Context) (string, error) { return "", refused }
	tests := []struct {
		name, tool string
		fn         func(context.Context) (string, error)
		before     func(*expediter.Engine)
		cancel     bool
		want       error
	}{
		{name: "an answer that the caller does not like", tool: "search", fn: answered, want: syscall.ENOENT},
		{name: "cancelled by its caller", tool: "search", fn: obedient, cancel: true, want: context.Canceled},
		{name: "a pause", tool: "search", fn: fails, want: executor.ErrPaused, before: func(x *expediter.Engine) {
			for range 100 {
				d := x.Decide("index", 1, time.Now())
				_, _ = x.Record(d.Call, expediter.Failure(cascade.Upstream, "503"), 1, time.Now())
			}
		}},
		{name: "may have taken effect", tool: "send", fn: obedient, want: context.DeadlineExceeded},
		{name: "no substitute", tool: "all/gate", fn: fails, want: refused},
	}
	m := append(searching[:3:3], capability.Entry{Tool: "all", Provides: "x", Fallback: "ask"}, capability.Entry{Tool: "all/gate", Provides: "x", NoSubstitute: true})
	byDefault := executor.Fallback{Default: "by default"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newEngine(t, m)
				e := newExecutor(t, executor.Config{Engine: x, Deadline: time.Minute,
					Fallbacks: map[string]executor.Fallback{"search": byDefault, "send": byDefault, "all": byDefault}})
				if tt.before != nil {
					tt.before(x)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel {
					time.AfterFunc(time.Second, cancel)
				}
				_, receipt, err := executor.Do(ctx, e, tt.tool, tt.fn)
				if !errors.Is(err, tt.want) || receipt.Used > executor.UsedTool {
					t.Errorf("got %v by %v, want %v", err, receipt.Used, tt.want)
				}
			})
		})
	}
}

func TestAlternativeThatMayHaveTakenEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newEngine(t, capability.Map{
			{Tool: "post", Provides: "posts", Fallback: "ask", Alternatives: []capability.Alternative{{Tool: "send", Method: "by mail", Degradation: "slow"}}},
			{Tool: "send", Provides: "mail", Fallback: "ask", SideEffects: capability.Idempotent},
		})
		if err := x.ForceOpen("post", "test", 1, time.Now()); err != nil {
			t.Fatal(err)
		}
		e := newExecutor(t, executor.Config{Engine: x, Deadline: time.Second, Fallbacks: map[string]executor.Fallback{"post": {Default: "sent",
			Alternative: func(ctx context.Context) (any, error) { return obedient(ctx) }, AlternativeTool: "send"}}})
		_, receipt, err := executor.Do(t.Context(), e, "post", answer)
		if !errors.Is(err, executor.ErrForcedOpen) || !errors.Is(err, context.DeadlineExceeded) || !receipt.MayHaveTakenEffect ||
			receipt.Used != executor.UsedNothing || receipt.Instead == nil || !receipt.Instead.Answered {
			t.Errorf("got %v, %+v; want both errors, and no default", err, receipt)
		}
		if got := row(t, x, "send").Consecutive + row(t, x, "send").Run; got == 0 {
			t.Error("the failure of the alternative does not count against it")
		}
	})
}

// Until somebody has looked, neither an earlier result nor a default tells a caller
// that all is done.
func TestNothingStandsInUntilVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newEngine(t, capability.Map{{Tool: "send", Provides: "mail", Fallback: "ask", SideEffects: capability.Destructive,
			Policy: breaker.Policy{Probe: breaker.Pacing{Every: 20}}}})
		e := newExecutor(t, executor.Config{Engine: x, Deadline: time.Second, Fallbacks: map[string]executor.Fallback{"send": {LastGood: true, Default: "queued"}}})
		ctx := executor.Asking(t.Context(), "the same mail")
		if _, _, err := executor.Do(ctx, e, "send", answer); err != nil {
			t.Fatal(err)
		}
		if _, _, err := executor.Do(ctx, e, "send", obedient); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want a timeout", err)
		}
		got, r, err := executor.Do(ctx, e, "send", answer)
		if got != "" || !errors.Is(err, executor.ErrOpen) || r.Used != executor.UsedNothing || !r.Decision.Unverified {
			t.Errorf("before it is verified: got %q, %v, %+v; want the refusal", got, err, r)
		}
		if err := x.Verified("send", "it is in the outbox", 1, time.Now()); err != nil {
			t.Fatal(err)
		}
		got, r, err = executor.Do(ctx, e, "send", answer)
		if got != "ran" || err != nil || r.Used != executor.UsedLastGood {
			t.Errorf("after that: got %q, %v, %v; want the last good result", got, err, r.Used)
		}
	})
}

func TestWrapTellsWhatStandsIn(t *testing.T) {
	x := newEngine(t, searching)
	e := newExecutor(t, executor.Config{Engine: x, Now: func() time.Time { return time.Unix(0, 0) }, Fallbacks: map[string]executor.Fallback{"search": {LastGood: true}}})
	broken := false
	search := executor.Wrap(e, "search", func(_ context.Context, q string) (string, error) {
		if broken {
			return "", refused
		}
		return "found " + q, nil
	})
	if got, err := search(t.Context(), "a"); got != "found a" || err != nil {
		t.Fatal(got, err)
	}
	broken = true
	got, err := search(t.Context(), "a")
	var degraded *executor.Degraded
	if got != "found a" || !errors.As(err, &degraded) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("got %q, %v; want the earlier result and *Degraded over the tool's error", got, err)
	}
	want := `[STALE DATA — retrieved at 1970-01-01T00:00:00Z, may not reflect current state] "search" gave no result of its own, last_good stands in for it; lost: what has changed since; connect x: connection refused`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := search(t.Context(), "b"); got != "" || err != error(refused) {
		t.Errorf("another question: got %q, %v; want the tool's error alone", got, err)
	}
}

func TestLastGoodIsBounded(t *testing.T) {
	x := newEngine(t, nil)
	e := newExecutor(t, executor.Config{Engine: x, Fallbacks: map[string]executor.Fallback{"read": {LastGood: true}}})
	ask := func(q, value string) (string, error) {
		got, _, err := executor.Do(executor.Asking(t.Context(), q), e, "read", func(context.Context) (string, error) { return value, nil })
		return got, err
	}
	for i := range 1500 {
		ask(fmt.Sprint(i), "v"+fmt.Sprint(i))
	}
	if err := x.ForceOpen("read", "test", 1, time.Time{}); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i := range 1500 {
		if got, err := ask(fmt.Sprint(i), ""); err == nil {
			kept++
			if got != "v"+fmt.Sprint(i) {
				t.Fatalf("%d: got %q", i, got)
			}
		}
	}
	if kept != 1000 {
		t.Errorf("kept %d results, want 1000", kept)
	}
	ask("500", "") // the oldest, which is in use again
	if err := x.Reset("read", "test", 1, time.Time{}); err != nil {
		t.Fatal(err)
	}
	ask("one more", "v")
	if err := x.ForceOpen("read", "test", 1, time.Time{}); err != nil {
		t.Fatal(err)
	}
	_, first := ask("500", "")
	if _, second := ask("501", ""); first != nil || second == nil {
		t.Errorf("the result that was used last: %v; the one that was not for longest: %v", first, second)
	}
}

func TestLastGoodIsBoundedInBytes(t *testing.T) {
	x := newEngine(t, nil)
	e := newExecutor(t, executor.Config{Engine: x, Fallbacks: map[string]executor.Fallback{"read": {LastGood: true}}})
	ask := func(q string, value any) error {
		_, _, err := executor.Do(executor.Asking(t.Context(), q), e, "read", func(context.Context) (any, error) { return value, nil })
		return err
	}
	long := strings.Repeat("x", 2<<20)
	tooLong := map[string]any{"a string": long, "bytes": []byte(long), "bytes by another name": json.RawMessage(long)}
	for name, value := range tooLong {
		ask(name, "small")
		ask(name, value)
	}
	for i := range 70 {
		ask(fmt.Sprint(i), long[:1<<20])
		ask("the same", long[:1<<20])
	}
	if err := x.ForceOpen("read", "test", 1, time.Time{}); err != nil {
		t.Fatal(err)
	}
	for name := range tooLong {
		if ask(name, nil) == nil {
			t.Errorf("%s: too long, and kept, or the one before is", name)
		}
	}
	kept := 0
	for i := range 70 {
		if ask(fmt.Sprint(i), nil) == nil {
			kept++
		}
	}
	if same := ask("the same", nil); kept != 63 || same != nil {
		t.Errorf("kept %d results of 1 MiB and the one that came again and again (%v), want 63 and that", kept, same)
	}
}

func TestLastGoodMayBeNothing(t *testing.T) {
	e := newExecutor(t, executor.Config{Engine: newEngine(t, nil), Fallbacks: map[string]executor.Fallback{"read": {LastGood: true, Default: "x"}}})
	ctx := executor.Asking(t.Context(), "q")
	executor.Do(ctx, e, "read", func(context.Context) (any, error) { return nil, nil })
	got, r, err := executor.Do(ctx, e, "read", func(context.Context) (any, error) { return "part", errBoom })
	if got != nil || err != nil || r.Used != executor.UsedLastGood || r.Err != nil {
		t.Errorf("got %v, %v, %v, %v; want the last result, nil", got, err, r.Used, r.Err)
	}
}

func TestSubstitutes(t *testing.T) {
	e := newExecutor(t, executor.Config{Engine: newEngine(t, nil), Step: func() int64 { return 7 }, Now: func() time.Time { return time.UnixMilli(5) },
		Fallbacks: map[string]executor.Fallback{"a": {Default: 1}, "b": {Default: 2}}})
	for _, tool := range []string{"a", "b", "a"} {
		executor.Do(t.Context(), e, tool, func(context.Context) (int, error) {
			return 0, errors.New(tool + " is\x1b[31m\n" + map[string]string{"a": "slow", "b": "shut"}[tool])
		})
	}
	got := e.Substitutes()
	want := []expediter.Substitute{
		{Tool: "b", Used: "default", Label: "[DEGRADED — b gave no result; this is its declared default]", Lost: "the tool's own answer", Cause: "b is shut", Step: 7, At: 5, Times: 1},
		{Tool: "a", Used: "default", Label: "[DEGRADED — a gave no result; this is its declared default]", Lost: "the tool's own answer", Cause: "a is slow", Step: 7, At: 5, Times: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSubstitutesAreBounded(t *testing.T) {
	x, err := expediter.New(expediter.Config{Policy: expediter.Policy{Budget: budget.Unlimited}})
	if err != nil {
		t.Fatal(err)
	}
	e := newExecutor(t, executor.Config{Engine: x, Fallbacks: map[string]executor.Fallback{"a": {Default: 1}}})
	for i := range 102 {
		executor.Do(t.Context(), e, "a/"+strconv.Itoa(i), func(context.Context) (int, error) { return 0, errBoom })
	}
	got := e.Substitutes()
	if len(got) != 100 || got[0].Tool != "a/2" || got[99].Tool != "a/101" {
		t.Errorf("got %d, from %q to %q; want the latest 100", len(got), got[0].Tool, got[len(got)-1].Tool)
	}
}

func TestFallbacksAreValidated(t *testing.T) {
	alt := func(context.Context) (any, error) { return nil, nil }
	for want, f := range map[string]executor.Fallback{
		"nothing stands in": {},
		"go together":       {Alternative: alt},
		`does not declare AlternativeTool "nowhere"`: {Alternative: alt, AlternativeTool: "nowhere"},
		"MaxAge -1ns is below zero":                  {LastGood: true, MaxAge: -1},
		"MaxAge without LastGood":                    {Default: 1, MaxAge: 1},
	} {
		_, err := executor.New(executor.Config{Engine: newEngine(t, searching), Fallbacks: map[string]executor.Fallback{"search": f}})
		if err == nil || !strings.Contains(err.Error(), `Fallbacks["search"]`) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
	_, err := executor.New(executor.Config{Engine: newEngine(t, searching), Fallbacks: map[string]executor.Fallback{"gate": {Default: 1}}})
	if err == nil || !strings.Contains(err.Error(), "no_substitute") {
		t.Errorf("got %v, want it to name no_substitute", err)
	}
}

func TestMayHaveTakenEffect(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	read := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	returns := func(err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return "", err }
	}
	tests := []struct {
		name string
		fn   func(context.Context) (string, error)
		want bool
	}{
		{"answered", answer, false},
		{"its deadline, obedient", obedient, true},
		{"its deadline, deaf", deaf, true},
		{"its own timeout", returns(context.DeadlineExceeded), true},
		{"lost connection", returns(read), true},
		{"connection refused", returns(refused), false},
		{"never connected", returns(dial), false},
		{"no such host", returns(&net.DNSError{Err: "no such host"}), false},
		{"an error of its own", returns(errBoom), false},
		{"a wrong call", returns(syscall.ENOENT), false},
		{"an error that cannot be read", returns((*unreadable)(nil)), false},
	}
	for _, tt := range tests {
		for tool, effects := range map[string]bool{"send": true, "send/now": true, "search": false, "undeclared": false} {
			t.Run(tt.name+" "+tool, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					x := newEngine(t, searching)
					e := newExecutor(t, executor.Config{Engine: x, Deadline: time.Second})
					_, receipt, err := executor.Do(t.Context(), e, tool, tt.fn)
					if got := receipt.MayHaveTakenEffect; got != (tt.want && effects) {
						t.Errorf("got %v after %v", got, err)
					}
					if got := len(x.Status().Unverified) == 1; got != (tt.want && effects) {
						t.Errorf("the engine keeps it to be verified: %v", got)
					}
					if over, ok := errors.AsType[*executor.Overdue](err); ok && strings.Contains(over.Error(), "may have taken effect") != effects {
						t.Errorf("the error says %v", over)
					}
					time.Sleep(time.Hour)
				})
			})
		}
	}
}

// A tool that is refused within, by the breaker of the host that it asks, was not
// reached: what stands in for a refused call stands in for this one.
func TestFallbackOfACallRefusedWithin(t *testing.T) {
	x := newEngine(t, append(capability.Map{{Tool: "host", Provides: "a host", Fallback: "ask"}}, searching...))
	if err := x.ForceOpen("host", "test", 1, time.Now()); err != nil {
		t.Fatal(err)
	}
	e := newExecutor(t, executor.Config{Engine: x, Fallbacks: map[string]executor.Fallback{"search": {Default: "by default"}}})
	within := func(ctx context.Context) (string, error) {
		_, _, err := executor.Do(ctx, e, "host", answer)
		return "", fmt.Errorf("searching: %w", err)
	}
	value, receipt, err := executor.Do(t.Context(), e, "search", within)
	if value != "by default" || err != nil || receipt.Used != executor.UsedDefault || !errors.Is(receipt.Cause, executor.ErrForcedOpen) {
		t.Errorf("got %q, %v, %+v; want the default, with the refusal beside it", value, err, receipt)
	}
	if got := row(t, x, "search"); got.Consecutive != 0 {
		t.Errorf("got %d failures of the tool that was not reached, want none", got.Consecutive)
	}
}
