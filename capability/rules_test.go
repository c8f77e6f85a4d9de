package capability_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
)

func TestReadRules(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"good", `[{match: x, outcome: success}, {exit_code: 3, category: network}]`, ""},
		{"none", `[]`, ""},
		{"no list", `{match: x}`, "f.yaml:1:1: want a list, found a mapping; write it as [ … ], or as lines that begin with a dash"},
		{"both", `[{match: x, exit_code: 3}]`, "f.yaml:1:2: the rule has both match and exit_code; make two rules of it"},
		{"no pattern", `[{match: x}, {match: "("}]`, "f.yaml:1:22: error parsing regexp: missing closing ): `(`; write an RE2 pattern"},
		{"a success", `[{exit_code: 0, outcome: failure}]`, "f.yaml:1:14: 0 is a success already; give 1 to 255"},
		{"a long pattern", "[{match: " + strings.Repeat("x", 1025) + "}]", "f.yaml:1:10: the pattern is longer than 1024 bytes; make several rules of it"},
		{"outcome", `[{match: x, outcome: bad}]`, `f.yaml:1:22: unknown outcome "bad"; use success, failure, ignored`},
		{"unknown key", `[{mach: x}]`, "f.yaml:1:2: the rule looks at nothing; give it match or exit_code\nf.yaml:1:3: unknown key \"mach\"; did you mean \"match\"?"},
		{"a rule that is a text", `[x]`, `f.yaml:1:2: want a mapping, found the text "x"; write its keys below it, indented`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, err := document.Parse("f.yaml", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			_, err = capability.ReadRules(root)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if rules, err := capability.ReadRules(nil); rules != nil || err != nil {
		t.Errorf("a nil node: got %v, %v", rules, err)
	}
}
