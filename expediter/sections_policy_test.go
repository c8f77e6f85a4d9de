package expediter_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// outcomes records a string of outcomes, one call each: s, f or slow (200 ms).
func (r *rig) outcomes(tool, list string) {
	r.t.Helper()
	for _, o := range strings.Fields(list) {
		out := map[string]expediter.Outcome{"s": expediter.Success(), "f": expediter.Failure(cascade.Upstream, "502"), "slow": expediter.Success()}[o]
		if o == "slow" {
			out.Duration = 200 * time.Millisecond
		}
		r.record(r.ask(tool, "CALL"), out)
	}
}

// intervals lets three trials of an open tool fail, and returns the requests
// that each of them took.
func (r *rig) intervals(tool string) string {
	r.t.Helper()
	var took []int
	for range 3 {
		n, trial := r.probe(tool)
		r.record(trial, expediter.Failure(cascade.Upstream, "502"))
		took = append(took, n)
	}
	return fmt.Sprint(took)
}

// ownPolicies has one row for each value of a breaker.Policy: what a tool with
// its own value does, and what one that has the engine's does.
var ownPolicies = []struct {
	key         string
	engine, own breaker.Policy
	do          func(r *rig, tool string) string
	want, plain string
}{
	{key: "failure_threshold", own: breaker.Policy{FailureThreshold: 1}, do: after("f"), want: "OPEN", plain: "CLOSED"},
	{key: "half_open_successes", own: breaker.Policy{HalfOpenSuccesses: 2}, do: func(r *rig, tool string) string {
		r.outcomes(tool, "f f f")
		_, trial := r.probe(tool)
		r.record(trial, expediter.Success())
		return r.row(tool).State.String()
	}, want: "HALF_OPEN", plain: "CLOSED"},
	{key: "trip.policy", engine: breaker.Policy{Trip: breaker.Trip{MinCalls: 2}}, own: breaker.Policy{Trip: breaker.Trip{Policy: breaker.Rate}},
		do: after("f s f"), want: "OPEN", plain: "CLOSED"},
	{key: "trip.window", engine: rated(20, 2, 0.5), own: breaker.Policy{Trip: breaker.Trip{Window: 2}}, do: after("s s s f f"), want: "OPEN", plain: "CLOSED"},
	{key: "trip.min_calls", engine: rated(20, 10, 0.5), own: breaker.Policy{Trip: breaker.Trip{MinCalls: 1}}, do: after("f"), want: "OPEN", plain: "CLOSED"},
	{key: "trip.rate", engine: rated(20, 2, 0.5), own: breaker.Policy{Trip: breaker.Trip{Rate: 0.25}}, do: after("s f"), want: "OPEN", plain: "CLOSED"},
	{key: "slow_call_ms", own: breaker.Policy{SlowCallMS: 100}, do: after("slow slow slow"), want: "OPEN", plain: "CLOSED"},
	{key: "batch", own: breaker.Policy{Batch: breaker.On}, do: func(r *rig, tool string) string {
		calls := []expediter.Decision{r.ask(tool, "CALL"), r.ask(tool, "CALL"), r.ask(tool, "CALL")}
		for _, c := range calls {
			r.record(c, expediter.Failure(cascade.Upstream, "502"))
		}
		return r.row(tool).State.String()
	}, want: "CLOSED", plain: "OPEN"},
	{key: "probe.unit", own: breaker.Policy{Probe: breaker.Pacing{Unit: breaker.Steps}}, do: opened(0, 0), want: "SKIP SKIP SKIP", plain: "SKIP SKIP PROBE"},
	{key: "probe.every", own: breaker.Policy{Probe: breaker.Pacing{Every: 2}}, do: opened(0, 0), want: "SKIP PROBE SKIP", plain: "SKIP SKIP PROBE"},
	{key: "probe.max", engine: breaker.Policy{Probe: breaker.Pacing{Backoff: breaker.On}}, own: breaker.Policy{Probe: breaker.Pacing{Max: 4}},
		do: failing, want: "[3 4 4]", plain: "[3 6 12]"},
	{key: "probe.backoff", own: breaker.Policy{Probe: breaker.Pacing{Backoff: breaker.On}}, do: failing, want: "[3 6 12]", plain: "[3 3 3]"},
	{key: "probe.after_ms", own: breaker.Policy{Probe: breaker.Pacing{AfterMS: 10}}, do: opened(0, 10), want: "PROBE SKIP SKIP", plain: "SKIP SKIP PROBE"},
	{key: "probe.not_before_ms", own: breaker.Policy{Probe: breaker.Pacing{NotBeforeMS: 11}}, do: opened(0, 10), want: "SKIP SKIP SKIP", plain: "SKIP SKIP PROBE"},
	{key: "probe_ttl_ms", own: breaker.Policy{ProbeTTLMS: 50}, do: func(r *rig, tool string) string {
		r.outcomes(tool, "f f f")
		r.probe(tool)
		r.at += 50
		return r.verbs(tool, 1)
	}, want: "PROBE", plain: "SKIP"},
	{key: "probe_ttl_steps", own: breaker.Policy{ProbeTTLSteps: 2}, do: func(r *rig, tool string) string {
		r.at = 0
		r.outcomes(tool, "f f f")
		r.probe(tool)
		r.step += 2
		return r.verbs(tool, 1)
	}, want: "PROBE", plain: "SKIP"},
}

