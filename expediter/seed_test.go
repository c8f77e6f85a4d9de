package expediter_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/precheck"
	"github.com/expediter-go/expediter/report"
	"github.com/expediter-go/expediter/report/freshness"
	"github.com/expediter-go/expediter/scope"
)

// The skill's list of what a sound implementation does, point by point.

// seedFile reads an example block of the skill.
func seedFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// seedMap is the skill's own capability map.
func seedMap(t *testing.T) capability.Map {
	t.Helper()
	const path = "../capability/testdata/seed.yaml"
	f, err := capability.Read(path, []byte(seedFile(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	return f.Map
}

// release is the task of the skill's examples.
var release = scope.Task{Name: "release", Subtasks: []scope.Subtask{
	{Title: "Read configuration files", Tools: []string{"Read"}},
	{Title: "Search for deprecated patterns", Tools: []string{"Grep"}},
	{Title: "Run test suite", Tools: []string{"Bash"}},
	{Title: "Update documentation", Tools: []string{"Edit"}},
	{Title: "Deploy to staging", Tools: []string{"Bash"}},
}}

func TestValidation01_CapabilityMapCoversEveryTool(t *testing.T) {
	m := seedMap(t)
	for _, e := range m {
		if e.Provides == "" || e.Fallback == "" {
			t.Errorf("%s: provides %q, fallback %q; want both", e.Tool, e.Provides, e.Fallback)
		}
		for _, a := range e.Alternatives {
			if a.Degradation == "" {
				t.Errorf("%s: alternative %s does not say what is lost", e.Tool, a.Tool)
			}
		}
	}
	if diff := cmp.Diff([]string{"Bash", "WebSearch"}, m.Critical()); diff != "" {
		t.Errorf("tools without an alternative (-want +got):\n%s", diff)
	}
	_, err := capability.Read("map.yaml", []byte("capability_map:\n  - tool: Grep\n    provides: content search\n"))
	if err == nil || !strings.Contains(err.Error(), "fallback") {
		t.Errorf("a map without a fallback: got %v", err)
	}
	r := newRig(t, expediter.Config{Tools: m, Strict: true})
	for _, tool := range m.Mentioned() {
		r.ask(tool, "CALL")
	}
	r.ask("Telnet", "SKIP unknown_tool")
}

func TestValidation02_StateTableIsInitialisedForEveryTool(t *testing.T) {
	m := tools("Grep", "Bash", "Read", "Write", "Edit", "WebSearch")
	r := newRig(t, expediter.Config{Tools: m})
	var got bytes.Buffer
	if err := report.StateTable(&got, r.x.Status()); err != nil {
		t.Fatal(err)
	}
	if want := seedFile(t, "../report/testdata/seed/state.txt"); !strings.HasPrefix(got.String(), want) {
		t.Errorf("state table (-want +got):\n%s", cmp.Diff(want, got.String()))
	}
	r.succeed("mcp__tracker__search")
	if row := r.row("mcp__tracker__search"); row.State != breaker.Closed || row.Consecutive != 0 {
		t.Errorf("a tool that was found on its first use: %+v", row)
	}
}

func TestValidation03_TransitionsFollowTheCycle(t *testing.T) {
	allowed := map[string]bool{"CLOSED->OPEN": true, "OPEN->HALF_OPEN": true, "HALF_OPEN->CLOSED": true, "HALF_OPEN->OPEN": true}
	rapid.Check(t, func(t *rapid.T) {
		state := map[string]breaker.State{}
		policy := drawPolicy(t)
		x, err := expediter.New(expediter.Config{Tools: modelMap(), Policy: policy, Events: expediter.Events{Transition: func(tr expediter.Transition) {
			from, seen := state[tr.Tool]
			if !allowed[fmt.Sprintf("%v->%v", tr.From, tr.To)] || seen && from != tr.From || !seen && tr.From != breaker.Closed {
				t.Fatalf("%v, and %s was %v", tr, tr.Tool, from)
			}
			state[tr.Tool] = tr.To
		}}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 {
			at := time.UnixMilli(int64(1 + 20*i))
			if d := x.Decide(rapid.SampledFrom(modelTools).Draw(t, "tool"), int64(i), at); d.Verb.Go() {
				if _, err := x.Record(d.Call, drawOutcome(t), int64(i), at); err != nil {
					t.Fatal(err)
				}
			} else if d.Verb == expediter.Pause {
				_, _ = x.ConfirmRecovery("", int64(i), at)
				x.BeginCycle(int64(i), at)
			}
		}
	})
}

func TestValidation04_FailureThresholdIsDeclared(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: capability.Map{{Tool: "Grep"}, {Tool: "WebSearch", Policy: breaker.Policy{FailureThreshold: 1}}}})
	s := r.x.Status()
	if s.Policy.FailureThreshold != 3 || s.Tools[0].Policy.FailureThreshold != 3 || s.Tools[1].Policy.FailureThreshold != 1 || s.Limit != 5 {
		t.Errorf("effective: %d and %d, %d, budget %d", s.Policy.FailureThreshold, s.Tools[0].Policy.FailureThreshold, s.Tools[1].Policy.FailureThreshold, s.Limit)
	}
	var b bytes.Buffer
	if err := report.StateTable(&b, s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Threshold: 3 consecutive failures", "WebSearch: 1 consecutive failure", "Budget: 5 failures per cycle"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table does not declare %q:\n%s", want, b.String())
		}
	}
}

// Whatever is away: scope is reduced only where neither an alternative nor the
// user is left.
func TestValidation05_AlternativesAreTriedBeforeScopeReduction(t *testing.T) {
	m := seedMap(t)
	names := m.Mentioned()
	for away := range 1 << len(names) {
		for _, user := range []bool{true, false} {
			r := newRig(t, expediter.Config{Tools: m, UserUnavailable: !user})
			for i, n := range names {
				if away>>i&1 == 1 {
					r.away(n)
				}
			}
			for _, e := range m {
				d := r.x.Decide(e.Tool, r.step, r.now())
				if d.Verb != expediter.Skip {
					continue
				}
				i := slices.IndexFunc(e.Alternatives, func(a capability.Alternative) bool { return away>>slices.Index(names, a.Tool)&1 == 0 })
				want := capability.Reduce
				switch {
				case i >= 0:
					want = capability.UseAlternative
				case user:
					want = capability.UseFallback
				}
				if d.Route.Kind != want || i >= 0 && d.Route.Tool != e.Alternatives[i].Tool {
					t.Fatalf("away %b, user %v: %s goes to %+v, want %v", away, user, e.Tool, d.Route, want)
				}
			}
		}
	}
}

func TestValidation06_ScopeReductionIsRecordedWithReasons(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: append(seedMap(t), tools("Edit")...)})
	r.fail("Bash", 3, cascade.Permission)
	s := r.x.Status()
	res, err := scope.Reduce(release, report.ScopeView(&s))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{3, 5}, res.Numbers(scope.Deferred)); diff != "" {
		t.Errorf("deferred (-want +got):\n%s", diff)
	}
	var b bytes.Buffer
	if err := report.ScopeReduction(&b, res, &s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"[ ] 3. Run test suite                    (Bash: OPEN — no alternative)",
		"[ ] 5. Deploy to staging                 (Bash: OPEN — no alternative)",
		"Deferred: 2 sub-tasks require Bash (circuit OPEN)",
		"report commands that need to be run manually",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, b.String())
		}
	}
}

