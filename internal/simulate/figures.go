package simulate

import (
	"encoding/json"
	"math"
	"slices"
)

// Spread is one figure over the seeds of a row: its mean, and the interval from
// the 5th to the 95th percentile. Where no run has the figure Runs is 0.
type Spread struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"p5"`
	High float64 `json:"p95"`
	Runs int     `json:"runs"` // that have the figure
}

// Row is one way of working under one model and rate. Counts are those of all
// agents of a run.
type Row struct {
	Model      Model   `json:"model"`
	Rate       float64 `json:"rate"`
	Way        string  `json:"way"`
	Calls      Spread  `json:"calls"`
	Doomed     Spread  `json:"doomed"`      // calls made while the tool was down
	Probes     Spread  `json:"probes"`      // calls made as trials
	Denied     Spread  `json:"denied"`      // requests answered SKIP, or refused by gobreaker
	DeniedGood Spread  `json:"denied_good"` // of those, requests that would have succeeded
	Done       Spread  `json:"done"`        // sub-tasks done as planned, with right data
	Degraded   Spread  `json:"degraded"`    // done through an alternative
	Wrong      Spread  `json:"wrong"`       // done with wrong data that nobody noticed
	Deferred   Spread  `json:"deferred"`    // not done, and a report names it with its true cause
	GivenUp    Spread  `json:"given_up"`    // not done, and no report says so
	Honest     Spread  `json:"honest"`      // share of unfinished sub-tasks that a report names: 0 to 1
	Minutes    Spread  `json:"minutes"`     // of an agent, the user's answers included
	Tokens     Spread  `json:"tokens"`
	Pauses     Spread  `json:"pauses"`
}

// column is one figure: where it comes from and how it is shown.
type column struct {
	name, title string
	unit        float64 // what tables divide it by
	decimals    int
	take        func(t tally, agents int) float64 // NaN: the run has none
	in          func(r *Row) *Spread
}

// columns are all figures in the order of tables.
var columns = []column{
	{"calls", "calls", 1, 0, func(t tally, _ int) float64 { return float64(t.calls) }, func(r *Row) *Spread { return &r.Calls }},
	{"doomed", "doomed", 1, 1, func(t tally, _ int) float64 { return float64(t.doomed) }, func(r *Row) *Spread { return &r.Doomed }},
	{"probes", "probes", 1, 1, func(t tally, _ int) float64 { return float64(t.probes) }, func(r *Row) *Spread { return &r.Probes }},
	{"denied", "denied", 1, 1, func(t tally, _ int) float64 { return float64(t.denied) }, func(r *Row) *Spread { return &r.Denied }},
	{"denied_good", "denied good", 1, 1, func(t tally, _ int) float64 { return float64(t.deniedGood) }, func(r *Row) *Spread { return &r.DeniedGood }},
	{"done", "done", 1, 1, ended(done), func(r *Row) *Spread { return &r.Done }},
	{"degraded", "degraded", 1, 1, ended(degraded), func(r *Row) *Spread { return &r.Degraded }},
	{"wrong", "wrong", 1, 1, ended(wrong), func(r *Row) *Spread { return &r.Wrong }},
	{"deferred", "deferred", 1, 1, ended(deferred), func(r *Row) *Spread { return &r.Deferred }},
	{"given_up", "given up", 1, 1, ended(givenUp), func(r *Row) *Spread { return &r.GivenUp }},
	{"honest", "honest", 1, 2, honest, func(r *Row) *Spread { return &r.Honest }},
	{"minutes", "minutes", 1, 1, minutes, func(r *Row) *Spread { return &r.Minutes }},
	{"tokens", "k tokens", 1000, 0, func(t tally, _ int) float64 { return float64(t.tokens) }, func(r *Row) *Spread { return &r.Tokens }},
	{"pauses", "pauses", 1, 1, func(t tally, _ int) float64 { return float64(t.pauses) }, func(r *Row) *Spread { return &r.Pauses }},
}

func ended(e ending) func(tally, int) float64 {
	return func(t tally, _ int) float64 { return float64(t.endings[e]) }
}

// honest has no value where everything was finished.
func honest(t tally, _ int) float64 {
	return float64(t.endings[deferred]) / float64(t.endings[deferred]+t.endings[givenUp])
}

func minutes(t tally, agents int) float64 { return float64(t.ms) / float64(agents) / 60_000 }

// fill sets the row's figures from its runs.
func (r *Row) fill(runs []tally, agents int) {
	for _, c := range columns {
		values := make([]float64, 0, len(runs))
		for _, t := range runs {
			if v := c.take(t, agents); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		*c.in(r) = spread(values)
	}
}

func spread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Spread{Mean: sum / float64(len(values)), Low: percentile(values, 0.05), High: percentile(values, 0.95), Runs: len(values)}
}

// percentile interpolates between the two nearest of sorted values.
func percentile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// MarshalJSON writes null for a figure that no run has.
func (s Spread) MarshalJSON() ([]byte, error) {
	type plain Spread
	if s.Runs == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(plain(s))
}
