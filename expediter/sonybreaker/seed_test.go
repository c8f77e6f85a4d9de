package sonybreaker_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/replay"
	"github.com/expediter-go/expediter/expediter/sonybreaker"
)

const (
	traces      = 3000
	traceEvents = 60
)

var errDown = errors.New("connection refused")

// twoStep is a breaker that is asked before a call and told after it.
type twoStep interface {
	Allow() (done func(error), err error)
}

// trace is one random run of a breaker. A unit of its clock is one second.
type trace struct {
	limits replay.Params
	events []replay.Event
}

// randomTrace has events close to one another and about a cooldown apart, so
// that many fall on its very end.
func randomTrace(r *rand.Rand) trace {
	tr := trace{limits: replay.Params{FailureThreshold: 1 + r.Int64N(4), Cooldown: 1 + r.Int64N(12), HalfOpenSuccesses: 1 + r.Int64N(3)}}
	failing := r.IntN(10)
	at := int64(0)
	for range traceEvents {
		if at += r.Int64N(4); r.IntN(6) == 0 {
			at += max(tr.limits.Cooldown-2, 0)
		}
		tr.events = append(tr.events, replay.Event{T: at, Failed: r.IntN(10) < failing})
	}
	return tr
}

// want is what the replay of seed 000 says of a trace.
func (tr trace) want(t *testing.T) replay.Result {
	t.Helper()
	r, err := replay.Breaker(tr.events, tr.limits)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (tr trace) settings(t *testing.T) gobreaker.Settings {
	t.Helper()
	st, err := sonybreaker.Settings(sonybreaker.Policy{
		FailureThreshold:  int(tr.limits.FailureThreshold),
		HalfOpenSuccesses: int(tr.limits.HalfOpenSuccesses),
		Cooldown:          time.Duration(tr.limits.Cooldown) * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// log is what is heard of a breaker while a trace is played.
type log struct {
	t    int64
	seen replay.Result
}

func (l *log) moved(from, to breaker.State) {
	l.seen.FinalState = to
	l.seen.Transitions = append(l.seen.Transitions, replay.Transition{From: from, To: to, T: l.t})
}

// maker makes the breaker that is to be played, and lets the log hear of its
// transitions. Its state is not read: that would make one.
type maker func(t *testing.T, st gobreaker.Settings, l *log) twoStep

// play runs the trace in the bubble's time.
func (tr trace) play(t *testing.T, st gobreaker.Settings, make maker) replay.Result {
	l := &log{seen: replay.Result{FinalState: breaker.Closed}}
	b := make(t, st, l)
	for _, e := range tr.events {
		time.Sleep(time.Duration(e.T-l.t) * time.Second)
		l.t = e.T
		done, err := b.Allow()
		switch {
		case err != nil:
			l.seen.Rejected = append(l.seen.Rejected, e.T)
		case e.Failed:
			done(errDown)
		default:
			done(nil)
		}
	}
	return l.seen
}

var plainState = map[gobreaker.State]breaker.State{
	gobreaker.StateClosed: breaker.Closed, gobreaker.StateHalfOpen: breaker.HalfOpen, gobreaker.StateOpen: breaker.Open,
}

func plain(_ *testing.T, st gobreaker.Settings, l *log) twoStep {
	st.OnStateChange = func(_ string, from, to gobreaker.State) { l.moved(plainState[from], plainState[to]) }
	return gobreaker.NewTwoStepCircuitBreaker[any](st)
}

// guarded hears what the engine makes of the guard's transitions.
func guarded(way way) maker {
	return func(t *testing.T, st gobreaker.Settings, l *log) twoStep {
		x := newEngine(t, expediter.Config{Events: expediter.Events{Transition: func(m expediter.Transition) {
			if m.Step != l.t {
				t.Errorf("the engine hears at step %d of what happened at %d", m.Step, l.t)
			}
			l.moved(m.From, m.To)
		}}})
		return way.guard(t, st, sonybreaker.Config{Engine: x, Tool: "Search", Step: func() int64 { return l.t }})
	}
}

// edges counts the events that the replay admits at the very end of a cooldown.
func (tr trace) edges(r replay.Result) (n int) {
	opened := int64(-1)
	for _, move := range r.Transitions {
		if move.To == breaker.Open {
			opened = move.T
		} else if move.From == breaker.Open && move.T == opened+tr.limits.Cooldown {
			n++
		}
	}
	return n
}

// tally is what came of playing all traces.
type tally struct {
	diverged int    // traces that ended in anything but what the replay says
	first    string // the first difference
	edges    int    // events that the replay admits at the very end of a cooldown
	edged    int    // traces with such events
}

func playAll(t *testing.T, change func(*gobreaker.Settings, trace), make maker) (all tally) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2026, 11))
		for range traces {
			tr := randomTrace(r)
			st := tr.settings(t)
			change(&st, tr)
			want := tr.want(t)
			n := tr.edges(want)
			all.edges += n
			all.edged += min(n, 1)
			if diff := cmp.Diff(want, tr.play(t, st, make), cmpopts.EquateEmpty()); diff != "" {
				if all.diverged++; all.first == "" {
					all.first = diff
				}
			}
		}
	})
	return all
}

func asTheyAre(*gobreaker.Settings, trace) {}

// Settings makes of a plain gobreaker the machine of SPEC section 2.
func TestSettingsFollowTheSeed(t *testing.T) {
	all := playAll(t, asTheyAre, plain)
	t.Logf("%d traces, %d events, %d admitted at the very end of a cooldown", traces, traces*traceEvents, all.edges)
	if all.diverged != 0 {
		t.Errorf("%d of %d traces diverge; the first (-seed +gobreaker):\n%s", all.diverged, traces, all.first)
	}
	if all.edges < traces {
		t.Errorf("only %d events at the end of a cooldown; the traces are too tame", all.edges)
	}
}

// So does each guard, and the engine behind it.
func TestGuardsFollowTheSeed(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			if all := playAll(t, asTheyAre, guarded(way)); all.diverged != 0 {
				t.Errorf("%d of %d traces diverge; the first (-seed +engine):\n%s", all.diverged, traces, all.first)
			}
		})
	}
}

// The Timeout that suggests itself is not the cooldown: each trace with an event
// at the very end of one diverges, and no other.
func TestPlainTimeoutDivergesFromTheSeed(t *testing.T) {
	all := playAll(t, func(st *gobreaker.Settings, tr trace) {
		st.Timeout = time.Duration(tr.limits.Cooldown) * time.Second
	}, plain)
	t.Logf("%d of %d traces diverge", all.diverged, traces)
	if all.diverged != all.edged || all.diverged < traces/2 {
		t.Errorf("%d of %d traces diverge, want the %d that have an event at the end of a cooldown", all.diverged, traces, all.edged)
	}
}