func TestValidation07_StaleDataIsLabelled(t *testing.T) {
	began := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	tr := freshness.NewTracker(began, 0)
	result := freshness.Result{Tool: "Grep", Args: "API_KEY", Subject: "filesystem", Output: []byte("none")}
	if got := tr.Observe(result, began); got != "" {
		t.Errorf("fresh data is labelled %s", got)
	}
	again := tr.Observe(result, began.Add(time.Minute))
	if again != freshness.Cached("Grep", "filesystem") {
		t.Errorf("the same result again: got %q", again)
	}
	rep := report.New(report.Input{Work: []report.Work{{Title: "Search", State: report.Succeeded, Data: []report.Datum{{Tool: "Grep", Label: string(again), Text: "none"}}}}})
	var b bytes.Buffer
	if err := rep.Text(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), string(again)) {
		t.Errorf("the report presents it as current:\n%s", b.String())
	}
}

func TestValidation08_BudgetIsEnforcedByPauseAndReport(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: seedMap(t)})
	for i, tool := range []string{"Grep", "Bash", "Read", "Write", "WebSearch"} {
		d := r.ask(tool, "CALL")
		if want := i == 4; (d.Caution&expediter.CautionBudget != 0) != want {
			t.Errorf("before failure %d: caution %v", i+1, d.Caution.Words())
		}
		res := r.record(d, expediter.Failure(cascade.Upstream, "502"))
		if want := map[bool]expediter.Reason{true: expediter.Budget}[i == 4]; res.Paused != want {
			t.Errorf("after failure %d: paused %q", i+1, res.Paused)
		}
	}
	for _, tool := range append(seedMap(t).Mentioned(), "Else") {
		r.ask(tool, "PAUSE budget")
	}
	var b bytes.Buffer
	s := r.x.Status()
	if err := report.Pause(&b, report.Input{Status: &s}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "FAILURE BUDGET EXHAUSTED — PAUSING\n") || !strings.Contains(b.String(), "Failures: 5 / 5 budget consumed") {
		t.Errorf("the pause report:\n%s", b.String())
	}
	r.x.BeginCycle(r.step, r.now())
	r.ask("Grep", "CALL")
}

