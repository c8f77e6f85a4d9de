package replay

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"testing"
)

// million is events that keep a breaker opening, probing and closing.
func million() []Event {
	events := make([]Event, 1_000_000)
	for i := range events {
		events[i] = Event{T: int64(i), Failed: i%7 < 3}
	}
	return events
}

// One million events take memory for what they give, none for each of them.
func TestBreakerAllocatesNothingPerEvent(t *testing.T) {
	events := million()
	p := Params{FailureThreshold: 3, Cooldown: 5, HalfOpenSuccesses: 2}
	var r Result
	if err := r.run(events, p); err != nil {
		t.Fatal(err)
	}
	if len(r.Rejected) < 100_000 || len(r.Transitions) < 100_000 {
		t.Fatalf("%d rejected and %d transitions; the events are too tame to count", len(r.Rejected), len(r.Transitions))
	}
	if got := testing.AllocsPerRun(2, func() { _ = r.run(events, p) }); got != 0 {
		t.Errorf("with memory to use again: got %v allocations, want 0", got)
	}
	if got := testing.AllocsPerRun(2, func() { _, _ = Breaker(events, p) }); got > 100 {
		t.Errorf("anew: got %v allocations, want those of two growing lists", got)
	}
}

func BenchmarkBreakerMillion(b *testing.B) {
	events := million()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Breaker(events, Params{FailureThreshold: 3, Cooldown: 5, HalfOpenSuccesses: 2}); err != nil {
			b.Fatal(err)
		}
	}
}

func cases(b *testing.B) []byte {
	data, err := os.ReadFile("testdata/breaker.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	return data
}

// BenchmarkReplayJSONL is to be within 1.5 times BenchmarkDecodeOnly.
func BenchmarkReplayJSONL(b *testing.B) {
	data := cases(b)
	for b.Loop() {
		if _, err := BreakerLines(io.Discard, bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeOnly(b *testing.B) {
	data := cases(b)
	for b.Loop() {
		dec := json.NewDecoder(bytes.NewReader(data))
		for {
			var c struct {
				Events []struct {
					T      int64  `json:"t"`
					Result string `json:"result"`
				} `json:"events"`
				FailureThreshold  int64 `json:"failure_threshold"`
				Cooldown          int64 `json:"cooldown"`
				HalfOpenSuccesses int64 `json:"half_open_successes"`
			}
			if err := dec.Decode(&c); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}
