package expediter_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// SPEC 4 rule 2: strict, mentioned nowhere in the map: SKIP unknown_tool,
// whatever has entered the table otherwise.
func TestRegression_StrictStaysStrictAfterObserveOnly(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep"), Strict: true})
	r.x.ObserveOnly(true, "", r.step, r.now())
	for range 2 {
		if d := r.x.Decide("Nobody", r.step, r.now()); d.Would != expediter.Skip || d.Reason != expediter.UnknownTool {
			t.Errorf("would be %v %v, want SKIP unknown_tool", d.Would, d.Reason)
		}
	}
	r.x.ObserveOnly(false, "", r.step, r.now())
	r.ask("Nobody", "SKIP unknown_tool")
}

func TestRegression_StrictStaysStrictAfterAnOutage(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep"), Strict: true})
	_, err := r.x.DeclareOutage(cascade.Network, []string{"Nobody"}, r.step, r.now())
	r.must(err)
	r.ask("Nobody", "SKIP unknown_tool")
}

// SPEC 8 rule 1: a denial must not be walked around, also not because an
// operator holds the tool open meanwhile.
func TestRegression_ForceOpenDoesNotLiftADenial(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: capability.Map{{Tool: "Deploy", Fallback: "ask", Alternatives: []capability.Alternative{{Tool: "Bash"}}}}})
	r.fail("Deploy", 3, cascade.Permission)
	if d := r.ask("Deploy", "SKIP open"); d.Route.Kind != capability.UseFallback {
		t.Fatalf("denied: got %+v", d.Route)
	}
	r.must(r.x.ForceOpen("Deploy", "", r.step, r.now()))
	if d := r.ask("Deploy", "SKIP forced_open"); d.Route.Kind != capability.UseFallback {
		t.Errorf("denied and forced open: got %+v, want the fallback", d.Route)
	}
}

// An id that was never issued (the number of one call, the place of another
// tool) is unknown, and leaves the real one alone.
func TestRegression_AForgedIDIsUnknown(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep", "Bash")})
	d := r.ask("Grep", "CALL")
	if _, err := r.x.Record(d.Call+1, expediter.Failure(cascade.Network, ""), r.step, r.now()); err == nil {
		t.Errorf("call %v was never issued, and was recorded", d.Call+1)
	}
	r.consumed(0)
	r.record(d, expediter.Success())
}

// The observer hears that the pause is over with the event that ended it.
func TestRegression_ResumedIsToldWhenAMemberlessIncidentConfirmsItself(t *testing.T) {
	policy := large()
	policy.Cascade.ConfirmAfterMS = 10
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Read"), Policy: policy})
	r.systemic()
	for _, tool := range []string{"Web", "Mail"} {
		r.must(r.x.Reset(tool, "", r.step, r.now()))
	}
	r.told = nil
	r.at += 10
	r.ask("Read", "CALL")
	r.heard("confirmed network [Mail Web] @1", "ended network [Mail Web] @1", "pause")
}

// Each problem of a configuration is a line of its own with its path, once.
func TestRegression_EveryLineOfAConfigErrorHasItsPath(t *testing.T) {
	_, err := expediter.New(expediter.Config{Tools: capability.Map{
		{Tool: "Grep", Policy: breaker.Policy{FailureThreshold: -5, HalfOpenSuccesses: -5}}, {Tool: "Bash"},
	}, Policy: expediter.Policy{Budget: -7, ChargePerTool: -7, Policy: breaker.Policy{ProbeTTLMS: -9}}})
	for _, line := range strings.Split(fmt.Sprint(err), "\n") {
		if !strings.HasPrefix(line, "policy: ") && !strings.HasPrefix(line, "Tools[0] ") {
			t.Errorf("no path, or told of an entry that is not at fault: %s", line)
		}
	}
}

// A panic of one observer takes nothing from another.
func TestRegression_APanickingJournalLosesNoRecorded(t *testing.T) {
	var decided int
	bad := true
	x, err := expediter.New(expediter.Config{Events: expediter.Events{
		Journal: func(ev *expediter.Event) {
			if ev.Op == expediter.OpDecide && bad {
				bad = false
				panic("disk full")
			}
		},
		Decided: func(*expediter.Event) { decided++ },
	}})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		x.Decide("Grep", 1, time.UnixMilli(1))
	}()
	x.Decide("Grep", 1, time.UnixMilli(1))
	if decided != 2 {
		t.Errorf("Decided heard of %d decisions, want 2", decided)
	}
}

