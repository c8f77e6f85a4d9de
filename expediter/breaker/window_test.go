package breaker

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Any rate with nine decimals is compared as the fraction that it was written
// as: no rounding, however close the share of failures comes to it.
func TestRateIsComparedExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 400).Draw(t, "window")
		failures := rapid.IntRange(0, size).Draw(t, "failures")
		near := int64(failures) * rateScale / int64(size)
		billionths := rapid.OneOf(rapid.Int64Range(1, rateScale-1), rapid.Int64Range(near-1, near+1)).Draw(t, "rate")
		billionths = min(max(billionths, 1), rateScale-1)

		var rate float64
		if _, err := fmt.Sscanf(fmt.Sprintf("0.%09d", billionths), "%g", &rate); err != nil {
			t.Fatal(err)
		}
		w := NewWindow(Trip{Policy: Rate, Window: size, MinCalls: 1, Rate: rate})
		for i := range size {
			w.Push(i < failures)
		}
		want := big.NewRat(int64(failures), int64(size)).Cmp(big.NewRat(billionths, rateScale)) > 0
		if got := w.Exceeded(); got != want {
			t.Fatalf("%d of %d against %v: got %v, want %v", failures, size, rate, got, want)
		}
	})
}

// The largest window and the largest rate do not overflow.
func TestTheLargestWindow(t *testing.T) {
	const rate = 0.999999999
	w := NewWindow(Trip{Policy: Rate, Window: MaxWindow, MinCalls: MaxWindow, Rate: rate})
	for range MaxWindow - 1 {
		w.Push(true)
	}
	if w.Exceeded() {
		t.Error("judged before min_calls")
	}
	w.Push(true)
	if !w.Exceeded() {
		t.Errorf("all of %d failed, and %v is not exceeded", MaxWindow, rate)
	}
	w.Push(false)
	if w.Exceeded() {
		t.Errorf("one of %d succeeded, and %v is exceeded", MaxWindow, rate)
	}
}

// A map from outside may ask for the largest window for each of many tools:
// the memory comes with the outcomes.
func TestAWindowTakesMemoryAsOutcomesCome(t *testing.T) {
	w := NewWindow(Trip{Policy: Rate, Window: MaxWindow, MinCalls: 1, Rate: 0.5})
	for range 100 {
		w.Push(true)
	}
	w.Reset()
	for range 100 {
		w.Push(true)
	}
	if got, most := 8*cap(w.bits), 64; got > most {
		t.Errorf("100 outcomes of a window of %d take %d bytes, want at most %d", MaxWindow, got, most)
	}
	if failures, held := w.Count(); failures != 100 || held != 100 {
		t.Errorf("got %d failures of %d outcomes, want 100 of 100", failures, held)
	}
}
