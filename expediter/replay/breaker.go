package replay

import (
	"fmt"
	"math"
	"strconv"

	"github.com/expediter-go/expediter/expediter/breaker"
)

// Event is one event of one breaker.
type Event struct {
	T      int64 // the event's time, in whatever unit the cooldown is in
	Failed bool  // the tool failed, had it been called
}

// Params are the limits of a replayed breaker. None has a default.
type Params struct {
	FailureThreshold  int64 // failures in a row that open it; 1 or more
	Cooldown          int64 // time from opening to the first trial; 0 or more
	HalfOpenSuccesses int64 // good trials that close it; 1 or more
}

// Transition is one change of state.
type Transition struct {
	From, To breaker.State
	T        int64 // of the event that caused it
}

// String is the form of seed 000: closed->open@2.
func (t Transition) String() string { return string(t.append(nil)) }

func (t Transition) append(b []byte) []byte {
	b = append(b, word(t.From)...)
	b = append(b, "->"...)
	b = append(b, word(t.To)...)
	b = append(b, '@')
	return strconv.AppendInt(b, t.T, 10)
}

// word is seed 000's name of a state.
func word(s breaker.State) string {
	switch s {
	case breaker.Closed:
		return "closed"
	case breaker.HalfOpen:
		return "half_open"
	}
	return "open"
}

// Result is what a replay of one breaker gives.
type Result struct {
	FinalState  breaker.State
	Rejected    []int64      // t of the events that were not let through, in order
	Transitions []Transition // in order
}

// MarshalJSON writes seed 000's form, with empty lists for nil ones.
func (r Result) MarshalJSON() ([]byte, error) { return r.append(nil), nil }

func (r *Result) append(b []byte) []byte {
	b = append(b, `{"final_state":"`...)
	b = append(b, word(r.FinalState)...)
	b = append(b, `","rejected":[`...)
	for i, t := range r.Rejected {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, t, 10)
	}
	b = append(b, `],"transitions":[`...)
	for i, t := range r.Transitions {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(t.append(b), '"')
	}
	return append(b, "]}"...)
}

// EventError is an event that cannot be replayed.
type EventError struct {
	Index int    // of the event, counted from 0
	What  string // what is wrong, and what to do
}

// Error names the event and what is wrong with it.
func (e *EventError) Error() string {
	return fmt.Sprintf("event %d (counting from 0): %s", e.Index, e.What)
}

// Breaker runs the events through one breaker that starts closed (SPEC section
// 2, seed 000). A parameter out of bounds is an error, and so are events that
// go back in time (an *EventError); there is no result then.
func Breaker(events []Event, p Params) (Result, error) {
	var r Result
	if err := r.run(events, p); err != nil {
		return Result{}, err
	}
	return r, nil
}

// run is Breaker into a Result whose memory is used again.
func (r *Result) run(events []Event, p Params) error {
	m, err := breaker.New(clampInt(p.FailureThreshold), clampInt(p.HalfOpenSuccesses), p.Cooldown)
	if err != nil {
		return err
	}
	r.Rejected, r.Transitions = r.Rejected[:0], r.Transitions[:0]
	last := int64(math.MinInt64)
	for i, e := range events {
		if e.T < last {
			return &EventError{i, fmt.Sprintf("t is %d, before the %d of the event before it; put the events in the order of time", e.T, last)}
		}
		last = e.T
		r.step(&m, e)
	}
	r.FinalState = m.State()
	return nil
}

func (r *Result) step(m *breaker.Machine, e Event) {
	from := m.State()
	if !m.Admit(e.T) {
		r.Rejected = append(r.Rejected, e.T)
		return
	}
	r.note(from, m.State(), e.T)
	from = m.State()
	if e.Failed {
		m.Fail(e.T)
	} else {
		m.Succeed()
	}
	r.note(from, m.State(), e.T)
}

func (r *Result) note(from, to breaker.State, t int64) {
	if from != to {
		r.Transitions = append(r.Transitions, Transition{from, to, t})
	}
}

// clampInt makes n an int without changing its sign; a machine cannot count
// further than that.
func clampInt(n int64) int { return int(max(min(n, math.MaxInt), math.MinInt)) }
