package expediter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// large is a policy whose budget plays no part in a test.
func large() expediter.Policy { return expediter.Policy{Budget: 50} }

// systemic opens Web and Mail with one cause, which flags an incident.
func (r *rig) systemic() {
	r.t.Helper()
	r.fail("Web", 3, cascade.Network)
	r.fail("Mail", 3, cascade.Network)
	if got := r.x.Status().Paused; got != expediter.Systemic {
		r.t.Fatalf("paused: got %q, want systemic", got)
	}
}

// close lets the tool's next trial succeed.
func (r *rig) close(tool string) {
	r.t.Helper()
	_, trial := r.probe(tool)
	r.record(trial, expediter.Success())
	r.state(tool, breaker.Closed)
}

func TestSection7_ASuspicionIsToldOnceAndPausesNothing(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Chat", "Read"), Policy: large()})
	for _, tool := range []string{"Web", "Mail", "Chat"} {
		r.succeed(tool)
	}
	r.fail("Web", 1, cascade.Network)
	r.fail("Mail", 1, cascade.Network)
	r.heard()
	r.fail("Chat", 1, cascade.Network)
	r.heard("suspected network [Chat Mail Web] @1")
	if diff := cmp.Diff(&expediter.SystemicOutput{Cause: "network", Members: []string{"Chat", "Mail", "Web"}}, r.x.Status().Suspected); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	for _, tool := range []string{"Web", "Mail", "Chat", "Read"} {
		r.ask(tool, "CALL")
	}
	r.consumed(3)
	r.fail("Chat", 1, cascade.Network)
	r.fail("Web", 1, cascade.Network)
	r.heard()
	r.x.BeginCycle(r.step, r.now())
	if s := r.x.Status().Suspected; s != nil {
		t.Errorf("the next cycle still suspects %+v", s)
	}
}

func TestSection7_WhatIsNoSuspicion(t *testing.T) {
	same := func(r *rig, tool string) {
		o := expediter.Failure(cascade.Unknown, "it broke")
		o.Signature = "it broke"
		r.record(r.ask(tool, "CALL"), o)
	}
	tests := []struct {
		name string
		do   func(*rig) // Web and Mail have just failed
		want []string
	}{
		{"another category", func(r *rig) { r.fail("Chat", 1, cascade.Upstream) }, nil},
		{"a tool that never worked", func(r *rig) { r.fail("New", 1, cascade.Network) }, nil},
		{"too many steps later", func(r *rig) { r.step += 4; r.fail("Chat", 1, cascade.Network) }, nil},
		{"too long after", func(r *rig) { r.at += 300_001; r.fail("Chat", 1, cascade.Network) }, nil},
		{"one of them works again", func(r *rig) { r.succeed("Mail"); r.fail("Chat", 1, cascade.Network) }, nil},
		{"one of them is only slow", func(r *rig) { r.outcomes("Mail", "slow"); r.fail("Chat", 1, cascade.Network) }, nil},
		{"a cancelled call in between", func(r *rig) {
			r.record(r.ask("Mail", "CALL"), expediter.Ignored())
			r.fail("Chat", 1, cascade.Network)
		}, []string{"suspected network [Chat Mail Web] @1"}},
		{"within the window", func(r *rig) { r.step, r.at = r.step+3, r.at+300_000; r.fail("Chat", 1, cascade.Network) },
			[]string{"suspected network [Chat Mail Web] @4"}},
		{"the same words of no known category", func(r *rig) { same(r, "Web"); same(r, "Mail"); same(r, "Chat") },
			[]string{"suspected signature [Chat Mail Web] @1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			policy := large()
			policy.SlowCallMS = 100
			r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Chat", "New"), Policy: policy})
			for _, tool := range []string{"Web", "Mail", "Chat"} {
				r.succeed(tool)
			}
			r.fail("Web", 1, cascade.Network)
			r.fail("Mail", 1, cascade.Network)
			tt.do(r)
			r.heard(tt.want...)
		})
	}
}

