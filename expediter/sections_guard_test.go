package expediter_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// refuse says that a guard refused the call, and returns the answer.
func (r *rig) refuse(call expediter.Decision) expediter.Decision {
	r.t.Helper()
	d, err := r.x.Refuse(call.Call, "bulkhead full", r.step, r.now())
	if err != nil {
		r.t.Fatalf("refuse %v: %v", call.Call, err)
	}
	if got := words(d); got != "SKIP refused" || d.Would != expediter.Skip || d.Call != 0 || d.Route == nil {
		r.t.Fatalf("refuse %v: got %+v, want SKIP refused with a route and no call", call.Call, d)
	}
	return d
}

func (r *rig) external(tool string, s breaker.State) {
	r.t.Helper()
	r.must(r.x.External(tool, s, "5 failures", r.step, r.now()))
}

// A refusal is recorded as ignored (SPEC section 5): each case says what the
// next request for the tool gives.
func TestSection5_ARefusedCallSaysNothingOfItsTool(t *testing.T) {
	tests := []struct {
		name   string
		setUp  func(*rig) expediter.Decision // the call that is refused
		next   string                        // the answer to the next request
		failed int
	}{
		{"closed", func(r *rig) expediter.Decision { return r.ask("Grep", "CALL") }, "CALL", 0},
		{"closed, one failure short", func(r *rig) expediter.Decision {
			r.fail("Grep", 2, cascade.Upstream)
			return r.ask("Grep", "CALL")
		}, "CALL", 2},
		{"the trial frees its slot", func(r *rig) expediter.Decision {
			r.fail("Grep", 3, cascade.Upstream)
			_, trial := r.probe("Grep")
			return trial
		}, "PROBE", 0},
		{"stale", func(r *rig) expediter.Decision {
			early := r.ask("Grep", "CALL")
			r.fail("Grep", 3, cascade.Upstream)
			return early
		}, "SKIP open", 0},
		{"disabled", func(r *rig) expediter.Decision {
			r.must(r.x.Disable("Grep", "", r.step, r.now()))
			return r.ask("Grep", "CALL")
		}, "CALL", 0},
		{"opened by hand meanwhile", func(r *rig) expediter.Decision {
			d := r.ask("Grep", "CALL")
			r.must(r.x.ForceOpen("Grep", "", r.step, r.now()))
			return d
		}, "SKIP forced_open", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, expediter.Config{Tools: tools("Grep"), Policy: expediter.Policy{Budget: 50}})
			call := tt.setUp(r)
			before := r.x.Status()
			r.refuse(call)
			after := r.x.Status()
			if after.Consumed != before.Consumed || after.Tools[0].Consecutive != tt.failed || after.Tools[0].State != before.Tools[0].State {
				t.Errorf("%d consumed, %+v; want no change of %d consumed, %+v", after.Consumed, after.Tools[0], before.Consumed, before.Tools[0])
			}
			want := before.Counts
			want.Ignored, want.Refused, want.Skips, want.Reductions = want.Ignored+1, want.Refused+1, want.Skips+1, want.Reductions+1
			want.Stale = after.Counts.Stale
			if diff := cmp.Diff(want, after.Counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			r.ask("Grep", tt.next)
		})
	}
}

func TestSection5_ARefusedCallIsRecordedOnce(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep")})
	refused, recorded := r.ask("Grep", "CALL"), r.ask("Grep", "CALL")
	r.refuse(refused)
	r.record(recorded, expediter.Success())
	tests := []struct {
		name string
		call expediter.CallID
		want error
	}{
		{"refused before", refused.Call, expediter.ErrAlreadyRecorded},
		{"recorded before", recorded.Call, expediter.ErrAlreadyRecorded},
		{"no call", 0, expediter.ErrUnknownCall},
		{"never issued", recorded.Call + 1<<20, expediter.ErrUnknownCall},
	}
	before := r.x.Status()
	for _, tt := range tests {
		d, err := r.x.Refuse(tt.call, "", 99, r.now())
		if !errors.Is(err, tt.want) || d != (expediter.Decision{}) {
			t.Errorf("%s: got %+v, %v; want %v and no decision", tt.name, d, err, tt.want)
		}
	}
	if _, err := r.x.Record(refused.Call, expediter.Success(), 99, r.now()); !errors.Is(err, expediter.ErrAlreadyRecorded) {
		t.Errorf("a refused call was recorded: %v", err)
	}
	if diff := cmp.Diff(before, r.x.Status()); diff != "" {
		t.Errorf("an error changed the engine (-before +after):\n%s", diff)
	}
}

