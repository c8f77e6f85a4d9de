package expediter_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/replay"
)

// modelMap has what routing and correlation can meet: levels, shared things,
// an authority, a tool that nothing may replace.
func modelMap() capability.Map {
	return capability.Map{
		{Tool: "Grep", Provides: "search", Fallback: "ask", Shares: []string{"disk"}, SideEffects: capability.Idempotent,
			Alternatives: []capability.Alternative{{Tool: "Bash", Method: "rg", Degradation: "format"}, {Tool: "Read", Level: capability.High}}},
		{Tool: "Bash", Provides: "commands", Fallback: "report", Shares: []string{"disk", "sso"}, SideEffects: capability.Destructive},
		{Tool: "Read", Provides: "files", SideEffects: capability.EffectsNone, Alternatives: []capability.Alternative{{Tool: "Bash", SameAuthority: true}}},
		{Tool: "Deploy", Provides: "deploys", NoSubstitute: true, Shares: []string{"sso"}},
	}
}

// declared are those of modelTools that are never evicted.
var declared = []string{"Grep", "Bash", "Read", "Deploy"}

var modelTools = []string{"Grep", "Bash", "Read", "Deploy", "Bash/rg", "Else", "Else/x"}

func drawPolicy(t *rapid.T) expediter.Policy {
	var p expediter.Policy
	p.FailureThreshold = rapid.IntRange(1, 4).Draw(t, "threshold")
	p.HalfOpenSuccesses = rapid.IntRange(1, 2).Draw(t, "half_open_successes")
	p.Budget = rapid.SampledFrom([]int{2, 5, 12, 200, -1}).Draw(t, "budget")
	p.ChargePerTool = rapid.SampledFrom([]int{-1, 1, 3}).Draw(t, "charge_per_tool")
	p.ChargeStale = rapid.SampledFrom([]breaker.Switch{breaker.On, breaker.No}).Draw(t, "charge_stale")
	p.SlowCallMS = rapid.SampledFrom([]int64{breaker.Off, 50}).Draw(t, "slow_call_ms")
	p.Probe.Unit = rapid.SampledFrom([]breaker.Unit{breaker.Attempts, breaker.Steps, breaker.Time}).Draw(t, "unit")
	p.Probe.Every = rapid.Int64Range(1, 4).Draw(t, "every")
	p.Probe.Max = 20
	p.Probe.AfterMS = rapid.SampledFrom([]int64{breaker.Off, 40}).Draw(t, "after_ms")
	p.Probe.NotBeforeMS = rapid.SampledFrom([]int64{breaker.Off, 25}).Draw(t, "not_before_ms")
	p.Probe.Backoff = rapid.SampledFrom([]breaker.Switch{breaker.On, breaker.No}).Draw(t, "backoff")
	p.ProbeTTLMS = rapid.SampledFrom([]int64{60, 600_000}).Draw(t, "probe_ttl_ms")
	p.Batch = rapid.SampledFrom([]breaker.Switch{breaker.On, breaker.No}).Draw(t, "batch")
	if rapid.Bool().Draw(t, "rate") {
		p.Trip = breaker.Trip{Policy: breaker.Rate, Window: 6, MinCalls: 3, Rate: 0.5}
	}
	p.Cascade.MinTools = rapid.SampledFrom([]int{2, 3, 9}).Draw(t, "min_tools")
	p.Cascade.ConfirmAfterMS = rapid.SampledFrom([]int64{breaker.Off, 80}).Draw(t, "confirm_after_ms")
	p.Cascade.PauseScope = rapid.SampledFrom([]expediter.PauseScope{expediter.PauseAll, expediter.PauseShares}).Draw(t, "pause_scope")
	return p
}

func drawOutcome(t *rapid.T) expediter.Outcome {
	switch rapid.IntRange(0, 9).Draw(t, "outcome") {
	case 0:
		return expediter.Ignored()
	case 1, 2, 3, 4:
		o := expediter.Success()
		o.Duration = time.Duration(rapid.SampledFrom([]int{0, 10, 90}).Draw(t, "took")) * time.Millisecond
		return o
	}
	o := expediter.Failure(rapid.SampledFrom(cascade.Categories()).Draw(t, "category"), "it broke")
	o.Signature = rapid.SampledFrom([]string{"", "", "same text"}).Draw(t, "signature")
	o.RetryAfter = time.Duration(rapid.SampledFrom([]int{0, 0, 30}).Draw(t, "retry_after")) * time.Millisecond
	o.MayHaveTakenEffect = rapid.IntRange(0, 4).Draw(t, "may have taken effect") == 0
	return o
}