func TestSection7_PauseScopeShares(t *testing.T) {
	vpn, both, none := []string{"vpn"}, []string{"sso", "vpn"}, []string(nil)
	tests := []struct {
		name      string
		scope     expediter.PauseScope
		web, mail []string
		paused    string
	}{
		{"all", expediter.PauseAll, vpn, both, "Web Mail Chat Chat/room Login Read Else"},
		{"the shared thing", expediter.PauseShares, vpn, both, "Web Mail Chat Chat/room"},
		{"two shared things", expediter.PauseShares, both, both, "Web Mail Chat Chat/room Login"},
		{"nothing is shared", expediter.PauseShares, vpn, none, "Web Mail Chat Chat/room Login Read Else"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			policy := large()
			policy.Cascade.PauseScope = tt.scope
			m := capability.Map{{Tool: "Web", Shares: tt.web}, {Tool: "Mail", Shares: tt.mail}, {Tool: "Chat", Shares: vpn}, {Tool: "Login", Shares: []string{"sso"}}, {Tool: "Read"}}
			r := newRig(t, expediter.Config{Tools: m, Policy: policy})
			r.systemic()
			var paused []string
			for _, tool := range []string{"Web", "Mail", "Chat", "Chat/room", "Login", "Read", "Else"} {
				if words(r.x.Decide(tool, r.step, r.now())) == "PAUSE systemic" {
					paused = append(paused, tool)
				}
			}
			if got := strings.Join(paused, " "); got != tt.paused {
				t.Errorf("paused: got %s, want %s", got, tt.paused)
			}
		})
	}
}

// A tool that the incident does not pause may still fall to it.
func TestSection7_ToolsOutsideThePauseScopeMayJoin(t *testing.T) {
	policy := large()
	policy.Cascade.PauseScope = expediter.PauseShares
	m := capability.Map{{Tool: "Web", Shares: []string{"vpn"}}, {Tool: "Mail", Shares: []string{"vpn"}}, {Tool: "Read"}, {Tool: "Bash"}}
	r := newRig(t, expediter.Config{Tools: m, Policy: policy})
	r.systemic()
	r.consumed(1)
	r.heard("flagged network [Mail Web] @1", "pause systemic")
	r.fail("Read", 3, cascade.Network)
	r.consumed(1)
	r.heard("joined network [Read] @1")
	r.ask("Read", "PAUSE systemic")
	r.fail("Bash", 3, cascade.Upstream)
	r.consumed(4)
	r.ask("Bash", "SKIP open")
}

func TestSection7_ConfirmAfterConfirmsByItself(t *testing.T) {
	policy := large()
	policy.Cascade.ConfirmAfterMS = 60_000
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Read"), Policy: policy})
	r.systemic()
	r.heard("flagged network [Mail Web] @1", "pause systemic")
	r.at += 59_999
	r.ask("Read", "PAUSE systemic")
	r.at++
	r.step = 5
	r.ask("Read", "CALL")
	r.heard("confirmed network [Mail Web] @5", "pause")
	if n, _ := r.probe("Web"); n != 3 {
		t.Errorf("the trial came with request %d after the confirmation, want 3", n)
	}
	if _, err := r.x.ConfirmRecovery("", r.step, r.now()); err == nil {
		t.Error("it could be confirmed once more")
	}
}

func TestSection7_ConfirmAfterNeedsATime(t *testing.T) {
	policy := large()
	policy.Cascade.ConfirmAfterMS = 1
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Read"), Policy: policy})
	r.at = 0
	r.systemic()
	r.step += 1000
	r.ask("Read", "PAUSE systemic")
}

// The word that an incident's time is up and the user's word may come with the
// same event.
func TestSection7_ConfirmingAtTheVeryMomentIsNoError(t *testing.T) {
	policy := large()
	policy.Cascade.ConfirmAfterMS = 10
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail"), Policy: policy})
	r.systemic()
	r.heard("flagged network [Mail Web] @1", "pause systemic")
	r.at += 10
	_, err := r.x.ConfirmRecovery("the proxy is back", r.step, r.now())
	r.must(err)
	r.heard("confirmed network [Mail Web] @1", "pause")
}

func TestSection7_TheLifeOfAnIncident(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Chat", "Read"), Policy: large()})
	var late []expediter.Decision
	for range 3 {
		late = append(late, r.ask("Chat", "CALL"))
	}
	r.step = 2
	r.systemic()
	r.step = 3
	for _, d := range late {
		r.record(d, expediter.Failure(cascade.Network, "refused"))
	}
	r.consumed(1)
	r.state("Chat", breaker.Open)
	r.step = 4
	_, err := r.x.ConfirmRecovery("", r.step, r.now())
	r.must(err)
	r.step = 5
	for _, tool := range []string{"Mail", "Chat"} {
		r.close(tool)
	}
	if s := r.x.Status().Incidents; len(s) != 1 || strings.Join(s[0].Members, " ") != "Web" || strings.Join(s[0].Flagged, " ") != "Mail Web" {
		t.Errorf("one member is left: %+v", s)
	}
	r.step = 6
	r.close("Web")
	r.heard("flagged network [Mail Web] @2", "pause systemic", "joined network [Chat] @3", "confirmed network [Mail Web] @4", "pause", "ended network [Mail Web] @6")
	if s := r.x.Status().Incidents; len(s) != 0 {
		t.Errorf("after its end: %+v", s)
	}
}

