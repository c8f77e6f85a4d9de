package capability_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
)

func TestFromSkillNames(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"spaces", "---\nallowed-tools: Read Write Bash(git:*)\n---\ntext", []string{"Read", "Write", "Bash"}},
		{"commas", "---\r\nallowed-tools: Read, Write,Bash(git add:*, git commit:*), Bash(ls)\r\n---\r\n", []string{"Read", "Write", "Bash"}},
		{"a list", "---\nname: x\nallowed-tools:\n  - Read\n  - Bash(rm -rf:*)\n  - mcp__github__issues\n---", []string{"Read", "Bash", "mcp__github__issues"}},
		{"a flow list", "---\nallowed-tools: [Read, \"Grep\"]\n---", []string{"Read", "Grep"}},
		{"below metadata", "---\nmetadata:\n  allowed-tools: \"Read Grep\"\n---\n", []string{"Read", "Grep"}},
		{"byte order mark", "\ufeff---\nallowed-tools: Read\n---\n", []string{"Read"}},
		{"other keys", "---\nname: x\nlicense: MIT\nallowed-tools: Read\nunknown: [1]\n---\n# --- \n", []string{"Read"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := capability.FromSkill("SKILL.md", []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range m {
				got = append(got, e.Tool)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// The seed: start from allowed-tools, mark doubtful alternatives as unknown,
// and give every tool a fallback.
func TestFromSkillGuessesWithinTheList(t *testing.T) {
	m, err := capability.FromSkill("SKILL.md", []byte("---\nallowed-tools: Grep Read Write Deploy\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := capability.Map{
		{Tool: "Grep", Provides: "content search across files", Fallback: "ask the user which files to examine", Alternatives: []capability.Alternative{
			{Tool: "Read", Method: "read suspected files directly", Degradation: "unknown — test before relying on this route"}}},
		{Tool: "Read", Provides: "file content inspection", Fallback: "ask the user to paste file contents"},
		{Tool: "Write", Provides: "file creation", Fallback: "output file contents for the user to save manually"},
		{Tool: "Deploy", Provides: "to be described in one line", Fallback: "report what Deploy was needed for; ask the user to do it"},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := m[0].Alternatives[0].Effective(); got != capability.Unknown {
		t.Errorf("level: got %s, want unknown", got)
	}
}

func TestFromSkillErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"no front matter", "# Skill\n", "SKILL.md:1:1: the file has no front matter; begin it with a line ---"},
		{"empty", "", "SKILL.md:1:1: the file has no front matter"},
		{"no end", "---\nallowed-tools: Read\n", "SKILL.md:1:1: the front matter has no end; close it"},
		{"no tools", "---\nname: x\n---\n", "SKILL.md:2:1: the front matter has no allowed-tools; add them"},
		{"empty list", "---\nallowed-tools: []\n---\n", "SKILL.md:2:16: allowed-tools names no tool; add"},
		{"a mapping", "---\nallowed-tools: {a: b}\n---\n", "SKILL.md:2:16: allowed-tools is a mapping; write a list"},
		{"nested", "---\nallowed-tools:\n  - [a]\n---\n", "SKILL.md:3:5: an allowed tool is a list; write its name"},
		{"parentheses", "---\nallowed-tools: Bash(git\n---\n", `SKILL.md:2:16: unbalanced parentheses in "Bash(git"; close each`},
		{"twice", "---\nallowed-tools: Read\nallowed-tools: Bash\n---\n", `SKILL.md:3:1: repeated key "allowed-tools", already on line 2; keep one`},
		{"too many", "---\nallowed-tools: a" + strings.Repeat(" b", 3) + manyNames(10_000) + "\n---\n", "SKILL.md:2:16: allowed-tools names 10002 tools; keep at most 10000"},
		{"bad YAML", "---\nname: a: b\n---\n", "SKILL.md:2:1: no valid YAML"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := capability.FromSkill("SKILL.md", []byte(tt.in))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s…", err, tt.want)
			}
		})
	}
}

// manyNames is a list of n different names.
func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " T%d", i)
	}
	return b.String()
}

func FuzzFromSkill(f *testing.F) {
	for _, s := range []string{"---\nallowed-tools: Read Bash(git:*)\n---\n", "---\nallowed-tools: [a, b]\n---", "---\n---\n", "---\nallowed-tools: a)b((\n---\n", "---\nmetadata: {allowed-tools: x}\n---\n", "\ufeff---\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := capability.FromSkill("SKILL.md", data)
		if err != nil {
			return
		}
		var b strings.Builder
		if err := m.WriteYAML(&b); err != nil {
			t.Fatal(err)
		}
		back, err := capability.Read("map.yaml", []byte(b.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		if diff := cmp.Diff(m, back.Map); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
