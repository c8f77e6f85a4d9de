package expediter_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// oracle is a second, naive writing of SPEC sections 2 to 6 for tools whose
// failures correlate with nothing: no incidents, no scores, no controls. It
// keeps every event and derives what it needs from the list, where the engine
// keeps counters.
type oracle struct {
	threshold, goods, budget int
	every                    int64
	backoff                  bool
	afterMS                  int64
	batch                    bool
	tools                    map[string]*oracleTool
	consumed                 int
}

type oracleTool struct {
	state    string
	outcomes []bool // since the last change of state
	asked    int64  // requests since the anchor
	anchorAt int64
	failed   int // probes since it last closed
	gen      int
	probing  bool
	counted  []oracleFailure // every failure that counted
}

// oracleFailure is one that counted, and when: the number of the event, the
// step, the time.
type oracleFailure struct {
	event    int
	sig      string
	step, at int64
}

type oracleCall struct {
	event int // that decided it
	id    expediter.CallID
	tool  string
	gen   int
	probe bool
}

func (o *oracle) tool(name string) *oracleTool {
	if o.tools[name] == nil {
		o.tools[name] = &oracleTool{state: "CLOSED"}
	}
	return o.tools[name]
}

func (t *oracleTool) to(state string) {
	t.state, t.outcomes, t.gen, t.probing = state, nil, t.gen+1, false
}

func (o *oracle) due(t *oracleTool, at int64) bool {
	interval, after := o.every, o.afterMS
	for range t.failed {
		if o.backoff {
			interval, after = min(interval*2, 20), min(after*2, 200_000)
		}
	}
	return t.asked >= interval || o.afterMS > 0 && at-t.anchorAt >= after
}

func (o *oracle) decide(name string, at int64) string {
	if o.consumed >= o.budget {
		return "PAUSE"
	}
	t := o.tool(name)
	switch t.state {
	case "CLOSED":
		return "CALL"
	case "OPEN":
		t.asked++
		if !o.due(t, at) {
			return "SKIP"
		}
		t.to("HALF_OPEN")
	}
	if t.probing {
		return "SKIP"
	}
	t.probing = true
	return "PROBE"
}

// oneMoment reports whether a failure is part of the last one that counted.
func (o *oracle) oneMoment(t *oracleTool, c oracleCall, f oracleFailure) bool {
	if !o.batch || len(t.counted) == 0 {
		return false
	}
	last := t.counted[len(t.counted)-1]
	near := f.step == last.step
	if f.step == expediter.NoStep || last.step == expediter.NoStep {
		near = f.at <= last.at+1000
	}
	return near && c.event < last.event && f.sig == last.sig
}

// record reports whether the outcome was part of an earlier observation.
func (o *oracle) record(c oracleCall, result cascade.Outcome, f oracleFailure) (batched bool) {
	t, at := o.tool(c.tool), f.at
	if result == cascade.Failed && o.oneMoment(t, c, f) {
		if c.gen == t.gen && c.probe {
			panic("a trial is never part of what opened its circuit")
		}
		return true
	}
	if result == cascade.Failed {
		o.consumed++
	}
	if c.gen != t.gen {
		return false
	}
	if c.probe {
		t.probing = false
	}
	if result == cascade.Ignored {
		return false
	}
	if result == cascade.Failed {
		t.counted = append(t.counted, f)
	}
	t.outcomes = append(t.outcomes, result == cascade.Succeeded)
	run, want := 0, result == cascade.Succeeded
	for i := len(t.outcomes) - 1; i >= 0 && t.outcomes[i] == want; i-- {
		run++
	}
	switch {
	case t.state == "HALF_OPEN" && want && run >= o.goods:
		t.failed = 0
		t.to("CLOSED")
	case t.state == "HALF_OPEN" && !want:
		t.failed++
		t.asked, t.anchorAt = 0, at
		t.to("OPEN")
	case t.state == "CLOSED" && !want && run >= o.threshold:
		t.asked, t.anchorAt = 0, at
		t.to("OPEN")
	}
	return false
}

