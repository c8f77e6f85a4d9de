package analysis_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/analysis"
)

var (
	update   = flag.Bool("update", false, "write the golden files")
	evidence = flag.String("evidence", "", "write the page of the recordings to this file (make evidence)")
)

// The page over a made recording.
func TestEvidence(t *testing.T) {
	events := random(11, 60, 50)
	policies := analysis.Baselines()
	in := evidenceInput{
		Corpora: []corpus{{Name: "Made sessions", What: "Sessions made for this test.",
			Result: analyse(t, stream(events), analysis.Options{Policies: policies, Splice: true, Seed: 1})}},
		Incidents: []incident{{ID: "A", What: "broken | torn", Doomed: 6}, {ID: "B", What: "too eager"}},
	}
	broken := &recording{file: "f", session: "A"}
	working := &recording{file: "f", session: "B"}
	for _, p := range policies {
		by := bySession(t, unattended(stream(joined(broken.call("x", "FFFFFF"), working.call("x", "AAAA")))), p)
		in.Policies = append(in.Policies, p.Name)
		for i := range by {
			in.Incidents[i].By = append(in.Incidents[i].By, by[i].Counts)
		}
		broken.events, working.events = nil, nil
	}
	var got bytes.Buffer
	if err := writeEvidence(&got, in); err != nil {
		t.Fatal(err)
	}
	golden(t, "evidence.md", got.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", path, diff)
	}
}

// TestEvidenceOfRecordings writes docs/evidence.md when it is asked to.
func TestEvidenceOfRecordings(t *testing.T) {
	list, policies := reports(t)
	slower := analysis.Policy{Name: "interactive, 3 good probes to close", Config: expediter.Config{Policy: expediter.Interactive()}}
	slower.Config.Policy.HalfOpenSuccesses = 3
	in := evidenceInput{Incidents: list, Policies: policies}
	in.Corpora = []corpus{
		{Name: "Coding sessions", What: "Sessions of coding agents, reduced to facts: tool, program, outcome, class and signature. They have no times and no prompts.",
			Result: analyse(t, stream(recorded(t, recordings)), analysis.Options{Policies: append(analysis.Baselines(), slower), Splice: true, Suggest: *evidence != "", Seed: 1})},
		{Name: "Recordings in full", What: "A few recordings of many kinds of agents, as those agents wrote them.",
			Result: analyse(t, stream(recorded(t, traces)), analysis.Options{Policies: analysis.Baselines()})},
	}
	var page bytes.Buffer
	if err := writeEvidence(&page, in); err != nil {
		t.Fatal(err)
	}
	if *evidence == "" {
		return
	}
	if err := os.WriteFile(*evidence, page.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