// pair drives two engines with the same events: one bare, with its fast paths,
// and one with a journal, where every event takes the slow path. They must
// agree on everything.
type pair struct {
	cfg        expediter.Config
	fast, slow *expediter.Engine
	stepless   bool
	step       int64
	at         int64
	journal    *bytes.Buffer // of slow
	written    *replay.Writer
	open       []expediter.CallID
	done       []expediter.CallID
	last       expediter.CallID
	toolOf     map[expediter.CallID]string
	doubt      []string // the tools of all calls that nobody has verified, oldest first
}

func (p *pair) now() time.Time { return time.UnixMilli(p.at) }

func (p *pair) tick(t *rapid.T) {
	p.step += rapid.Int64Range(-1, 2).Draw(t, "steps")
	p.at += rapid.SampledFrom([]int64{-3, 0, 0, 1, 7, 30, 90}).Draw(t, "ms")
	p.step, p.at = max(p.step, 0), max(p.at, 0)
	if p.stepless {
		p.step = expediter.NoStep
	}
}

func (p *pair) agree(t *rapid.T, what string, fast, slow any) {
	if d := cmp.Diff(slow, fast); d != "" {
		t.Fatalf("%s differs (-slow +fast):\n%s", what, d)
	}
}

func (p *pair) decide(t *rapid.T) {
	p.tick(t)
	tool := rapid.SampledFrom(modelTools).Draw(t, "tool")
	var d, e expediter.Decision
	if rapid.IntRange(0, 9).Draw(t, "scored") == 0 {
		s := rapid.SampledFrom([]capability.Score{capability.Available, capability.Degraded, capability.Unavailable}).Draw(t, "score")
		d, e = p.fast.DecideScored(tool, s, p.step, p.now()), p.slow.DecideScored(tool, s, p.step, p.now())
	} else {
		d, e = p.fast.Decide(tool, p.step, p.now()), p.slow.Decide(tool, p.step, p.now())
	}
	p.agree(t, "decision", d, e)
	if d.Route != nil && d.Route.Kind == capability.UseAlternative && slices.Contains(p.doubt, tool) && slices.Contains(declared, tool) {
		t.Fatalf("%s may have taken effect, and %s stands in", tool, d.Route.Tool)
	}
	if d.Verb.Go() != (d.Call != 0) || (d.Would == expediter.Skip) != (d.Route != nil) {
		t.Fatalf("%+v: a call goes with CALL and PROBE, a route with SKIP", d)
	}
	if d.Call != 0 {
		if d.Call <= p.last {
			t.Fatalf("call %v after %v: ids increase", d.Call, p.last)
		}
		p.last = d.Call
		p.toolOf[d.Call] = tool
		p.open = append(p.open, d.Call)
	}
}

func (p *pair) record(t *rapid.T) {
	if len(p.open) == 0 {
		t.Skip("no call in flight")
	}
	p.tick(t)
	i := rapid.IntRange(0, len(p.open)-1).Draw(t, "call")
	id := p.open[i]
	p.open = append(p.open[:i], p.open[i+1:]...)
	p.done = append(p.done, id)
	o := drawOutcome(t)
	r, err := p.fast.Record(id, o, p.step, p.now())
	s, err2 := p.slow.Record(id, o, p.step, p.now())
	if err != nil || err2 != nil {
		t.Fatalf("record %v: %v, %v; want no error", id, err, err2)
	}
	p.agree(t, "result", r, s)
	if tool := p.toolOf[id]; o.MayHaveTakenEffect && o.Result == cascade.Failed && tool != "Read" {
		p.doubt = append(p.doubt, tool)
	}
}

// verify is somebody's word that the tool's calls were looked into.
func (p *pair) verify(t *rapid.T) {
	p.tick(t)
	tool := rapid.SampledFrom(modelTools).Draw(t, "tool")
	for _, x := range []*expediter.Engine{p.fast, p.slow} {
		if err := x.Verified(tool, "looked", p.step, p.now()); err != nil {
			t.Fatal(err)
		}
	}
	p.doubt = slices.DeleteFunc(p.doubt, func(name string) bool { return name == tool })
}

