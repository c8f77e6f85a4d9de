package trace

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// formatRow is a row of the table of formats: names, what it is, outcome.
var formatRow = regexp.MustCompile("(?m)^\\| (`[a-z0-9-`, ]+`) \\| [^|]+ \\| ([^|]*(?:marked|judged)[^|]*) \\|$")

// TestFormatsAreDocumented holds docs/analyze.md: a row for each format, each with
// a fixture, whose last column says where the outcomes of the fixtures come from.
func TestFormatsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/analyze.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for _, m := range formatRow.FindAllSubmatch(page, -1) {
		for name := range strings.SplitSeq(string(m[1]), ", ") {
			rows[strings.Trim(name, "`")] = string(m[2])
		}
	}
	known := map[string]bool{}
	for _, f := range formats {
		if f == plainFormat || f == plainDocument { // of these tests alone
			continue
		}
		known[f.name] = true
		if rows[f.name] == "" {
			t.Errorf("%s: no row in docs/analyze.md", f.name)
		}
	}
	for name, outcome := range rows {
		if !known[name] {
			t.Errorf("docs/analyze.md has a row for %s, which no importer reads", name)
			continue
		}
		marked, judged := outcomesOf(t, name)
		if marked != strings.Contains(outcome, "marked") || judged != strings.Contains(outcome, "judged") {
			t.Errorf("%s: docs/analyze.md says %q; of the fixtures' outcomes some are marked: %v, some judged: %v", name, outcome, marked, judged)
		}
	}
}

// outcomesOf reads the fixtures of a format: whether some results are marked, and
// some are not.
func outcomesOf(t *testing.T, format string) (marked, judged bool) {
	t.Helper()
	for _, name := range fixtures(t) {
		if !belongsTo(name, format) {
			continue
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), name, bytes.NewReader(data), Options{}, func(e *Event) error {
			marked, judged = marked || e.Kind == Result && e.How == Flagged, judged || e.Kind == Result && e.How == Judged
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return marked, judged
}
