package expediter_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// joined is a rig whose engine belongs to a fleet, and what it told it.
type joined struct {
	*rig
	changes []string
	wants   []expediter.Want
}

func join(t *testing.T, cfg expediter.Config) *joined {
	t.Helper()
	j := &joined{rig: newRig(t, cfg)}
	j.mode(expediter.FleetLeased)
	return j
}

func (j *joined) mode(m expediter.FleetMode) {
	j.x.Share(expediter.Fleet{Mode: m,
		Changed: func(c expediter.Change) {
			j.changes = append(j.changes, fmt.Sprintf("%s %s %v %d", c.Kind, c.Tool, c.Members, c.FailedProbes))
		},
		Wanted: func(w expediter.Want) { j.wants = append(j.wants, w) },
	}, j.step, j.now())
}

func (j *joined) lease(tool string, ms int64) {
	j.t.Helper()
	j.must(j.x.Lease(tool, time.UnixMilli(j.at+ms), j.step, j.now()))
}

func (j *joined) adopt(c expediter.Change) {
	j.t.Helper()
	if _, err := j.x.Adopt(c, j.step, j.now()); err != nil {
		j.t.Fatalf("adopt %+v: %v", c, err)
	}
}

func (j *joined) shared(want ...string) {
	j.t.Helper()
	if diff := cmp.Diff(want, j.changes); diff != "" {
		j.t.Errorf("told the fleet (-want +got):\n%s", diff)
	}
	j.changes = nil
}

func TestFleet_TrialNeedsALease(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	j.fail("Grep", 3, cascade.Upstream)
	if got := j.verbs("Grep", 4); got != "SKIP SKIP SKIP SKIP" {
		t.Errorf("without a lease: got %s", got)
	}
	if want := []expediter.Want{{Tool: "Grep"}}; !cmp.Equal(j.wants, want) {
		t.Errorf("wants: got %v, want %v once", j.wants, want)
	}
	j.lease("Grep", 5000)
	trial := j.ask("Grep", "PROBE")
	j.ask("Grep", "SKIP probe_in_flight")
	j.record(trial, expediter.Failure(cascade.Upstream, "still"))
	j.ask("Grep", "SKIP open")
	j.ask("Grep", "SKIP open")
	j.ask("Grep", "SKIP open") // due, but the lease ended with the trial
	j.lease("Grep", 5000)
	j.record(j.ask("Grep", "PROBE"), expediter.Success())
	j.state("Grep", breaker.Closed)
	j.shared("opened Grep [] 0", "probe_failed Grep [] 1", "closed Grep [] 1")
}

func TestFleet_TrialThatOutlivesItsLeaseIsStale(t *testing.T) {
	for _, o := range []expediter.Outcome{expediter.Success(), expediter.Failure(cascade.Upstream, "late")} {
		j := join(t, expediter.Config{Policy: large()})
		j.fail("Grep", 3, cascade.Upstream)
		j.verbs("Grep", 3)
		j.lease("Grep", 5000)
		trial := j.ask("Grep", "PROBE")
		j.at += 5000
		if res := j.record(trial, o); !res.Stale {
			t.Errorf("%v: got %+v, want stale", o.Result, res)
		}
		j.state("Grep", breaker.HalfOpen)
		j.ask("Grep", "SKIP probe_in_flight") // the slot is free, the lease is not there
		j.lease("Grep", 5000)
		j.record(j.ask("Grep", "PROBE"), expediter.Success())
		j.state("Grep", breaker.Closed)
	}
}

func TestFleet_LeaseIsRenewedAndTakenBack(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	j.fail("Grep", 3, cascade.Upstream)
	j.verbs("Grep", 3)
	j.lease("Grep", 1000)
	j.must(j.x.Lease("Grep", time.Time{}, j.step, j.now()))
	j.ask("Grep", "SKIP open")
	j.lease("Grep", 1000)
	trial := j.ask("Grep", "PROBE")
	j.lease("Grep", 10_000)
	j.at += 9000
	if res := j.record(trial, expediter.Success()); res.Stale || !res.Closed {
		t.Errorf("got %+v, want closed", res)
	}
}

func TestFleet_AloneItTriesByItself(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	j.fail("Grep", 3, cascade.Upstream)
	j.mode(expediter.FleetAlone)
	n, trial := j.probe("Grep")
	if n != 3 {
		t.Errorf("the trial came at request %d, want 3", n)
	}
	j.record(trial, expediter.Success())
	j.shared("opened Grep [] 0", "closed Grep [] 0")
	j.mode(expediter.FleetNone)
	j.fail("Grep", 3, cascade.Upstream)
	j.shared()
}

func TestFleet_AdoptedOpeningCostsNoBudget(t *testing.T) {
	j := join(t, expediter.Config{})
	j.adopt(expediter.Change{Kind: expediter.ChangeOpened, Tool: "Grep", Run: 3, FailedProbes: 2,
		Failure: cascade.Failure{Category: cascade.Upstream}, Text: "HTTP 503"})
	j.ask("Grep", "SKIP open")
	j.consumed(0)
	row := j.row("Grep")
	if row.Trip.Category != cascade.Upstream || row.Run != 3 || row.FailedProbes != 2 || row.LastFailure.Text != "HTTP 503" {
		t.Errorf("got %+v", row)
	}
	j.adopt(expediter.Change{Kind: expediter.ChangeClosed, Tool: "Grep"})
	j.ask("Grep", "CALL")
	j.shared()
}

