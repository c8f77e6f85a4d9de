package sonybreaker_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// found lists what the pattern's group matches, sorted.
func found(pattern, text string) []string {
	var names []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// The table of differences has one row for each test of them, and no other.
func TestEveryDifferenceIsShown(t *testing.T) {
	page := read(t, "../../docs/sonybreaker.md")
	rows := found("(?m)^\\|.*\\| `(Test\\w+)` \\|$", page)
	tests := found(`(?m)^func (TestPlain\w+)\(`, read(t, "plain_test.go"))
	if diff := cmp.Diff(tests, rows); diff != "" || len(rows) == 0 {
		t.Errorf("tests and rows (-tests +rows):\n%s", diff)
	}
}

// What the page shows in Go stands in an example, apart from its indentation.
func TestDocumentedGoIsAnExample(t *testing.T) {
	flat := func(s string) string { return regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(s, "") }
	blocks := found("(?ms)^```go\n(.*?)^```$", read(t, "../../docs/sonybreaker.md"))
	code := flat(read(t, "example_test.go"))
	for _, block := range blocks {
		if !strings.Contains(code, flat(block)) {
			t.Errorf("no example has this block; change either:\n%s", block)
		}
	}
	if len(blocks) == 0 {
		t.Error("no block of Go in the page")
	}
}