func rated(window, minCalls int, rate float64) breaker.Policy {
	return breaker.Policy{Trip: breaker.Trip{Policy: breaker.Rate, Window: window, MinCalls: minCalls, Rate: rate}}
}

func after(outcomes string) func(*rig, string) string {
	return func(r *rig, tool string) string {
		r.outcomes(tool, outcomes)
		return r.row(tool).State.String()
	}
}

func opened(steps, ms int64) func(*rig, string) string {
	return func(r *rig, tool string) string {
		r.outcomes(tool, "f f f")
		r.step, r.at = r.step+steps, r.at+ms
		return r.verbs(tool, 3)
	}
}

func failing(r *rig, tool string) string {
	r.outcomes(tool, "f f f")
	return r.intervals(tool)
}

func TestSection2_EveryPolicyValueCanBeSetPerTool(t *testing.T) {
	var keys []string
	for _, tt := range ownPolicies {
		keys = append(keys, tt.key)
		t.Run(tt.key, func(t *testing.T) {
			for tool, want := range map[string]string{"Own": tt.want, "Own/child": tt.want, "Plain": tt.plain} {
				r := newRig(t, expediter.Config{
					Tools:  capability.Map{{Tool: "Own", Policy: tt.own}, {Tool: "Plain"}},
					Policy: expediter.Policy{Policy: tt.engine, Budget: budget.Unlimited},
				})
				if got := tt.do(r, tool); got != want {
					t.Errorf("%s: got %s, want %s", tool, got, want)
				}
			}
		})
	}
	want := policyKeys("", reflect.TypeFor[breaker.Policy]())
	slices.Sort(want)
	slices.Sort(keys)
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("values with a row here (-want +got):\n%s", diff)
	}
}

// policyKeys lists the keys of a policy in files, as in probe.every.
func policyKeys(prefix string, of reflect.Type) []string {
	var keys []string
	for i := range of.NumField() {
		key, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if of.Field(i).Type.Kind() == reflect.Struct {
			keys = append(keys, policyKeys(prefix+key+".", of.Field(i).Type)...)
			continue
		}
		keys = append(keys, prefix+key)
	}
	return keys
}

// While a tool has asked for a pause it is not due, whatever its pacing says.
func TestSection2_RetryAfterHoldsTheTrialBack(t *testing.T) {
	tests := []struct {
		name   string
		pacing breaker.Pacing
	}{
		{"attempts", breaker.Pacing{}},
		{"attempts, by time", breaker.Pacing{Every: 1000, Max: 1000, AfterMS: 5}},
		{"steps", breaker.Pacing{Unit: breaker.Steps}},
		{"time", breaker.Pacing{Unit: breaker.Time, Every: 10, Max: 10}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, expediter.Config{Policy: expediter.Policy{Policy: breaker.Policy{Probe: tt.pacing}}})
			r.fail("Grep", 2, cascade.RateLimit)
			o := expediter.Failure(cascade.RateLimit, "429")
			o.RetryAfter = 2 * time.Minute
			r.record(r.ask("Grep", "CALL"), o)
			r.step, r.at = r.step+50, r.at+119_999
			for range 10 {
				r.ask("Grep", "SKIP open")
			}
			r.at++
			r.record(r.ask("Grep", "PROBE"), o)
			r.step, r.at = r.step+50, r.at+119_999
			r.ask("Grep", "SKIP open")
		})
	}
}