func TestFleet_FailedProbeElsewhereAnchorsAnew(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	j.fail("Grep", 3, cascade.Upstream)
	j.verbs("Grep", 3)
	j.lease("Grep", 5000)
	mine := j.ask("Grep", "PROBE")
	j.adopt(expediter.Change{Kind: expediter.ChangeProbeFailed, Tool: "Grep", FailedProbes: 4, Failure: cascade.Failure{Category: cascade.Upstream}})
	if got := j.row("Grep"); got.State != breaker.Open || got.FailedProbes != 4 || got.Next != 3 || got.Leased != 0 {
		t.Errorf("got %v, %d failed probes, next %d, leased %d", got.State, got.FailedProbes, got.Next, got.Leased)
	}
	if res := j.record(mine, expediter.Success()); !res.Stale {
		t.Error("the trial of an older generation counted")
	}
	j.state("Grep", breaker.Open)
}

func TestFleet_IncidentsAreSharedAndMerge(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	for _, tool := range []string{"Grep", "Read", "Bash"} {
		j.adopt(expediter.Change{Kind: expediter.ChangeOpened, Tool: tool})
	}
	if _, err := j.x.ConfirmRecovery("three of no known cause", j.step, j.now()); err != nil {
		t.Fatal(err)
	}
	j.changes = nil
	j.adopt(expediter.Change{Kind: expediter.ChangeIncident, Cause: "network", Members: []string{"Bash", "Grep"}, Failure: cascade.Failure{Category: cascade.Network}})
	j.ask("Read", "PAUSE systemic")
	j.adopt(expediter.Change{Kind: expediter.ChangeIncident, Cause: "network", Members: []string{"Grep", "Read"}, Failure: cascade.Failure{Category: cascade.Network}})
	if in := j.x.Status().Incidents; len(in) != 1 || !cmp.Equal(in[0].Members, []string{"Bash", "Grep", "Read"}) {
		t.Errorf("got the incidents %+v, want one of three tools", in)
	}
	j.adopt(expediter.Change{Kind: expediter.ChangeConfirmed, Why: "the cable was out"})
	j.adopt(expediter.Change{Kind: expediter.ChangeConfirmed, Why: "the cable was out"})
	j.verbs("Grep", 3)
	want := []expediter.Want{{Tool: "Grep", With: []string{"Bash", "Read"}}}
	if !cmp.Equal(j.wants, want) {
		t.Errorf("wants: got %v, want %v", j.wants, want)
	}
	j.adopt(expediter.Change{Kind: expediter.ChangeClosed, Tool: "Bash"})
	j.lease("Grep", 5000)
	j.ask("Grep", "PROBE") // a good probe of another member made it due
	j.shared()
	j.consumed(0)
}

func TestFleet_OneFlagsWhatAllHear(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	j.fail("Grep", 3, cascade.Network)
	j.fail("Read", 3, cascade.Network)
	if _, err := j.x.ConfirmRecovery("looked", j.step, j.now()); err != nil {
		t.Fatal(err)
	}
	j.must(j.x.ForceOpen("Web", "no", j.step, j.now()))
	j.must(j.x.Reset("Web", "yes", j.step, j.now()))
	j.must(j.x.Disable("Web", "trusted", j.step, j.now()))
	j.shared("opened Grep [] 0", "opened Read [] 0", "incident  [Grep Read] 0", "confirmed  [] 0",
		"forced_open Web [] 0", "reset Web [] 0", "disabled Web [] 0")
}

func TestFleet_DeclaredOutageIsPrivate(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	if _, err := j.x.DeclareOutage(cascade.Network, []string{"s/a"}, j.step, j.now()); err != nil {
		t.Fatal(err)
	}
	n, trial := j.probe("s/a") // without a lease
	if n != 3 {
		t.Errorf("the trial came at request %d, want 3", n)
	}
	j.record(trial, expediter.Failure(cascade.Network, "refused"))
	if !j.row("s/a").Private {
		t.Error("not private")
	}
	j.shared()
	j.adopt(expediter.Change{Kind: expediter.ChangeOpened, Tool: "s/a"}) // the fleet has it too
	if j.row("s/a").Private {
		t.Error("still private")
	}
	if got := j.verbs("s/a", 30); got[len(got)-4:] != "SKIP" {
		t.Errorf("got %s, want no trial without a lease", got)
	}
}

