package expediter_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// vague is a failure after which nobody knows what the call did.
func vague(text string) expediter.Outcome {
	o := expediter.Failure(cascade.Timeout, text)
	o.MayHaveTakenEffect = true
	return o
}

// Which failures are to be verified.
func TestCallsToBeVerified(t *testing.T) {
	ignored, slow := expediter.Ignored(), expediter.Success()
	ignored.MayHaveTakenEffect, slow.MayHaveTakenEffect = true, true
	tests := []struct {
		name string
		tool string
		do   func(*rig, expediter.Decision)
		want int
	}{
		{"destructive", "Pay", func(r *rig, d expediter.Decision) { r.record(d, vague("no answer")) }, 1},
		{"idempotent", "Put", func(r *rig, d expediter.Decision) { r.record(d, vague("no answer")) }, 1},
		{"the caller's word for what is not declared", "Else", func(r *rig, d expediter.Decision) { r.record(d, vague("no answer")) }, 1},
		{"reads only", "Read", func(r *rig, d expediter.Decision) { r.record(d, vague("no answer")) }, 0},
		{"a plain failure", "Pay", func(r *rig, d expediter.Decision) { r.record(d, expediter.Failure(cascade.Timeout, "no answer")) }, 0},
		{"a success", "Pay", func(r *rig, d expediter.Decision) { r.record(d, slow) }, 0},
		{"ignored", "Pay", func(r *rig, d expediter.Decision) { r.record(d, ignored) }, 0},
		{"refused", "Pay", func(r *rig, d expediter.Decision) { r.refuse(d) }, 0},
		{"stale", "Pay", func(r *rig, d expediter.Decision) {
			r.must(r.x.ForceOpen("Pay", "", 1, r.now()))
			r.record(d, vague("no answer"))
		}, 1},
		{"disabled", "Pay", func(r *rig, d expediter.Decision) {
			r.must(r.x.Disable("Pay", "", 1, r.now()))
			r.record(d, vague("no answer"))
		}, 1},
		{"in the next cycle", "Pay", func(r *rig, d expediter.Decision) {
			r.record(d, vague("no answer"))
			r.x.BeginCycle(1, r.now())
		}, 1},
		{"verified", "Pay", func(r *rig, d expediter.Decision) {
			r.record(d, vague("no answer"))
			r.must(r.x.Verified("Pay", "it was not paid", 1, r.now()))
		}, 0},
		{"another verified", "Pay", func(r *rig, d expediter.Decision) {
			r.record(d, vague("no answer"))
			r.must(r.x.Verified("Put", "", 1, r.now()))
		}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var heard []expediter.Unverified
			r := newRig(t, expediter.Config{Tools: capability.Map{{Tool: "Pay", SideEffects: capability.Destructive},
				{Tool: "Put", SideEffects: capability.Idempotent}, {Tool: "Read", SideEffects: capability.EffectsNone}},
				Events: expediter.Events{Unverified: func(u expediter.Unverified) { heard = append(heard, u) }}})
			tt.do(r, r.ask(tt.tool, "CALL"))
			st := r.x.Status()
			if len(st.Unverified) != tt.want || r.row(tt.tool).Unverified != tt.want {
				t.Fatalf("got %+v and %d, want %d", st.Unverified, r.row(tt.tool).Unverified, tt.want)
			}
			want := expediter.Unverified{Tool: tt.tool, Moment: expediter.Moment{Step: 1, At: 1000, Category: cascade.Timeout, Text: "no answer"}}
			if tt.want == 1 && (st.Unverified[0] != want || len(heard) != 1 || heard[0] != want) {
				t.Errorf("got %+v, told %+v; want %+v", st.Unverified[0], heard, want)
			}
		})
	}
}

