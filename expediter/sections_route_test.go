package expediter_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

// routedMap has an entry of every kind of route.
func routedMap() capability.Map {
	return capability.Map{
		{Tool: "Grep", Fallback: "ask the user", Alternatives: []capability.Alternative{
			{Tool: "Scan", Degradation: "unknown — test before relying on this route"},
			{Tool: "Read", Level: capability.High, SameAuthority: true},
			{Tool: "Bash", Degradation: "loses output formatting"},
			{Tool: "Find", Level: capability.Low},
		}},
		{Tool: "Find", Fallback: "ask the user", Alternatives: []capability.Alternative{{Tool: "Locate"}}},
		{Tool: "Approve", NoSubstitute: true, Fallback: "ask the user", Alternatives: []capability.Alternative{{Tool: "Bash"}}},
		{Tool: "Alone"},
	}
}

// routings makes a rig that keeps each Routing it hears of as a line.
func routings(t *testing.T, cfg expediter.Config) (*rig, *[]string) {
	t.Helper()
	var heard []string
	cfg.Tools, cfg.Policy = routedMap(), large()
	cfg.Events.Routed = func(e expediter.Routing) {
		line := fmt.Sprintf("%s %s: %s", e.Tool, e.Reason, strings.TrimSpace(e.Route.Label.String()+" "+e.Route.Tool))
		for _, p := range e.PassedOver {
			line += "; " + p.Tool + " " + p.Why
		}
		heard = append(heard, line)
	}
	x, err := expediter.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t: t, x: x, step: 1, at: 1000}, &heard
}

func (r *rig) away(names ...string) {
	for _, n := range names {
		r.x.SetAvailability(n, capability.Unavailable, r.step, r.now())
	}
}

// Each case skips one tool, and says which alternatives were passed over and
// why, in the order in which they were considered.
func TestSection8_EverySkipSaysWhatWasPassedOver(t *testing.T) {
	tests := []struct {
		name string
		cfg  expediter.Config
		tool string
		do   func(*rig)
		want string
	}{
		{"the least degraded", expediter.Config{}, "Grep", func(r *rig) { r.away("Grep") }, "Grep unavailable: ACCEPTABLE Bash"},
		{"as declared", expediter.Config{}, "Grep", func(r *rig) { r.away("Grep", "Bash") }, "Grep unavailable: ACCEPTABLE Find; Bash unavailable"},
		{"high", expediter.Config{}, "Grep", func(r *rig) { r.fail("Bash", 3, cascade.Upstream); r.away("Grep", "Find") },
			"Grep unavailable: PARTIAL Read; Bash OPEN; Find unavailable"},
		{"unknown", expediter.Config{}, "Grep", func(r *rig) { r.fail("Bash", 3, cascade.Upstream); r.probe("Bash"); r.away("Grep", "Find", "Read") },
			"Grep unavailable: UNVERIFIED Scan; Bash HALF_OPEN; Find unavailable; Read unavailable"},
		{"the user", expediter.Config{}, "Grep", func(r *rig) { r.away("Grep", "Bash", "Find", "Read", "Scan") },
			"Grep unavailable: FALLBACK; Bash unavailable; Find unavailable; Read unavailable; Scan unavailable"},
		{"no user", expediter.Config{UserUnavailable: true}, "Grep", func(r *rig) { r.away("Grep", "Bash", "Find", "Read", "Scan") },
			"Grep unavailable: SKIPPED; Bash unavailable; Find unavailable; Read unavailable; Scan unavailable"},
		{"after a denial", expediter.Config{}, "Grep", func(r *rig) { r.fail("Grep", 3, cascade.Permission) },
			"Grep open: PARTIAL Read; Bash not of the same authority; Find not of the same authority"},
		{"after a denial, without one of the same authority", expediter.Config{}, "Grep", func(r *rig) { r.fail("Grep", 3, cascade.Auth); r.away("Read") },
			"Grep open: FALLBACK; Bash not of the same authority; Find not of the same authority; Read unavailable; Scan not of the same authority"},
		{"a denial of a closed tool", expediter.Config{}, "Grep", func(r *rig) { r.fail("Grep", 2, cascade.Permission); r.away("Grep") },
			"Grep unavailable: ACCEPTABLE Bash"},
		{"an older denial", expediter.Config{}, "Grep", func(r *rig) {
			r.fail("Grep", 3, cascade.Permission)
			_, trial := r.probe("Grep")
			r.record(trial, expediter.Success())
			r.fail("Grep", 3, cascade.Upstream)
		}, "Grep open: ACCEPTABLE Bash"},
		{"forced open", expediter.Config{}, "Grep", func(r *rig) {
			r.must(r.x.ForceOpen("Grep", "", r.step, r.now()))
			r.must(r.x.ForceOpen("Bash", "", r.step, r.now()))
		}, "Grep forced_open: ACCEPTABLE Find; Bash OPEN"},
		{"a disabled alternative", expediter.Config{}, "Grep", func(r *rig) {
			r.away("Grep")
			r.fail("Bash", 3, cascade.Upstream)
			r.must(r.x.Disable("Bash", "", r.step, r.now()))
		}, "Grep unavailable: ACCEPTABLE Bash"},
		{"no substitute", expediter.Config{}, "Approve", func(r *rig) { r.away("Approve") }, "Approve unavailable: SKIPPED"},
		{"nothing declared", expediter.Config{}, "Alone", func(r *rig) { r.away("Alone") }, "Alone unavailable: SKIPPED"},
		{"no entry", expediter.Config{}, "New", func(r *rig) { r.away("New") }, "New unavailable: SKIPPED"},
		{"strict", expediter.Config{Strict: true}, "New", func(*rig) {}, "New unknown_tool: SKIPPED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, heard := routings(t, tt.cfg)
			tt.do(r)
			*heard = nil
			if d := r.x.Decide(tt.tool, r.step, r.now()); d.Verb != expediter.Skip {
				t.Fatalf("got %v", words(d))
			}
			if diff := cmp.Diff([]string{tt.want}, *heard); diff != "" {
				t.Errorf("routing (-want +got):\n%s", diff)
			}
		})
	}
}

