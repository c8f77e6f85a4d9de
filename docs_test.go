package policy

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/internal/trace"
)

// blocks returns the fenced blocks of one language in a Markdown file.
func blocks(t *testing.T, name, language string) []string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(read(t, name), -1) {
		found = append(found, m[1])
	}
	if len(found) == 0 {
		t.Errorf("%s has no block of %s; this test reads them", name, language)
	}
	return found
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Every Go block of the README stands, indented, in a file of an example, so
// that it compiles and its output is tested.
func TestReadmeGo(t *testing.T) {
	var sources strings.Builder
	for dir, files := range packages(t) {
		if !strings.HasPrefix(dir, "examples/") {
			continue
		}
		for _, f := range files {
			sources.WriteString(read(t, f.path))
		}
	}
	code := outdent(sources.String())
	for _, block := range blocks(t, "README.md", "go") {
		if !strings.Contains(code, outdent(block)) {
			t.Errorf("no example has this block of the README; change either:\n%s", block)
		}
	}
}

// outdent removes the tabs at the beginning of each line.
func outdent(code string) string {
	return regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(code, "")
}

func TestReadmeLoopHasTwentyLines(t *testing.T) {
	if got := strings.Count(blocks(t, "README.md", "go")[0], "\n"); got != 20 {
		t.Errorf("the loop has %d lines, and the README says 20", got)
	}
}

func TestReadmeMap(t *testing.T) {
	for _, block := range blocks(t, "README.md", "yaml") {
		f, err := capability.Read("README.md", []byte(block))
		if err != nil {
			t.Errorf("the map in the README: %v", err)
		}
		if len(f.Map) == 0 {
			t.Error("the map in the README has no entry")
		}
	}
}

// The recording made by hand is read, and judged as the page says.
func TestAnalyzeRecording(t *testing.T) {
	const said = "Of these 7 calls 4 are failures, 1 is answered and 1 ignored."
	if !strings.Contains(read(t, "docs/analyze.md"), said) {
		t.Errorf("docs/analyze.md does not say %q; correct it and this test together", said)
	}
	block := blocks(t, "docs/analyze.md", "jsonl")[0]
	got, err := trace.Read(t.Context(), "demo", strings.NewReader(block), trace.Options{}, func(*trace.Event) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	want := trace.Stats{File: "demo", Format: "facts", Bytes: int64(len(block)), Records: 7, Sessions: 1, Calls: 7, Failures: 4, Answered: 1, Ignored: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the recording in docs/analyze.md (-want +got):\n%s", diff)
	}
}

// What a newcomer types is what CI runs.
func TestReadmeCommands(t *testing.T) {
	setUp := "go run ./cmd/expediter run examples/audit/task.yaml\ngo test ./...\n"
	for _, name := range []string{"README.md", "CONTRIBUTING.md"} {
		if !strings.Contains(read(t, name), setUp) {
			t.Errorf("%s does not have the two commands\n%s", name, setUp)
		}
	}
	if !strings.Contains(read(t, ".ci/run"), "\ngo test ./...\n") {
		t.Error(".ci/run does not run the README's go test ./...")
	}
}

var fenced = regexp.MustCompile("(?ms)^```.*?^```$")

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestLinks(t *testing.T) {
	seen := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, page), ""), -1) {
				seen++
				if _, err := os.Stat(path.Join(path.Dir(filepath.ToSlash(page)), m[1])); err != nil {
					t.Errorf("%s links to %s: %v", page, m[1], err)
				}
			}
		}
	}
	if seen == 0 {
		t.Error("found no link at all")
	}
}

func TestArchitectureHasEveryRoom(t *testing.T) {
	page := read(t, "docs/architecture.md")
	for dir := range rooms {
		if !strings.Contains(page, dir) {
			t.Errorf("docs/architecture.md does not name the room %s; add it to the drawing and the table", dir)
		}
	}
}

func TestEveryDecisionIsListed(t *testing.T) {
	index := read(t, "docs/decisions/README.md")
	pages, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/decisions/README.md does not list %s", name)
		}
	}
}
