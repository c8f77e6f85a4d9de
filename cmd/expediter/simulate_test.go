package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// What an interrupt does to the simulation is what the end of its context does.
func TestSimulateIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	root := rootCommand()
	root.SetArgs([]string{"simulate"})
	var out, said bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&said)
	got := exitStatus(root.ExecuteContext(ctx), &said)
	if got != exitError || out.Len() > 0 || !strings.Contains(said.String(), "interrupted; the simulation has no result") {
		t.Errorf("exit status %d, output %q, error %q", got, out.String(), said.String())
	}
}
