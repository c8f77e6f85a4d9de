package expediter_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/precheck"
	"github.com/expediter-go/expediter/report"
	"github.com/expediter-go/expediter/report/freshness"
	"github.com/expediter-go/expediter/scope"
)

// The skill's decision sequence, line by line: what is asked before each call,
// and what is done after it.
func TestSeedStep3_TheDecisionSequence(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep", "Bash"), Policy: expediter.Policy{Policy: breaker.Policy{Probe: breaker.Pacing{Unit: breaker.Steps}}}})
	grep := func(state breaker.State, fails, consumed int) {
		t.Helper()
		if row := r.row("Grep"); row.State != state || row.Consecutive != fails {
			t.Errorf("step %d: Grep is %v after %d failures, want %v after %d", r.step, row.State, row.Consecutive, state, fails)
		}
		r.consumed(consumed)
	}
	broken := expediter.Failure(cascade.Upstream, "502")
	r.record(r.ask("Grep", "CALL"), broken)
	grep(breaker.Closed, 1, 1)
	r.record(r.ask("Grep", "CALL"), expediter.Success())
	grep(breaker.Closed, 0, 1)
	r.step = 2
	for n := range 3 {
		grep(breaker.Closed, n, 1+n)
		r.record(r.ask("Grep", "CALL"), broken)
	}
	grep(breaker.Open, 0, 4)
	for r.step = 3; r.step < 5; r.step++ {
		r.ask("Grep", "SKIP open")
	}
	r.x.BeginCycle(r.step, r.now())
	r.record(r.ask("Grep", "PROBE"), broken)
	grep(breaker.Open, 0, 1)
	r.step = 7
	r.ask("Grep", "SKIP open")
	r.step = 8
	r.record(r.ask("Grep", "PROBE"), expediter.Success())
	grep(breaker.Closed, 0, 1)
	r.ask("Grep", "CALL")
	r.fail("Bash", 2, cascade.Upstream)
	r.fail("Grep", 2, cascade.Upstream)
	r.ask("Bash", "PAUSE budget")
}

func TestPitfall1_RetryInsteadOfBreaker(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Dead", "Read"), Policy: expediter.Policy{Policy: breaker.Policy{Probe: breaker.Pacing{Backoff: breaker.On, AfterMS: breaker.Off}}, Budget: 50}})
	calls := 0
	for range 1000 {
		r.step++
		if d := r.x.Decide("Dead", r.step, r.now()); d.Verb.Go() {
			calls++
			r.record(d, expediter.Failure(cascade.Upstream, "502"))
		}
	}
	if want := 3 + 3 + 1000/20; calls < 40 || calls > want {
		t.Errorf("a dead tool was called %d times in 1000 requests, want no more than %d", calls, want)
	}
	r = newRig(t, expediter.Config{Tools: tools("Dead")})
	r.fail("Dead", 3, cascade.Upstream)
	if got := r.verbs("Dead", 2); got != "SKIP SKIP" {
		t.Errorf("right after three failures: %s", got)
	}
}

// Whatever happens, a route says what the map declares, word for word, and
// invites nothing else.
func TestPitfall2_CookingInTheExpediter(t *testing.T) {
	m := seedMap(t)
	declared := map[string]bool{"": true}
	for _, e := range m {
		declared[e.Fallback] = true
		for _, a := range e.Alternatives {
			declared[e.Tool+">"+a.Tool], declared[a.Method], declared[a.Degradation] = true, true, true
		}
	}
	r := newRig(t, expediter.Config{Tools: m})
	names := m.Mentioned()
	for away := range 1 << len(names) {
		for i, n := range names {
			r.x.SetAvailability(n, capability.Score(2*(away>>i&1)), r.step, r.now())
		}
		for _, n := range names {
			d := r.x.Decide(n, r.step, r.now())
			if d.Route == nil {
				continue
			}
			to := d.Route
			if to.Tool != "" && !declared[n+">"+to.Tool] || !declared[to.Method] || !declared[to.Degradation] || !declared[to.Ask] {
				t.Fatalf("%s: nobody declared %+v", n, to)
			}
			if text := strings.ToLower(fmt.Sprint(*to)); strings.Contains(text, "other approach") {
				t.Fatalf("%s: %s", n, text)
			}
		}
	}
}

func TestPitfall3_SilentScopeReduction(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: append(seedMap(t), tools("Edit")...), UserUnavailable: true})
	r.away("Bash", "Grep", "Read")
	s := r.x.Status()
	task := release
	task.Subtasks = append(task.Subtasks[:5:5], scope.Subtask{Title: "Announce it", After: []string{"5"}})
	res, err := scope.Reduce(task, report.ScopeView(&s))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.ScopeReduction(&b, res, &s); err != nil {
		t.Fatal(err)
	}
	for i, sub := range task.Subtasks {
		mark := "[ ]"
		if sub.Title == "Update documentation" {
			mark = "[x]"
		}
		if !strings.Contains(b.String(), fmt.Sprintf("  %s %d. %s", mark, i+1, sub.Title)) {
			t.Errorf("no line of sub-task %d, %s:\n%s", i+1, sub.Title, b.String())
		}
	}
}

