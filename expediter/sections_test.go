package expediter_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// rig drives one engine through a test. step and at are those of its next
// event; what it heard of incidents, pauses and transitions is kept in told.
type rig struct {
	t    *testing.T
	x    *expediter.Engine
	step int64
	at   int64 // milliseconds
	told []string
}

func newRig(t *testing.T, cfg expediter.Config) *rig {
	t.Helper()
	r := &rig{t: t, step: 1, at: 1000}
	cfg.Events.Incident = func(e expediter.IncidentEvent) {
		r.told = append(r.told, fmt.Sprintf("%s %s [%s] @%d", e.Kind, e.Cause, strings.Join(e.Members, " "), e.Step))
	}
	cfg.Events.Paused = func(e expediter.PauseEvent) {
		r.told = append(r.told, strings.TrimSpace("pause "+e.Reason.String()))
	}
	x, err := expediter.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.x = x
	return r
}

func (r *rig) now() time.Time { return time.UnixMilli(r.at) }

// words are a decision's verb and reason, as in "SKIP open".
func words(d expediter.Decision) string {
	return strings.TrimSpace(d.Verb.String() + " " + d.Reason.String())
}

// ask decides, and fails the test when the words of the answer are others.
func (r *rig) ask(tool, want string) expediter.Decision {
	r.t.Helper()
	d := r.x.Decide(tool, r.step, r.now())
	if got := words(d); got != want {
		r.t.Fatalf("step %d at %d: %s: got %q, want %q", r.step, r.at, tool, got, want)
	}
	return d
}

// verbs asks n times and records nothing.
func (r *rig) verbs(tool string, n int) string {
	var all []string
	for range n {
		all = append(all, r.x.Decide(tool, r.step, r.now()).Verb.String())
	}
	return strings.Join(all, " ")
}

func (r *rig) record(d expediter.Decision, o expediter.Outcome) expediter.Result {
	r.t.Helper()
	res, err := r.x.Record(d.Call, o, r.step, r.now())
	if err != nil {
		r.t.Fatalf("record %v: %v", d.Call, err)
	}
	return res
}

// fail lets the tool be called and fail n times.
func (r *rig) fail(tool string, n int, category cascade.Category) {
	r.t.Helper()
	for range n {
		r.record(r.ask(tool, "CALL"), expediter.Failure(category, category.String()+" trouble"))
	}
}

func (r *rig) succeed(tool string) {
	r.t.Helper()
	r.record(r.ask(tool, "CALL"), expediter.Success())
}

// probe asks until the tool's trial is due, and returns how many requests that
// took and the trial.
func (r *rig) probe(tool string) (int, expediter.Decision) {
	r.t.Helper()
	for n := 1; n < 1000; n++ {
		if d := r.x.Decide(tool, r.step, r.now()); d.Verb == expediter.Probe {
			return n, d
		}
	}
	r.t.Fatalf("%s: no trial in 1000 requests", tool)
	return 0, expediter.Decision{}
}

func (r *rig) row(tool string) expediter.ToolStatus {
	r.t.Helper()
	for _, row := range r.x.Status().Tools {
		if row.Tool == tool {
			return row
		}
	}
	r.t.Fatalf("%s is not in the table", tool)
	return expediter.ToolStatus{}
}

// state fails the test when the tool stands elsewhere.
func (r *rig) state(tool string, want breaker.State) {
	r.t.Helper()
	if got := r.row(tool).State; got != want {
		r.t.Errorf("%s is %v, want %v", tool, got, want)
	}
}

// consumed fails the test when the budget stands elsewhere.
func (r *rig) consumed(want int) {
	r.t.Helper()
	if got := r.x.Status().Consumed; got != want {
		r.t.Errorf("consumed: got %d, want %d", got, want)
	}
}

// heard compares what observers were told since it was last asked.
func (r *rig) heard(want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.told); diff != "" {
		r.t.Errorf("told (-want +got):\n%s", diff)
	}
	r.told = nil
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func tools(names ...string) capability.Map {
	var m capability.Map
	for _, n := range names {
		m = append(m, capability.Entry{Tool: n})
	}
	return m
}

func TestSection2_ForceOpenSkipsWithoutProbesUntilReset(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: capability.Map{{Tool: "Grep", Fallback: "ask"}}})
	early := r.ask("Grep", "CALL")
	r.must(r.x.ForceOpen("Grep", "maintenance", r.step, r.now()))
	for range 30 {
		r.step, r.at = r.step+5, r.at+60_000
		d := r.ask("Grep", "SKIP forced_open")
		if d.Route == nil || d.Route.Kind != capability.UseFallback || d.Next != 0 {
			t.Fatalf("got route %+v and next %d, want the fallback and no trial", d.Route, d.Next)
		}
	}
	if row := r.row("Grep"); !row.Forced || row.Reason != "maintenance" {
		t.Errorf("the row does not say who opened it: %+v", row)
	}
	if !r.record(early, expediter.Success()).Stale {
		t.Error("a call from before the control was accepted")
	}
	r.state("Grep", breaker.Open)
	r.must(r.x.Reset("Grep", "done", r.step, r.now()))
	r.succeed("Grep")
	if row := r.row("Grep"); row.Forced || row.Reason != "" || row.State != breaker.Closed {
		t.Errorf("after the reset: %+v", row)
	}
}

