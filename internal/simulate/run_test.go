package simulate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

func run(t *testing.T, cfg Config) Result {
	t.Helper()
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunIsDeterministic(t *testing.T) {
	cfg := Config{Seed: 5, Seeds: 3, Agents: 2, Subtasks: 15, Rates: []float64{0, 0.2}}
	cfg.Workers = 1
	want := run(t, cfg)
	cfg.Workers = 7
	if diff := cmp.Diff(want, run(t, cfg)); diff != "" {
		t.Errorf("one worker and seven (-one +seven):\n%s", diff)
	}
	cfg.Seed = 6
	if cmp.Equal(want, run(t, cfg)) {
		t.Error("another seed gives the same result")
	}
}

// alike requires that every way did the same, and returns what it was.
func alike(t *testing.T, m Model, rate float64) tally {
	t.Helper()
	cfg := Config{Seeds: 1, Agents: 3, Subtasks: 30}.withDefaults()
	var first tally
	for seed := range 20 {
		list, err := cfg.one(t.Context(), cfg.ways(), setting{m, rate}, seed)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range list {
			if diff := cmp.Diff(list[0], got, cmp.AllowUnexported(tally{})); diff != "" {
				t.Errorf("%s, rate %v, seed %d: %s beside %s (-other +this):\n%s", m, rate, seed, cfg.ways()[i].name, cfg.ways()[0].name, diff)
			}
		}
		first.add(list[0])
	}
	return first
}

func TestWithoutFaultsAllWaysAreEqual(t *testing.T) {
	for _, m := range Models() {
		got := alike(t, m, 0)
		if got.denied != 0 || got.doomed != 0 || got.pauses != 0 || got.endings[done] != 20*3*30 {
			t.Errorf("%s at rate 0: %+v", m, got)
		}
	}
}

// The honest negative: nobody sees a fault that carries no error.
func TestSilentFaultsAreSeenByNobody(t *testing.T) {
	for _, rate := range []float64{0.05, 0.3} {
		got := alike(t, Silent, rate)
		if got.endings[wrong] == 0 || got.denied != 0 || got.pauses != 0 {
			t.Errorf("rate %v: %+v; want wrong sub-tasks, and no denial and no pause", rate, got)
		}
	}
}

// drawPolicy draws policies from the lax to the strict.
func drawPolicy(t *rapid.T) expediter.Policy {
	p := rapid.SampledFrom([]expediter.Policy{expediter.Faithful(), expediter.Interactive()}).Draw(t, "base")
	p.FailureThreshold = rapid.SampledFrom([]int{1, 2, 3, 50}).Draw(t, "threshold")
	p.Budget = rapid.SampledFrom([]int{1, 5, budget.Unlimited}).Draw(t, "budget")
	p.Probe.Unit = rapid.SampledFrom([]breaker.Unit{breaker.Attempts, breaker.Steps}).Draw(t, "unit")
	return p
}

func TestEverySubtaskIsAccountedForOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			Seed: rapid.Uint64().Draw(t, "seed"), Seeds: 1,
			Agents:   rapid.IntRange(1, 3).Draw(t, "agents"),
			Subtasks: rapid.IntRange(1, 25).Draw(t, "subtasks"),
			Retries:  rapid.IntRange(None, 4).Draw(t, "retries"),
			Answers:  rapid.IntRange(None, 4).Draw(t, "answers"),
			Policies: []Policy{{"drawn", drawPolicy(t)}},
		}.withDefaults()
		s := setting{rapid.SampledFrom(Models()).Draw(t, "model"), rapid.Float64Range(0, MaxRate).Draw(t, "rate")}
		list, err := cfg.one(context.Background(), cfg.ways(), s, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range list {
			sum := 0
			for _, n := range got.endings {
				sum += n
			}
			if want := cfg.Agents * cfg.Subtasks; sum != want || got.endings[open] != 0 {
				t.Errorf("%s: %v are %d sub-tasks, want %d and none open", cfg.ways()[i].name, got.endings, sum, want)
			}
			if got.doomed > got.calls || got.deniedGood > got.denied || got.probes > got.calls {
				t.Errorf("%s: a part is more than its whole: %+v", cfg.ways()[i].name, got)
			}
		}
	})
}

