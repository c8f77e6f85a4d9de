package precheck_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/precheck"
)

// newEngine makes an engine that c, if any, listens to. One failure opens a
// circuit, and the next request is a trial.
func newEngine(t *testing.T, c *precheck.Checker) *expediter.Engine {
	t.Helper()
	cfg := expediter.Config{
		Tools: capability.Map{
			{Tool: "Grep", Provides: "search", Fallback: "ask", Alternatives: []capability.Alternative{{Tool: "Bash", Method: "grep", Degradation: "none"}}},
			{Tool: "Bash", Provides: "shell", Fallback: "ask"},
		},
		Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1, Probe: breaker.Pacing{Every: 1}}, Budget: 100},
	}
	if c != nil {
		cfg.Events = c.Observe(cfg.Events)
	}
	x, err := expediter.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func decide(t *testing.T, x *expediter.Engine, tool string, at time.Time, verb expediter.Verb, why expediter.Reason) expediter.Decision {
	t.Helper()
	d := x.Decide(tool, 1, at)
	if d.Verb != verb || d.Reason != why {
		t.Errorf("Decide(%s): got %v %v, want %v %v", tool, d.Verb, d.Reason, verb, why)
	}
	return d
}

func record(t *testing.T, x *expediter.Engine, d expediter.Decision, o expediter.Outcome) {
	t.Helper()
	if _, err := x.Record(d.Call, o, 1, start); err != nil {
		t.Fatal(err)
	}
}

// Seed 002, pitfall: a tool found missing once must not stay skipped.
func TestSpec9RecoveredToolDoesNotStaySkipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{"Grep": precheck.FileExists(path)}, TTL: time.Minute})
	x := newEngine(t, c)
	c.Apply(t.Context(), x, 1, start)
	d := decide(t, x, "Grep", start, expediter.Skip, expediter.Unavailable)
	if d.Route.Tool != "Bash" {
		t.Errorf("route: got %+v, want Bash", d.Route)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Apply(t.Context(), x, 1, start.Add(59*time.Second))
	decide(t, x, "Grep", start, expediter.Skip, expediter.Unavailable)
	c.Apply(t.Context(), x, 1, start.Add(time.Minute))
	decide(t, x, "Grep", start, expediter.Call, expediter.NoReason)
	if s := x.Status(); s.Consumed != 0 {
		t.Errorf("budget consumed: got %d, want 0", s.Consumed)
	}
}

// Seed 002, pitfall: a remembered score must not make a dead tool look alive.
func TestSpec9DeadToolDoesNotLookAlive(t *testing.T) {
	bash := &counted{}
	c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{"Bash": bash.check}, TTL: time.Hour})
	x := newEngine(t, c)
	c.Apply(t.Context(), x, 1, start)
	record(t, x, decide(t, x, "Bash", start, expediter.Call, expediter.NoReason), expediter.Failure(cascade.Upstream, "503"))
	bash.set(capability.Unavailable)
	c.Apply(t.Context(), x, 1, start)
	decide(t, x, "Bash", start, expediter.Skip, expediter.Unavailable)

	bash.set(capability.Available)
	c.Forget("Bash")
	c.Apply(t.Context(), x, 1, start)
	record(t, x, decide(t, x, "Bash", start, expediter.Probe, expediter.NoReason), expediter.Success())
	runs := bash.runs.Load()
	c.Apply(t.Context(), x, 1, start)
	if got := bash.runs.Load() - runs; got != 1 {
		t.Errorf("runs after the circuit closed: got %d more, want 1", got)
	}
	c.Apply(t.Context(), x, 1, start)
	if got := bash.runs.Load() - runs; got != 1 {
		t.Errorf("runs without a change: got %d more, want 1 still", got)
	}
}

func TestStaleCheckWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		grep := &counted{takes: time.Second}
		grep.set(capability.Unavailable)
		c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{"Grep": grep.check}, TTL: time.Hour})
		x := newEngine(t, c)
		var wg sync.WaitGroup
		wg.Go(func() { c.Apply(t.Context(), x, 1, start) })
		synctest.Wait() // the check has seen the tool unavailable
		record(t, x, decide(t, x, "Grep", start, expediter.Call, expediter.NoReason), expediter.Failure(cascade.Upstream, "503"))
		grep.set(capability.Degraded)
		wg.Wait()
		if got := c.Score(t.Context(), "Grep", start); got != capability.Degraded {
			t.Errorf("Score: got %v, want degraded", got)
		}
		if got := x.Status().Tools[0].Score; got != capability.Degraded {
			t.Errorf("the engine's score: got %v, want degraded", got)
		}
		if got := grep.runs.Load(); got != 2 {
			t.Errorf("runs: got %d, want 2", got)
		}
	})
}

