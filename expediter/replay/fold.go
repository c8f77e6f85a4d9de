package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/expediter-go/expediter/expediter"
)

// State is what a journal folds to.
type State struct {
	Events   int                 // replayed, start included
	Torn     string              // what is wrong with the last line; empty: nothing
	Status   expediter.Status    // at the end
	Snapshot *expediter.Snapshot // at the end, to go on from
}

// Difference is the first event whose recorded outputs are not those that the
// engine gives.
type Difference struct {
	Line     int // from 1
	Seq      uint64
	Op       expediter.Op
	Tool     string // hostile, like the texts below
	Field    string // the member of the line
	Recorded string // its JSON in the journal; null: absent
	Replayed string // its JSON in the replay
}

// Error says where the journal and the replay part.
func (d *Difference) Error() string {
	return fmt.Sprintf("line %d: %s: %s is %.200q in the journal and %.200q in the replay; "+
		"the journal was changed, or another version wrote it", d.Line, d.Op, d.Field, d.Recorded, d.Replayed)
}

// Journal runs every event of a journal through a new engine, from its start
// event on, and compares each output. The error is a *Difference where they
// part, a *LineError for a line that cannot be used, or one of reading.
func Journal(r io.Reader) (State, error) {
	in := NewReader(r)
	var s State
	var f folder
	for {
		ev, err := in.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = f.fold(ev)
		}
		if diff, ok := err.(*Difference); ok {
			diff.Line = in.Line()
			return State{}, diff
		}
		if err != nil {
			return State{}, atLine(in.Line(), err)
		}
		s.Events++
	}
	s.Torn, s.Status, s.Snapshot = in.Torn(), f.engine.Status(), f.engine.Snapshot()
	return s, nil
}

func atLine(n int, err error) error {
	var line *LineError
	if errors.As(err, &line) {
		return err
	}
	return &LineError{n, err}
}

// folder applies a journal's events to an engine.
type folder struct {
	engine *expediter.Engine
	told   *expediter.Event // what the engine last put into its own journal
}

// fold applies one event and compares what came of it.
func (f *folder) fold(ev *expediter.Event) error {
	var err error
	if ev.Op == expediter.OpStart {
		err = f.start(ev)
	} else {
		f.told = nil
		err = f.apply(ev)
	}
	if err != nil {
		return err
	}
	return compare(ev, f.told)
}

// start begins the run. A start within a journal goes on from a snapshot, which
// must be what the events before it fold to.
func (f *folder) start(ev *expediter.Event) error {
	s := ev.Start
	if f.engine != nil {
		if was, is := text(s.Snapshot), text(f.engine.Snapshot()); was != is {
			return &Difference{Seq: ev.Seq, Op: ev.Op, Field: "start.snapshot", Recorded: was, Replayed: is}
		}
	}
	cfg := expediter.Config{Tools: s.Map, Policy: s.Policy, Strict: s.Strict, UserUnavailable: s.NoUser,
		Stepless: s.Stepless, MaxTools: s.MaxTools, Replay: s.Replay}
	cfg.Events.Journal = func(ev *expediter.Event) { f.told = ev }
	var err error
	if s.Snapshot != nil {
		f.engine, err = expediter.Restore(cfg, s.Snapshot)
	} else {
		f.engine, err = expediter.New(cfg)
	}
	return err
}

// apply gives the engine the inputs of ev. An error that the engine answered
// with is an output; only what ev lacks is an error here.
func (f *folder) apply(ev *expediter.Event) error {
	x, step, at := f.engine, ev.Step, time.UnixMilli(ev.At)
	switch ev.Op {
	case expediter.OpDecide:
		if ev.Scored {
			x.DecideScored(ev.Tool, ev.Score, step, at)
		} else {
			x.Decide(ev.Tool, step, at)
		}
	case expediter.OpRecord:
		if ev.Result == nil {
			return missing(ev.Op, "result")
		}
		_, _ = x.Record(ev.Call, expediter.Outcome{Result: *ev.Result, Category: ev.Category, Signature: ev.Signature,
			Text: ev.Text, MayHaveTakenEffect: ev.Effect, Duration: millis(ev.DurationMS), RetryAfter: millis(ev.RetryMS)}, step, at)
	case expediter.OpAvailability:
		x.SetAvailability(ev.Tool, ev.Score, step, at)
	case expediter.OpRefuse:
		_, _ = x.Refuse(ev.Call, ev.Reason, step, at)
	case expediter.OpBeginCycle:
		x.BeginCycle(step, at)
	case expediter.OpConfirmRecovery:
		_, _ = x.ConfirmRecovery(ev.Reason, step, at)
	default:
		return f.control(ev, step, at)
	}
	return nil
}