// worked is an expedited agent at the end of its work.
func worked(t *testing.T, w *world, p expediter.Policy, answers int) *expedited {
	t.Helper()
	x, err := newExpedited(newAgent(w, 0, 40), p, answers)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.work(); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestDeadToolIsLeftAlone(t *testing.T) {
	for _, policy := range builtIn() {
		dead := 0
		for seed := range uint64(20) {
			x := worked(t, newWorld(seed, Permanent, 0.3, 300_000), policy.Policy, 3)
			for _, row := range x.engine.Status().Tools {
				got, most := x.doomed[deviceIndex(row.Tool)], policy.FailureThreshold+row.FailedProbes
				if got > most {
					t.Errorf("%s, seed %d: %d doomed calls of %s, want at most the threshold and its probes, %d", policy.Name, seed, got, row.Tool, most)
				}
				dead += got
			}
		}
		if dead == 0 {
			t.Errorf("%s: no tool died, which proves nothing", policy.Name)
		}
	}
}

// Every call that the world saw is one that the engine allowed, and every
// denial is one of its own.
func TestDecisionsAreObeyed(t *testing.T) {
	for _, m := range Models() {
		for seed := range uint64(20) {
			x := worked(t, newWorld(seed, m, 0.3, 300_000), expediter.Faithful(), 2)
			c := x.engine.Status().Counts
			if got, want := uint64(x.tally.calls), c.Calls+c.Probes; got != want {
				t.Errorf("%s, seed %d: %d calls made, %d allowed", m, seed, got, want)
			}
			if got, want := uint64(x.tally.denied), c.Skips; got != want {
				t.Errorf("%s, seed %d: %d requests dropped, %d denied", m, seed, got, want)
			}
			if got, want := uint64(x.tally.doomed), c.Failures; got != want {
				t.Errorf("%s, seed %d: %d calls failed, %d recorded", m, seed, got, want)
			}
		}
	}
}

// A report that names the wrong cause is no honest one.
func TestHonestReportNamesTheTrueCause(t *testing.T) {
	tests := []struct {
		name       string
		cause      cascade.Category
		wantHonest bool
	}{
		{"as it is", cascade.Network, true},
		{"another", cascade.Filesystem, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			unfinished := 0
			for seed := range uint64(20) {
				w := newWorld(seed, Permanent, 0.3, 300_000)
				w.fault.cause = tt.cause
				got := worked(t, w, expediter.Faithful(), 1).tally.endings
				honest, silent := got[deferred], got[givenUp]
				if !tt.wantHonest {
					honest, silent = silent, honest
				}
				if silent != 0 {
					t.Errorf("seed %d: %v", seed, got)
				}
				unfinished += honest
			}
			if unfinished == 0 {
				t.Error("everything was finished, which proves nothing")
			}
		})
	}
}

// brokenWorld has no fault but these tools, which are down from a time on or
// for a while.
func brokenWorld(down outage, tools ...string) *world {
	w := newWorld(1, NoFault, 0, 0)
	w.model, w.fault = Permanent, faults[Permanent]
	for _, tool := range tools {
		w.outages[deviceIndex(tool)] = []outage{down}
	}
	return w
}

func TestExpeditedAgent(t *testing.T) {
	always := outage{0, forever}
	faithful, interactive := expediter.Faithful(), expediter.Interactive()
	tests := []struct {
		name   string
		world  *world
		policy expediter.Policy
		needs  string // each of eight sub-tasks calls it once
		doomed int    // threshold 3, then each third request is a probe
		pauses int
		ending ending
		number int // of sub-tasks with that ending
	}{
		{"a dead tool with an alternative: its second probe exhausts the budget", brokenWorld(always, "files"), faithful, "files", 5, 1, degraded, 4},
		{"the same, when one tool is charged three times at most", brokenWorld(always, "files"), interactive, "files", 5, 0, degraded, 8},
		{"a dead tool without one", brokenWorld(always, "database"), faithful, "database", 4, 0, deferred, 8},
		{"a tool that nothing may stand in for", brokenWorld(always, "deploy"), faithful, "deploy", 4, 0, deferred, 8},
		{"a tool that comes back before its probe", brokenWorld(outage{0, 20_000}, "database"), faithful, "database", 3, 0, done, 8},
		{"a tool and its alternative", brokenWorld(always, "files", "shell"), faithful, "files", 5, 1, deferred, 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newAgent(tt.world, 0, 8)
			for i := range a.plan {
				a.plan[i] = []int{deviceIndex(tt.needs)}
			}
			x, err := newExpedited(a, tt.policy, 0)
			if err != nil {
				t.Fatal(err)
			}
			got, err := x.work()
			if err != nil {
				t.Fatal(err)
			}
			if got.doomed != tt.doomed || got.pauses != tt.pauses || got.endings[tt.ending] != tt.number {
				t.Errorf("got %d doomed calls, %d pauses and endings %v, want %d, %d and %d of ending %d",
					got.doomed, got.pauses, got.endings, tt.doomed, tt.pauses, tt.number, tt.ending)
			}
		})
	}
}

