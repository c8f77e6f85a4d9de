package main

import (
	"testing"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/runner"
)

func TestEveryReasonHasWords(t *testing.T) {
	for r := expediter.Systemic; r <= expediter.ForcedOpen; r++ {
		if refusals[r] == "" {
			t.Errorf("%s has no words", r)
		}
	}
}

func TestRefusal(t *testing.T) {
	tests := []struct {
		name string
		d    expediter.Decision
		want string
	}{
		{"alternative", expediter.Decision{Reason: expediter.OpenCircuit, Next: 2, Unit: breaker.Attempts,
			Route: &capability.Route{Kind: capability.UseAlternative, Label: capability.Partial, Tool: "Read\x1b[2J", Degradation: "guesses\nonly"}},
			"circuit OPEN; next probe in 2 attempts; PARTIAL: use Read, guesses only"},
		{"fallback", expediter.Decision{Reason: expediter.OpenCircuit, Next: 1, Unit: breaker.Steps,
			Route: &capability.Route{Kind: capability.UseFallback, Label: capability.Fallback, Ask: "ask the user"}},
			"circuit OPEN; next probe in 1 step; FALLBACK: ask the user"},
		{"nothing", expediter.Decision{Reason: expediter.OpenCircuit, Next: 900, Unit: breaker.Time, Route: capability.Reduced()},
			"circuit OPEN; next probe in 900 ms; SKIPPED: nothing stands in"},
		{"pause", expediter.Decision{Reason: expediter.Budget}, "failure budget exhausted"},
	}
	for _, tt := range tests {
		if got := refusal(tt.d); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestEnding(t *testing.T) {
	tests := []struct {
		p    runner.Progress
		want string
	}{
		{runner.Progress{Answered: true, Result: cascade.Succeeded}, "ok"},
		{runner.Progress{Result: cascade.Failed, Category: cascade.Network, Text: "refused\x07"}, "failed (network): refused"},
		{runner.Progress{Result: cascade.Succeeded, Text: "no such branch"}, "answered: no such branch"},
		{runner.Progress{Result: cascade.Ignored, Text: "signal: terminated"}, "no outcome: signal: terminated"},
	}
	for _, tt := range tests {
		if got := ending(tt.p); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	got := commandLine([]string{"grep", "-n", "a b", "", "$x", "\x1b[2Jred"})
	if want := `grep -n "a b" "" "$x" "red"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