// Nothing stands in for a tool whose last call may have happened (SPEC section
// 8: only the user, or scope reduction).
func TestSection8_NothingStandsInForACallThatMayHaveHappened(t *testing.T) {
	alt := []capability.Alternative{{Tool: "Wire"}, {Tool: "Cash", Level: capability.High}}
	const doubt, wire = "Wire may have taken effect; Cash may have taken effect", "ACCEPTABLE Wire"
	tests := []struct {
		name  string
		entry capability.Entry
		away  bool
		want  string
		after string // once it is verified
	}{
		{"a fallback", capability.Entry{Fallback: "ask"}, false, "FALLBACK: " + doubt, wire},
		{"nobody to ask", capability.Entry{Fallback: "ask"}, true, "SKIPPED: " + doubt, wire},
		{"no fallback", capability.Entry{}, false, "SKIPPED: " + doubt, wire},
		{"no substitute", capability.Entry{Fallback: "ask", NoSubstitute: true}, false, "SKIPPED", "SKIPPED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var heard string
			tt.entry.Tool, tt.entry.Alternatives, tt.entry.SideEffects = "Pay", alt, capability.Destructive
			cfg := expediter.Config{Tools: capability.Map{tt.entry}, UserUnavailable: tt.away, Policy: expediter.Policy{Budget: 50, Policy: breaker.Policy{FailureThreshold: 1}}}
			cfg.Events.Routed = func(e expediter.Routing) {
				heard = e.Route.Label.String()
				if e.Route.Tool != "" {
					heard += " " + e.Route.Tool
				}
				for i, p := range e.PassedOver {
					heard += []string{": ", "; "}[min(i, 1)] + p.Tool + " " + p.Why
				}
			}
			r := newRig(t, cfg)
			r.record(r.ask("Pay", "CALL"), vague("no answer"))
			r.ask("Pay", "SKIP open")
			if heard != tt.want {
				t.Errorf("got %q, want %q", heard, tt.want)
			}
			if k := r.row("Pay").ViableRoute.Kind; k == capability.UseAlternative {
				t.Error("the state table offers an alternative")
			}
			r.must(r.x.Verified("Pay", "not paid", r.step, r.now()))
			if r.ask("Pay", "SKIP open"); heard != tt.after {
				t.Errorf("once verified: got %q, want %q", heard, tt.after)
			}
		})
	}
}

// The quick SKIP, which nobody watches, routes in the same way.
func TestSection8_TheQuickSkipKnowsOfDoubts(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: capability.Map{{Tool: "Pay", SideEffects: capability.Destructive, Fallback: "ask",
		Alternatives: []capability.Alternative{{Tool: "Wire"}}}}, Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1}}})
	r.record(r.ask("Pay", "CALL"), vague("no answer"))
	if d := r.ask("Pay", "SKIP open"); d.Route.Kind != capability.UseFallback {
		t.Errorf("got %+v, want the fallback", d.Route)
	}
}

// The list holds the latest 20; the tools of older ones stay as they are.
func TestUnverifiedIsBounded(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("First", "Second"), MaxTools: 2, Policy: expediter.Policy{Budget: -1, Policy: breaker.Policy{FailureThreshold: 1000}}})
	r.record(r.ask("First", "CALL"), vague("the oldest"))
	for i := range 25 {
		r.record(r.ask("Second", "CALL"), vague(fmt.Sprint(i)))
	}
	st := r.x.Status()
	if len(st.Unverified) != 20 || st.Unverified[0].Text != "5" || r.row("First").Unverified != 1 || r.row("Second").Unverified != 25 {
		t.Errorf("got %d from %q on, %d and %d", len(st.Unverified), st.Unverified[0].Text, r.row("First").Unverified, r.row("Second").Unverified)
	}
	r.must(r.x.Verified("First", "", r.step, r.now()))
	r.must(r.x.Verified("Second", "", r.step, r.now()))
	if st := r.x.Status(); len(st.Unverified) != 0 || r.row("First").Unverified != 0 || r.row("Second").Unverified != 0 {
		t.Errorf("verified, and still there: %+v", st.Unverified)
	}
	r.must(r.x.Verified("Never heard of", "", r.step, r.now()))
	if n := len(r.x.Status().Tools); n != 2 {
		t.Errorf("%d tools in the table, want 2: a name that was verified does not enter it", n)
	}
	r.record(r.ask("Else", "CALL"), vague("of an undeclared tool"))
	for i := range 5 {
		r.succeed(fmt.Sprint("Other", i))
	}
	if got := r.row("Else").Unverified; got != 1 {
		t.Errorf("an undeclared tool was evicted with its doubt: got %d", got)
	}
}

func TestVerifiedInStrictMode(t *testing.T) {
	r := newRig(t, expediter.Config{Tools: tools("Pay"), Strict: true})
	r.record(r.ask("Pay", "CALL"), vague("no answer"))
	before := r.x.Status()
	if err := r.x.Verified("Pya", "", 99, r.now()); !errors.Is(err, expediter.ErrUnknownTool) {
		t.Errorf("got %v, want unknown_tool", err)
	}
	if diff := cmp.Diff(before, r.x.Status()); diff != "" {
		t.Errorf("an error changed the engine (-before +after):\n%s", diff)
	}
}