// The engine is given nothing that it could run: no function but observers.
// What it allows is one call for each request, and a failure begets none.
func TestValidation09_ExpediterNeitherExecutesNorRetries(t *testing.T) {
	for i := range reflect.TypeFor[expediter.Config]().NumField() {
		f := reflect.TypeFor[expediter.Config]().Field(i)
		if f.Name != "Events" && callable(f.Type) {
			t.Errorf("Config.%s holds something to call", f.Name)
		}
	}
	r := newRig(t, expediter.Config{Tools: seedMap(t)})
	allowed := uint64(0)
	for range 40 {
		r.step++
		d := r.x.Decide("Grep", r.step, r.now())
		if !d.Verb.Go() {
			if d.Call != 0 {
				t.Fatalf("%s issued call %v", words(d), d.Call)
			}
			continue
		}
		allowed++
		r.record(d, expediter.Failure(cascade.Upstream, "502"))
	}
	if c := r.x.Status().Counts; c.Calls+c.Probes != allowed || allowed != 5 {
		t.Errorf("%d calls and %d probes, and %d requests were allowed; want 5", c.Calls, c.Probes, allowed)
	}
	for _, tool := range []string{"Bash", "Read"} {
		if row := r.row(tool); row.LastSuccess != nil || row.LastFailure != nil {
			t.Errorf("a route was executed: %+v", row)
		}
	}
}