func TestBackoffCostsItsWaits(t *testing.T) {
	var now [2]int64
	for i, waits := range [][]int64{make([]int64, 3), {100, 20, 3}} {
		a := newAgent(brokenWorld(outage{0, forever}, "fetch", "search", "files", "shell"), 0, 40)
		got := retrier{agent: a, waits: waits}.work()
		now[i] = a.now - int64(got.endings[givenUp])*123*int64(i)
		if got.endings[givenUp] == 0 {
			t.Error("nothing was given up, which proves nothing")
		}
	}
	if now[0] != now[1] {
		t.Errorf("without its waits the backoff took %d ms, retrying at once %d", now[1], now[0])
	}
}

// Equal words make independent failures look like one cause.
func TestOwnWordsSpareGoodRequests(t *testing.T) {
	denied := func(own bool) float64 {
		r := run(t, Config{Seed: 1, Seeds: 10, Models: []Model{Transient}, Rates: []float64{0.2}, OwnWords: own})
		return r.Rows[3].DeniedGood.Mean
	}
	if same, own := denied(false), denied(true); own >= same {
		t.Errorf("good requests denied: %v with own words, %v with the same", own, same)
	}
}

func TestAnswersAreUsedUp(t *testing.T) {
	for answers := range 3 {
		x := worked(t, newWorld(1, Transient, 0.5, 0), expediter.Faithful(), answers)
		if got, want := x.tally.pauses, answers+1; got != want {
			t.Errorf("%d answers: %d pauses, want %d", answers, got, want)
		}
		if least := int64(answers) * answerMS; x.now < least {
			t.Errorf("%d answers: the run took %d ms, want at least the %d of waiting", answers, x.now, least)
		}
	}
}

func TestPauseWithoutAnAnswerEndsTheRun(t *testing.T) {
	for seed := range uint64(20) {
		x := worked(t, newWorld(seed, Transient, 0.5, 0), expediter.Faithful(), 0)
		if x.tally.pauses != 1 || x.tally.doomed > expediter.Faithful().Budget {
			t.Errorf("seed %d: %d pauses and %d failures, want one pause within the budget", seed, x.tally.pauses, x.tally.doomed)
		}
	}
}

func TestSchedule(t *testing.T) {
	want := []int64{1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000}
	if diff := cmp.Diff(want, schedule(8)); diff != "" {
		t.Errorf("waits in ms (-want +got):\n%s", diff)
	}
}

// The ways without an expediter make a failed call once and as often again as
// they are told.
func TestRetriesAreCounted(t *testing.T) {
	for _, retries := range []int{0, 1, 5} {
		w := newWorld(1, Permanent, 0.5, 0) // those that die do so at once
		a := newAgent(w, 0, 40)
		got := retrier{agent: a, waits: schedule(retries)}.work()
		if got.endings[givenUp] == 0 || got.doomed != got.endings[givenUp]*(1+retries) {
			t.Errorf("%d retries: %d doomed calls of %d sub-tasks given up", retries, got.doomed, got.endings[givenUp])
		}
	}
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, Config{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestConfigErrors(t *testing.T) {
	tests := []struct {
		name string
		cfg  Config
		want []string
	}{
		{"counts", Config{Seeds: -1, Agents: MaxAgents + 1, Subtasks: -5, Retries: 21, Answers: 1_001},
			[]string{"seeds: -1; give 1 to 1000", "agents: 1001; give 1 to 1000", "subtasks: -5", "retries: 21", "answers: 1001"}},
		{"rates", Config{Rates: []float64{0.6, 0.1, 0.1, -1}}, []string{"rates: 0.6; give 0 to 0.5", "rates: 0.1 twice", "rates: -1"}},
		{"no rates", Config{Rates: []float64{}}, []string{"rates: 0 of them"}},
		{"models", Config{Models: []Model{NoFault, Slow, Slow}}, []string{"models: none has no faults", "models: slow twice"}},
		{"no models", Config{Models: []Model{}}, []string{"models: none; name at least one"}},
		{"policy name", Config{Policies: []Policy{{Name: "faithful"}}}, []string{`"faithful" is empty or taken`}},
		{"policy", Config{Policies: []Policy{{"odd", expediter.Policy{Budget: -7}}}}, []string{`policies: "odd": budget: -7`}},
		{"size", Config{Seeds: 1000, Agents: 1000, Subtasks: 1000}, []string{"fewer seeds, agents, sub-tasks, rates or models"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Run(t.Context(), tt.cfg)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not say %q", err, want)
				}
			}
		})
	}
}
