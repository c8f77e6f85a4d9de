package breaker

import (
	"testing"

	"pgregory.net/rapid"
)

// Requests come one by one at any step and time: the trial is the first one
// for which the written rule of its unit holds, and Left counts down to it.
func TestPacingAgainstTheWrittenRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Pacing{
			Unit:        rapid.SampledFrom([]Unit{Attempts, Steps, Time}).Draw(t, "unit"),
			Every:       rapid.Int64Range(1, 6).Draw(t, "every"),
			NotBeforeMS: rapid.SampledFrom([]int64{Off, 4, 9}).Draw(t, "not_before_ms"),
		}
		after := rapid.SampledFrom([]int64{Off, 3, 12}).Draw(t, "after_ms")
		a := Anchor{Step: rapid.Int64Range(0, 1<<40).Draw(t, "anchor step"), At: rapid.Int64Range(0, 1<<50).Draw(t, "anchor at")}
		step, at := a.Step, a.At
		for range 12 {
			step += rapid.Int64Range(0, 3).Draw(t, "steps")
			at += rapid.Int64Range(0, 5).Draw(t, "ms")
			a.Attempts++
			var want bool
			var gone int64
			switch p.Unit {
			case Attempts:
				gone = a.Attempts
				want = (a.Attempts >= p.Every || after != Off && at >= a.At+after) && (p.NotBeforeMS == Off || at >= a.At+p.NotBeforeMS)
			case Steps:
				gone, want = step-a.Step, step >= a.Step+p.Every
			case Time:
				gone, want = at-a.At, at >= a.At+p.Every
			}
			if got := p.Due(a, p.Every, after, step, at); got != want {
				t.Fatalf("%+v, %d requests, %d steps, %d ms since: got due %v, want %v", p, a.Attempts, step-a.Step, at-a.At, got, want)
			}
			left := p.Left(a, p.Every, step, at)
			if gone < p.Every && left != p.Every-gone || gone >= p.Every && left != 1 {
				t.Fatalf("%+v, %d gone: got %d left", p, gone, left)
			}
		}
	})
}

// Numbers at the far end of what a policy and a clock can hold.
func TestPacingDoesNotOverflow(t *testing.T) {
	const end = 1<<63 - 1
	a := Anchor{Step: end - 10, At: end - 10}
	for _, unit := range []Unit{Steps, Time} {
		p := Pacing{Unit: unit, Every: MaxInterval}
		if p.Due(a, MaxInterval, Off, end, end) {
			t.Errorf("%v: due 10 after the anchor", unit)
		}
		if got, want := p.Left(a, MaxInterval, end, end), int64(MaxInterval-10); got != want {
			t.Errorf("%v: %d left, want %d", unit, got, want)
		}
	}
	p := Pacing{Every: 3, NotBeforeMS: MaxInterval}
	if p.Due(Anchor{Attempts: 9}, 3, end, 0, MaxInterval-1) {
		t.Error("due before not_before_ms")
	}
	if !p.Due(Anchor{Attempts: 9}, 3, end, 0, MaxInterval) {
		t.Error("not due at not_before_ms")
	}
}
