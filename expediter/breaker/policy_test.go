package breaker

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The rate is a limit to be exceeded, and nothing is judged before min_calls.
// A14 to A21 name limits that are to be reached: those differ on purpose.
func TestRate(t *testing.T) {
	tests := []struct {
		name     string
		trip     Trip
		outcomes string
		want     bool
	}{
		{"too few to judge", Trip{Window: 20, MinCalls: 10, Rate: 0.5}, "111111111", false},
		{"A18 exactly half is not above half", Trip{Window: 20, MinCalls: 10, Rate: 0.5}, "1010101010", false},
		{"one more than half", Trip{Window: 20, MinCalls: 10, Rate: 0.5}, "10101010101", true},
		{"A17 the oldest outcomes fall out", Trip{Window: 5, MinCalls: 5, Rate: 0.5}, "1110000", false},
		{"A20 101 of 201", Trip{Window: 300, MinCalls: 10, Rate: 0.5}, strings.Repeat("0", 100) + strings.Repeat("1", 101), true},
		{"A20 100 of 201", Trip{Window: 300, MinCalls: 10, Rate: 0.5}, strings.Repeat("0", 101) + strings.Repeat("1", 100), false},
		{"no rounding: 11 of 20 against 0.55", Trip{Window: 20, MinCalls: 10, Rate: 0.55}, strings.Repeat("1", 11) + strings.Repeat("0", 9), false},
		{"no rounding: 12 of 20 against 0.55", Trip{Window: 20, MinCalls: 10, Rate: 0.55}, strings.Repeat("1", 12) + strings.Repeat("0", 8), true},
		{"rate 1 is never exceeded", Trip{Window: 10, MinCalls: 1, Rate: 1}, "1111111111", false},
	}
	for _, tc := range tests {
		w := NewWindow(tc.trip)
		w.Load(tc.outcomes)
		if got := w.Exceeded(); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestDue(t *testing.T) {
	attempts := Pacing{Every: 3, Max: 20, AfterMS: 30_000, NotBeforeMS: Off}
	held := Pacing{Every: 3, Max: 20, AfterMS: 30_000, NotBeforeMS: 1000}
	steps := Pacing{Unit: Steps, Every: 3, Max: 20}
	clock := Pacing{Unit: Time, Every: 5000, Max: 20_000}
	tests := []struct {
		name            string
		pacing          Pacing
		attempts        int64
		interval, after int64
		step, at        int64
		wantDue         bool
		wantLeft        int64
		anchorStep      int64
	}{
		{name: "two skips", pacing: attempts, attempts: 2, interval: 3, after: 30_000, wantLeft: 1},
		{name: "the third request is the probe", pacing: attempts, attempts: 3, interval: 3, after: 30_000, wantDue: true, wantLeft: 1},
		{name: "just opened", pacing: attempts, interval: 3, after: 30_000, wantLeft: 3},
		{name: "time alone", pacing: attempts, attempts: 1, interval: 3, after: 30_000, at: 30_000, wantDue: true, wantLeft: 2},
		{name: "not quite", pacing: attempts, attempts: 1, interval: 3, after: 30_000, at: 29_999, wantLeft: 2},
		{name: "never by time", pacing: attempts, attempts: 1, interval: 3, after: Off, at: 1 << 40, wantLeft: 2},
		{name: "held back", pacing: held, attempts: 9, interval: 3, after: 30_000, at: 999, wantLeft: 1},
		{name: "held back no longer", pacing: held, attempts: 9, interval: 3, after: 30_000, at: 1000, wantDue: true, wantLeft: 1},
		{name: "steps, one short", pacing: steps, interval: 3, step: 12, anchorStep: 10, wantLeft: 1},
		{name: "steps", pacing: steps, interval: 3, step: 13, anchorStep: 10, wantDue: true, wantLeft: 1},
		{name: "steps do not count requests", pacing: steps, attempts: 50, interval: 3, step: 10, anchorStep: 10, wantLeft: 3},
		{name: "milliseconds, one short", pacing: clock, interval: 5000, at: 4999, wantLeft: 1},
		{name: "milliseconds", pacing: clock, interval: 5000, at: 5000, wantDue: true, wantLeft: 1},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			a := Anchor{Step: tc.anchorStep, Attempts: tc.attempts}
			if got := tc.pacing.Due(a, tc.interval, tc.after, tc.step, tc.at); got != tc.wantDue {
				t.Errorf("due: got %v, want %v", got, tc.wantDue)
			}
			if got := tc.pacing.Left(a, tc.interval, tc.step, tc.at); got != tc.wantLeft {
				t.Errorf("left: got %d, want %d", got, tc.wantLeft)
			}
		})
	}
}

