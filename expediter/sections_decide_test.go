package expediter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

func TestSection1_CallIDsIncreaseAndStayValidAfterARestore(t *testing.T) {
	cfg := expediter.Config{Tools: tools("Grep", "Bash")}
	r := newRig(t, cfg)
	var last expediter.CallID
	var pending []expediter.Decision
	for i := range 200 {
		d := r.ask([]string{"Grep", "Bash", "Else"}[i%3], "CALL")
		if d.Call <= last {
			t.Fatalf("call %v after %v", d.Call, last)
		}
		last, pending = d.Call, append(pending, d)
	}
	recorded := pending[100]
	r.record(recorded, expediter.Success())
	pending = slices.Delete(pending, 100, 101)
	var err error
	if r.x, err = expediter.Restore(cfg, r.x.Snapshot()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.x.Record(recorded.Call, expediter.Success(), 1, r.now()); !errors.Is(err, expediter.ErrAlreadyRecorded) {
		t.Errorf("recorded before the restore and again after it: got %v", err)
	}
	for _, d := range pending {
		if r.record(d, expediter.Success()).Stale {
			t.Fatalf("call %v is stale after the restore", d.Call)
		}
	}
	if d := r.ask("Grep", "CALL"); d.Call <= last {
		t.Errorf("after the restore: call %v, not above %v", d.Call, last)
	}
}

func TestSection1_CallIDsMarshalToText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := expediter.CallID(rapid.Uint64().Draw(t, "id"))
		text, err := json.Marshal(map[expediter.CallID]expediter.CallID{id: id})
		if err != nil {
			t.Fatal(err)
		}
		var back map[expediter.CallID]expediter.CallID
		if err := json.Unmarshal(text, &back); err != nil || back[id] != id {
			t.Fatalf("%d went through %s and came back as %v, %v", uint64(id), text, back, err)
		}
	})
	for _, bad := range []string{"", "7", "7.", ".7", "-1.0", "1.2.3", "1.1048576", "17592186044416.0", "1. 2", "x.y"} {
		var id expediter.CallID
		if err := id.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, id)
		}
	}
}

