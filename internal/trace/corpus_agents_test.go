package trace

import (
	"bytes"
	"encoding/json"
	"testing"
)

// compacted is a document as one line, so that naive can walk it.
func compacted(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCorpusGemini(t *testing.T) {
	for name, data := range corpusFiles(t, "gemini_entireio_cli") {
		t.Run(name, func(t *testing.T) {
			var want tallied
			naive(t, compacted(t, data), func(o map[string]any) {
				if o["args"] != nil {
					want.calls++
				}
				if o["status"] == "error" || o["status"] == "cancelled" {
					want.errors++
				}
			})
			checkDocument(t, data, "gemini", want)
		})
	}
}

// TestCorpusOpenHands counts actions of the agent that call a tool, and
// observations of errors.
func TestCorpusOpenHands(t *testing.T) {
	for name, data := range corpusFiles(t, "openhands") {
		t.Run(name, func(t *testing.T) {
			var want tallied
			naive(t, compacted(t, data), func(o map[string]any) {
				if o["action"] != nil && o["tool_call_metadata"] != nil && o["action"] != "finish" {
					want.calls++
				}
				if o["observation"] == "error" {
					want.errors++
				}
			})
			checkDocument(t, data, "openhands", want)
		})
	}
}

// checkDocument reads a document and compares its calls and errors.
func checkDocument(t *testing.T, data []byte, format string, want tallied) {
	t.Helper()
	got, stats := callsAndErrors(t, data)
	if stats.Format != format || stats.Torn || stats.Broken+stats.Foreign+stats.Orphans+stats.Open > 0 || stats.Problem != "" {
		t.Errorf("not read well: %+v", stats)
	}
	if got != want || want.calls == 0 {
		t.Errorf("calls and errors: got %v, want %v", got, want)
	}
}