// The longest wish holds, also one from before the opening, and also for a
// member of an incident that another member's good probe has made due.
func TestSection2_RetryAfterHoldsBackWhatIsDueAtOnce(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail"), Policy: expediter.Policy{Budget: 50}})
	o := expediter.Failure(cascade.Network, "refused")
	o.RetryAfter = time.Minute
	r.record(r.ask("Mail", "CALL"), o)
	o.RetryAfter = time.Second
	r.record(r.ask("Mail", "CALL"), o)
	_, err := r.x.DeclareOutage(cascade.Network, []string{"Web", "Mail"}, r.step, r.now())
	r.must(err)
	_, trial := r.probe("Web")
	r.record(trial, expediter.Success())
	r.state("Web", breaker.Closed)
	r.at += 59_999
	r.ask("Mail", "SKIP open")
	r.at++
	r.ask("Mail", "PROBE")
}

// A lost server is one event: with one other failing tool it is no cascade,
// with two others it is.
func TestSection7_OneOutageCountsAsOneTool(t *testing.T) {
	for _, tt := range []struct {
		one   breaker.Switch
		after []string // the answers to a request for Ok, after each opening
	}{
		{breaker.No, []string{"PAUSE systemic"}},
		{breaker.On, []string{"CALL", "PAUSE systemic"}},
	} {
		r := newRig(t, expediter.Config{Policy: expediter.Policy{Budget: 50, Cascade: expediter.Cascade{OneOutage: tt.one}}})
		_, err := r.x.DeclareOutage(cascade.Upstream, []string{"s/a", "s/b", "s/c", "s connection"}, r.step, r.now())
		r.must(err)
		for i, want := range tt.after {
			r.fail([]string{"Grep", "Read"}[i], 3, cascade.ToolMissing)
			r.ask("Ok", want)
		}
	}
}

func TestSection6_NamedPolicies(t *testing.T) {
	want := expediter.Faithful()
	want.ChargePerTool, want.ChargeStale, want.Batch = 3, breaker.No, breaker.On
	want.Probe.Backoff, want.Probe.NotBeforeMS = breaker.On, 1000
	want.Cascade.OneOutage = breaker.On
	for name, p := range map[string]expediter.Policy{"faithful": expediter.Faithful(), "interactive": want} {
		got, err := expediter.PolicyNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if err := got.Validate(true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	x, err := expediter.New(expediter.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(expediter.Faithful(), x.Status().Policy); diff != "" {
		t.Errorf("the zero policy (-want +got):\n%s", diff)
	}
	if _, err := expediter.PolicyNamed("reckless"); err == nil || !strings.Contains(err.Error(), "use faithful or interactive") {
		t.Errorf("an unknown name: got %v", err)
	}
}

// One dead tool must not stop an agent whose other tools work.
func TestSection6_ADeadToolDoesNotExhaustTheInteractiveBudget(t *testing.T) {
	for name, want := range map[string]string{"faithful": "PAUSE budget", "interactive": "CALL"} {
		policy, err := expediter.PolicyNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, expediter.Config{Tools: tools("Dead", "Read"), Policy: policy})
		r.fail("Dead", 3, cascade.Upstream)
		for range 300 {
			r.step, r.at = r.step+1, r.at+1000
			if d := r.x.Decide("Dead", r.step, r.now()); d.Verb == expediter.Probe {
				r.record(d, expediter.Failure(cascade.Upstream, "502"))
			}
		}
		r.ask("Read", want)
	}
}

func TestSection6_AnUnlimitedBudgetNeverPauses(t *testing.T) {
	r := newRig(t, expediter.Config{Policy: expediter.Policy{Budget: budget.Unlimited, Policy: breaker.Policy{FailureThreshold: 1000}}})
	for range 900 {
		if d := r.ask("Grep", "CALL"); d.Caution != 0 {
			t.Fatalf("caution %v with no limit", d.Caution.Words())
		} else {
			r.record(d, expediter.Failure(cascade.Upstream, "502"))
		}
	}
	if s := r.x.Status(); s.Consumed != 900 || s.Limit != budget.Unlimited || s.Paused != expediter.NoReason {
		t.Errorf("got %d of %d, paused %q", s.Consumed, s.Limit, s.Paused)
	}
}