// A declared outage's cause is what opened the tools that it opened.
func TestSection8_ADeclaredDenialIsADenial(t *testing.T) {
	for cause, want := range map[cascade.Category]string{
		cascade.Auth:    "Grep open: PARTIAL Read; Bash not of the same authority; Find not of the same authority",
		cascade.Network: "Grep open: ACCEPTABLE Bash",
	} {
		r, heard := routings(t, expediter.Config{})
		_, err := r.x.DeclareOutage(cause, []string{"Grep"}, r.step, r.now())
		r.must(err)
		r.ask("Grep", "SKIP open")
		if diff := cmp.Diff([]string{want}, *heard); diff != "" {
			t.Errorf("%v (-want +got):\n%s", cause, diff)
		}
	}
}

// Find's own alternative is no alternative of Grep's.
func TestSection8_AlternativesAreNotFollowedTransitively(t *testing.T) {
	r, _ := routings(t, expediter.Config{})
	r.away("Grep", "Bash", "Read", "Scan", "Find")
	if d := r.ask("Find", "SKIP unavailable"); d.Route.Tool != "Locate" {
		t.Errorf("Find goes to %+v, want Locate", d.Route)
	}
	if d := r.ask("Grep", "SKIP unavailable"); d.Route.Kind != capability.UseFallback {
		t.Errorf("Grep goes to %+v, want the user", d.Route)
	}
}

// An alternative is judged by its own breaker, not by those of its children.
func TestSection8_AnAlternativeIsJudgedByItsOwnBreaker(t *testing.T) {
	r, _ := routings(t, expediter.Config{})
	r.fail("Bash/rg", 3, cascade.Upstream)
	r.away("Grep")
	if d := r.ask("Grep", "SKIP unavailable"); d.Route.Tool != "Bash" {
		t.Errorf("Grep goes to %+v, want Bash", d.Route)
	}
}

func TestSection8_TheRingOfRoutesIsBounded(t *testing.T) {
	r, _ := routings(t, expediter.Config{})
	r.away("Grep", "Find", "Approve", "Alone")
	for i := range 200 {
		r.step++
		r.ask([]string{"Grep", "Find", "Approve", "Alone"}[i%4], "SKIP unavailable")
	}
	for range 7 {
		r.step++
		r.ask("Alone", "SKIP unavailable")
	}
	s := r.x.Status()
	if len(s.Routes) != 64 {
		t.Fatalf("%d routes are kept, want 64", len(s.Routes))
	}
	if last := s.Routes[63]; last.Tool != "Alone" || last.Times != 8 || last.Step != r.step {
		t.Errorf("the last one: got %+v, want Alone, 8 times in a row, at step %d", last, r.step)
	}
	for i := 1; i < len(s.Routes); i++ {
		if s.Routes[i].Step <= s.Routes[i-1].Step {
			t.Fatalf("route %d is at step %d, after %d", i, s.Routes[i].Step, s.Routes[i-1].Step)
		}
	}
	want := expediter.Counts{Skips: 207, Alternatives: 100, Reductions: 107}
	if diff := cmp.Diff(want, s.Counts); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

func TestSection8_TheRingTellsRoutesOfOneToolApart(t *testing.T) {
	r, _ := routings(t, expediter.Config{})
	r.away("Grep")
	r.ask("Grep", "SKIP unavailable")
	r.away("Bash")
	r.ask("Grep", "SKIP unavailable")
	r.ask("Grep", "SKIP unavailable")
	var got []string
	for _, taken := range r.x.Status().Routes {
		got = append(got, fmt.Sprintf("%s %d", taken.Route.Tool, taken.Times))
	}
	if diff := cmp.Diff([]string{"Bash 1", "Find 2"}, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

// The ring and the counters do not depend on whether anybody watches.
func TestSection8_RoutesAreKeptWhoeverWatches(t *testing.T) {
	run := func(events expediter.Events) expediter.Status {
		x, err := expediter.New(expediter.Config{Tools: routedMap(), Policy: large(), Events: events})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t: t, x: x, step: 1, at: 1000}
		r.fail("Grep", 3, cascade.Upstream)
		for i := range 10 {
			r.step, r.at = int64(i), r.at+1
			x.Decide("Grep", r.step, time.UnixMilli(r.at))
		}
		return x.Status()
	}
	watched := run(expediter.Events{Routed: func(expediter.Routing) {}, Journal: func(*expediter.Event) {}})
	alone := run(expediter.Events{})
	if diff := cmp.Diff(watched, alone); diff != "" || len(alone.Routes) != 1 || alone.Routes[0].Times != 9 {
		t.Errorf("routes %+v; (-watched +alone):\n%s", alone.Routes, diff)
	}
}