// What cannot be told from a step must not be asked to pace by steps.
func TestSection1_PacingByStepsNeedsSteps(t *testing.T) {
	bySteps := breaker.Policy{Probe: breaker.Pacing{Unit: breaker.Steps}}
	tests := []struct {
		name string
		cfg  expediter.Config
		want string // empty: allowed
	}{
		{"engine", expediter.Config{Policy: expediter.Policy{Policy: bySteps}}, "policy: probe.unit is steps"},
		{"one tool", expediter.Config{Tools: capability.Map{{Tool: "Grep", Policy: bySteps}}}, `Tools[0] "Grep": probe.unit is steps`},
		{"attempts", expediter.Config{Tools: tools("Grep")}, ""},
	}
	for _, tt := range tests {
		if _, err := expediter.New(tt.cfg); err != nil {
			t.Errorf("%s, with steps: %v", tt.name, err)
		}
		tt.cfg.Stepless = true
		_, err := expediter.New(tt.cfg)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, stepless: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestSection1_AChildUsesItsParentsEntry(t *testing.T) {
	m := capability.Map{{Tool: "srv", Fallback: "ask the server's owner", Policy: breaker.Policy{FailureThreshold: 1}}, {Tool: "srv/mail", Fallback: "write a letter"}}
	r := newRig(t, expediter.Config{Tools: m, Strict: true, Policy: expediter.Policy{Budget: 50}})
	for tool, ask := range map[string]string{"srv/files/read": "ask the server's owner", "srv/mail/send": "write a letter"} {
		n := 1
		if strings.HasPrefix(tool, "srv/mail") {
			n = 3
		}
		r.fail(tool, n, cascade.Upstream)
		if d := r.ask(tool, "SKIP open"); d.Route.Ask != ask {
			t.Errorf("%s: got route %+v, want to %s", tool, d.Route, ask)
		}
	}
	r.ask("srv", "CALL")
	r.ask("srv/files", "CALL")
	r.ask("server", "SKIP unknown_tool")
}

func TestSection2_MaxToolsEvictsTheLongestUnusedHealthyTool(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Declared"), MaxTools: 4, Policy: expediter.Policy{Budget: 50}})
	held := func() string {
		var names []string
		for _, row := range r.x.Status().Tools {
			names = append(names, row.Tool)
		}
		return strings.Join(names, " ")
	}
	steps := []struct {
		do   func()
		want string
	}{
		{func() { r.fail("open", 3, cascade.Upstream) }, "Declared open"},
		{func() { r.succeed("a"); r.fail("failing", 1, cascade.Upstream); r.succeed("b") }, "Declared open a failing b"},
		{func() { r.succeed("a"); r.succeed("c") }, "Declared open a failing c"},
		{func() { r.succeed("c"); r.succeed("d") }, "Declared open failing c d"},
		{func() { r.succeed("failing"); r.succeed("e") }, "Declared open failing d e"},
		{func() { r.succeed("f"); r.succeed("g") }, "Declared open e f g"},
		{func() { r.succeed("h") }, "Declared open f g h"},
	}
	for i, s := range steps {
		s.do()
		if got := held(); got != s.want {
			t.Errorf("%d: the table holds %q, want %q", i, got, s.want)
		}
	}
	r.ask("open", "SKIP open")
}

func TestSection2_MaxToolsKeepsCallsInFlightApart(t *testing.T) {
	r := newRig(t, expediter.Config{MaxTools: 1})
	old := r.ask("old", "CALL")
	young := r.ask("young", "CALL")
	r.record(old, expediter.Success())
	r.record(young, expediter.Success())
	r.succeed("new")
	if got := len(r.x.Status().Tools); got != 1 {
		t.Errorf("%d tools are held, want 1", got)
	}
	for _, d := range []expediter.Decision{old, young} {
		_, err := r.x.Record(d.Call, expediter.Failure(cascade.Network, "refused"), r.step+9, r.now())
		if !errors.Is(err, expediter.ErrAlreadyRecorded) {
			t.Errorf("the call of an evicted tool, recorded again: %v", err)
		}
	}
	if s := r.x.Status(); s.Consumed != 0 || s.Tools[0].Consecutive != 0 || s.Step != r.step {
		t.Errorf("it changed something: %+v", s)
	}
}

func TestSection4_DecideScoredIsNeverRemembered(t *testing.T) {
	m := capability.Map{{Tool: "Read", Fallback: "ask"}, {Tool: "Away", Initial: capability.Unavailable}, {Tool: "Weak", Initial: capability.Degraded}}
	r := newRig(t, expediter.Config{Tools: m})
	tests := []struct {
		tool    string
		score   capability.Score
		want    string
		caution []string
		after   string
	}{
		{"Read", capability.Unavailable, "SKIP unavailable", []string{}, "CALL"},
		{"Read", capability.Degraded, "CALL", []string{"degraded"}, "CALL"},
		{"Away", capability.Available, "CALL", []string{}, "SKIP unavailable"},
		{"Weak", capability.Available, "CALL", []string{}, "CALL"},
		{"New", capability.Unavailable, "SKIP unavailable", []string{}, "CALL"},
		{"New", capability.Degraded, "CALL", []string{"degraded"}, "CALL"},
	}
	for _, tt := range tests {
		before := r.x.Status()
		d := r.x.DecideScored(tt.tool, tt.score, r.step, r.now())
		if diff := cmp.Diff(tt.caution, d.Caution.Words()); words(d) != tt.want || diff != "" {
			t.Errorf("%s, %v: got %s, want %s; caution (-want +got):\n%s", tt.tool, tt.score, words(d), tt.want, diff)
		}
		for _, row := range before.Tools {
			if got := r.row(row.Tool).Score; got != row.Score {
				t.Errorf("%s, %v: the score of %s is now %v", tt.tool, tt.score, row.Tool, got)
			}
		}
		r.ask(tt.tool, tt.after)
	}
	r.consumed(0)
}

func TestSection4_ADegradedCallsThresholdIsFixedAtTheDecision(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep", "Bash"), Policy: expediter.Policy{Budget: 50}})
	r.fail("Grep", 1, cascade.Upstream)
	r.x.SetAvailability("Grep", capability.Degraded, r.step, r.now())
	d := r.ask("Grep", "CALL")
	r.x.SetAvailability("Grep", capability.Available, r.step, r.now())
	r.record(d, expediter.Failure(cascade.Upstream, "502"))
	r.state("Grep", breaker.Open)

	d = r.ask("Bash", "CALL")
	r.fail("Bash", 1, cascade.Upstream)
	r.x.SetAvailability("Bash", capability.Degraded, r.step, r.now())
	r.record(d, expediter.Failure(cascade.Upstream, "502"))
	r.state("Bash", breaker.Closed)
}

// NoStep and the zero time read as the latest seen, and so does all that lies
// before it.
func TestSection4_NoStepAndNoTimeReadAsTheLatest(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep")})
	clock := func(step, at int64) {
		t.Helper()
		if s := r.x.Status(); s.Step != step || s.At != at {
			t.Errorf("the clock stands at %d, %d, want %d, %d", s.Step, s.At, step, at)
		}
	}
	d := r.x.Decide("Grep", expediter.NoStep, time.Time{})
	clock(0, 0)
	if _, err := r.x.Record(d.Call, expediter.Failure(cascade.Upstream, "502"), 7, time.UnixMilli(500)); err != nil {
		t.Fatal(err)
	}
	clock(7, 500)
	for _, past := range []struct {
		step int64
		at   time.Time
	}{{expediter.NoStep, time.Time{}}, {3, time.UnixMilli(400)}, {0, time.UnixMilli(0)}, {-1 << 62, time.Unix(-1<<40, 0)}} {
		d := r.x.Decide("Grep", past.step, past.at)
		if _, err := r.x.Record(d.Call, expediter.Success(), past.step, past.at); err != nil {
			t.Fatal(err)
		}
		clock(7, 500)
		if ok := r.row("Grep").LastSuccess; ok.Step != 7 || ok.At != 500 {
			t.Errorf("at %v the success was at %+v", past, ok)
		}
	}
}

// In the journal no time is 0, and no step is what it was given as.
func TestSection4_TheJournalKeepsWhatWasGiven(t *testing.T) {
	var got [][2]int64
	x, err := expediter.New(expediter.Config{Events: expediter.Events{Journal: func(ev *expediter.Event) { got = append(got, [2]int64{ev.Step, ev.At}) }}})
	if err != nil {
		t.Fatal(err)
	}
	x.Decide("Grep", 4, time.UnixMilli(70))
	x.Decide("Grep", expediter.NoStep, time.Time{})
	x.BeginCycle(2, time.UnixMilli(60))
	if diff := cmp.Diff([][2]int64{{0, 0}, {4, 70}, {-1, 0}, {2, 60}}, got); diff != "" {
		t.Errorf("step and time (-want +got):\n%s", diff)
	}
}

func TestSection4_EveryValidEventMovesTheClockAndNoErrorDoes(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep", "Bash"), Strict: true})
	used := r.ask("Grep", "CALL")
	r.record(used, expediter.Success())
	clock := func(want int64) {
		t.Helper()
		if s := r.x.Status(); s.Step != want || s.At != want {
			t.Errorf("the clock stands at %d, %d, want %d", s.Step, s.At, want)
		}
	}
	r.step, r.at = 2000, 2000
	r.ask("Nobody", "SKIP unknown_tool")
	clock(2000)
	at := time.UnixMilli(9999)
	_, err := r.x.Record(used.Call, expediter.Success(), 9999, at)
	_, err2 := r.x.Record(12345<<20, expediter.Success(), 9999, at)
	_, err3 := r.x.ConfirmRecovery("", 9999, at)
	_, err4 := r.x.DeclareOutage(cascade.Network, nil, 9999, at)
	err5 := r.x.Note("gossip", nil, 9999, at)
	if err == nil || err2 == nil || err3 == nil || err4 == nil || err5 == nil {
		t.Fatalf("an error is missing: %v; %v; %v; %v; %v", err, err2, err3, err4, err5)
	}
	clock(2000)
	for _, tool := range []string{"Grep", "Bash"} {
		r.fail(tool, 2, cascade.Upstream)
	}
	r.fail("Grep", 1, cascade.Upstream)
	r.step, r.at = 3000, 3000
	r.ask("Bash", "PAUSE budget")
	clock(3000)
}

func TestSection4_ASkipSaysHowFarTheTrialIs(t *testing.T) {
	tests := []struct {
		pacing breaker.Pacing
		want   []int64 // asked once a step, 10 ms apart
	}{
		{breaker.Pacing{Every: 4}, []int64{3, 2, 1}},
		{breaker.Pacing{Unit: breaker.Steps, Every: 4}, []int64{3, 2, 1}},
		{breaker.Pacing{Unit: breaker.Time, Every: 40, Max: 40}, []int64{30, 20, 10}},
	}
	for _, tt := range tests {
		t.Run(tt.pacing.Unit.String(), func(t *testing.T) {
			r := newRig(t, expediter.Config{Policy: expediter.Policy{Policy: breaker.Policy{Probe: tt.pacing}}})
			r.fail("Grep", 3, cascade.Upstream)
			for _, want := range tt.want {
				r.step, r.at = r.step+1, r.at+10
				if d := r.ask("Grep", "SKIP open"); d.Next != want || d.Unit != tt.pacing.Unit {
					t.Errorf("got %d %v, want %d", d.Next, d.Unit, want)
				}
			}
			r.step, r.at = r.step+1, r.at+10
			r.ask("Grep", "PROBE")
			if d := r.ask("Grep", "SKIP probe_in_flight"); d.Route == nil {
				t.Error("a SKIP without a route")
			}
		})
	}
}

func TestSection5_RecordSaysWhetherTheOutcomeWasAccepted(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep")})
	late := r.ask("Grep", "CALL")
	got := []expediter.Result{
		r.record(r.ask("Grep", "CALL"), expediter.Success()),
		r.record(r.ask("Grep", "CALL"), expediter.Ignored()),
		r.record(r.ask("Grep", "CALL"), expediter.Failure(cascade.Upstream, "502")),
		r.record(r.ask("Grep", "CALL"), expediter.Failure(cascade.Upstream, "502")),
		r.record(r.ask("Grep", "CALL"), expediter.Failure(cascade.Upstream, "502")),
		r.record(late, expediter.Failure(cascade.Upstream, "502")),
	}
	_, trial := r.probe("Grep")
	got = append(got, r.record(trial, expediter.Failure(cascade.Upstream, "502")))
	r.x.BeginCycle(r.step, r.now())
	_, trial = r.probe("Grep")
	got = append(got, r.record(trial, expediter.Success()))
	want := []expediter.Result{{}, {}, {}, {}, {Opened: true}, {Stale: true}, {Opened: true, Paused: expediter.Budget}, {Closed: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestSection5_AnIDThatWasNeverIssuedIsUnknown(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep", "Bash")})
	d := r.ask("Grep", "CALL")
	for _, id := range []expediter.CallID{0, 1, d.Call + 1<<20, d.Call + 7, 1<<64 - 1} {
		for _, o := range []expediter.Outcome{expediter.Success(), expediter.Failure(cascade.Network, ""), expediter.Ignored()} {
			if _, err := r.x.Record(id, o, 5, r.now()); !errors.Is(err, expediter.ErrUnknownCall) {
				t.Errorf("call %v: got %v, want unknown_call", id, err)
			}
		}
	}
	r.consumed(0)
	r.record(d, expediter.Success())
}

func TestSection5_ErrorTextsAreBounded(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep")})
	o := expediter.Failure(cascade.Unknown, strings.Repeat("é", 5000)+"\xff")
	o.Signature = strings.Repeat("s", 5000)
	r.record(r.ask("Grep", "CALL"), o)
	s := r.x.Status()
	for name, text := range map[string]string{"row": s.Tools[0].LastFailure.Text, "charge": s.Charges[0].Text, "signature": r.x.Snapshot().Tools[0].Latest.Signature} {
		if len(text) == 0 || utf8.RuneCountInString(text) > 512 || strings.ToValidUTF8(text, "") != text {
			t.Errorf("%s: %d bytes of text are kept, ending %q", name, len(text), text[max(len(text)-4, 0):])
		}
	}
}

// Every problem of a configuration is told at once, each with its path.
func TestConfigReportsEveryProblemAtOnce(t *testing.T) {
	cfg := expediter.Config{
		Tools: capability.Map{
			{Tool: "Grep", Alternatives: []capability.Alternative{{Tool: "Grep"}}},
			{Tool: "Bash", Policy: breaker.Policy{Probe: breaker.Pacing{Every: 9, Max: 8}}},
			{Tool: "Bash"},
		},
		Policy:   expediter.Policy{Budget: -7},
		MaxTools: -1,
	}
	_, err := expediter.New(cfg)
	if err == nil {
		t.Fatal("it was accepted")
	}
	for _, want := range []string{`Tools[0].Alternatives[0].Tool: `, `Tools[2].Tool: `, "budget: -7", `Tools[1] "Bash": policy: probe.max: 8`, "max_tools -1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q in:\n%v", want, err)
		}
	}
}

func TestConfigValues(t *testing.T) {
	with := func(change func(*expediter.Policy)) expediter.Config {
		var p expediter.Policy
		change(&p)
		return expediter.Config{Policy: p}
	}
	tests := []struct {
		cfg  expediter.Config
		want string
	}{
		{with(func(p *expediter.Policy) { p.Budget = -2 }), "budget: -2; give 1 or more"},
		{with(func(p *expediter.Policy) { p.ChargePerTool = -2 }), "charge_per_tool: -2; give a positive number"},
		{with(func(p *expediter.Policy) { p.Cascade.WindowSteps = -2 }), "cascade.window_steps: -2"},
		{with(func(p *expediter.Policy) { p.Cascade.WindowMS = -2 }), "cascade.window_ms: -2"},
		{with(func(p *expediter.Policy) { p.Cascade.ConfirmAfterMS = -2 }), "cascade.confirm_after_ms: -2"},
		{with(func(p *expediter.Policy) { p.Cascade.MinTools = 1 }), "cascade.min_tools: 1; one tool alone is no cascade"},
		{with(func(p *expediter.Policy) { p.Cascade.PauseScope = 7 }), "cascade.pause_scope: pause_scope(7); use all or shares"},
		{with(func(p *expediter.Policy) { p.FailureThreshold = -1 }), "failure_threshold: -1"},
		{with(func(p *expediter.Policy) { p.Probe.Max = 2 }), "probe.max: 2 is below probe.every 3"},
		{expediter.Config{MaxTools: 1 << 30}, "max_tools 1073741824"},
	}
	for _, tt := range tests {
		if _, err := expediter.New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
	if _, err := expediter.New(expediter.Config{Policy: expediter.Policy{Policy: breaker.Policy{Probe: breaker.Pacing{Max: 2}}}, Replay: true}); err != nil {
		t.Errorf("max below every in a replay: %v", err)
	}
}

// The engine copies its configuration: the caller may go on using it.
func TestConfigIsCopied(t *testing.T) {
	m := capability.Map{{Tool: "Grep", Shares: []string{"disk"}, Alternatives: []capability.Alternative{{Tool: "Bash"}}}}
	r := newRig(t, expediter.Config{Tools: m})
	m[0].Alternatives[0].Tool, m[0].Shares[0], m[0].Tool = "Evil", "evil", "Evil"
	r.x.SetAvailability("Grep", capability.Unavailable, r.step, r.now())
	if d := r.ask("Grep", "SKIP unavailable"); d.Route.Tool != "Bash" {
		t.Errorf("got route %+v, want Bash", d.Route)
	}
	if got := fmt.Sprint(r.row("Grep").Entry); strings.Contains(got, "vil") {
		t.Errorf("the entry is now %s", got)
	}
}