// Out-of-range words of a caller must not make a snapshot that cannot be written or
// restored.
func TestRegression_InvalidWordsSurviveASnapshot(t *testing.T) {
	cfg := expediter.Config{Tools: tools("Grep", "Bash")}
	r := newRig(t, cfg)
	r.x.SetAvailability("Grep", capability.Score(9), r.step, r.now())
	r.record(r.x.DecideScored("Bash", capability.Score(9), r.step, r.now()), expediter.Outcome{Result: 9, Category: 99})
	s := r.x.Snapshot()
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
	if _, err := expediter.Restore(cfg, s); err != nil {
		t.Error(err)
	}
}

// SPEC 2: a non-strict engine holds at most max_tools.
func TestRegression_MaxToolsIsABoundWhateverFails(t *testing.T) {
	p := large()
	r := newRig(t, expediter.Config{MaxTools: 2, Policy: p})
	for i := range 20 {
		r.record(r.ask(fmt.Sprint("t", i), "CALL"), expediter.Failure(cascade.Upstream, ""))
	}
	if n := len(r.x.Status().Tools); n > 2 {
		t.Errorf("%d tools are held, max_tools is 2", n)
	}
}

// A route must not lead into the pause of an incident that pauses only some.
func TestRegression_NoRouteIntoAPartialPause(t *testing.T) {
	m := tools("A", "B", "C", "D")
	for i := range 3 {
		m[i].Shares = []string{"vpn"}
	}
	m[3].Alternatives = []capability.Alternative{{Tool: "C"}}
	p := expediter.Policy{Budget: 50, Cascade: expediter.Cascade{PauseScope: expediter.PauseShares}}
	r := newRig(t, expediter.Config{Tools: m, Policy: p})
	r.fail("D", 3, cascade.Upstream)
	r.fail("A", 3, cascade.Timeout)
	r.fail("B", 3, cascade.Timeout)
	r.ask("C", "PAUSE systemic")
	if d := r.x.Decide("D", r.step, r.now()); d.Verb != expediter.Skip || d.Route.Kind == capability.UseAlternative {
		t.Errorf("D: %v by %+v, want SKIP and no route to C, which is paused", d.Verb, d.Route)
	}
}

// A tool is no alternative to itself, by way of its parent's entry either.
func TestRegression_NoRouteToTheToolItself(t *testing.T) {
	m := tools("Bash")
	m[0].Alternatives = []capability.Alternative{{Tool: "Bash/rg"}}
	r := newRig(t, expediter.Config{Tools: m})
	r.x.SetAvailability("Bash/rg", capability.Unavailable, r.step, r.now())
	if d := r.x.DecideScored("Bash/rg", capability.Unavailable, r.step, r.now()); d.Route.Tool == "Bash/rg" {
		t.Errorf("Bash/rg is routed to itself: %+v", d.Route)
	}
}

// Calls in flight outlive any number of later ones, and a restore.
func TestRegression_PendingCallsOlderThanTheRing(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep")})
	first := r.ask("Grep", "CALL")
	for range 80_000 {
		r.x.Decide("Grep", r.step, r.now())
	}
	s := r.x.Snapshot()
	if got := len(s.Pending); got != 80_001 {
		t.Errorf("%d calls are pending, want 80001", got)
	}
	if got := r.x.Status().Counts.Successes; got != 0 {
		t.Errorf("%d successes, want 0", got)
	}
	x, err := expediter.Restore(expediter.Config{Tools: tools("Grep")}, s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Record(first.Call, expediter.Success(), r.step, r.now()); err != nil {
		t.Errorf("the first call: %v, want no error", err)
	}
}

// A call that was issued while its tool was declared is recorded in an engine
// whose map lacks the tool: what it counts in flight stays what its snapshot
// says.
func TestRegression_ToolsInFlightThatTheMapLosesAreNotCountedBelowZero(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep")})
	call := r.ask("Grep", "CALL").Call
	x, err := expediter.Restore(expediter.Config{}, r.x.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Record(call, expediter.Success(), r.step, r.now()); err != nil {
		t.Fatal(err)
	}
	if got := x.Snapshot().Tools[0].Flying; got != 0 {
		t.Errorf("%d calls in flight, want 0", got)
	}
}
