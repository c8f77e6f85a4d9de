package classify

import "testing"

func TestGivenClass(t *testing.T) {
	bash := func(class, sig string, argv ...string) Observation {
		return Observation{Tool: "Bash", Failed: true, Class: class, Result: sig, Argv: argv}
	}
	tests := []struct {
		name string
		o    Observation
		want string
	}{
		{"failing tests", bash("test_build", "--- fail: testx", "go", "test"), "invalid_input"},
		{"an answer whose signature looks like a failure", bash("no_file", "connection refused", "cat"), "invalid_input"},
		{"a refusal", bash("denied", "use the read tool to read file contents", "cat"), "user_denied"},
		{"a cancelled sibling", bash("cancelled", "sibling tool call errored", "cat"), "cancelled"},
		{"a missing program", bash("no_command", "command not found: rg", "rg"), "tool_missing"},
		{"a failure that the signature does not show", Observation{Tool: "fetch", Class: "network"}, "network"},
		{"a linter that is not installed", Observation{Tool: "Bash", Argv: []string{"golangci-lint", "run"}, Class: "no_command", Result: "(eval):#: command not found: golangci-lint"}, "tool_missing"},
		{"a linter that misses another", Observation{Tool: "Bash", Argv: []string{"golangci-lint", "run"}, Class: "no_command", Result: "sh: node: command not found"}, "invalid_input"},
		{"the signature knows better", Observation{Tool: "fetch", Class: "unknown", Result: "socket hang up"}, "network"},
		{"words that tests printed", bash("auth", "=== run testlogin", "go", "test"), "invalid_input"},
		{"a disk that is full under tests", bash("filesystem", "no space left on device", "go", "test"), "filesystem"},
		{"an unknown word", Observation{Tool: "fetch", Class: "weather", Result: "socket hang up"}, "network"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Observe(tt.o); got.Class != tt.want {
				t.Errorf("got %s by %s, want %s", got.Class, got.Rule, tt.want)
			}
		})
	}
}

func TestEveryClassOfAVerdictCanBeGiven(t *testing.T) {
	for _, c := range append([]class{worked, invalidInput, cancelled, userDenied, config, none}, network, timeout, rateLimit, auth, permission, filesystem, resource, upstream, toolMissing, unknown) {
		if got := Observe(Observation{Class: c.String()}); got.Class != c.String() {
			t.Errorf("%s: got %s by %s", c, got.Class, got.Rule)
		}
	}
}