func TestFleet_SharedBudget(t *testing.T) {
	j := join(t, expediter.Config{Policy: expediter.Policy{Budget: 3}})
	j.x.Share(expediter.Fleet{Mode: expediter.FleetLeased, Charges: true, Changed: func(c expediter.Change) {
		j.changes = append(j.changes, string(c.Kind)+" "+c.Tool)
	}}, j.step, j.now())
	j.fail("Grep", 1, cascade.Upstream)
	for range 2 {
		j.adopt(expediter.Change{Kind: expediter.ChangeCharged, Tool: "Read", Failure: cascade.Failure{Category: cascade.Timeout}})
	}
	j.ask("Grep", "PAUSE budget")
	j.adopt(expediter.Change{Kind: expediter.ChangeCycle})
	j.ask("Grep", "CALL")
	j.x.BeginCycle(j.step, j.now())
	j.shared("charged Grep", "cycle ")
}

func TestFleet_OperatorsWordStands(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	j.must(j.x.Disable("Grep", "trusted", j.step, j.now()))
	j.adopt(expediter.Change{Kind: expediter.ChangeOpened, Tool: "Grep"})
	j.ask("Grep", "CALL")
	j.adopt(expediter.Change{Kind: expediter.ChangeForcedOpen, Tool: "Grep", Why: "maintenance"})
	j.adopt(expediter.Change{Kind: expediter.ChangeClosed, Tool: "Grep"})
	j.ask("Grep", "SKIP forced_open")
	if got := j.row("Grep").Reason; got != "maintenance" {
		t.Errorf("reason: got %q", got)
	}
	j.adopt(expediter.Change{Kind: expediter.ChangeReset, Tool: "Grep"})
	j.ask("Grep", "CALL")
}

func TestFleet_ChangesOfOthersAreNotTrusted(t *testing.T) {
	many := make([]string, 2000)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for _, c := range []expediter.Change{
		{}, {Kind: "exploded", Tool: "Grep"}, {Kind: expediter.ChangeOpened}, {Kind: expediter.ChangeIncident},
		{Kind: expediter.ChangeIncident, Cause: "mixed", Members: many}, {Kind: expediter.ChangeOpened, Tool: "Grep", Run: -1},
		{Kind: expediter.ChangeOpened, Tool: "Grep", FailedProbes: 1 << 40},
	} {
		j := join(t, expediter.Config{})
		if _, err := j.x.Adopt(c, j.step, j.now()); err == nil {
			t.Errorf("%+v was adopted", c)
		}
		if got := len(j.x.Status().Tools); got != 0 {
			t.Errorf("%+v left %d tools", c, got)
		}
	}
	j := join(t, expediter.Config{Strict: true, Tools: tools("Read")})
	if _, err := j.x.Adopt(expediter.Change{Kind: expediter.ChangeOpened, Tool: "Grep"}, 1, j.now()); !errors.Is(err, expediter.ErrUnknownTool) {
		t.Errorf("strict: got %v", err)
	}
}

// The fast path is the same in a fleet.
func TestFleet_AllocatesNothing(t *testing.T) {
	j := join(t, expediter.Config{Tools: tools("Grep", "Read"), Policy: large()})
	j.fail("Read", 3, cascade.Upstream)
	j.verbs("Read", 3) // due, and without a lease
	at := j.now()
	if n := testing.AllocsPerRun(1000, func() {
		d := j.x.Decide("Grep", 1, at)
		if _, err := j.x.Record(d.Call, expediter.Success(), 1, at); err != nil {
			t.Fatal(err)
		}
		j.x.Decide("Read", 1, at)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// An adopted opening is one as any other for SPEC section 7, and the incident
// that follows was found out here.
func TestFleet_AdoptedOpeningTakesPartInCascades(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	j.fail("Grep", 3, cascade.Network)
	j.adopt(expediter.Change{Kind: expediter.ChangeOpened, Tool: "Read", Failure: cascade.Failure{Category: cascade.Network}})
	j.ask("Bash", "PAUSE systemic")
	j.shared("opened Grep [] 0", "incident  [Grep Read] 0")
}

func TestFleet_EarlierOpeningsAreNoCascade(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	for _, tool := range []string{"Grep", "Read", "Bash", "Glob"} {
		j.adopt(expediter.Change{Kind: expediter.ChangeOpened, Tool: tool, Failure: cascade.Failure{Category: cascade.Network}, Earlier: true})
	}
	if got := j.x.Status().Paused; got != expediter.NoReason {
		t.Errorf("paused: got %v, want not: they opened before this engine joined, nobody knows when", got)
	}
	j.fail("Edit", 3, cascade.Network)
	if got := j.x.Status().Paused; got != expediter.NoReason {
		t.Errorf("paused: got %v, want not: what opened earlier is no peer of an opening now", got)
	}
	j.shared("opened Edit [] 0")
}

func TestTool(t *testing.T) {
	j := join(t, expediter.Config{Policy: large()})
	if got, ok := j.x.Tool("Grep"); ok {
		t.Errorf("unknown tool: got %+v, want none", got)
	}
	j.fail("Grep", 3, cascade.Upstream)
	j.fail("Read", 1, cascade.Upstream)
	for _, want := range j.x.Status().Tools {
		got, ok := j.x.Tool(want.Tool)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s, found %v (-want +got):\n%s", want.Tool, ok, diff)
		}
	}
}