func (f *folder) control(ev *expediter.Event, step int64, at time.Time) error {
	x := f.engine
	switch ev.Op {
	case expediter.OpDeclareOutage:
		if ev.Cause == nil {
			return missing(ev.Op, "cause")
		}
		_, _ = x.DeclareOutage(*ev.Cause, ev.Tools, step, at)
	case expediter.OpForceOpen:
		_ = x.ForceOpen(ev.Tool, ev.Reason, step, at)
	case expediter.OpReset:
		_ = x.Reset(ev.Tool, ev.Reason, step, at)
	case expediter.OpDisable:
		_ = x.Disable(ev.Tool, ev.Reason, step, at)
	case expediter.OpVerified:
		_ = x.Verified(ev.Tool, ev.Reason, step, at)
	case expediter.OpExternal:
		if ev.State == nil {
			return missing(ev.Op, "state")
		}
		_ = x.External(ev.Tool, *ev.State, ev.Reason, step, at)
	case expediter.OpObserveOnly:
		if ev.On == nil {
			return missing(ev.Op, "on")
		}
		x.ObserveOnly(*ev.On, ev.Reason, step, at)
	case expediter.OpShare:
		x.Share(expediter.Fleet{Mode: ev.Fleet, Charges: ev.On != nil && *ev.On}, step, at)
	case expediter.OpLease:
		_ = x.Lease(ev.Tool, time.UnixMilli(ev.Until), step, at)
	case expediter.OpAdopt:
		if ev.Change == nil {
			return missing(ev.Op, "change")
		}
		_, _ = x.Adopt(*ev.Change, step, at)
	case expediter.OpTask, expediter.OpSubtask, expediter.OpRouteTaken, expediter.OpNote:
		return x.Note(ev.Op, ev.Note, step, at)
	default:
		return fmt.Errorf("unknown op %.40q; another version wrote the journal, use that", ev.Op)
	}
	return nil
}

func missing(op expediter.Op, member string) error {
	return fmt.Errorf("%s is missing; %s needs it", member, op)
}

// outputs are the members of a line that the engine decides.
var outputs = []struct {
	name string
	of   func(*expediter.Event) any
}{
	{"seq", func(ev *expediter.Event) any { return ev.Seq }},
	{"error", func(ev *expediter.Event) any { return ev.Error }},
	{"decided", func(ev *expediter.Event) any { return ev.Decided }},
	{"call", func(ev *expediter.Event) any { return ev.Call }},
	{"stale", func(ev *expediter.Event) any { return ev.Stale }},
	{"batched", func(ev *expediter.Event) any { return ev.Batched }},
	{"transitions", func(ev *expediter.Event) any { return ev.Transitions }},
	{"budget", func(ev *expediter.Event) any { return ev.Budget }},
	{"paused", func(ev *expediter.Event) any { return ev.Paused }},
	{"systemic", func(ev *expediter.Event) any { return ev.Systemic }},
	{"suspected", func(ev *expediter.Event) any { return ev.Suspected }},
}

// compare returns the first output that differs as a *Difference without its
// line.
func compare(recorded, replayed *expediter.Event) error {
	for _, o := range outputs {
		a, b := o.of(recorded), o.of(replayed)
		if reflect.DeepEqual(a, b) {
			continue
		}
		was, is := text(a), text(b)
		if was == is {
			continue
		}
		return &Difference{Seq: recorded.Seq, Op: recorded.Op, Tool: recorded.Tool, Field: o.name, Recorded: was, Replayed: is}
	}
	return nil
}

// text is the JSON of an output; what is empty reads as absent.
func text(v any) string {
	var b bytes.Buffer
	if err := encode(&b, v); err != nil {
		return err.Error()
	}
	switch s := strings.TrimSuffix(b.String(), "\n"); s {
	case "[]", `""`, "0", "false":
		return "null"
	default:
		return s
	}
}