func TestSection2_ForceOpenEndsATrial(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep")})
	r.fail("Grep", 3, cascade.Upstream)
	_, trial := r.probe("Grep")
	r.must(r.x.ForceOpen("Grep", "", r.step, r.now()))
	if r.row("Grep").ProbeInFlight {
		t.Error("the trial is still said to be under way")
	}
	if !r.record(trial, expediter.Success()).Stale {
		t.Error("the trial closed a circuit that an operator holds open")
	}
	r.ask("Grep", "SKIP forced_open")
}

func TestSection2_ResetClosesAndClears(t *testing.T) {
	tests := []struct {
		name  string
		setUp func(*rig)
	}{
		{"two failures", func(r *rig) { r.fail("Grep", 2, cascade.Upstream) }},
		{"open", func(r *rig) { r.fail("Grep", 3, cascade.Upstream) }},
		{"open, not due for long", func(r *rig) {
			r.fail("Grep", 2, cascade.Upstream)
			o := expediter.Failure(cascade.RateLimit, "429")
			o.RetryAfter = time.Hour
			r.record(r.ask("Grep", "CALL"), o)
		}},
		{"half-open", func(r *rig) { r.fail("Grep", 3, cascade.Upstream); r.probe("Grep") }},
		{"disabled", func(r *rig) { r.must(r.x.Disable("Grep", "", r.step, r.now())) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, expediter.Config{Tools: tools("Grep"), Policy: expediter.Policy{Budget: 50}})
			tt.setUp(r)
			r.must(r.x.Reset("Grep", "", r.step, r.now()))
			if row := r.row("Grep"); row.State != breaker.Closed || row.Consecutive != 0 || row.Disabled || row.FailedProbes != 0 || row.ProbeInFlight {
				t.Errorf("after the reset: %+v", row)
			}
			r.fail("Grep", 2, cascade.Upstream)
			r.state("Grep", breaker.Closed)
			r.fail("Grep", 1, cascade.Upstream)
			r.state("Grep", breaker.Open)
			if n, _ := r.probe("Grep"); n != 3 {
				t.Errorf("the trial came with request %d, want 3", n)
			}
		})
	}
}

func TestSection2_DisableAlwaysCallsAndCountsNothing(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep")})
	r.fail("Grep", 3, cascade.Upstream)
	r.must(r.x.Disable("Grep", "false alarms", r.step, r.now()))
	r.x.SetAvailability("Grep", capability.Unavailable, r.step, r.now())
	var late expediter.Decision
	for range 20 {
		late = r.ask("Grep", "CALL")
		r.record(r.ask("Grep", "CALL"), expediter.Failure(cascade.Network, "refused"))
	}
	r.consumed(3)
	if row := r.row("Grep"); row.State != breaker.Closed || row.Consecutive != 0 || !row.Disabled || row.LastFailure.Text != "refused" {
		t.Errorf("a disabled tool: %+v", row)
	}
	r.must(r.x.Reset("Grep", "", r.step, r.now()))
	r.x.SetAvailability("Grep", capability.Available, r.step, r.now())
	r.record(late, expediter.Failure(cascade.Network, "refused"))
	r.consumed(3)
	if got := r.row("Grep").Consecutive; got != 0 {
		t.Errorf("a call made while it was disabled counts %d", got)
	}
}

// Whatever the engine would have said, the answer is CALL, and what comes of a
// call that it advised against counts for nothing.
func TestSection2_ObserveOnlyAnswersCallAndSaysWhatItWouldHave(t *testing.T) {
	tests := []struct {
		name  string
		want  string // the advice
		setUp func(*rig)
	}{
		{"open", "SKIP open", func(r *rig) { r.fail("Grep", 3, cascade.Upstream) }},
		{"in flight", "SKIP probe_in_flight", func(r *rig) { r.fail("Grep", 3, cascade.Upstream); r.probe("Grep") }},
		{"unavailable", "SKIP unavailable", func(r *rig) { r.x.SetAvailability("Grep", capability.Unavailable, r.step, r.now()) }},
		{"forced open", "SKIP forced_open", func(r *rig) { r.must(r.x.ForceOpen("Grep", "", r.step, r.now())) }},
		{"budget", "PAUSE budget", func(r *rig) {
			r.fail("Bash", 2, cascade.Upstream)
			r.fail("Read", 2, cascade.Upstream)
			r.fail("Grep", 1, cascade.Upstream)
		}},
		{"incident", "PAUSE systemic", func(r *rig) { r.fail("Bash", 3, cascade.Network); r.fail("Read", 2, cascade.Network) }},
		{"healthy", "CALL", func(*rig) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, expediter.Config{Tools: tools("Grep", "Bash", "Read"), Strict: true})
			tt.setUp(r)
			r.x.ObserveOnly(true, "trying it out", r.step, r.now())
			before := r.x.Status()
			d := r.x.Decide("Grep", r.step, r.now())
			would := words(expediter.Decision{Verb: d.Would, Reason: d.Reason})
			if d.Verb != expediter.Call || d.Call == 0 || would != tt.want {
				t.Errorf("got %v, would be %q, want CALL and %q", d.Verb, would, tt.want)
			}
			if tt.want != "CALL" {
				r.record(d, expediter.Failure(cascade.Network, "refused"))
				after := r.x.Status()
				if after.Consumed != before.Consumed || after.Tools[0].State != before.Tools[0].State {
					t.Errorf("a call against the advice counts: %d consumed, %v", after.Consumed, after.Tools[0].State)
				}
			}
			if !before.ObserveOnly || before.ObserveReason != "trying it out" {
				t.Errorf("the status does not say so: %v, %q", before.ObserveOnly, before.ObserveReason)
			}
			r.x.ObserveOnly(false, "", r.step, r.now())
			r.ask("Grep", tt.want)
		})
	}
}

