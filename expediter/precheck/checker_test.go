package precheck_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter/precheck"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newChecker(t *testing.T, cfg precheck.Config) *precheck.Checker {
	t.Helper()
	c, err := precheck.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fixed(score capability.Score, err error) precheck.Check {
	return func(context.Context) (capability.Score, error) { return score, err }
}

// counted answers what score holds and counts its runs.
type counted struct {
	runs  atomic.Int32
	score atomic.Uint32
	takes time.Duration
}

func (c *counted) check(ctx context.Context) (capability.Score, error) {
	c.runs.Add(1)
	score := capability.Score(c.score.Load()) // as of the beginning
	if c.takes > 0 {
		select {
		case <-time.After(c.takes):
		case <-ctx.Done():
			return capability.Unavailable, ctx.Err()
		}
	}
	return score, nil
}

func (c *counted) set(s capability.Score) { c.score.Store(uint32(s)) }

func TestNewReportsEveryProblem(t *testing.T) {
	_, err := precheck.New(precheck.Config{
		Checks: map[string]precheck.Check{"Grep": nil},
		TTL:    -1,
	})
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || len(joined.Unwrap()) != 2 {
		t.Fatalf("New: got %v, want two problems", err)
	}
}

// SPEC section 9: a check that fails or times out by itself means available.
func TestSpec9Verdicts(t *testing.T) {
	tests := []struct {
		name  string
		check precheck.Check
		want  capability.Score
		err   error
	}{
		{"available", fixed(capability.Available, nil), capability.Available, nil},
		{"degraded", fixed(capability.Degraded, nil), capability.Degraded, nil},
		{"unavailable", fixed(capability.Unavailable, nil), capability.Unavailable, nil},
		{"fails", fixed(capability.Unavailable, context.Canceled), capability.Available, context.Canceled},
		{"panics", func(context.Context) (capability.Score, error) { panic("boom") }, capability.Available, precheck.ErrPanicked},
		{"ends its goroutine", func(context.Context) (capability.Score, error) { runtime.Goexit(); return 0, nil }, capability.Available, precheck.ErrPanicked},
		{"no score", fixed(9, nil), capability.Available, cmpopts.AnyError},
		{"ignores its deadline", func(context.Context) (capability.Score, error) {
			time.Sleep(time.Hour)
			return capability.Unavailable, nil
		}, capability.Available, context.DeadlineExceeded},
		{"ends with its deadline", func(ctx context.Context) (capability.Score, error) {
			<-ctx.Done()
			return capability.Unavailable, ctx.Err()
		}, capability.Available, context.DeadlineExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{"Grep": tt.check}})
				got := c.Apply(t.Context(), newEngine(t, nil), 1, start)
				want := []precheck.Finding{{Tool: "Grep", Score: tt.want, Err: tt.err}}
				if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
					t.Errorf("findings (-want +got):\n%s", diff)
				}
				if score := c.Target(t.Context(), tt.check); score != tt.want {
					t.Errorf("Target: got %v, want %v", score, tt.want)
				}
				time.Sleep(2 * time.Hour) // whoever hangs comes back, or the bubble reports the leak
			})
		})
	}
}

func TestSpec9OneCheckPerToolHoweverManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		grep := &counted{takes: time.Second}
		grep.set(capability.Unavailable)
		c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{"Grep": grep.check}})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got := c.Score(t.Context(), "Grep", start); got != capability.Unavailable {
					t.Errorf("Score: got %v, want unavailable", got)
				}
			})
		}
		wg.Wait()
		if got := grep.runs.Load(); got != 1 {
			t.Errorf("runs: got %d, want 1", got)
		}
	})
}

