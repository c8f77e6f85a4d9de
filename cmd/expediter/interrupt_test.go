package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What an interrupt does to a long command is what the end of its context does.
func TestLongCommandsAreInterrupted(t *testing.T) {
	recording := filepath.Join(t.TempDir(), "facts.jsonl")
	if err := os.WriteFile(recording, []byte(`{"f":"a","i":0,"tool":"Read","st":"ok"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args           []string
		printed, error string // printed is empty: nothing may be
	}{
		{[]string{"simulate"}, "", "interrupted; the simulation has no result"},
		{[]string{"analyze", recording}, "Reading ended early", "ended early; the figures are of what was read until then"},
	} {
		t.Run(tt.args[0], func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			root := rootCommand()
			root.SetArgs(tt.args)
			var out, said bytes.Buffer
			root.SetOut(&out)
			root.SetErr(&said)
			got := exitStatus(root.ExecuteContext(ctx), &said)
			if got != exitError || !strings.Contains(said.String(), tt.error) {
				t.Errorf("exit status %d, error %q, want %d and %q", got, said.String(), exitError, tt.error)
			}
			if !strings.Contains(out.String(), tt.printed) || (tt.printed == "" && out.Len() > 0) {
				t.Errorf("output %q, want %q", out.String(), tt.printed)
			}
		})
	}
}
