package classify

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/cascade"
)

type labelled struct{ class, message string }

// readLabelled reads testdata/errors.tsv: class, message, source.
func readLabelled(t testing.TB) []labelled {
	f, err := os.Open("testdata/errors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []labelled
	lines := bufio.NewScanner(f)
	lines.Scan() // the header
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 3 {
			t.Fatalf("errors.tsv: %d fields in %q", len(fields), lines.Text())
		}
		rows = append(rows, labelled{fields[0], fields[1]})
	}
	if len(rows) < 200 {
		t.Fatalf("errors.tsv: got %d rows", len(rows))
	}
	return rows
}

func observeText(s string) Verdict { return Observe(Observation{Failed: true, Result: s}) }

func TestRealMessages(t *testing.T) {
	for _, row := range readLabelled(t) {
		got := observeText(row.message)
		if got.Class != row.class {
			t.Errorf("%q: got class %s by %s, want %s", row.message, got.Class, got.Rule, row.class)
		}
		if (got.Outcome == cascade.Failed) != (row.class == got.Category.String()) {
			t.Errorf("%q: got outcome %s and category %s for class %s", row.message, got.Outcome, got.Category, row.class)
		}
	}
}

func TestEveryTextRuleDecidesItsExample(t *testing.T) {
	for i := range textRules {
		r := &textRules[i]
		if r.example == "" {
			t.Errorf("%s (%s): no example", r.name, r.class)
			continue
		}
		if r.lit != strings.ToLower(r.lit) {
			t.Errorf("%s: the literal is not folded", r.name)
		}
		c, rule, ok := match(fold(r.example), nil)
		if !ok || c != r.class || rule != r.name {
			t.Errorf("%q: got %s by %s, want %s by %s", r.example, c, rule, r.class, r.name)
		}
	}
}