func TestSpec9ChecksRunInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checks := map[string]precheck.Check{}
		for _, tool := range []string{"a", "b", "c", "d", "e", "f"} {
			checks[tool] = (&counted{takes: time.Second}).check
		}
		c := newChecker(t, precheck.Config{Checks: checks, Parallel: 3})
		began := time.Now()
		if got := len(c.Apply(t.Context(), newEngine(t, nil), 1, start)); got != 6 {
			t.Errorf("findings: got %d, want 6", got)
		}
		if got := time.Since(began); got != 2*time.Second {
			t.Errorf("six checks of 1s, three at a time: got %v, want 2s", got)
		}
	})
}

func TestCallerWhoLeavesDoesNotStopTheCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		grep := &counted{takes: time.Second}
		grep.set(capability.Unavailable)
		c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{"Grep": grep.check}})
		leaving, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if got := c.Score(leaving, "Grep", start); got != capability.Available {
				t.Errorf("who left: got %v, want available", got)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if got := c.Score(t.Context(), "Grep", start); got != capability.Unavailable {
				t.Errorf("who stayed: got %v, want unavailable", got)
			}
		})
		synctest.Wait()
		leave()
		wg.Wait()
		if got := grep.runs.Load(); got != 1 {
			t.Errorf("runs: got %d, want 1", got)
		}
	})
}

func TestScoreHoldsForItsTimeToLive(t *testing.T) {
	grep := &counted{}
	c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{"Grep": grep.check}, TTL: time.Minute})
	for _, step := range []struct {
		at   time.Duration
		runs int32
	}{{0, 1}, {59 * time.Second, 1}, {time.Minute, 2}, {2*time.Minute - 1, 2}, {2 * time.Minute, 3}, {119 * time.Second, 3}, {-time.Hour, 4}} {
		c.Score(t.Context(), "Grep", start.Add(step.at))
		if got := grep.runs.Load(); got != step.runs {
			t.Errorf("runs after %v: got %d, want %d", step.at, got, step.runs)
		}
	}
}

func TestHangingCheckIsNotStartedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, runs atomic.Int32
		release := make(chan struct{})
		c := newChecker(t, precheck.Config{TTL: time.Second, Checks: map[string]precheck.Check{
			"Grep": func(context.Context) (capability.Score, error) {
				runs.Add(1)
				if running.Add(1) > 1 {
					t.Error("two checks of one tool at a time")
				}
				defer running.Add(-1)
				<-release
				return capability.Unavailable, nil
			},
		}})
		x := newEngine(t, nil)
		for i := range 3 {
			at := start.Add(time.Duration(i) * time.Minute)
			want := context.DeadlineExceeded
			if i > 0 {
				want = precheck.ErrStillRunning
			}
			if got := c.Apply(t.Context(), x, 1, at)[0]; got.Score != capability.Available || !errors.Is(got.Err, want) {
				t.Errorf("ask %d: got %v, want available and %v", i, got, want)
			}
		}
		close(release)
		synctest.Wait()
		if got := c.Score(t.Context(), "Grep", start.Add(time.Hour)); got != capability.Unavailable {
			t.Errorf("after it came back: got %v, want unavailable", got)
		}
		if got := runs.Load(); got != 2 {
			t.Errorf("runs: got %d, want 2", got)
		}
	})
}

func TestCheckOfTheParentServes(t *testing.T) {
	c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{
		"mail":      fixed(capability.Unavailable, nil),
		"mail/send": fixed(capability.Degraded, nil),
	}})
	for tool, want := range map[string]capability.Score{
		"mail": capability.Unavailable, "mail/read": capability.Unavailable, "mail/read/x": capability.Unavailable,
		"mail/send": capability.Degraded, "mailbox": capability.Available, "other": capability.Available,
	} {
		if got := c.Score(t.Context(), tool, start); got != want {
			t.Errorf("%s: got %v, want %v", tool, got, want)
		}
	}
	if got := c.Apply(t.Context(), newEngine(t, nil), 1, start, "other"); len(got) != 0 {
		t.Errorf("a tool without a check has no finding, got %v", got)
	}
}