func TestSection7_AnActiveIncidentOutlivesItsMembers(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Read"), Policy: large()})
	r.systemic()
	for _, tool := range []string{"Web", "Mail"} {
		r.must(r.x.Reset(tool, "", r.step, r.now()))
	}
	for _, tool := range []string{"Web", "Mail", "Read"} {
		r.ask(tool, "PAUSE systemic")
	}
	_, err := r.x.ConfirmRecovery("", r.step, r.now())
	r.must(err)
	r.heard("flagged network [Mail Web] @1", "pause systemic", "confirmed network [Mail Web] @1", "ended network [Mail Web] @1", "pause")
	r.ask("Web", "CALL")
}

func TestSection7_ConfirmationIsForAnActiveIncident(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail"), Policy: large()})
	confirm := func() error {
		_, err := r.x.ConfirmRecovery("", r.step, r.now())
		return err
	}
	if err := confirm(); err != expediter.ErrNoSystemicFailure {
		t.Errorf("nothing is wrong: got %v", err)
	}
	r.systemic()
	r.must(confirm())
	if err := confirm(); err != expediter.ErrNoSystemicFailure {
		t.Errorf("it recovers already: got %v", err)
	}
}

func TestSection7_IncidentsDropPreCallScores(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Read"), Policy: large()})
	away := func() {
		r.x.SetAvailability("Read", capability.Unavailable, r.step, r.now())
		r.x.SetAvailability("Later", capability.Unavailable, r.step, r.now())
	}
	away()
	r.ask("Later", "SKIP unavailable")
	r.systemic()
	if got := r.row("Read").Score; got != capability.Available {
		t.Errorf("flagged: Read is %v", got)
	}
	away()
	_, err := r.x.ConfirmRecovery("", r.step, r.now())
	r.must(err)
	r.ask("Read", "CALL")
	r.ask("Later", "CALL")
}