// refuse is a guard's word in place of a record.
func (p *pair) refuse(t *rapid.T) {
	if len(p.open) == 0 {
		t.Skip("no call in flight")
	}
	p.tick(t)
	i := rapid.IntRange(0, len(p.open)-1).Draw(t, "call")
	id := p.open[i]
	p.open = append(p.open[:i], p.open[i+1:]...)
	p.done = append(p.done, id)
	before := p.slow.Status()
	d, err := p.fast.Refuse(id, "full", p.step, p.now())
	e, err2 := p.slow.Refuse(id, "full", p.step, p.now())
	if err != nil || err2 != nil || d.Verb != expediter.Skip || d.Reason != expediter.Refused || d.Route == nil || d.Call != 0 {
		t.Fatalf("refuse %v: %+v, %v, %v; want SKIP (refused) with a route", id, d, err, err2)
	}
	p.agree(t, "refusal", d, e)
	after := p.slow.Status()
	if after.Consumed != before.Consumed || after.Counts.Failures != before.Counts.Failures || after.Counts.Skips != before.Counts.Skips+1 {
		t.Fatalf("a refusal counts as a skip and nothing else: %+v, then %+v", before.Counts, after.Counts)
	}
}

// external is the word of another breaker: the tool's state is then its state,
// unless an operator's word stands.
func (p *pair) external(t *rapid.T) {
	p.tick(t)
	tool := rapid.SampledFrom(modelTools).Draw(t, "tool")
	state := rapid.SampledFrom([]breaker.State{breaker.Open, breaker.HalfOpen, breaker.Closed}).Draw(t, "state")
	before := p.slow.Status()
	for _, x := range []*expediter.Engine{p.fast, p.slow} {
		if err := x.External(tool, state, "test", p.step, p.now()); err != nil {
			t.Fatal(err)
		}
	}
	after := p.slow.Status()
	if after.Consumed > before.Consumed {
		t.Fatalf("%s %v charged: %d, then %d", tool, state, before.Consumed, after.Consumed)
	}
	for _, r := range after.Tools {
		if r.Tool != tool || r.Forced || r.Disabled || state == breaker.Closed {
			continue
		}
		if r.State != state || r.External == nil || r.External.State != state || r.Next != 0 {
			t.Fatalf("%+v; want %v, as the other breaker says, and no pacing", r, state)
		}
	}
}

func (p *pair) recordTwice(t *rapid.T) {
	if len(p.done) == 0 {
		t.Skip("nothing recorded")
	}
	id := rapid.SampledFrom(p.done).Draw(t, "again")
	_, err := p.fast.Record(id, expediter.Success(), p.step+5, p.now())
	_, err2 := p.slow.Record(id, expediter.Success(), p.step+5, p.now())
	if !errors.Is(err, expediter.ErrAlreadyRecorded) || !errors.Is(err2, expediter.ErrAlreadyRecorded) {
		t.Fatalf("recorded %v twice: %v, %v; want already_recorded", id, err, err2)
	}
}