func TestSection2_ControlsAreEvents(t *testing.T) {
	var ops []string
	x, err := expediter.New(expediter.Config{Tools: tools("Grep"), Events: expediter.Events{Journal: func(ev *expediter.Event) {
		ops = append(ops, fmt.Sprintf("%s %s %q %v", ev.Op, ev.Tool, ev.Reason, ev.Transitions))
	}}})
	if err != nil {
		t.Fatal(err)
	}
	at := time.UnixMilli(1)
	err = errors.Join(x.ForceOpen("Grep", "a", 1, at), x.Reset("Grep", "b", 2, at), x.Disable("Grep", "c", 3, at))
	if err != nil {
		t.Fatal(err)
	}
	x.ObserveOnly(true, "d", 4, at)
	want := []string{
		`start  "" []`,
		`force_open Grep "a" [Grep:CLOSED->OPEN@1]`,
		`reset Grep "b" [Grep:OPEN->CLOSED@2]`,
		`disable Grep "c" []`,
		`observe_only  "d" []`,
	}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
}

func TestSection2_ControlsOfAToolThatNobodyDeclared(t *testing.T) {
	at := time.UnixMilli(1)
	for _, strict := range []bool{false, true} {
		x, err := expediter.New(expediter.Config{Tools: tools("Grep"), Strict: strict})
		if err != nil {
			t.Fatal(err)
		}
		for name, control := range map[string]func(string, string, int64, time.Time) error{"ForceOpen": x.ForceOpen, "Reset": x.Reset, "Disable": x.Disable} {
			if err := control("Grpe", "", 9, at); errors.Is(err, expediter.ErrUnknownTool) != strict {
				t.Errorf("%s, strict %v: got %v", name, strict, err)
			}
		}
		if s := x.Status(); strict && (s.Step != 0 || len(s.Tools) != 1) {
			t.Errorf("a refused control left step %d and %d tools", s.Step, len(s.Tools))
		}
	}
}

func TestSection2_OutcomesOfAnOlderGenerationChangeNothing(t *testing.T) {
	for _, charged := range []bool{true, false} {
		var policy expediter.Policy
		policy.Budget = 20
		if !charged {
			policy.ChargeStale = breaker.No
		}
		r := newRig(t, expediter.Config{Tools: tools("Grep"), Policy: policy})
		var early []expediter.Decision
		for range 6 {
			early = append(early, r.ask("Grep", "CALL"))
		}
		r.fail("Grep", 3, cascade.Upstream)
		consumed := 3
		late := func(o expediter.Outcome, want breaker.State) {
			t.Helper()
			r.step++
			if !r.record(early[0], o).Stale {
				t.Errorf("%v was accepted", o)
			}
			early = early[1:]
			if o.Result == cascade.Failed && charged {
				consumed++
			}
			r.state("Grep", want)
			r.consumed(consumed)
			if row := r.row("Grep"); row.Consecutive != 0 {
				t.Errorf("%v counts", o)
			}
		}
		late(expediter.Success(), breaker.Open)
		late(expediter.Failure(cascade.Network, "late"), breaker.Open)
		_, trial := r.probe("Grep")
		late(expediter.Success(), breaker.HalfOpen)
		late(expediter.Failure(cascade.Network, "late"), breaker.HalfOpen)
		r.record(trial, expediter.Success())
		late(expediter.Success(), breaker.Closed)
		if row := r.row("Grep"); row.LastSuccess.Step != r.step {
			t.Errorf("last success: got step %d, want %d", row.LastSuccess.Step, r.step)
		}
		late(expediter.Failure(cascade.Network, "latest"), breaker.Closed)
		if row := r.row("Grep"); row.LastFailure.Text != "latest" || row.LastFailure.Step != r.step {
			t.Errorf("last failure: got %+v, want the latest", row.LastFailure)
		}
	}
}
