package trace

import (
	"bytes"
	"regexp"
	"testing"
)

// TestCorpusHarnesses reads recordings of evaluation harnesses and counts them
// a second time on the raw bytes.
func TestCorpusHarnesses(t *testing.T) {
	tests := []struct {
		folder, format string
		calls          func([]byte) int
		errors         func([]byte) int // results that are errors, of whatever outcome
	}{
		{"sweagent_demos", "swe-agent", counting(`"observation": `), counting(`(?m)^      "observation": "Traceback `)},
		{"miniswe_tests", "mini-swe-agent", counting(`"role": "assistant"`), counting(`"content": "<returncode>[1-9]`)},
		{"taubench_agentrx", "tau-bench", counting(`"tool_call_id"`), counting(`"content": "Error: `)},
		{"taubench_apollo", "tau-bench", counting(`"tool_call_id"`), counting(`"content": "(Error: |\{\\"error\\")`)},
		{"inspect_ai", "inspect-ai", counting(`"role": "tool"`), counting(`"error": \{`)},
	}
	for _, tt := range tests {
		t.Run(tt.folder, func(t *testing.T) {
			for name, data := range corpusFiles(t, tt.folder) {
				stats, err := Read(t.Context(), name, bytes.NewReader(data), Options{}, func(*Event) error { return nil })
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%+v", stats)
				if stats.Calls != tt.calls(data) {
					t.Errorf("%s: %d calls, want %d", name, stats.Calls, tt.calls(data))
				}
				if got, want := stats.Failures+stats.Answered+stats.Ignored, tt.errors(data); got != want {
					t.Errorf("%s: %d results are errors, want %d", name, got, want)
				}
				if stats.Format != tt.format || stats.Sessions != 1 || stats.Open+stats.Orphans+stats.Foreign+stats.Broken+stats.Repeated > 0 || stats.Problem != "" {
					t.Errorf("%s: got %+v, want one session of %s and nothing odd", name, stats, tt.format)
				}
			}
		})
	}
}

// counting counts what matches a pattern in the bytes of a recording.
func counting(pattern string) func([]byte) int {
	p := regexp.MustCompile(pattern)
	return func(data []byte) int { return len(p.FindAll(data, -1)) }
}
