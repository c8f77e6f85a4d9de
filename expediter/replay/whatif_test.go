package replay_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/replay"
)

// tape is a recorded session in short: calls of one tool each, given as a word
// of outcomes (F failure, S success, I ignored, . no result), or | for a prompt.
func tape(w *replay.WhatIf, tool, outcomes string) (verbs string) {
	for i, o := range outcomes {
		if o == '|' {
			w.Prompt(int64(i), 0)
			verbs += "|"
			continue
		}
		d := w.Issue(i, tool, int64(i), 0)
		verbs += d.Verb.String()[:2]
		if o != '.' {
			w.Result(i, outcomeOf(o), int64(i), 0)
		}
	}
	return verbs
}

func outcomeOf(letter rune) expediter.Outcome {
	switch letter {
	case 'F':
		return expediter.Failure(cascade.Network, "connection refused")
	case 'I':
		return expediter.Ignored()
	}
	return expediter.Success()
}

func newWhatIf(t testing.TB, p expediter.Policy) *replay.WhatIf {
	t.Helper()
	w, err := replay.NewWhatIf(expediter.Config{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWhatIf(t *testing.T) {
	unlimited := expediter.Policy{Budget: budget.Unlimited}
	for _, c := range []struct {
		name, tape, verbs string
		policy            expediter.Policy
		want              replay.Tally
	}{
		{name: "healthy", tape: "|SSSS", verbs: "|CACACACA", want: replay.Tally{Calls: 4}},
		{name: "single failures", tape: "FSFSFSFS", policy: unlimited, verbs: "CACACACACACACACA", want: replay.Tally{Calls: 8}},
		{name: "saved and lost", tape: "FFFFSS", verbs: "CACACASKSKPR",
			want: replay.Tally{Calls: 6, Probes: 1, Skipped: 2, Saved: 1, Lost: 1, Openings: 1}},
		{name: "a skipped call without a word", tape: "FFFI.S", verbs: "CACACASKSKPR",
			want: replay.Tally{Calls: 6, Probes: 1, Skipped: 2, Openings: 1}},
		{name: "a skipped failure is not heard of", tape: "FFFFFSFFSS", policy: unlimited, verbs: "CACACASKSKPRCACACACA",
			want: replay.Tally{Calls: 10, Probes: 1, Skipped: 2, Saved: 2, Openings: 1}},
		{name: "a pause lasts to the prompt", tape: "|FFF..F..FSFS|S", verbs: "|CACACASKSKPRSKSKPRPAPAPA|SK",
			want: replay.Tally{Calls: 13, Probes: 2, Skipped: 5, Paused: 3, Lost: 1, Openings: 1, Pauses: 1}},
		{name: "without prompts the next call begins a cycle", tape: "FFF..F..FSS", verbs: "CACACASKSKPRSKSKPRPASK",
			want: replay.Tally{Calls: 11, Probes: 2, Skipped: 5, Paused: 1, Lost: 1, Openings: 1, Pauses: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWhatIf(t, c.policy)
			for range 2 { // the second session knows nothing of the first
				if got := tape(w, "x", c.tape); got != c.verbs {
					t.Errorf("got %s, want %s", got, c.verbs)
				}
				if diff := cmp.Diff(c.want, w.End()); diff != "" {
					t.Errorf("tally (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// A success that was issued before the tool opened comes late: it is of an
// older generation and closes nothing.
func TestWhatIfKeepsTheOrderOfParallelCalls(t *testing.T) {
	w := newWhatIf(t, expediter.Policy{})
	for call := range 4 {
		if d := w.Issue(call, "x", 1, 0); d.Verb != expediter.Call {
			t.Fatalf("call %d: got %v, want CALL: no result is there yet", call, d.Verb)
		}
	}
	for _, call := range []int{3, 1, 0} {
		if verb, ok := w.Result(call, outcomeOf('F'), 1, 0); verb != expediter.Call || !ok {
			t.Fatalf("result %d: got %v, %v, want CALL, true", call, verb, ok)
		}
	}
	w.Result(2, expediter.Success(), 1, 0)
	if d := w.Issue(4, "x", 2, 0); d.Verb != expediter.Skip {
		t.Errorf("got %v, want SKIP: the late success is stale", d.Verb)
	}
	if _, ok := w.Result(2, expediter.Success(), 2, 0); ok {
		t.Error("a second result of one call was taken")
	}
	if _, ok := w.Result(99, expediter.Success(), 2, 0); ok {
		t.Error("a result of a call that nobody asked for was taken")
	}
}

// Two tools with one cause pause the session; the prompt confirms recovery, and
// one member at a time is tried.
func TestWhatIfConfirmsAtThePrompt(t *testing.T) {
	var kinds []expediter.IncidentKind
	cfg := expediter.Config{Policy: expediter.Policy{Budget: 20}}
	cfg.Events.Incident = func(e expediter.IncidentEvent) { kinds = append(kinds, e.Kind) }
	w, err := replay.NewWhatIf(cfg)
	if err != nil {
		t.Fatal(err)
	}
	call := 0
	ask := func(tool string) expediter.Verb {
		call++
		d := w.Issue(call, tool, 1, 0)
		w.Result(call, outcomeOf('F'), 1, 0)
		return d.Verb
	}
	w.Prompt(1, 0)
	for range 3 {
		ask("a")
		ask("b")
	}
	if got := ask("c"); got != expediter.Pause {
		t.Fatalf("got %v, want PAUSE", got)
	}
	w.Prompt(1, 0)
	if got := ask("c"); got != expediter.Call {
		t.Errorf("after the prompt: got %v, want CALL", got)
	}
	if diff := cmp.Diff([]expediter.IncidentKind{expediter.IncidentFlagged, expediter.IncidentConfirmed}, kinds); diff != "" {
		t.Errorf("incident (-want +got):\n%s", diff)
	}
	if got := w.End(); got.Incidents != 1 || got.Pauses != 1 || got.Paused != 1 {
		t.Errorf("got %+v, want one incident, one pause, one paused call", got)
	}
}

// Without times nothing is ever due by time; such rules are left out.
func TestWhatIfWithoutTimesOrSteps(t *testing.T) {
	byTime := breaker.Policy{Probe: breaker.Pacing{Unit: breaker.Time}}
	bySteps := breaker.Policy{Probe: breaker.Pacing{Unit: breaker.Steps, Every: 7}}
	for _, c := range []struct {
		name     string
		policy   expediter.Policy
		own      breaker.Policy
		step, at int64
		want     string
	}{
		{"not before", expediter.Interactive(), breaker.Policy{}, 1, 0, "SKSKPR"},
		{"not before, with times", expediter.Interactive(), breaker.Policy{}, 1, 1_700_000_000_000, "SKSKSK"},
		{"by time", expediter.Policy{Policy: byTime}, breaker.Policy{}, 1, 0, "SKSKPR"},
		{"by time, with times", expediter.Policy{Policy: byTime}, breaker.Policy{}, expediter.NoStep, 1_700_000_000_000, "SKSKSK"},
		{"by steps", expediter.Policy{Policy: bySteps}, breaker.Policy{}, expediter.NoStep, 1_700_000_000_000, "SKSKPR"},
		{"a tool's own, by time", expediter.Policy{}, byTime, expediter.NoStep, 0, "SKSKPR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := replay.NewWhatIf(expediter.Config{Policy: c.policy, Tools: capability.Map{{Tool: "x", Fallback: "ask", Policy: c.own}}})
			if err != nil {
				t.Fatal(err)
			}
			verbs := ""
			for call := range 6 {
				verbs += w.Issue(call, "x", c.step, c.at).Verb.String()[:2]
				w.Result(call, outcomeOf('F'), c.step, c.at)
			}
			if verbs != "CACACA"+c.want {
				t.Errorf("got %s, want CACACA%s", verbs, c.want)
			}
		})
	}
}

// A pause that ends by itself, or is of some tools only, pauses no more calls
// than it would.
func TestWhatIfPausesThatAreNotTheUsers(t *testing.T) {
	shared := capability.Map{{Tool: "a", Fallback: "ask", Shares: []string{"sso"}}, {Tool: "b", Fallback: "ask", Shares: []string{"sso"}}}
	for _, c := range []struct {
		name    string
		cascade expediter.Cascade
		verbs   string // of c at once, of a at once, of c a minute later
	}{
		{"until the prompt", expediter.Cascade{}, "PAPAPA"},
		{"until a time", expediter.Cascade{ConfirmAfterMS: 60_000}, "PAPACA"},
		{"of what is shared", expediter.Cascade{PauseScope: expediter.PauseShares}, "CAPACA"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := replay.NewWhatIf(expediter.Config{Tools: shared, Policy: expediter.Policy{Budget: 20, Cascade: c.cascade}})
			if err != nil {
				t.Fatal(err)
			}
			w.Prompt(1, atMS)
			for call := range 6 {
				w.Issue(call, []string{"a", "b"}[call%2], 1, atMS)
				w.Result(call, outcomeOf('F'), 1, atMS)
			}
			got := ""
			for _, next := range []struct {
				tool string
				at   int64
			}{{"c", atMS}, {"a", atMS}, {"c", atMS + 60_000}} {
				got += w.Issue(9, next.tool, 1, next.at).Verb.String()[:2]
			}
			if got != c.verbs {
				t.Errorf("got %s, want %s", got, c.verbs)
			}
		})
	}
}

func TestNewWhatIfReportsABadPolicy(t *testing.T) {
	if _, err := replay.NewWhatIf(expediter.Config{Policy: expediter.Policy{Budget: -7}}); err == nil {
		t.Error("a budget of -7 was taken")
	}
}

func ExampleWhatIf() {
	w, err := replay.NewWhatIf(expediter.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for call := range 5 { // the recording: five failures in a row
		d := w.Issue(call, "WebFetch/example.org", int64(call), 0)
		w.Result(call, expediter.Failure(cascade.Network, "connection refused"), int64(call), 0)
		fmt.Print(d.Verb, " ")
	}
	fmt.Println("saved", w.End().Saved)
	// Output: CALL CALL CALL SKIP SKIP saved 2
}

// Calls that were issued together and fail alike are one observation under
// interactive, and as many failures as they are under faithful.
func TestWhatIfOfParallelFailures(t *testing.T) {
	for name, want := range map[string]breaker.State{"interactive": breaker.Closed, "faithful": breaker.Open} {
		policy, err := expediter.PolicyNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		w := newWhatIf(t, policy)
		for call := range 5 {
			w.Issue(call, "Grep", 1, 1000)
		}
		for call := range 5 {
			w.Result(call, outcomeOf('F'), 1, 1000+int64(call))
		}
		if got := w.Status().Tools[0].State; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