func TestToolThatKeepsChangingGivesNoVerdict(t *testing.T) {
	var c *precheck.Checker
	c = newChecker(t, precheck.Config{Checks: map[string]precheck.Check{
		"Grep": func(context.Context) (capability.Score, error) {
			c.Forget("Grep")
			return capability.Unavailable, nil
		},
	}})
	x := newEngine(t, c)
	got := c.Apply(t.Context(), x, 1, start)
	if got[0].Score != capability.Available || got[0].Err != precheck.ErrChanging {
		t.Errorf("got %+v, want available and ErrChanging", got[0])
	}
	decide(t, x, "Grep", start, expediter.Call, expediter.NoReason)
}

// SPEC section 7: pre-call scores are dropped when an incident is flagged and
// when it is confirmed. What the engine forgot it is told again.
func TestSpec9IncidentDropsScores(t *testing.T) {
	other := &counted{}
	other.set(capability.Unavailable)
	c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{"Other": other.check}, TTL: time.Hour})
	x := newEngine(t, c)
	told := func(stage string, runs int32) {
		t.Helper()
		c.Apply(t.Context(), x, 1, start)
		if got := other.runs.Load(); got != runs {
			t.Errorf("%s: got %d runs, want %d", stage, got, runs)
		}
	}
	told("first", 1)
	for _, tool := range []string{"Grep", "Bash"} {
		d := decide(t, x, tool, start, expediter.Call, expediter.NoReason)
		record(t, x, d, expediter.Failure(cascade.Network, "no route to host"))
	}
	decide(t, x, "Other", start, expediter.Pause, expediter.Systemic)
	told("flagged", 2)
	if _, err := x.ConfirmRecovery("cable", 1, start); err != nil {
		t.Fatal(err)
	}
	decide(t, x, "Other", start, expediter.Call, expediter.NoReason)
	told("confirmed", 3)
	decide(t, x, "Other", start, expediter.Skip, expediter.Unavailable)
}

func TestApplyTellsOnlyChanges(t *testing.T) {
	grep := &counted{}
	c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{"Grep": grep.check}, TTL: time.Second})
	var scores []capability.Score
	x, err := expediter.New(expediter.Config{Events: c.Observe(expediter.Events{Journal: func(e *expediter.Event) {
		if e.Op == expediter.OpAvailability {
			scores = append(scores, e.Score)
		}
	}})})
	if err != nil {
		t.Fatal(err)
	}
	for i, score := range []capability.Score{0, 0, 2, 2, 1, 0} {
		grep.set(score)
		c.Apply(t.Context(), x, 1, start.Add(time.Duration(i)*time.Minute))
	}
	if diff := cmp.Diff([]capability.Score{0, 2, 1, 0}, scores); diff != "" {
		t.Errorf("availability events (-want +got):\n%s", diff)
	}
}

func TestApplyWithoutPatienceChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{
			"Grep": func(context.Context) (capability.Score, error) { <-release; return capability.Available, nil },
		}})
		x := newEngine(t, c)
		x.SetAvailability("Grep", capability.Unavailable, 1, start)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := c.Apply(ctx, x, 1, start)[0]; got.Err != context.Canceled {
			t.Errorf("got %+v, want the caller's own end", got)
		}
		decide(t, x, "Grep", start, expediter.Skip, expediter.Unavailable)
		close(release)
	})
}

func TestObserveChains(t *testing.T) {
	c := newChecker(t, precheck.Config{})
	var heard []string
	events := c.Observe(expediter.Events{
		Transition: func(tr expediter.Transition) { heard = append(heard, tr.Tool) },
		Incident:   func(e expediter.IncidentEvent) { heard = append(heard, string(e.Kind)) },
	})
	events.Transition(expediter.Transition{Tool: "Grep"})
	events.Incident(expediter.IncidentEvent{Kind: expediter.IncidentFlagged})
	if diff := cmp.Diff([]string{"Grep", "flagged"}, heard); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
}

// Two callers find different scores and tell the engine at once: it ends up
// with the one that the checker believes.
func TestConcurrentApplyConverges(t *testing.T) {
	grep := &counted{}
	c := newChecker(t, precheck.Config{Checks: map[string]precheck.Check{"Grep": grep.check}, TTL: time.Nanosecond})
	x := newEngine(t, c)
	for round := range 2000 {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				grep.set(capability.Score((round + i) % 3))
				c.Apply(t.Context(), x, 1, start.Add(time.Duration(10*round+i)))
			})
		}
		wg.Wait()
		at := start.Add(time.Duration(10*round + 9))
		want := c.Apply(t.Context(), x, 1, at)[0].Score
		if got := x.Status().Tools[0].Score; got != want {
			t.Fatalf("round %d: the engine has %v, the checker %v", round, got, want)
		}
	}
}