// callable reports whether a value of the type can hold a function or an
// interface.
func callable(of reflect.Type) bool {
	switch of.Kind() {
	case reflect.Func, reflect.Interface, reflect.Chan:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return callable(of.Elem())
	case reflect.Map:
		return callable(of.Elem()) || callable(of.Key())
	case reflect.Struct:
		for i := range of.NumField() {
			if callable(of.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// The skill's pause example, run through the engine: WebSearch opens at its
// first failure, and the fifth failure is a trial of Bash.
func TestValidation10_StatusReportHoldsWorkAndToolHealth(t *testing.T) {
	m := tools("Grep", "Read", "Edit", "Bash")
	m = append(m, capability.Entry{Tool: "WebSearch", Policy: breaker.Policy{FailureThreshold: 1}})
	r := newRig(t, expediter.Config{Tools: m})
	r.step, r.at = 1, 0
	r.succeed("Read")
	r.step = 2
	r.succeed("Grep")
	failures := []struct {
		step     int64
		tool     string
		category cascade.Category
		text     string
	}{
		{3, "Bash", cascade.Permission, "permission denied"},
		{3, "Bash", cascade.ToolMissing, "command not found"},
		{4, "Bash", cascade.Timeout, "timeout after 120s"},
		{5, "WebSearch", cascade.Network, "connection refused"},
	}
	for _, f := range failures {
		r.step = f.step
		r.record(r.ask(f.tool, "CALL"), expediter.Failure(f.category, f.text))
	}
	s := r.x.Status()
	var b bytes.Buffer
	if err := report.BudgetStatus(&b, s); err != nil {
		t.Fatal(err)
	}
	if want := seedFile(t, "../report/testdata/seed/budget.txt"); !strings.HasPrefix(b.String(), want) {
		t.Errorf("budget status (-want +got):\n%s", cmp.Diff(want, b.String()))
	}
	r.step = 8
	r.ask("Bash", "SKIP open")
	r.ask("Bash", "SKIP open")
	trial := r.ask("Bash", "PROBE")
	if diff := cmp.Diff([]string{"budget"}, trial.Caution.Words()); diff != "" {
		t.Errorf("caution (-want +got):\n%s", diff)
	}
	res := r.record(trial, expediter.Failure(cascade.Timeout, "timeout after 120s"))
	if diff := cmp.Diff(expediter.Result{Opened: true, Paused: expediter.Budget}, res); diff != "" {
		t.Errorf("the fifth failure (-want +got):\n%s", diff)
	}
	r.ask("Edit", "PAUSE budget")
	s = r.x.Status()
	b.Reset()
	err := report.Pause(&b, report.Input{Status: &s, Work: []report.Work{
		{Title: "Read configuration files", State: report.Succeeded},
		{Title: "Search for deprecated patterns", State: report.Succeeded},
		{Title: "Run test suite", State: report.Failed, Reason: "Bash circuit OPEN"},
		{Title: "Update documentation", Reason: "paused"},
		{Title: "Deploy to staging", Reason: "paused"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if want := seedFile(t, "../report/testdata/seed/pause.txt"); !strings.HasPrefix(b.String(), want) {
		t.Errorf("pause report (-want +got):\n%s", cmp.Diff(want, b.String()))
	}
}

// Every SKIP is told with its route and what was passed over, and counted.
func TestValidation11_NoSilentFailure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		skips, routes, journal := 0, 0, 0
		x, err := expediter.New(expediter.Config{Tools: modelMap(), Policy: drawPolicy(t), Events: expediter.Events{
			Routed: func(expediter.Routing) { routes++ },
			Journal: func(ev *expediter.Event) {
				if ev.Op == expediter.OpDecide && ev.Decided.Decision == expediter.Skip && ev.Decided.Route != nil {
					journal++
				}
			},
		}})
		if err != nil {
			t.Fatal(err)
		}
		failures := 0
		for i := range 50 {
			at := time.UnixMilli(int64(1 + 20*i))
			d := x.Decide(rapid.SampledFrom(modelTools).Draw(t, "tool"), int64(i), at)
			switch {
			case d.Verb == expediter.Skip:
				skips++
			case d.Verb.Go():
				o := drawOutcome(t)
				if o.Result == cascade.Failed {
					failures++
				}
				if _, err := x.Record(d.Call, o, int64(i), at); err != nil {
					t.Fatal(err)
				}
			}
		}
		c := x.Status().Counts
		if routes != skips || journal != skips || c.Skips != uint64(skips) || c.Alternatives+c.Fallbacks+c.Reductions != c.Skips {
			t.Fatalf("%d skips: %d were told, %d are in the journal, the counters say %+v", skips, routes, journal, c)
		}
		if c.Failures != uint64(failures) {
			t.Fatalf("%d failures, %d counted", failures, c.Failures)
		}
	})
}

func TestValidation12_ThreeToolsThatOpenTogetherAreACascade(t *testing.T) {
	for _, later := range []int64{0, 3, 4} {
		r := newRig(t, expediter.Config{Tools: tools("A", "B", "C"), Policy: large()})
		r.fail("A", 3, cascade.Upstream)
		r.fail("B", 3, cascade.Timeout)
		r.heard()
		r.step += later
		r.fail("C", 3, cascade.ToolMissing)
		if later > 3 {
			r.heard()
			continue
		}
		r.heard(fmt.Sprintf("flagged mixed [A B C] @%d", r.step), "pause systemic")
		r.consumed(1)
		r.ask("Healthy", "PAUSE systemic")
	}
}

func TestValidation13_SystemicFailureHoldsEveryProbeUntilConfirmed(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Web", "Mail", "Other"), Policy: large()})
	r.fail("Other", 3, cascade.Upstream)
	_, trial := r.probe("Other")
	r.record(trial, expediter.Ignored())
	r.state("Other", breaker.HalfOpen)
	r.step += 10
	r.systemic()
	for range 100 {
		r.step, r.at = r.step+7, r.at+3_600_000
		for _, tool := range []string{"Web", "Mail", "Other", "Healthy"} {
			r.ask(tool, "PAUSE systemic")
		}
		r.x.BeginCycle(r.step, r.now())
	}
	_, err := r.x.ConfirmRecovery("the network is back", r.step, r.now())
	r.must(err)
	r.ask("Other", "PROBE")
	r.close("Web")
	r.close("Mail")
}

func TestValidation14_PreCallChecksSaveTheBudget(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "config.yaml")
	c, err := precheck.New(precheck.Config{Checks: map[string]precheck.Check{
		"Grep":  precheck.ProgramOnPath(missing),
		"Read":  precheck.FileExists(missing),
		"Write": precheck.ToolExists("Write", []string{"Read", "Bash"}),
		"Bash":  precheck.FileExists(filepath.Dir(missing)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, expediter.Config{Tools: seedMap(t)})
	c.Apply(context.Background(), r.x, r.step, r.now())
	for range 20 {
		for _, tool := range []string{"Grep", "Read", "Write"} {
			if d := r.ask(tool, "SKIP unavailable"); d.Route.Kind != capability.UseAlternative {
				t.Fatalf("%s goes to %+v", tool, d.Route)
			}
		}
		r.succeed("Bash")
	}
	if s := r.x.Status(); s.Consumed != 0 || s.Counts.Failures != 0 || r.row("Grep").State != breaker.Closed {
		t.Errorf("it cost %d of the budget; Grep: %+v", s.Consumed, r.row("Grep"))
	}
	if got := c.Target(context.Background(), precheck.FileExists(missing)); got != capability.Unavailable {
		t.Fatalf("the target is %v", got)
	}
	if d := r.x.DecideScored("Bash", capability.Unavailable, r.step, r.now()); words(d) != "SKIP unavailable" {
		t.Errorf("a target that is not there: %s", words(d))
	}
	r.succeed("Bash")
}