func TestPitfall4_StaleDataAsCurrent(t *testing.T) {
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	old := began.Add(-time.Hour)
	tests := []struct {
		name string
		give freshness.Result
		want freshness.Label
	}{
		{"older than the task", freshness.Result{Tool: "Read", DataAt: old}, freshness.Stale(old)},
		{"from the cache of good results", freshness.Result{Tool: "Read", LastGood: true, DataAt: began}, freshness.Stale(began)},
		{"declared to cache", freshness.Result{Tool: "WebSearch", Declared: capability.Caches}, freshness.Unverified("WebSearch", began)},
		{"of unknown freshness", freshness.Result{Tool: "Wiki", Declared: capability.FreshnessUnknown}, freshness.Unknown},
		{"fresh", freshness.Result{Tool: "Read", DataAt: began}, ""},
	}
	for _, tt := range tests {
		if got := freshness.NewTracker(began, 0).Observe(tt.give, began); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// One failure is noise, and so are two whenever a success comes between.
func TestPitfall5_OpeningTooEagerly(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep"), Policy: large()})
	for range 10 {
		r.outcomes("Grep", "f f s")
	}
	r.outcomes("Grep", "f f")
	r.state("Grep", breaker.Closed)
	r.outcomes("Grep", "f")
	r.state("Grep", breaker.Open)
}

// However trials are paced, a tool that works again is found out.
func TestPitfall6_NeverProbing(t *testing.T) {
	for _, pacing := range []breaker.Pacing{
		{},
		{Backoff: breaker.On},
		{AfterMS: breaker.Off, NotBeforeMS: 5000},
		{Unit: breaker.Steps, Backoff: breaker.On},
		{Unit: breaker.Time},
		{Unit: breaker.Time, Backoff: breaker.On},
	} {
		r := newRig(t, expediter.Config{Tools: tools("Grep"), Policy: expediter.Policy{Budget: budget.Unlimited, Policy: breaker.Policy{Probe: pacing}}})
		r.fail("Grep", 3, cascade.Upstream)
		closed := func(works bool) bool {
			r.step, r.at = r.step+1, r.at+15_000
			d := r.x.Decide("Grep", r.step, r.now())
			if d.Verb.Go() && !works {
				r.record(d, expediter.Failure(cascade.Upstream, "502"))
			} else if d.Verb.Go() {
				r.record(d, expediter.Success())
			}
			return d.Verb.Go() && works
		}
		for range 100 {
			closed(false)
		}
		waited := 0
		for !closed(true) && waited < 50 {
			waited++
		}
		if waited > 20 {
			t.Errorf("%+v: a tool that works was not tried in %d requests", pacing, waited)
		}
		r.state("Grep", breaker.Closed)
	}
}

// No tool fails often enough to open, and yet the run must stop.
func TestPitfall7_IgnoringTheBudget(t *testing.T) {
	r := newRig(t, expediter.Config{})
	for i := range 5 {
		r.fail(fmt.Sprint("tool", i), 1, cascade.Upstream)
		if i < 4 {
			r.succeed(fmt.Sprint("tool", i))
		}
	}
	for i := range 10 {
		r.ask(fmt.Sprint("tool", i), "PAUSE budget")
	}
}

// Three tools of a chain recover on one schedule: it takes no longer than one
// tool alone would, but for the requests themselves.
func TestPitfall8_MultiplyingBackoffs(t *testing.T) {
	outage := func(names ...string) (trials int, recovered int64) {
		policy := expediter.Policy{Budget: 50, Policy: breaker.Policy{Probe: breaker.Pacing{Unit: breaker.Steps, Backoff: breaker.On}}}
		r := newRig(t, expediter.Config{Tools: tools(names...), Policy: policy})
		_, err := r.x.DeclareOutage(cascade.Network, names, r.step, r.now())
		r.must(err)
		for ; len(r.x.Status().Incidents) > 0 && r.step < 1000; r.step++ {
			for _, n := range names {
				d := r.x.Decide(n, r.step, r.now())
				switch {
				case !d.Verb.Go():
				case r.step < 60:
					trials++
					r.record(d, expediter.Failure(cascade.Network, "refused"))
				default:
					r.record(d, expediter.Success())
				}
			}
		}
		return trials, r.step
	}
	alone, first := outage("DNS")
	chain, last := outage("DNS", "Proxy", "Web", "Search", "Summary")
	if chain != alone || last != first {
		t.Errorf("five tools: %d failed trials and back at step %d; one tool: %d and %d", chain, last, alone, first)
	}
	if first > 60+20 {
		t.Errorf("back at step %d, more than the longest interval after the end of the outage at 60", first)
	}
}

func TestPitfall9_StaleDiscoveryScores(t *testing.T) {
	up := false
	asked := 0
	c, err := precheck.New(precheck.Config{TTL: time.Hour, Checks: map[string]precheck.Check{"Mail": func(context.Context) (capability.Score, error) {
		asked++
		if up {
			return capability.Available, nil
		}
		return capability.Unavailable, nil
	}}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := expediter.New(expediter.Config{Tools: tools("Mail", "Web", "Chat"), Policy: large(), Events: c.Observe(expediter.Events{})})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, x: x, step: 1, at: 1000}
	check := func() { c.Apply(context.Background(), x, r.step, r.now()) }
	check()
	check()
	r.ask("Mail", "SKIP unavailable")
	r.fail("Web", 3, cascade.Network)
	r.fail("Chat", 3, cascade.Network)
	up = true
	_, err = x.ConfirmRecovery("", r.step, r.now())
	r.must(err)
	check()
	r.ask("Mail", "CALL")
	if asked != 2 {
		t.Errorf("the check ran %d times, want once before the incident and once after it", asked)
	}
	r.fail("Mail", 3, cascade.Upstream)
	up = false
	check()
	if diff := cmp.Diff(capability.Unavailable, r.row("Mail").Score); diff != "" {
		t.Errorf("the score is older than the breaker's last change (-want +got):\n%s", diff)
	}
}
