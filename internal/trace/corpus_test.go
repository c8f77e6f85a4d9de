package trace

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// corpus is where recordings lie that are not part of the repository.
const corpus = "../../../shared/data/traces"

// corpusFiles are the recordings of a folder of the corpus, by name.
func corpusFiles(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(corpus, folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skipf("no recordings in %s", filepath.Join(corpus, folder))
	}
	files := map[string][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = data
	}
	return files
}

// tallied is what a second way of counting finds.
type tallied struct{ calls, errors int }

// naive walks every value of every line and asks count of each object.
func naive(t *testing.T, data []byte, count func(object map[string]any)) {
	t.Helper()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			count(v)
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	for line := range bytes.Lines(data) {
		var v any
		if json.Unmarshal(line, &v) == nil {
			walk(v)
		}
	}
}

// callsAndErrors reads a recording and counts calls, and results that are errors.
func callsAndErrors(t *testing.T, data []byte) (got tallied, stats Stats) {
	t.Helper()
	stats, err := Read(t.Context(), "test", bytes.NewReader(data), Options{Judge: facts}, func(e *Event) error {
		switch {
		case e.Kind == Issue:
			got.calls++
		case e.Kind == Result && e.Verdict.Class != classOK:
			got.errors++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", stats)
	return got, stats
}

// imported is callsAndErrors for lines, of which those that are odd are known.
func imported(t *testing.T, data []byte, format string) tallied {
	t.Helper()
	got, stats := callsAndErrors(t, data)
	broken, foreign := odd(data)
	if stats.Format != format || stats.Torn || stats.Broken != broken || stats.Foreign != foreign || stats.Problem != "" {
		t.Errorf("not read well: %+v, want %d broken and %d foreign", stats, broken, foreign)
	}
	return got
}

// odd counts the lines that are no objects or whose message is none, and the
// objects without a type.
func odd(data []byte) (broken, foreign int) {
	for line := range bytes.Lines(data) {
		var o map[string]any
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case json.Unmarshal(line, &o) != nil:
			broken++
		case o["type"] == nil:
			foreign++
		case o["message"] != nil:
			if _, ok := o["message"].(map[string]any); !ok {
				broken++
			}
		}
	}
	return broken, foreign
}

// TestCorpusClaude counts the ids of all tool_use and tool_result blocks,
// wherever they are.
func TestCorpusClaude(t *testing.T) {
	for _, folder := range []string{"claude_code_log", "claude_code_viewer", "claude_entireio_cli"} {
		for name, data := range corpusFiles(t, folder) {
			t.Run(folder+"/"+name, func(t *testing.T) {
				uses, errors := map[any]bool{}, map[any]bool{}
				naive(t, data, func(o map[string]any) {
					switch o["type"] {
					case "tool_use":
						uses[o["id"]] = true
					case "tool_result":
						if o["is_error"] == true {
							errors[o["tool_use_id"]] = true
						}
					}
				})
				got := imported(t, data, "claude-code")
				if want := (tallied{len(uses), len(errors)}); got != want {
					t.Errorf("calls and errors: got %v, want %v", got, want)
				}
			})
		}
	}
}

func TestCorpusCodex(t *testing.T) {
	for name, data := range corpusFiles(t, "codex_jdx_mise") {
		t.Run(name, func(t *testing.T) {
			var want tallied
			naive(t, data, func(o map[string]any) {
				switch o["type"] {
				case "function_call", "custom_tool_call", "web_search_call":
					want.calls++
				}
				output, _ := o["output"].(string)
				for _, mark := range []string{"\nProcess exited with code ", "Exit code: "} {
					if _, rest, ok := bytes.Cut([]byte(output), []byte(mark)); ok && rest[0] != '0' && bytes.Index([]byte(output), []byte(mark)) < 100 {
						want.errors++
					}
				}
			})
			got := imported(t, data, "codex")
			if got != want {
				t.Errorf("calls and errors: got %v, want %v", got, want)
			}
		})
	}
}
