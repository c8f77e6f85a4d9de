package analysis_test

import (
	"testing"

	"github.com/expediter-go/expediter/internal/analysis"
)

// ours are the policies that have to keep what the project promises.
var ours = map[string]bool{analysis.Faithful: true, analysis.Interactive: true}

// Recorded sessions: lost under 1 in 5,000 calls, sessions paused under 2 %.
func TestRecordedSessions(t *testing.T) {
	r := analyse(t, stream(recorded(t, recordings)), analysis.Options{Policies: analysis.Baselines()})
	for _, p := range r.Policies {
		t.Logf("%-22s %d calls, %d failures, %d answered: saved %d, lost %d (%d answers), precision %.2f, paused %d calls in %d of %d sessions, %d openings, %d probes",
			p.Policy, p.Calls, p.Failures, p.Answered, p.Saved, p.Lost, p.LostAnswers, p.Precision, p.Paused, p.SessionsPaused, p.Sessions, p.Openings, p.Probes)
		if !ours[p.Policy] {
			continue
		}
		if p.Lost*5000 >= p.Calls {
			t.Errorf("%s: lost %d of %d calls, want under 1 in 5,000", p.Policy, p.Lost, p.Calls)
		}
		if p.SessionsPaused*50 >= p.Sessions {
			t.Errorf("%s: paused %d of %d sessions, want under 2 %%", p.Policy, p.SessionsPaused, p.Sessions)
		}
	}
}

// Spliced outages: what could be known is not made, but for probes, and the
// tool is tried again within one probe interval.
func TestSplicedRecordings(t *testing.T) {
	r := analyse(t, stream(recorded(t, recordings)), analysis.Options{Policies: analysis.Baselines(), Splice: true, Seed: 1})
	t.Logf("%d outages: %v", r.Spliced.Outages, r.Spliced.ByKind)
	for _, p := range r.Spliced.Rows {
		t.Logf("%-22s %d doomed, %d after the threshold, %d avoided (%.1f %%; %.1f %% but for %d probes), %d good calls lost; %d of %d tried again within one interval, %d never",
			p.Policy, p.Doomed, p.After, p.Avoided, 100*p.AvoidedPct, 100*butForProbes(p.Avoidance), p.MadeProbes, p.Lost, p.WithinOne, p.Recovered, p.Unresolved)
		for _, kind := range []string{analysis.OneTool, analysis.CommonCause, analysis.Flapping} {
			a := p.ByKind[kind]
			t.Logf("    %-13s %.1f %%; %.1f %% but for probes", kind, 100*a.AvoidedPct, 100*butForProbes(a))
			if ours[p.Policy] && butForProbes(a) < 0.95 {
				t.Errorf("%s, %s: avoided %.3f of what could be known, want 0.95", p.Policy, kind, butForProbes(a))
			}
		}
		if ours[p.Policy] && (p.WithinOne != p.Recovered || p.Recovered == 0 || p.Overdue > 0) {
			t.Errorf("%s: %d of %d tools tried again within one probe interval, %d overdue, want all and none", p.Policy, p.WithinOne, p.Recovered, p.Overdue)
		}
	}
}

func butForProbes(a analysis.Avoidance) float64 {
	return float64(a.Avoided) / float64(a.After-a.MadeProbes)
}

// reported are the incidents in our words.
var reported = []incident{
	{ID: "I1", What: "a tool that does not exist, called hundreds of times", Doomed: 754},
	{ID: "I2", What: "a connector that answers every call with an error, while its health check is green", Doomed: 13},
	{ID: "I8", What: "a shell that returns nothing and exit 1 for every command: the disk is full", Doomed: 8},
	{ID: "I11", What: "a server's connection is lost; each of its tools fails", Doomed: 6},
	{ID: "I13", What: "retries in a row, each with another error", Doomed: 7},
	{ID: "I14", What: "a script that is killed by its time limit, then works"},
	{ID: "I15", What: "identical calls that succeed"},
	{ID: "I16", What: "a query that times out again and again, and wrong arguments between", Doomed: 6},
}

// reports lays the baselines over the incidents.
func reports(t *testing.T) (list []incident, policies []string) {
	t.Helper()
	events := recorded(t, incidents)
	list = append(list, reported...)
	for _, p := range analysis.Baselines() {
		policies = append(policies, p.Name)
		by := bySession(t, unattended(stream(events)), p)
		if len(by) != len(list) {
			t.Fatalf("got %d incidents, want %d; tell the new ones in our words", len(by), len(list))
		}
		for i, c := range by {
			if c.Session != list[i].ID {
				t.Fatalf("got incident %s, want %s", c.Session, list[i].ID)
			}
			list[i].By = append(list[i].By[:len(policies)-1:len(policies)-1], c.Counts)
		}
	}
	return list, policies
}

// Incidents: at least 90 % of the doomed calls of broken tools are not made,
// and none is denied where no tool was broken.
func TestReportedIncidents(t *testing.T) {
	list, policies := reports(t)
	for i, name := range policies {
		denied, doomed := deniedCalls(list, i)
		t.Logf("%-22s %d of %d doomed calls not made", name, denied, doomed)
		for _, n := range list {
			c := n.By[i]
			t.Logf("    %-4s denied %d, failures %d, lost %d", n.ID, c.Skipped+c.Paused, c.Failures, c.Lost)
			if ours[name] && n.Doomed == 0 && c.Skipped+c.Paused > 0 {
				t.Errorf("%s, %s: denied %d calls of a tool that works", name, n.ID, c.Skipped+c.Paused)
			}
		}
		if ours[name] && denied*10 < doomed*9 {
			t.Errorf("%s: %d of %d doomed calls not made, want 90 %%", name, denied, doomed)
		}
	}
}

func analyse(t testing.TB, s analysis.Stream, o analysis.Options) *analysis.Result {
	t.Helper()
	r, err := analysis.Run(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
