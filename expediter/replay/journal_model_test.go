package replay

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// live is an engine under random events, with the journal that it writes.
type live struct {
	cfg    expediter.Config
	engine *expediter.Engine
	out    *bytes.Buffer
	calls  []expediter.CallID // some of them recorded
	step   int64
	at     int64 // milliseconds
}

func (l *live) now() time.Time { return time.UnixMilli(l.at) }

// goesOn restores the engine as a new process would, into the same journal:
// silently, or with a start event in its midst.
func (l *live) goesOn(t *rapid.T, silently bool) {
	data, err := json.Marshal(l.engine.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	var s expediter.Snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	l.cfg.Continued = silently
	l.engine, err = expediter.Restore(l.cfg, &s)
	l.cfg.Continued = false
	if err != nil {
		t.Fatal(err)
	}
}

func (l *live) begin(t *rapid.T, s *expediter.Snapshot) {
	l.out = new(bytes.Buffer)
	w := NewWriter(l.out)
	l.cfg.Events.Journal = w.Event
	var err error
	if s == nil {
		l.engine, err = expediter.New(l.cfg)
	} else {
		l.engine, err = expediter.Restore(l.cfg, s)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// folds requires the journal so far to fold to the engine as it is.
func (l *live) folds(t *rapid.T) {
	s, err := Journal(bytes.NewReader(l.out.Bytes()))
	if err != nil {
		t.Fatalf("%v\n%s", err, l.out)
	}
	want, err := json.Marshal(l.engine.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(s.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("snapshot:\nlive     %s\nreplayed %s\n%s", want, got, l.out)
	}
}

var (
	anyTool     = rapid.SampledFrom([]string{"Grep", "Bash", "Bash/rg", "Read", "Web", "Gate", "x", "y", "z\u009b"})
	anyScore    = rapid.SampledFrom([]capability.Score{capability.Available, capability.Available, capability.Degraded, capability.Unavailable})
	anyCategory = rapid.SampledFrom(cascade.Categories())
	anyText     = rapid.SampledFrom([]string{"", "connection refused", "a\x00b\x1b[2J", "bad \xff\xfe bytes", string(bytes.Repeat([]byte("long ä "), 200))})
)

func anyConfig(t *rapid.T) expediter.Config {
	p := expediter.Policy{Budget: rapid.SampledFrom([]int{0, 2, 40, -1}).Draw(t, "budget")}
	p.FailureThreshold = rapid.IntRange(0, 3).Draw(t, "threshold")
	p.HalfOpenSuccesses = rapid.IntRange(0, 2).Draw(t, "successes")
	p.Probe.Unit = breaker.Unit(rapid.IntRange(0, 2).Draw(t, "unit"))
	p.Probe.Backoff = breaker.Switch(rapid.IntRange(0, 2).Draw(t, "backoff"))
	p.Trip.Policy = breaker.Rule(rapid.IntRange(0, 1).Draw(t, "rule"))
	p.Trip.MinCalls = 2
	p.Batch = breaker.Switch(rapid.IntRange(0, 2).Draw(t, "batch"))
	p.ChargePerTool = rapid.SampledFrom([]int{0, 1, 2}).Draw(t, "charge per tool")
	p.SlowCallMS = rapid.SampledFrom([]int64{0, 50}).Draw(t, "slow")
	p.Cascade.ConfirmAfterMS = rapid.SampledFrom([]int64{0, 500}).Draw(t, "confirm")
	p.Cascade.PauseScope = expediter.PauseScope(rapid.IntRange(0, 1).Draw(t, "scope"))
	return expediter.Config{
		Tools: tools, Policy: p,
		Strict:          rapid.Bool().Draw(t, "strict"),
		UserUnavailable: rapid.Bool().Draw(t, "alone"),
		MaxTools:        rapid.SampledFrom([]int{0, 2}).Draw(t, "max tools"),
	}
}

// TestJournalAgainstEngine: at any time a journal folds to what the engine is,
// and gives the outputs that it recorded.
func TestJournalAgainstEngine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &live{cfg: anyConfig(t)}
		l.begin(t, nil)
		actions := l.controls()
		actions["time"] = func(t *rapid.T) {
			l.step += rapid.Int64Range(-1, 4).Draw(t, "steps")
			l.at += rapid.SampledFrom([]int64{0, -5, 1, 400, 31_000, 700_000}).Draw(t, "ms")
		}
		actions["continue"] = func(t *rapid.T) { l.goesOn(t, true) }
		actions["start again"] = func(t *rapid.T) { l.goesOn(t, false) }
		actions["decide"] = func(t *rapid.T) {
			d := l.engine.Decide(anyTool.Draw(t, "tool"), l.step, l.now())
			l.calls = append(l.calls, d.Call)
		}
		actions["decide scored"] = func(t *rapid.T) {
			d := l.engine.DecideScored(anyTool.Draw(t, "tool"), anyScore.Draw(t, "score"), l.step, l.now())
			l.calls = append(l.calls, d.Call)
		}
		actions["record"] = l.record
		actions["record again"] = l.record
		actions["refuse"] = l.refuse
		actions["resume"] = func(t *rapid.T) {
			l.folds(t)
			l.begin(t, l.engine.Snapshot())
		}
		t.Repeat(actions)
		l.folds(t)
	})
}

func (l *live) record(t *rapid.T) {
	if len(l.calls) == 0 {
		t.Skip()
	}
	_, _ = l.engine.Record(rapid.SampledFrom(l.calls).Draw(t, "call"), expediter.Outcome{
		Result:    cascade.Outcome(rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "result")),
		Category:  anyCategory.Draw(t, "category"),
		Signature: anyText.Draw(t, "signature"),
		Text:      anyText.Draw(t, "text"),

		MayHaveTakenEffect: rapid.Bool().Draw(t, "may have taken effect"),

		Duration:   time.Duration(rapid.SampledFrom([]int64{0, 50, 51}).Draw(t, "ms")) * time.Millisecond,
		RetryAfter: time.Duration(rapid.SampledFrom([]int64{0, 0, 1, 60}).Draw(t, "retry")) * time.Second,
	}, l.step, l.now())
}