// drawOracle makes an oracle and the engine that it foretells.
func drawOracle(t *rapid.T) (*oracle, *expediter.Engine) {
	o := &oracle{
		threshold: rapid.IntRange(1, 4).Draw(t, "threshold"), goods: rapid.IntRange(1, 3).Draw(t, "goods"),
		budget: rapid.SampledFrom([]int{3, 8, 1000}).Draw(t, "budget"), every: rapid.Int64Range(1, 5).Draw(t, "every"),
		backoff: rapid.Bool().Draw(t, "backoff"), afterMS: rapid.SampledFrom([]int64{0, 60}).Draw(t, "after_ms"),
		batch: rapid.Bool().Draw(t, "batch"), tools: map[string]*oracleTool{},
	}
	p := expediter.Policy{Budget: o.budget}
	p.FailureThreshold, p.HalfOpenSuccesses = o.threshold, o.goods
	p.Probe = breaker.Pacing{Every: o.every, AfterMS: breaker.Off, Backoff: breaker.No}
	if o.afterMS > 0 {
		p.Probe.AfterMS = o.afterMS
	}
	if o.backoff {
		p.Probe.Backoff = breaker.On
	}
	if o.batch {
		p.Batch = breaker.On
	}
	p.Cascade.MinTools = 100
	x, err := expediter.New(expediter.Config{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return o, x
}

func TestEngineAgreesWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, x := drawOracle(t)
		steps := rapid.Bool().Draw(t, "steps")
		var at, seen int64
		events := 0
		step := func() int64 {
			if events++; steps {
				return seen
			}
			return expediter.NoStep
		}
		var open []oracleCall
		check := func(t *rapid.T) {
			st := x.Status()
			if st.Consumed != o.consumed {
				t.Fatalf("consumed %d, want %d", st.Consumed, o.consumed)
			}
			for _, r := range st.Tools {
				if got, want := r.State.String(), o.tool(r.Tool).state; got != want {
					t.Fatalf("%s is %s, want %s", r.Tool, got, want)
				}
			}
		}
		decide := func(t *rapid.T) {
			at += rapid.SampledFrom([]int64{0, 1, 5, 40, 900}).Draw(t, "ms")
			seen += rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(t, "turn")
			name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tool")
			d, want := x.Decide(name, step(), time.UnixMilli(at)), o.decide(name, at)
			if d.Verb.String() != want {
				t.Fatalf("%s: got %v, want %s", name, d.Verb, want)
			}
			if d.Verb.Go() {
				open = append(open, oracleCall{events, d.Call, name, o.tool(name).gen, d.Verb == expediter.Probe})
			}
		}
		record := func(t *rapid.T) {
			if len(open) == 0 {
				t.Skip("no call in flight")
			}
			i := rapid.IntRange(0, len(open)-1).Draw(t, "call")
			c := open[i]
			open = append(open[:i], open[i+1:]...)
			out := expediter.Outcome{Result: rapid.SampledFrom([]cascade.Outcome{cascade.Failed, cascade.Failed, cascade.Succeeded, cascade.Ignored}).Draw(t, "result")}
			out.Signature = c.tool + rapid.SampledFrom([]string{" refused", " refused", " reset"}).Draw(t, "signature")
			now := step()
			r, err := x.Record(c.id, out, now, time.UnixMilli(at))
			if err != nil {
				t.Fatal(err)
			}
			if stale := c.gen != o.tool(c.tool).gen; r.Stale != stale {
				t.Fatal(fmt.Sprintf("stale %v, want %v", r.Stale, stale))
			}
			if batched := o.record(c, out.Result, oracleFailure{events, out.Signature, now, at}); r.Batched != batched {
				t.Fatalf("batched %v, want %v", r.Batched, batched)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"decide": decide, "decide2": decide, "record": record, "": check,
			"cycle": func(*rapid.T) { x.BeginCycle(0, time.UnixMilli(at)); o.consumed = 0 },
		})
	})
}
