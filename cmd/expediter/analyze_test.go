package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/internal/trace"
)

func TestRecognised(t *testing.T) {
	unknown := trace.Stats{File: "notes.txt", Problem: trace.NotRecognised}
	closed := trace.Stats{File: "a\x1b[31mb", Problem: "permission denied"}
	const none = "no recording of a known format in "
	tests := []struct {
		name  string
		files []trace.Stats
		want  string
	}{
		{"one of several", []trace.Stats{unknown, {File: "a", Format: "codex"}}, ""},
		{"nothing there", nil, none + "0 files; docs/analyze.md lists the formats"},
		{"unknown", []trace.Stats{unknown}, none + "1 file; docs/analyze.md lists the formats"},
		{"closed", []trace.Stats{unknown, closed}, none + "2 files; docs/analyze.md lists the formats\nab was not read: permission denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := recognised(tt.files); err != nil {
				got = err.Error()
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
