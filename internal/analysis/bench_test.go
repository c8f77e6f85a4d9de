package analysis_test

import (
	"testing"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

func newWhatIf(t testing.TB, p expediter.Policy) *replay.WhatIf {
	t.Helper()
	w, err := replay.NewWhatIf(expediter.Config{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// layByHand lays a policy over one session without chunks.
func layByHand(w *replay.WhatIf, events []trace.Event) replay.Tally {
	for i := range events {
		switch e := &events[i]; e.Kind {
		case trace.Prompt:
			w.Prompt(e.Step, e.At)
		case trace.Issue:
			w.Issue(e.Call, e.Key, e.Step, e.At)
		case trace.Result:
			w.Result(e.Call, expediter.Outcome{Result: e.Verdict.Outcome, Category: e.Verdict.Category, Signature: e.Verdict.Signature}, e.Step, e.At)
		}
	}
	return w.End()
}

// Four policies over a hundred thousand calls.
func BenchmarkRun(b *testing.B) {
	events := random(1, 1000, 100)
	b.ReportAllocs()
	for b.Loop() {
		r, err := analysis.Run(b.Context(), stream(events), analysis.Options{Policies: analysis.Baselines()})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.Calls)*4, "calls/op")
	}
}
