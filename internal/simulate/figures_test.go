package simulate

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpread(t *testing.T) {
	var hundred []float64
	for i := range 101 {
		hundred = append(hundred, float64(100-i))
	}
	tests := []struct {
		name string
		give []float64
		want Spread
	}{
		{"nothing", nil, Spread{}},
		{"one", []float64{3}, Spread{Mean: 3, Low: 3, High: 3, Runs: 1}},
		{"two, between which it interpolates", []float64{20, 0}, Spread{Mean: 10, Low: 1, High: 19, Runs: 2}},
		{"0 to 100, unsorted", hundred, Spread{Mean: 50, Low: 5, High: 95, Runs: 101}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, spread(tt.give)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Every figure stands in its own field, and a run without a figure counts for
// none.
func TestFill(t *testing.T) {
	some := tally{calls: 1, doomed: 2, probes: 3, denied: 4, deniedGood: 5, pauses: 6, ms: 120_000, tokens: 8,
		endings: [...]int{open: 0, done: 10, degraded: 11, wrong: 12, deferred: 30, givenUp: 10}}
	var r Row
	r.fill([]tally{some}, 2)
	one := func(v float64) Spread { return Spread{Mean: v, Low: v, High: v, Runs: 1} }
	want := Row{Calls: one(1), Doomed: one(2), Probes: one(3), Denied: one(4), DeniedGood: one(5), Done: one(10), Degraded: one(11),
		Wrong: one(12), Deferred: one(30), GivenUp: one(10), Honest: one(0.75), Minutes: one(1), Tokens: one(8), Pauses: one(6)}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.fill([]tally{some, {}}, 2)
	if r.Honest != one(0.75) || r.Calls.Runs != 2 {
		t.Errorf("with a run that finished everything: honest %+v, calls %+v", r.Honest, r.Calls)
	}
}

func TestSpreadJSON(t *testing.T) {
	got, err := json.Marshal([]Spread{{}, {Mean: 1.5, Low: 1, High: 2, Runs: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if want := `[null,{"mean":1.5,"p5":1,"p95":2,"runs":3}]`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPercentilesAreWithinTheirValues(t *testing.T) {
	sorted := []float64{1, 1, 2, 3, 5, 8, 13}
	last := sorted[0]
	for i := range 101 {
		p := percentile(sorted, float64(i)/100)
		if p < last || p > sorted[len(sorted)-1] {
			t.Errorf("percentile %d is %v, after %v", i, p, last)
		}
		last = p
	}
}
