package runner_test

import (
	"strings"
	"testing"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/internal/runner"
)

// TestRulesOfAGoodMapCompile: what the check of a map lets through must not fail
// later, where no place in the file can be named.
func TestRulesOfAGoodMapCompile(t *testing.T) {
	code := func(n int) *int { return &n }
	tests := []struct {
		name string
		rule capability.ClassifyRule
		good bool
	}{
		{"pattern", capability.ClassifyRule{Match: "x"}, true},
		{"longest pattern", capability.ClassifyRule{Match: strings.Repeat("x", 1024)}, true},
		{"longer pattern", capability.ClassifyRule{Match: strings.Repeat("x", 1025)}, false},
		{"wrong pattern", capability.ClassifyRule{Match: "("}, false},
		{"exit code 0", capability.ClassifyRule{ExitCode: code(0)}, false},
		{"exit code 1", capability.ClassifyRule{ExitCode: code(1), Outcome: "success"}, true},
		{"exit code 255", capability.ClassifyRule{ExitCode: code(255), Outcome: "failure", Category: "network"}, true},
		{"both", capability.ClassifyRule{Match: "x", ExitCode: code(1)}, false},
		{"neither", capability.ClassifyRule{}, false},
		{"outcome", capability.ClassifyRule{Match: "x", Outcome: "fine"}, false},
		{"category", capability.ClassifyRule{Match: "x", Category: "weather"}, false},
		{"category of a success", capability.ClassifyRule{Match: "x", Outcome: "success", Category: "network"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := []capability.ClassifyRule{tt.rule}
			checked := capability.Map{{Tool: "T", NoSubstitute: true, Classify: rules}}.Validate()
			_, compiled := runner.CompileRules("T", rules)
			if (checked == nil) != tt.good || (compiled == nil) != tt.good {
				t.Errorf("want good: %v, but the map's check said %v and the compiler %v", tt.good, checked, compiled)
			}
		})
	}
}