func TestPolicyOver(t *testing.T) {
	timed := Defaults()
	timed.Probe.Unit, timed.Probe.Every, timed.Probe.Max = Time, DefaultEveryMS, DefaultMaxMS
	own := Defaults()
	own.FailureThreshold, own.Probe.AfterMS, own.Probe.Backoff = 1, Off, On
	tests := []struct {
		name string
		give Policy
		want Policy
	}{
		{"nothing given", Policy{}, Defaults()},
		{"some of its own", Policy{FailureThreshold: 1, Probe: Pacing{AfterMS: Off, Backoff: On}}, own},
		{"unit time has its own numbers", Policy{Probe: Pacing{Unit: Time}}, timed},
	}
	for _, tc := range tests {
		if diff := cmp.Diff(tc.want, tc.give.Over(Defaults())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	if err := timed.Validate(true); err != nil {
		t.Errorf("the defaults of unit time: %v", err)
	}
}

func TestPolicyValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Policy)
		want   string // empty: allowed
	}{
		{"the defaults", func(*Policy) {}, ""},
		{"threshold", func(p *Policy) { p.FailureThreshold = -2 }, "failure_threshold: -2"},
		{"successes", func(p *Policy) { p.HalfOpenSuccesses = 0 }, "half_open_successes: 0"},
		{"window", func(p *Policy) { p.Trip.Window = MaxWindow + 1 }, "trip.window: 100001"},
		{"rate", func(p *Policy) { p.Trip.Rate = 1.5 }, "trip.rate: 1.5"},
		{"more calls than the window holds", func(p *Policy) { p.Trip = Trip{Policy: Rate, Window: 5, MinCalls: 6, Rate: 0.5} }, "min_calls"},
		{"max below every", func(p *Policy) { p.Probe.Max = 2 }, "probe.max: 2"},
		{"every", func(p *Policy) { p.Probe.Every, p.Probe.Max = MaxInterval+1, MaxInterval+1 }, "probe.every: 1000000000001"},
		{"after", func(p *Policy) { p.Probe.AfterMS = -7 }, "probe.after_ms: -7"},
		{"off", func(p *Policy) { p.Probe.AfterMS = Off }, ""},
		{"time to live", func(p *Policy) { p.ProbeTTLMS = -1 }, "probe_ttl_ms: -1"},
		{"unit", func(p *Policy) { p.Probe.Unit = 9 }, "probe.unit: unit(9)"},
		{"rule", func(p *Policy) { p.Trip.Policy = 9 }, "trip.policy: rule(9)"},
	}
	for _, tc := range tests {
		p := Defaults()
		tc.change(&p)
		err := p.Validate(true)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
	p := Defaults()
	p.Probe.Max = 1
	if err := p.Validate(false); err != nil {
		t.Errorf("replay: got %v, want max below every to pass", err)
	}
	p.FailureThreshold, p.ProbeTTLSteps = -1, -1
	if err := p.Validate(false); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v, want both problems at once", err)
	}
}

func TestPolicyJSON(t *testing.T) {
	p := Defaults()
	p.Trip.Policy, p.Probe.Unit, p.Probe.Backoff = Rate, Steps, On
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var back Policy
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, back); diff != "" {
		t.Errorf("a policy that was written and read (-want +got):\n%s", diff)
	}
	for _, bad := range []string{`{"probe":{"unit":"days"}}`, `{"trip":{"policy":"luck"}}`, `{"probe":{"backoff":"maybe"}}`} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestSwitch(t *testing.T) {
	tests := []struct {
		s        Switch
		def      bool
		want     bool
		wantJSON string
	}{
		{Default, true, true, "null"},
		{Default, false, false, "null"},
		{On, false, true, "true"},
		{No, true, false, "false"},
	}
	for _, tc := range tests {
		text, err := json.Marshal(tc.s)
		if err != nil {
			t.Fatal(err)
		}
		var back Switch
		if err := json.Unmarshal(text, &back); err != nil || back != tc.s {
			t.Errorf("%s reads back as %v, %v", text, back, err)
		}
		if got := tc.s.Or(tc.def); got != tc.want || string(text) != tc.wantJSON {
			t.Errorf("switch %d: got %v and %s, want %v and %s", tc.s, got, text, tc.want, tc.wantJSON)
		}
	}
}