// The refusal's route is that of any SKIP, told to the observers, the ring and
// the journal.
func TestSection8_ARefusedCallHasARoute(t *testing.T) {
	var journal []*expediter.Event
	r, heard := routings(t, expediter.Config{Events: expediter.Events{Journal: func(ev *expediter.Event) { journal = append(journal, ev) }}})
	r.away("Bash")
	if d := r.refuse(r.ask("Grep", "CALL")); d.Route.Tool != "Find" || d.Next != 0 {
		t.Errorf("got %+v, want Find and no trial to wait for", d.Route)
	}
	if d := r.refuse(r.ask("Approve", "CALL")); d.Route.Kind != capability.Reduce {
		t.Errorf("got %+v, want the work out of scope", d.Route)
	}
	want := []string{"Grep refused: ACCEPTABLE Find; Bash unavailable", "Approve refused: SKIPPED"}
	if diff := cmp.Diff(want, *heard); diff != "" {
		t.Errorf("routed (-want +got):\n%s", diff)
	}
	if got := r.x.Status().Routes; len(got) != 2 || got[0].Tool != "Grep" {
		t.Errorf("routes: got %+v, want both", got)
	}
	ev := journal[len(journal)-3]
	if ev.Op != expediter.OpRefuse || ev.Reason != "bulkhead full" || ev.Decided.Reason != expediter.Refused || len(ev.Decided.Passed) != 1 {
		t.Errorf("journal: got %+v with %+v", ev, ev.Decided)
	}
}

// What another breaker says, and how the tool then stands: its state, what the
// next request gets, and whether Grep, whose alternative it is, may go to it.
func TestAnotherBreakersWord(t *testing.T) {
	const open, half, closed = breaker.Open, breaker.HalfOpen, breaker.Closed
	tests := []struct {
		name   string
		do     func(*rig)
		state  breaker.State
		next   string
		viable bool
		moves  string
	}{
		{"closed all along", func(r *rig) { r.external("Bash", closed) }, closed, "CALL", true, ""},
		{"open", func(r *rig) { r.external("Bash", open) }, open, "CALL", false, "CLOSED->OPEN"},
		{"open, said twice", func(r *rig) { r.external("Bash", open); r.external("Bash", open) }, open, "CALL", false, "CLOSED->OPEN"},
		{"half-open", func(r *rig) { r.external("Bash", open); r.external("Bash", half) }, half, "CALL", false, "CLOSED->OPEN OPEN->HALF_OPEN"},
		{"half-open from the start", func(r *rig) { r.external("Bash", half) }, half, "CALL", false, "CLOSED->HALF_OPEN"},
		{"its trial failed", func(r *rig) { r.external("Bash", half); r.external("Bash", open) }, open, "CALL", false, "CLOSED->HALF_OPEN HALF_OPEN->OPEN"},
		{"closed again", func(r *rig) { r.external("Bash", open); r.external("Bash", half); r.external("Bash", closed) }, closed, "CALL", true,
			"CLOSED->OPEN OPEN->HALF_OPEN HALF_OPEN->CLOSED"},
		{"reset over there", func(r *rig) { r.external("Bash", open); r.external("Bash", closed) }, closed, "CALL", true, "CLOSED->OPEN OPEN->CLOSED"},
		{"ours opened first, and it never did", func(r *rig) { r.fail("Bash", 3, cascade.Upstream); r.external("Bash", closed) },
			open, "SKIP open", false, "CLOSED->OPEN"},
		{"ours opened first, then it did", func(r *rig) { r.fail("Bash", 3, cascade.Upstream); r.external("Bash", open) },
			open, "CALL", false, "CLOSED->OPEN"},
		{"a trial of ours meanwhile", func(r *rig) { r.fail("Bash", 3, cascade.Upstream); r.probe("Bash"); r.external("Bash", half) },
			half, "CALL", false, "CLOSED->OPEN OPEN->HALF_OPEN"},
		{"an operator's word wins", func(r *rig) { r.must(r.x.ForceOpen("Bash", "", 1, r.now())); r.external("Bash", half) },
			open, "SKIP forced_open", false, "CLOSED->OPEN"},
		{"disabled", func(r *rig) { r.must(r.x.Disable("Bash", "", 1, r.now())); r.external("Bash", open) }, closed, "CALL", true, ""},
		{"reset", func(r *rig) { r.external("Bash", open); r.must(r.x.Reset("Bash", "", 1, r.now())) }, closed, "CALL", true, "CLOSED->OPEN OPEN->CLOSED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var moves []string
			r := newRig(t, expediter.Config{
				Tools:  capability.Map{{Tool: "Grep", Alternatives: []capability.Alternative{{Tool: "Bash"}}}, {Tool: "Bash"}},
				Policy: expediter.Policy{Budget: 50},
				Events: expediter.Events{Transition: func(m expediter.Transition) { moves = append(moves, m.From.String()+"->"+m.To.String()) }},
			})
			tt.do(r)
			row, grep := r.row("Bash"), r.row("Grep")
			if row.State != tt.state || row.Next != 0 && row.External != nil {
				t.Errorf("got %+v, want %v, without pacing", row, tt.state)
			}
			if got := grep.ViableRoute.Kind == capability.UseAlternative; got != tt.viable {
				t.Errorf("may stand in: got %v, want %v", got, tt.viable)
			}
			if got := strings.Join(moves, " "); got != tt.moves {
				t.Errorf("transitions: got %s, want %s", got, tt.moves)
			}
			r.ask("Bash", tt.next)
			want := row.External != nil && !row.Forced && !row.Disabled
			if d := r.x.Decide("Bash", 1, r.now()); d.External != want {
				t.Errorf("the word is left to another breaker: got %v, want %v", d.External, want)
			}
		})
	}
}