func anyChange(t *rapid.T) expediter.Change {
	kind := rapid.SampledFrom([]expediter.ChangeKind{expediter.ChangeOpened, expediter.ChangeOpened, expediter.ChangeProbeFailed,
		expediter.ChangeClosed, expediter.ChangeForcedOpen, expediter.ChangeDisabled, expediter.ChangeReset, expediter.ChangeIncident,
		expediter.ChangeConfirmed, expediter.ChangeCharged, expediter.ChangeCycle, "later \xff"}).Draw(t, "kind")
	return expediter.Change{Kind: kind, Tool: anyTool.Draw(t, "tool"), Text: anyText.Draw(t, "text"), Why: anyText.Draw(t, "why"),
		Failure: cascade.Failure{Category: anyCategory.Draw(t, "category"), Signature: anyText.Draw(t, "signature")},
		Run:     rapid.IntRange(0, 3).Draw(t, "run"), FailedProbes: rapid.IntRange(-1, 3).Draw(t, "failed probes"),
		IncidentProbes: rapid.IntRange(0, 3).Draw(t, "incident probes"), Cause: rapid.SampledFrom([]string{"network", "mixed"}).Draw(t, "cause"),
		Earlier: rapid.Bool().Draw(t, "earlier"), Members: rapid.SliceOfN(anyTool, 0, 3).Draw(t, "members")}
}

func (l *live) refuse(t *rapid.T) {
	if len(l.calls) == 0 {
		t.Skip()
	}
	_, _ = l.engine.Refuse(rapid.SampledFrom(l.calls).Draw(t, "call"), anyText.Draw(t, "why"), l.step, l.now())
}

func (l *live) controls() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"availability": func(t *rapid.T) {
			l.engine.SetAvailability(anyTool.Draw(t, "tool"), anyScore.Draw(t, "score"), l.step, l.now())
		},
		"begin cycle": func(*rapid.T) { l.engine.BeginCycle(l.step, l.now()) },
		"confirm": func(t *rapid.T) {
			_, _ = l.engine.ConfirmRecovery(anyText.Draw(t, "why"), l.step, l.now())
		},
		"outage": func(t *rapid.T) {
			named := rapid.SliceOfN(anyTool, 0, 3).Draw(t, "tools")
			_, _ = l.engine.DeclareOutage(anyCategory.Draw(t, "cause"), named, l.step, l.now())
		},
		"force open": func(t *rapid.T) {
			_ = l.engine.ForceOpen(anyTool.Draw(t, "tool"), "it breaks things", l.step, l.now())
		},
		"reset": func(t *rapid.T) { _ = l.engine.Reset(anyTool.Draw(t, "tool"), "mended", l.step, l.now()) },
		"disable": func(t *rapid.T) {
			_ = l.engine.Disable(anyTool.Draw(t, "tool"), "trusted", l.step, l.now())
		},
		"verified": func(t *rapid.T) { _ = l.engine.Verified(anyTool.Draw(t, "tool"), "looked", l.step, l.now()) },
		"external": func(t *rapid.T) {
			state := breaker.State(rapid.IntRange(0, 3).Draw(t, "state")) // 3 is none
			_ = l.engine.External(anyTool.Draw(t, "tool"), state, anyText.Draw(t, "why"), l.step, l.now())
		},
		"observe only": func(t *rapid.T) {
			l.engine.ObserveOnly(rapid.Bool().Draw(t, "on"), "a trial", l.step, l.now())
		},
		"share": func(t *rapid.T) {
			l.engine.Share(expediter.Fleet{Mode: expediter.FleetMode(rapid.IntRange(0, 3).Draw(t, "mode")), Charges: rapid.Bool().Draw(t, "charges")}, l.step, l.now())
		},
		"lease": func(t *rapid.T) {
			until := l.now().Add(time.Duration(rapid.SampledFrom([]int64{0, 300, 40_000}).Draw(t, "ms")) * time.Millisecond)
			_ = l.engine.Lease(anyTool.Draw(t, "tool"), until, l.step, l.now())
		},
		"adopt": func(t *rapid.T) { _, _ = l.engine.Adopt(anyChange(t), l.step, l.now()) },
		"note": func(t *rapid.T) {
			op := rapid.SampledFrom([]expediter.Op{expediter.OpTask, expediter.OpSubtask, expediter.OpRouteTaken, expediter.OpNote}).Draw(t, "op")
			_ = l.engine.Note(op, map[string]any{"text": anyText.Draw(t, "text")}, l.step, l.now())
		},
	}
}
