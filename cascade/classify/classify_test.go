package classify

import (
	"bufio"
	"fmt"
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

// TestMoreMessages holds the wording of more tools: testdata/messages.tsv,
// class and message, written for this test.
func TestMoreMessages(t *testing.T) {
	data, err := os.ReadFile("testdata/messages.tsv")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(data), "\n")
	for line := range strings.Lines(rows) {
		class, message, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("messages.tsv: no tab in %q", line)
		}
		if got := observeText(message); got.Class != class {
			t.Errorf("%q: got %s by %s, want %s", message, got.Class, got.Rule, class)
		}
	}
}

func observeText(s string) Verdict { return Observe(Observation{Failed: true, Result: s}) }

// harmless are the classes of which none may count as a failure.
var harmless = map[string]bool{"invalid_input": true, "cancelled": true, "user_denied": true, "config": true, "none": true}

// TestRealMessages holds the accuracy on real messages. Every third row was
// held out while the rules were written.
func TestRealMessages(t *testing.T) {
	const want = 0.97
	var all, held score
	for i, row := range readLabelled(t) {
		got := observeText(row.message)
		right := got.Class == row.class
		all.add(right)
		if i%3 == 0 {
			held.add(right)
		} else if !right {
			t.Logf("%q: got class %s by %s, want %s", row.message, got.Class, got.Rule, row.class)
		}
		if harmless[row.class] && got.Outcome == cascade.Failed {
			t.Errorf("row %d: a harmless message (%s) counts as a failure by %s", i, row.class, got.Rule)
		}
		if (got.Outcome == cascade.Failed) != (got.Class == got.Category.String()) {
			t.Errorf("%q: got outcome %s and category %s for class %s", row.message, got.Outcome, got.Category, got.Class)
		}
	}
	t.Logf("right category: %s of all messages, %s of those held out", all, held)
	if all.rate() < want || held.rate() < want {
		t.Errorf("got %s of all and %s of those held out, want at least %.0f %%", all, held, 100*want)
	}
}

type score struct{ right, of int }

func (s *score) add(right bool) {
	s.of++
	if right {
		s.right++
	}
}

func (s score) rate() float64  { return float64(s.right) / float64(s.of) }
func (s score) String() string { return fmt.Sprintf("%.1f %% (%d of %d)", 100*s.rate(), s.right, s.of) }

func TestEveryTextRuleDecidesItsExample(t *testing.T) {
	for _, r := range textRules() {
		if r.example == "" {
			t.Errorf("%s (%s): no example", r.name(), r.class)
			continue
		}
		if r.lit != strings.ToLower(r.lit) {
			t.Errorf("%s: the literal is not folded", r.name())
		}
		c, rule, ok := match(fold(r.example), nil)
		if !ok || c != r.class || rule != r.name() {
			t.Errorf("%q: got %s by %s, want %s by %s", r.example, c, rule, r.class, r.name())
		}
	}
}