// While the other breaker governs, outcomes are charged and kept, and move
// nothing; the budget and a pause hold all the same.
func TestAnotherBreakersOutcomes(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep"), Policy: expediter.Policy{Budget: 5}})
	early := r.ask("Grep", "CALL")
	r.external("Grep", breaker.Open)
	if !r.record(early, expediter.Failure(cascade.Upstream, "502")).Stale {
		t.Error("a call from before the opening is current")
	}
	trial := r.ask("Grep", "CALL")
	r.external("Grep", breaker.HalfOpen) // as its guard asks for leave
	if r.record(trial, expediter.Failure(cascade.Upstream, "503")).Stale {
		t.Error("the other breaker's trial is stale")
	}
	r.state("Grep", breaker.HalfOpen)
	r.consumed(2)
	if row := r.row("Grep"); row.LastFailure.Text != "503" || row.Consecutive != 0 {
		t.Errorf("got %+v, want the last failure kept and no counter moved", row)
	}
	r.record(r.ask("Grep", "CALL"), expediter.Success())
	r.state("Grep", breaker.HalfOpen)
	r.external("Grep", breaker.Closed)
	r.fail("Grep", 3, cascade.Upstream)
	r.state("Grep", breaker.Open) // ours counts again
	r.external("Grep", breaker.Open)
	r.ask("Grep", "PAUSE budget")
	if err := r.x.External("Grep", breaker.Closed+1, "", 1, r.now()); err == nil {
		t.Error("a state that is none was taken")
	}
	strict := newRig(t, expediter.Config{Tools: tools("Grep"), Strict: true})
	if err := strict.x.External("Grpe", breaker.Open, "", 1, r.now()); !errors.Is(err, expediter.ErrUnknownTool) {
		t.Errorf("got %v, want unknown_tool", err)
	}
}

