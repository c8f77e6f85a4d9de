package replay_test

import (
	"testing"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
)

// layOver puts a million calls, in sessions of 64, under a policy. Three in a
// hundred fail, and they come in runs.
func layOver(w *replay.WhatIf, calls int) (total replay.Tally) {
	failure, success := outcomeOf('F'), expediter.Success()
	tools := [...]string{"Bash/go", "Read", "Edit", "Grep", "Bash/git", "WebFetch/example.org"}
	for i := range calls {
		step, at := int64(i%64), 1_700_000_000_000+int64(i)*1000
		o, tool := success, tools[i*7%len(tools)]
		if i%640 < 19 {
			o, tool = failure, tools[i/640%len(tools)]
		}
		if i%64 == 0 {
			w.Prompt(step, at)
		}
		w.Issue(i, tool, step, at)
		w.Result(i, o, step, at)
		if i%64 == 63 {
			t := w.End()
			total.Calls += t.Calls
			total.Saved += t.Saved
		}
	}
	return total
}

// BenchmarkWhatIf is to be under a second.
func BenchmarkWhatIf(b *testing.B) {
	w := newWhatIf(b, expediter.Interactive())
	b.ReportAllocs()
	for b.Loop() {
		if got := layOver(w, 1_000_000); got.Saved == 0 || got.Calls != 1_000_000 {
			b.Fatalf("got %+v; the recording is too tame", got)
		}
	}
}

func TestWhatIfAllocatesNothingPerHealthyCall(t *testing.T) {
	w := newWhatIf(t, expediter.Interactive())
	call := 0
	one := func() {
		call++
		w.Issue(call, "Read", int64(call), 1_700_000_000_000)
		w.Issue(-call, "Read", int64(call), 1_700_000_000_000)
		w.Result(call, expediter.Success(), int64(call), 1_700_000_000_000)
		w.Result(-call, expediter.Success(), int64(call), 1_700_000_000_000)
	}
	one()
	if got := testing.AllocsPerRun(1000, one); got != 0 {
		t.Errorf("got %v allocations a call, want 0", got)
	}
}
