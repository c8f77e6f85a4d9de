package expediter

import (
	"testing"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// TestNextAt: the status says to the millisecond when a trial is due by time
// alone, and the engine keeps to it (SPEC section 3).
func TestNextAt(t *testing.T) {
	tests := []struct {
		name      string
		pacing    breaker.Pacing
		retry     time.Duration // of the failure that opens
		failed    int           // probes
		want      int64         // after the anchor, in milliseconds; 0: never
		notBefore bool
	}{
		{name: "attempts", want: 30_000},
		{name: "attempts with backoff", pacing: breaker.Pacing{Backoff: breaker.On}, failed: 2, want: 120_000},
		{name: "attempts alone", pacing: breaker.Pacing{AfterMS: breaker.Off}},
		{name: "retry after", retry: 45 * time.Second, want: 45_000, notBefore: true},
		{name: "retry after, earlier", retry: 10 * time.Second, want: 30_000, notBefore: true},
		{name: "not before", pacing: breaker.Pacing{NotBeforeMS: 1_000}, want: 30_000, notBefore: true},
		{name: "steps", pacing: breaker.Pacing{Unit: breaker.Steps}},
		{name: "time", pacing: breaker.Pacing{Unit: breaker.Time, Every: 7_000}, want: 7_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Policy{Budget: 100}
			p.FailureThreshold, p.Probe = 1, tt.pacing
			x, err := New(Config{Policy: p})
			if err != nil {
				t.Fatal(err)
			}
			at := int64(1_000)
			fail := func(step int64) {
				d := x.Decide("Web", step, time.UnixMilli(at))
				o := Failure(cascade.Upstream, "503")
				o.RetryAfter = tt.retry
				if _, err := x.Record(d.Call, o, step, time.UnixMilli(at)); err != nil {
					t.Fatalf("%v: %v", d.Verb, err)
				}
			}
			fail(1)
			for range tt.failed {
				at = x.Status().Tools[0].NextAt
				fail(1)
			}
			row := x.Status().Tools[0]
			if got := row.NextAt; got != 0 && got-at != tt.want || got == 0 && tt.want != 0 {
				t.Fatalf("next_at %d ms after the anchor, want %d", got-at, tt.want)
			}
			if got := row.NotBefore != 0; got != tt.notBefore {
				t.Errorf("not before %d, want one: %v", row.NotBefore, tt.notBefore)
			}
			if tt.want == 0 {
				return
			}
			if d := x.Decide("Web", 1, time.UnixMilli(row.NextAt-1)); d.Verb != Skip {
				t.Errorf("a millisecond before: %v, want SKIP", d.Verb)
			}
			if d := x.Decide("Web", 1, time.UnixMilli(row.NextAt)); d.Verb != Probe {
				t.Errorf("at the time: %v, want PROBE", d.Verb)
			}
		})
	}
}
