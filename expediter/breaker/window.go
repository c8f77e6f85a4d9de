package breaker

import "math"

// rateScale turns a rate into an integer, so that 11 of 20 against 0.55 is
// compared without rounding.
const rateScale = 1_000_000_000

// Window is the rolling window of a rate policy: one bit for each of the last
// outcomes since the last change of state.
type Window struct {
	bits     []uint64 // grows as outcomes come, so that a large size costs nothing yet
	size     int
	held     int // outcomes in the window
	next     int // where the next outcome goes
	failures int
	minCalls int
	rate     uint64
}

// NewWindow returns an empty window for a validated Trip.
func NewWindow(t Trip) *Window {
	return &Window{
		size:     t.Window,
		minCalls: t.MinCalls,
		rate:     uint64(math.Round(t.Rate * rateScale)),
	}
}

// Push adds an outcome and drops the oldest when the window is full.
func (w *Window) Push(failed bool) {
	word, bit := w.next/64, uint64(1)<<(w.next%64)
	if word == len(w.bits) {
		w.bits = append(w.bits, 0)
	}
	if w.held == w.size {
		if w.bits[word]&bit != 0 {
			w.failures--
		}
	} else {
		w.held++
	}
	w.bits[word] &^= bit
	if failed {
		w.bits[word] |= bit
		w.failures++
	}
	if w.next++; w.next == w.size {
		w.next = 0
	}
}

// Exceeded reports whether enough outcomes are there and failures / outcomes
// is above the rate.
func (w *Window) Exceeded() bool {
	return w.held >= w.minCalls && uint64(w.failures)*rateScale > w.rate*uint64(w.held)
}

// Count returns the failures in the window and the outcomes it holds.
func (w *Window) Count() (failures, outcomes int) { return w.failures, w.held }

// Reset empties the window.
func (w *Window) Reset() {
	clear(w.bits)
	w.held, w.next, w.failures = 0, 0, 0
}

// Outcomes returns the window's outcomes, oldest first: '1' is a failure.
func (w *Window) Outcomes() string {
	out := make([]byte, w.held)
	first := w.next - w.held
	if first < 0 {
		first += w.size
	}
	for i := range out {
		at := (first + i) % w.size
		out[i] = '0' + byte(w.bits[at/64]>>(at%64)&1)
	}
	return string(out)
}

// Load refills the window from what Outcomes gave.
func (w *Window) Load(outcomes string) {
	w.Reset()
	for i := range len(outcomes) {
		w.Push(outcomes[i] == '1')
	}
}