func TestSection7_DeclareOutageIsOneRecoveringIncident(t *testing.T) {
	var moves []string
	policy := large()
	policy.ChargePerTool = 1
	x, err := expediter.New(expediter.Config{Tools: tools("Web", "Mail", "Chat", "Read"), Policy: policy, Events: expediter.Events{
		Transition: func(tr expediter.Transition) { moves = append(moves, tr.String()+" "+tr.Why) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, x: x, step: 1, at: 1000}
	r.fail("Mail", 3, cascade.Upstream)
	r.fail("Web", 1, cascade.Upstream)
	r.ask("Mail", "SKIP open")
	before := r.row("Mail")
	moves = nil
	r.step = 2
	res, err := x.DeclareOutage(cascade.Auth, []string{"Web", "New", "Mail", "Chat", "Web"}, r.step, r.now())
	if diff := cmp.Diff(expediter.Result{Opened: true}, res); err != nil || diff != "" {
		t.Errorf("result, %v (-want +got):\n%s", err, diff)
	}
	want := []string{"Web:CLOSED->OPEN@2 declared outage: auth", "New:CLOSED->OPEN@2 declared outage: auth", "Chat:CLOSED->OPEN@2 declared outage: auth"}
	if diff := cmp.Diff(want, moves); diff != "" {
		t.Errorf("openings (-want +got):\n%s", diff)
	}
	s := x.Status()
	wantIncident := expediter.Incident{Cause: "auth", Members: []string{"Chat", "Mail", "New", "Web"}, Flagged: []string{"Chat", "Mail", "New", "Web"},
		Declared: true, Step: 2, At: 1000, Interval: 3}
	if diff := cmp.Diff([]expediter.Incident{wantIncident}, s.Incidents); diff != "" {
		t.Errorf("incidents (-want +got):\n%s", diff)
	}
	if row := r.row("Mail"); row.Trip != before.Trip || row.Next != before.Next || row.OpenedStep != before.OpenedStep {
		t.Errorf("what was open already is now %+v, was %+v", row, before)
	}
	r.consumed(3)
	if c := s.Charges[2]; c.Tool != "Web" || c.Category != cascade.Auth {
		t.Errorf("the charge is %+v, want one of Web, though Web has its one charge", c)
	}
	r.ask("Read", "CALL")
}

func TestSection7_DeclareOutageDuringAnIncidentIsChargedOnItsOwn(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Chat", "Read"), Policy: large()})
	r.systemic()
	r.consumed(1)
	_, err := r.x.DeclareOutage(cascade.Network, []string{"Chat", "Mail"}, r.step, r.now())
	r.must(err)
	r.consumed(2)
	r.heard("flagged network [Mail Web] @1", "pause systemic", "declared network [Chat Mail] @1")
	r.ask("Read", "PAUSE systemic")
	var members []string
	for _, i := range r.x.Status().Incidents {
		members = append(members, strings.Join(i.Members, " "))
	}
	if diff := cmp.Diff([]string{"Web", "Chat Mail"}, members); diff != "" {
		t.Errorf("a tool belongs to the newest incident (-want +got):\n%s", diff)
	}
}

// The charge of a declared outage does not fold into an incident that is
// flagged later.
func TestSection7_ADeclaredChargeNeverFolds(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Chat"), Policy: large()})
	_, err := r.x.DeclareOutage(cascade.Network, []string{"Web"}, r.step, r.now())
	r.must(err)
	r.fail("Mail", 3, cascade.Network)
	r.heard("declared network [Web] @1", "ended network [Web] @1", "flagged network [Mail Web] @1", "pause systemic")
	r.consumed(2)
}

// One cause takes several tools down: the second opening is enough, and the
// budget counts it once.
func TestSection7_SeveralFailuresOfOneCauseCountOnce(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail")})
	r.fail("Web", 3, cascade.Network)
	r.consumed(3)
	r.fail("Mail", 2, cascade.Network)
	r.heard("flagged network [Mail Web] @1", "pause systemic")
	r.consumed(1)
	counts := 0
	for _, c := range r.x.Status().Charges {
		if !c.Folded {
			t.Errorf("%+v is not folded", c)
		}
		if c.Counts {
			counts++
		}
	}
	if counts != 1 {
		t.Errorf("%d charges count, want 1", counts)
	}
}

func TestSection7_RecoveryHasOneSchedule(t *testing.T) {
	policy := large()
	policy.Probe.AfterMS = breaker.Off
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail"), Policy: policy})
	r.systemic()
	_, err := r.x.ConfirmRecovery("", r.step, r.now())
	r.must(err)
	for _, want := range []int{3, 6, 12, 20, 20} {
		n, trial := r.probe("Web")
		if n != want {
			t.Errorf("the trial came with request %d, want %d", n, want)
		}
		if d := r.x.Decide("Mail", r.step, r.now()); d.Verb != expediter.Skip {
			t.Errorf("two members are probed at once: %v", d.Verb)
		}
		r.record(trial, expediter.Failure(cascade.Network, "refused"))
	}
	r.close("Web")
	if n, trial := r.probe("Mail"); n != 1 {
		t.Errorf("after a good probe the other member waits %d requests, want 1", n)
	} else {
		r.record(trial, expediter.Failure(cascade.Network, "refused"))
	}
	if n, _ := r.probe("Mail"); n != 6 {
		t.Errorf("the schedule went on with %d, want 6: one failed probe since a good one", n)
	}
}

func TestSection7_AnIncidentSurvivesARestore(t *testing.T) {
	cfg := expediter.Config{Tools: tools("Web", "Mail", "Read"), Policy: large()}
	r := newRig(t, cfg)
	r.systemic()
	restore := func() {
		t.Helper()
		before := r.x.Status()
		x, err := expediter.Restore(cfg, r.x.Snapshot())
		r.must(err)
		after := x.Status()
		before.Routes, after.Routes = nil, nil // the ring of routes is for reports and begins anew
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("restored (-before +after):\n%s", diff)
		}
		r.x = x
	}
	restore()
	r.ask("Read", "PAUSE systemic")
	r.at += int64(time.Hour / time.Millisecond)
	_, err := r.x.ConfirmRecovery("", r.step, r.now())
	r.must(err)
	restore()
	r.close("Web")
	restore()
	r.close("Mail")
	if got := r.x.Status().Incidents; len(got) != 0 {
		t.Errorf("it has not ended: %+v", got)
	}
}
