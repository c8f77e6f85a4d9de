package trace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVerdicts: what the importers find leads to the right verdicts, by class.
func TestVerdicts(t *testing.T) {
	tests := []struct {
		fixture string
		want    map[string]int
	}{
		{"gemini.json", map[string]int{"ok": 1, "network": 2, "invalid_input": 1, "cancelled": 1}},
		{"gemini-records.jsonl", map[string]int{"ok": 1, "network": 1}},
		{"gemini-stream.jsonl", map[string]int{"ok": 1, "filesystem": 1, "invalid_input": 1}},
		{"copilot.jsonl", map[string]int{"ok": 2, "network": 1, "tool_missing": 1, "invalid_input": 1, "user_denied": 1}},
		{"cline-markup.json", map[string]int{"ok": 1, "filesystem": 1, "invalid_input": 1, "user_denied": 1, "cancelled": 1}},
		{"cline-blocks.json", map[string]int{"ok": 1, "network": 1, "user_denied": 1, "cancelled": 1}},
		{"cline-session.json", map[string]int{"network": 1}},
		{"openhands-actions.json", map[string]int{"ok": 1, "network": 2, "rate_limit": 1, "invalid_input": 1, "user_denied": 1}},
		{"openhands-kinds.json", map[string]int{"ok": 2, "network": 2, "invalid_input": 2, "user_denied": 1}},
		{"openai-response.json", map[string]int{"ok": 1, "upstream": 1}},
		{"openai-items.jsonl", map[string]int{"ok": 2, "network": 1, "none": 1}},
	}
	for _, tt := range tests {
		t.Run(tt.fixture, func(t *testing.T) {
			f, err := os.Open(filepath.Join("testdata", tt.fixture))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got := map[string]int{}
			if _, err := Read(t.Context(), tt.fixture, f, Options{}, func(e *Event) error {
				if e.Kind == Result {
					got[e.Verdict.Class]++
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