func (p *pair) control(t *rapid.T) {
	p.tick(t)
	tool := rapid.SampledFrom(modelTools).Draw(t, "tool")
	kind := rapid.IntRange(0, 4).Draw(t, "control")
	for _, x := range []*expediter.Engine{p.fast, p.slow} {
		var err error
		switch kind {
		case 0:
			err = x.ForceOpen(tool, "test", p.step, p.now())
		case 1, 2:
			err = x.Reset(tool, "test", p.step, p.now())
		case 3:
			err = x.Disable(tool, "test", p.step, p.now())
		case 4:
			x.ObserveOnly(p.step%2 == 0, "test", p.step, p.now())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (p *pair) availability(t *rapid.T) {
	p.tick(t)
	tool := rapid.SampledFrom(modelTools).Draw(t, "tool")
	s := rapid.SampledFrom([]capability.Score{capability.Available, capability.Degraded, capability.Unavailable}).Draw(t, "score")
	p.fast.SetAvailability(tool, s, p.step, p.now())
	p.slow.SetAvailability(tool, s, p.step, p.now())
}

func (p *pair) cycle(t *rapid.T) {
	p.tick(t)
	p.agree(t, "cycle", p.fast.BeginCycle(p.step, p.now()), p.slow.BeginCycle(p.step, p.now()))
}

func (p *pair) confirm(t *rapid.T) {
	p.tick(t)
	r, err := p.fast.ConfirmRecovery("test", p.step, p.now())
	s, err2 := p.slow.ConfirmRecovery("test", p.step, p.now())
	p.agree(t, "confirmation", r, s)
	p.agree(t, "error", fmt.Sprint(err), fmt.Sprint(err2))
}

func (p *pair) outage(t *rapid.T) {
	p.tick(t)
	tools := rapid.SliceOfNDistinct(rapid.SampledFrom(modelTools), 1, 3, rapid.ID[string]).Draw(t, "tools")
	cause := rapid.SampledFrom(cascade.Categories()).Draw(t, "cause")
	r, err := p.fast.DeclareOutage(cause, tools, p.step, p.now())
	s, err2 := p.slow.DeclareOutage(cause, tools, p.step, p.now())
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	p.agree(t, "outage", r, s)
}

// rejournal begins the journal of the next slow engine.
func (p *pair) rejournal() expediter.Config {
	p.journal = new(bytes.Buffer)
	p.written = replay.NewWriter(p.journal)
	cfg := p.cfg
	cfg.Events = expediter.Events{Journal: p.written.Event}
	return cfg
}

// fold replays the journal so far: it gives the recorded outputs and ends in
// the live state.
func (p *pair) fold(t *rapid.T) {
	if err := p.written.Err(); err != nil {
		t.Fatal(err)
	}
	folded, err := replay.Journal(bytes.NewReader(p.journal.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, p.journal)
	}
	p.agree(t, "the journal's fold", folded.Status, p.slow.Status())
	p.agree(t, "the fold's snapshot", folded.Snapshot, p.slow.Snapshot())
}

// restore goes on from a snapshot that went through JSON.
func (p *pair) restore(t *rapid.T) {
	p.fold(t)
	for _, x := range []**expediter.Engine{&p.fast, &p.slow} {
		raw, err := json.Marshal((*x).Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		var s expediter.Snapshot
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		cfg := p.cfg
		if x == &p.slow {
			cfg = p.rejournal()
		}
		if *x, err = expediter.Restore(cfg, &s); err != nil {
			t.Fatal(err)
		}
	}
}

// invariants hold after every event.
func (p *pair) invariants(t *rapid.T) {
	a, b := p.fast.Status(), p.slow.Status()
	p.agree(t, "status", a, b)
	active := 0
	for _, i := range a.Incidents {
		if i.Active {
			active++
		} else if len(i.Members) == 0 {
			t.Fatalf("incident %+v recovers without members", i)
		}
	}
	if active > 1 || (active == 1) != (a.Paused == expediter.Systemic) {
		t.Fatalf("%d active incidents and paused %q", active, a.Paused)
	}
	p.doubts(t, a)
	for _, r := range a.Tools {
		if r.State != breaker.HalfOpen && r.ProbeInFlight {
			t.Fatalf("%s is %v with a probe in flight", r.Tool, r.State)
		}
		if r.External != nil && (r.ProbeInFlight || r.External.State != r.State && !r.Forced && !r.Disabled) {
			t.Fatalf("%s is %v, probe %v, and the other breaker says %v", r.Tool, r.State, r.ProbeInFlight, r.External.State)
		}
	}
}

// doubts compares the calls to be verified with what the model has kept.
func (p *pair) doubts(t *rapid.T, st expediter.Status) {
	var listed []string
	for _, u := range st.Unverified {
		listed = append(listed, u.Tool)
	}
	if want := p.doubt[max(len(p.doubt)-20, 0):]; !slices.Equal(listed, want) {
		t.Fatalf("to be verified: %v, want %v", listed, want)
	}
	for _, r := range st.Tools {
		n := 0
		for _, tool := range p.doubt {
			if tool == r.Tool {
				n++
			}
		}
		if r.Declared && r.Unverified != n {
			t.Fatalf("%s has %d calls to be verified, want %d", r.Tool, r.Unverified, n)
		}
	}
}

func TestEngineAgreesWithItsSlowPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &pair{cfg: expediter.Config{Tools: modelMap(), Policy: drawPolicy(t), MaxTools: 2, UserUnavailable: rapid.Bool().Draw(t, "away")},
			stepless: rapid.Bool().Draw(t, "stepless"), toolOf: map[expediter.CallID]string{}}
		var err error
		if p.fast, err = expediter.New(p.cfg); err != nil {
			t.Fatal(err)
		}
		if p.slow, err = expediter.New(p.rejournal()); err != nil {
			t.Fatal(err)
		}
		t.Repeat(map[string]func(*rapid.T){
			"decide": p.decide, "decide2": p.decide, "decide3": p.decide, "decide4": p.decide,
			"record": p.record, "record2": p.record, "record3": p.record, "recordTwice": p.recordTwice,
			"control": p.control, "availability": p.availability, "cycle": p.cycle, "confirm": p.confirm, "outage": p.outage,
			"refuse": p.refuse, "external": p.external, "external2": p.external, "verify": p.verify,
			"restore": p.restore, "": p.invariants,
		})
		p.fold(t)
	})
}

// Many goroutines, no journal: every call is recorded once, and the totals add
// up whichever path the calls took.
func TestConcurrentCallsAreCountedOnce(t *testing.T) {
	x, err := expediter.New(expediter.Config{Tools: modelMap(), Policy: expediter.Policy{Budget: -1}})
	if err != nil {
		t.Fatal(err)
	}
	const workers, calls = 8, 4000
	var issued, failures, ignored, twice sync.Map
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			for i := range calls {
				now := time.UnixMilli(int64(1 + i))
				d := x.Decide(modelTools[rnd.IntN(4)], int64(i/10), now)
				if !d.Verb.Go() {
					continue
				}
				if _, dup := issued.LoadOrStore(d.Call, true); dup {
					twice.Store(d.Call, "issued")
				}
				o := expediter.Success()
				switch rnd.IntN(20) {
				case 0:
					o = expediter.Failure(cascade.Upstream, "502")
					failures.Store(d.Call, true)
				case 1:
					o = expediter.Ignored()
					ignored.Store(d.Call, true)
				}
				// Two goroutines try to record the same call; one may.
				errs := make(chan error, 1)
				go func() { _, err := x.Record(d.Call, o, int64(i/10), now); errs <- err }()
				_, err := x.Record(d.Call, o, int64(i/10), now)
				if other := <-errs; (err == nil) == (other == nil) {
					twice.Store(d.Call, fmt.Sprint("recorded: ", err, other))
				}
			}
		})
	}
	wg.Wait()
	twice.Range(func(id, how any) bool { t.Errorf("call %v was not %v once", id, how); return true })
	size := func(m *sync.Map) (n uint64) { m.Range(func(any, any) bool { n++; return true }); return n }
	c := x.Status().Counts
	if got, want := c.Calls+c.Probes, size(&issued); got != want {
		t.Errorf("calls and probes: got %d, want %d", got, want)
	}
	if c.Failures != size(&failures) || c.Ignored != size(&ignored) {
		t.Errorf("failures %d, ignored %d; want %d, %d", c.Failures, c.Ignored, size(&failures), size(&ignored))
	}
	if got, want := c.Successes, size(&issued)-c.Failures-c.Ignored; got != want {
		t.Errorf("successes: got %d, want %d", got, want)
	}
}

