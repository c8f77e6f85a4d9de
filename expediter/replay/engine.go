package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

// Run is what a scenario gives: one Answer for each event, and how the engine
// stands at the end.
type Run struct {
	Results []Answer `json:"results"`
	Final   Final    `json:"final"`
}

// Answer is the output of one event, with the members of SPEC section 14. A nil
// list is left out, an empty one is written.
type Answer struct {
	Decision    string                    `json:"decision,omitempty"`
	Reason      string                    `json:"reason,omitempty"`
	Route       *Route                    `json:"route,omitempty"`
	Caution     []string                  `json:"caution,omitzero"`
	Transitions []string                  `json:"transitions,omitzero"`
	Budget      string                    `json:"budget,omitempty"`
	Paused      string                    `json:"paused,omitempty"`
	Systemic    *expediter.SystemicOutput `json:"systemic,omitempty"`
	Error       string                    `json:"error,omitempty"` // unknown_call, already_recorded, no_systemic_failure
}

// Route is where a SKIP may go instead.
type Route struct {
	Kind  capability.RouteKind `json:"kind"`
	Label capability.Label     `json:"label"`
	Tool  string               `json:"tool,omitempty"`
}

// Final is how an engine stands at the end of a scenario.
type Final struct {
	Tools  []ToolState `json:"tools"` // in table order
	Budget string      `json:"budget"`
	Cycle  int         `json:"cycle"`
	Paused string      `json:"paused"`
}

// ToolState is one row of the state table.
type ToolState struct {
	Tool     string `json:"tool"`
	State    string `json:"state"`
	Failures int    `json:"consecutive_failures"` // as of now
}

// EngineLines runs one scenario for each line of r and writes one line for
// each, the Run or {"error":…}. Blank lines are skipped. bad counts the
// scenarios that were errors; err is one of reading or writing.
func EngineLines(w io.Writer, r io.Reader) (bad int, err error) {
	return each(w, r, func(out, line []byte) ([]byte, error) {
		run, err := Engine(line)
		if err != nil {
			return out, err
		}
		b := bytes.NewBuffer(out)
		err = encode(b, run)
		return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
	})
}

// Engine runs one scenario, a JSON object as in SPEC section 14, through a new
// engine. What is wrong with an event is an *EventError.
func Engine(scenario []byte) (Run, error) {
	cfg, events, err := readScenario(scenario)
	if err != nil {
		return Run{}, err
	}
	p := player{calls: map[string]expediter.CallID{}}
	cfg.Events.Journal = func(ev *expediter.Event) { p.told = ev }
	if p.engine, err = expediter.New(cfg); err != nil {
		return Run{}, fmt.Errorf("config: %w", err)
	}
	run := Run{Results: []Answer{}}
	for in := newEventReader(events); ; {
		ev, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return Run{}, err
		}
		a, err := p.play(ev)
		if err != nil {
			return Run{}, &EventError{len(run.Results), err.Error()}
		}
		run.Results = append(run.Results, a)
	}
	run.Final = final(p.engine.Status())
	return run, nil
}

// player applies a scenario's events to an engine.
type player struct {
	engine *expediter.Engine
	calls  map[string]expediter.CallID // by the scenario's ids
	told   *expediter.Event            // what the engine last put into its journal
}

func (p *player) play(ev *event) (Answer, error) {
	x, step, at := p.engine, *ev.Step, time.UnixMilli(ev.At)
	switch *ev.Op {
	case expediter.OpDecide:
		if _, taken := p.calls[*ev.ID]; taken {
			return Answer{}, fmt.Errorf("id %.40q was used before; give each decide its own", *ev.ID)
		}
		p.calls[*ev.ID] = x.Decide(*ev.Tool, step, at).Call
		return p.decided(), nil
	case expediter.OpRecord:
		_, err := x.Record(p.calls[*ev.ID], ev.outcome(), step, at)
		return p.applied(err)
	case expediter.OpAvailability:
		x.SetAvailability(*ev.Tool, *ev.Score, step, at)
		return Answer{}, nil
	case expediter.OpDeclareOutage:
		_, err := x.DeclareOutage(*ev.Cause, ev.Tools, step, at)
		return p.applied(err)
	case expediter.OpBeginCycle:
		x.BeginCycle(step, at)
		return p.applied(nil)
	case expediter.OpConfirmRecovery:
		_, err := x.ConfirmRecovery("", step, at)
		return p.applied(err)
	}
	return Answer{}, fmt.Errorf("unknown op %.40q", *ev.Op)
}

func (p *player) decided() Answer {
	d := p.told.Decided
	a := Answer{Decision: d.Decision.String(), Reason: d.Reason.String(), Transitions: p.told.Transitions}
	if d.Decision.Go() {
		a.Caution = d.Caution.Words()
	}
	if d.Route != nil {
		a.Route = &Route{Kind: d.Route.Kind, Label: d.Route.Label, Tool: d.Route.Tool}
	}
	return a
}

// applied is the answer to every other event. Errors that SPEC section 14
// names are answers.
func (p *player) applied(err error) (Answer, error) {
	for _, known := range []error{expediter.ErrUnknownCall, expediter.ErrAlreadyRecorded, expediter.ErrNoSystemicFailure} {
		if errors.Is(err, known) {
			return Answer{Error: known.Error()}, nil
		}
	}
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Transitions: p.told.Transitions, Budget: p.told.Budget, Paused: p.told.Paused.String(), Systemic: p.told.Systemic}
	if a.Transitions == nil {
		a.Transitions = []string{}
	}
	return a, nil
}

func final(st expediter.Status) Final {
	f := Final{Tools: []ToolState{}, Budget: fmt.Sprintf("%d/%d", st.Consumed, st.Limit), Cycle: st.Cycle, Paused: st.Paused.String()}
	if st.Limit == budget.Unlimited {
		f.Budget = fmt.Sprintf("%d/unlimited", st.Consumed)
	}
	for _, t := range st.Tools {
		f.Tools = append(f.Tools, ToolState{t.Tool, t.State.String(), t.Consecutive})
	}
	return f
}

// millis makes a length of time of milliseconds, at most what one can hold.
func millis(ms int64) time.Duration {
	return time.Duration(min(max(ms, 0), math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

func (ev *event) outcome() expediter.Outcome {
	o := expediter.Outcome{Result: *ev.Result, Signature: ev.Signature, Duration: millis(ev.DurationMS), RetryAfter: millis(ev.RetryMS)}
	if o.Result == cascade.Failed {
		o.Category = ev.Category
	}
	return o
}
