package breaker

import (
	"errors"
	"fmt"
)

// Machine is the three-state breaker of SPEC section 2. Its clock is any
// integer that does not decrease; the replay gives it the events' t, the
// engine its steps. Make one with New. The zero Machine is open for good.
type Machine struct {
	threshold int
	needed    int
	cooldown  int64
	state     State
	fails     int // closed: failures in a row
	goods     int // half-open: successes
	openedAt  int64
}

// New returns a closed machine that opens at failureThreshold failures in a
// row, lets a trial through once cooldown has passed since it opened, and
// closes at halfOpenSuccesses good trials.
func New(failureThreshold, halfOpenSuccesses int, cooldown int64) (Machine, error) {
	var errs []error
	if failureThreshold < 1 {
		errs = append(errs, fmt.Errorf("failure_threshold is %d; give 1 or more", failureThreshold))
	}
	if halfOpenSuccesses < 1 {
		errs = append(errs, fmt.Errorf("half_open_successes is %d; give 1 or more", halfOpenSuccesses))
	}
	if cooldown < 0 {
		errs = append(errs, fmt.Errorf("cooldown is %d; give 0 or more", cooldown))
	}
	if errs != nil {
		return Machine{}, errors.Join(errs...)
	}
	return Machine{threshold: failureThreshold, needed: halfOpenSuccesses, cooldown: cooldown, state: Closed}, nil
}

// State returns where the machine stands. Reading it changes nothing.
func (m *Machine) State() State { return m.state }

// Fails returns the failures in a row that a closed machine has counted.
func (m *Machine) Fails() int { return m.fails }

// Goods returns the good trials that a half-open machine has counted.
func (m *Machine) Goods() int { return m.goods }

// OpenedAt returns the t of the last opening.
func (m *Machine) OpenedAt() int64 { return m.openedAt }

// Admit reports whether an event at t may be processed. An open machine whose
// cooldown has passed goes to half-open first.
func (m *Machine) Admit(t int64) bool {
	if m.state != Open {
		return true
	}
	if t < m.openedAt || uint64(t)-uint64(m.openedAt) < uint64(m.cooldown) {
		return false
	}
	m.Trial()
	return true
}

// Trial takes an open machine to half-open, for callers who pace their probes
// themselves.
func (m *Machine) Trial() { m.enter(HalfOpen) }

// Succeed processes a success and reports whether the state changed. An open
// machine ignores it.
func (m *Machine) Succeed() bool {
	switch m.state {
	case Closed:
		m.fails = 0
	case HalfOpen:
		m.goods++
		if m.goods >= m.needed {
			m.enter(Closed)
			return true
		}
	}
	return false
}

// Fail processes a failure at t and reports whether the machine opened.
func (m *Machine) Fail(t int64) bool { return m.FailAt(t, m.threshold) }

// FailAt is Fail with a threshold for this one failure; at least 1 is used.
// With a threshold of Off a closed machine only counts.
func (m *Machine) FailAt(t int64, threshold int) bool {
	switch m.state {
	case HalfOpen:
		m.Trip(t)
		return true
	case Closed:
		m.fails++
		if threshold != Off && m.fails >= max(threshold, 1) {
			m.Trip(t)
			return true
		}
	}
	return false
}

// Trip opens the machine at t, whatever its state.
func (m *Machine) Trip(t int64) {
	m.enter(Open)
	m.openedAt = t
}

// Close closes the machine and clears its counters.
func (m *Machine) Close() { m.enter(Closed) }

func (m *Machine) enter(s State) {
	m.state, m.fails, m.goods = s, 0, 0
}

// Saved is a machine's state without its limits, for snapshots.
type Saved struct {
	State    State `json:"state"`
	Fails    int   `json:"fails,omitempty"`
	Goods    int   `json:"goods,omitempty"`
	OpenedAt int64 `json:"opened_at,omitempty"`
}

// Save returns the machine's state.
func (m *Machine) Save() Saved { return Saved{m.state, m.fails, m.goods, m.openedAt} }

// Load sets the machine's state and keeps its limits.
func (m *Machine) Load(s Saved) {
	m.state, m.fails, m.goods, m.openedAt = s.State, max(s.Fails, 0), max(s.Goods, 0), s.OpenedAt
}
