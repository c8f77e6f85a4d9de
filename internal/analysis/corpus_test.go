package analysis_test

import (
	"testing"

	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

func TestCorpus(t *testing.T) {
	r, err := analysis.Run(t.Context(), stream(recorded(t, recordings)), analysis.Options{Policies: analysis.Baselines(), Splice: true, Seed: 1, Timelines: 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Policies {
		t.Logf("%-24s %+v", p.Policy, p.Counts)
	}
	t.Logf("%d outages: %v", r.Spliced.Outages, r.Spliced.ByKind)
	for _, p := range r.Spliced.Rows {
		t.Logf("%-24s doomed %d after %d made %d probes %d avoided %d %.3f recovered %d within %d max %d unresolved %d lost %d of %d calls pauses %d", p.Policy,
			p.Doomed, p.After, p.Made, p.MadeProbes, p.Avoided, p.AvoidedPct, p.Recovered, p.WithinOne, p.MaxWait, p.Unresolved, p.Lost, p.Calls, p.Pauses)
		for k, v := range p.ByKind {
			t.Logf("   %s %+v", k, v)
		}
	}
	if s := r.Suggested; s != nil {
		t.Logf("%s\n%s\n%q", s.Policy, s.PolicyYAML, s.Why)
	}
	n := 0
	for _, p := range r.Frontier {
		if p.Frontier {
			n++
			t.Logf("%+v", p)
		}
	}
	t.Log(len(r.Frontier), n, len(r.Timelines), r.Omitted, r.Notes)
}

func TestIncidents(t *testing.T) {
	ev := recorded(t, incidents)
	for _, p := range analysis.Baselines() {
		by := map[string]*analysis.Counts{}
		for _, e := range ev {
			if by[e.Session] == nil {
				var mine []trace.Event
				for _, o := range ev {
					if o.Session == e.Session {
						mine = append(mine, o)
					}
				}
				r, err := analysis.Run(t.Context(), stream(mine), analysis.Options{Policies: []analysis.Policy{p}})
				if err != nil {
					t.Fatal(err)
				}
				by[e.Session] = &r.Counts
				t.Logf("%s %s %+v", p.Name, e.Session, r.Counts)
			}
		}
	}
}
