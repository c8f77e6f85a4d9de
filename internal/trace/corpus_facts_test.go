package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
)

// factsFile reads a file of reduced facts, unpacked.
func factsFile(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(corpus, "..", name))
	if os.IsNotExist(err) {
		t.Skip("no recordings: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if filepath.Ext(name) == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestCorpusFacts counts the lines by their words.
func TestCorpusFacts(t *testing.T) {
	data := factsFile(t, "sessions.jsonl.gz")
	got, stats := callsAndErrors(t, data)
	want := tallied{calls: bytes.Count(data, []byte("\n")), errors: bytes.Count(data, []byte(`"st":"fail"`)) + bytes.Count(data, []byte(`"st":"denied"`))}
	if got != want {
		t.Errorf("calls and errors: got %v, want %v", got, want)
	}
	sessions := map[[2]string]bool{}
	for line := range bytes.Lines(data) {
		var f struct{ F, S string }
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		sessions[[2]string{f.F, f.S}] = true
	}
	if stats.Sessions != len(sessions) || stats.Open != bytes.Count(data, []byte(`"st":"open"`)) || stats.Foreign+stats.Broken+stats.Orphans+stats.Repeated > 0 {
		t.Errorf("got %+v, want %d sessions and nothing odd", stats, len(sessions))
	}
}

// TestCorpusFactsJudged: of the errors in the recorded sessions, few are
// failures of a tool.
func TestCorpusFactsJudged(t *testing.T) {
	data := factsFile(t, "sessions.jsonl.gz")
	failures := map[string]int{}
	stats, err := Read(t.Context(), "sessions", bytes.NewReader(data), Options{}, func(e *Event) error {
		if e.Kind == Result && e.Verdict.Outcome == cascade.Failed {
			failures[e.Key+" "+e.Verdict.Class+" ("+e.Verdict.Rule+") "+e.Text]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, n := range failures {
		t.Log(n, text)
	}
	t.Logf("%+v", stats)
	if errors := stats.Failures + stats.Answered + stats.Ignored; stats.Failures*10 > errors {
		t.Errorf("%d of %d errors are failures, want less than a tenth", stats.Failures, errors)
	}
}

// TestCorpusIncidents: what each incident's calls come to.
func TestCorpusIncidents(t *testing.T) {
	got := map[string]map[string]int{}
	_, err := Read(t.Context(), "incidents", bytes.NewReader(factsFile(t, "incidents.json")), Options{}, func(e *Event) error {
		if e.Kind != Result {
			return nil
		}
		if got[e.Session] == nil {
			got[e.Session] = map[string]int{}
		}
		got[e.Session][e.Verdict.Class]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]int{
		"I1": {"tool_missing": 754}, "I2": {"unknown": 13}, "I8": {"filesystem": 8}, "I11": {"network": 6},
		"I13": {"rate_limit": 2, "auth": 2, "timeout": 2, "network": 1}, "I14": {"none": 3, "ok": 2}, "I15": {"ok": 12},
		"I16": {"timeout": 6, "invalid_input": 2},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