// An opening there is an opening here, for common causes too.
func TestSection7_AnotherBreakersOpening(t *testing.T) {
	fails := func(r *rig, tool string, n int) { r.fail(tool, n, cascade.Network) }
	tests := []struct {
		name string
		do   func(*rig)
		want []string
	}{
		{"no failure of its own: alone", func(r *rig) { fails(r, "A", 3); r.external("B", breaker.Open) }, nil},
		{"its latest outcome is a success: alone", func(r *rig) { fails(r, "A", 3); fails(r, "B", 1); r.succeed("B"); r.external("B", breaker.Open) }, nil},
		{"no other is open: alone", func(r *rig) { fails(r, "A", 1); fails(r, "B", 1); r.external("B", breaker.Open) }, nil},
		{"the same failure: shared", func(r *rig) { fails(r, "A", 3); fails(r, "B", 1); r.external("B", breaker.Open) },
			[]string{"flagged network [A B] @1", "pause systemic"}},
		{"it is a peer of ours", func(r *rig) { fails(r, "B", 1); r.external("B", breaker.Open); fails(r, "A", 3) },
			[]string{"flagged network [A B] @1", "pause systemic"}},
		{"it joins an active incident", func(r *rig) {
			c := r.ask("C", "CALL")
			fails(r, "A", 3)
			fails(r, "B", 2)
			r.record(r.ask("B", "CALL"), expediter.Failure(cascade.Network, ""))
			r.record(c, expediter.Failure(cascade.Network, ""))
			r.external("C", breaker.Open)
		}, []string{"flagged network [A B] @1", "pause systemic", "joined network [C] @1"}},
		{"three at once: simultaneous", func(r *rig) {
			r.external("A", breaker.Open)
			r.external("B", breaker.Open)
			r.external("C", breaker.Open)
		},
			[]string{"flagged mixed [A B C] @1", "pause systemic"}},
		{"its closing ends the incident", func(r *rig) {
			_, err := r.x.DeclareOutage(cascade.Network, []string{"A"}, 1, r.now())
			r.must(err)
			r.external("A", breaker.HalfOpen)
			r.external("A", breaker.Closed)
		}, []string{"declared network [A] @1", "ended network [A] @1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, expediter.Config{Tools: tools("A", "B", "C"), Policy: expediter.Policy{Budget: 50}})
			tt.do(r)
			r.heard(tt.want...)
		})
	}
}

// Goroutines that ask, are refused and hear another breaker change its mind:
// every call ends once, and what is left is consistent.
func TestGuardsUnderLoad(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("A", "B"), Policy: expediter.Policy{Budget: -1}})
	const workers, calls = 8, 500
	done := make(chan error, workers)
	for w := range workers {
		go func() {
			var err error
			for i := range calls {
				d := r.x.Decide([]string{"A", "B"}[i%2], int64(i), r.now())
				switch {
				case !d.Verb.Go():
				case (i+w)%3 == 0:
					_, e := r.x.Refuse(d.Call, "full", int64(i), r.now())
					err = errors.Join(err, e)
				default:
					_, e := r.x.Record(d.Call, expediter.Success(), int64(i), r.now())
					err = errors.Join(err, e)
				}
				if i%20 == w {
					err = errors.Join(err, r.x.External("A", breaker.State(i%3), fmt.Sprint(i), int64(i), r.now()))
				}
			}
			done <- err
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	c := r.x.Status().Counts
	if c.Calls+c.Probes != c.Successes+c.Ignored || c.Failures != 0 || c.Ignored == 0 || len(r.x.Snapshot().Pending) != 0 {
		t.Errorf("got %+v with %v in flight; want every call a success or ignored", c, r.x.Snapshot().Pending)
	}
}

// A snapshot in which the two breakers contradict each other is refused.
func TestRestoreOfAnotherBreakersWord(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Grep")})
	r.external("Grep", breaker.Open)
	tests := []struct {
		name   string
		change func(*expediter.ToolSnapshot)
		want   bool
	}{
		{"as it was", func(*expediter.ToolSnapshot) {}, true},
		{"closed here", func(s *expediter.ToolSnapshot) { s.Machine.State = breaker.Closed }, false},
		{"closed here, disabled", func(s *expediter.ToolSnapshot) { s.Machine.State, s.Disabled = breaker.Closed, true }, true},
		{"half-open there, forced open here", func(s *expediter.ToolSnapshot) {
			s.External, s.Forced = &expediter.External{State: breaker.HalfOpen}, true
		}, true},
		{"closed there", func(s *expediter.ToolSnapshot) { s.External = &expediter.External{State: breaker.Closed} }, false},
		{"no state", func(s *expediter.ToolSnapshot) { s.External = &expediter.External{State: 9} }, false},
	}
	for _, tt := range tests {
		s := r.x.Snapshot()
		tt.change(&s.Tools[0])
		if _, err := expediter.Restore(expediter.Config{Tools: tools("Grep")}, s); (err == nil) != tt.want {
			t.Errorf("%s: got %v, want it taken: %v", tt.name, err, tt.want)
		}
	}
}