// Many goroutines and a journal: the journal folds to the live state through
// the same engine run by one goroutine, output by output.
func TestConcurrentJournalFoldsToTheLiveState(t *testing.T) {
	var journal bytes.Buffer
	written := replay.NewWriter(&journal)
	x, err := expediter.New(expediter.Config{Tools: modelMap(), Policy: expediter.Policy{Budget: 40},
		Events: expediter.Events{Journal: written.Event}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 7))
			for i := range 400 {
				step, now := int64(i/8), time.UnixMilli(int64(1+i*3))
				d := x.Decide(modelTools[rnd.IntN(len(modelTools))], step, now)
				switch {
				case d.Verb.Go() && rnd.IntN(3) == 0:
					_, _ = x.Record(d.Call, expediter.Failure(cascade.Categories()[rnd.IntN(10)], "broke"), step, now)
				case d.Verb.Go() && rnd.IntN(9) > 0: // the rest is never recorded
					_, _ = x.Record(d.Call, expediter.Success(), step, now)
				case d.Reason == expediter.Systemic && rnd.IntN(4) == 0:
					_, _ = x.ConfirmRecovery("fixed", step, now)
				case d.Reason == expediter.Budget && rnd.IntN(4) == 0:
					x.BeginCycle(step, now)
				case rnd.IntN(50) == 0:
					_, _ = x.DeclareOutage(cascade.Network, []string{"Grep", "Else"}, step, now)
				}
			}
		})
	}
	wg.Wait()
	folded, err := replay.Journal(bytes.NewReader(journal.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(x.Status(), folded.Status); d != "" {
		t.Errorf("the fold differs from the live state (-live +fold):\n%s", d)
	}
	if folded.Events < 8*400 {
		t.Errorf("got %d events, want at least %d", folded.Events, 8*400)
	}
}
