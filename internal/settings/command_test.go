package settings

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	tests := []struct {
		name, line string
		want       []string
	}{
		{"nothing", " \t\n", nil},
		{"words", "expediter hook  codex", []string{"expediter", "hook", "codex"}},
		{"quotes", `'/opt/my tools/expediter' "hook" co'de'x`, []string{"/opt/my tools/expediter", "hook", "codex"}},
		{"empty word", `a ''`, []string{"a", ""}},
		{"backslashes that mean themselves", `C:\tools\expediter.exe hook`, []string{`C:\tools\expediter.exe`, "hook"}},
		{"backslashes that do not", `my\ tools \'a\' "\"b\\"`, []string{"my tools", "'a'", `"b\`}},
		{"open quote", `a 'b c`, []string{"a", "b c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Words(tt.line)); diff != "" {
				t.Errorf("Words(%q) (-want +got):\n%s", tt.line, diff)
			}
		})
	}
}

func TestRunsHook(t *testing.T) {
	tests := []struct {
		name, line string
		want       bool
	}{
		{"its name", "expediter hook codex", true},
		{"a path", "/usr/local/bin/expediter hook codex --map m.yaml", true},
		{"a path of Windows", `C:\bin\Expediter.EXE hook codex`, true},
		{"guarded", "expediter hook codex || true", true},
		{"of PowerShell", "& 'C:\\b in\\expediter.exe' hook codex; exit 0", true},
		{"any agent", "expediter hook auto", true},
		{"through another program", "env A=1 expediter hook codex", true},
		{"the lean one", "expediter-hook hook codex", true},
		{"another agent", "expediter hook gemini", false},
		{"another command", "expediter status codex", false},
		{"another program", "expedite hook codex", false},
		{"a name that only begins so", "/bin/expediter.sh hook codex", false},
		{"the agent alone", "expediter codex hook", false},
		{"nothing", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := runsHook(Words(tt.line), "codex"); got != tt.want {
				t.Errorf("runsHook(%q) = %v, want %v", tt.line, got, tt.want)
			}
		})
	}
}

// What is written for a shell is read back as the same words.
func TestShellTextIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune(" ab'\"\\$&;|\n\t()é")), 0, 8, -1), 1, 4).Draw(t, "words")
		if diff := cmp.Diff(words, Words(shellText(words))); diff != "" {
			t.Errorf("read back from %q (-want +got):\n%s", shellText(words), diff)
		}
	})
}

func TestCommandLines(t *testing.T) {
	words := []string{`/opt/my tools/it's/expediter`, "hook", "copilot"}
	windows := []string{`C:\Program Files\expediter.exe`, "hook", "copilot"}
	tests := []struct{ name, got, want string }{
		{"sh", command{words: words}.sh(), `'/opt/my tools/it'\''s/expediter' hook copilot`},
		{"guarded", command{words: words}.guarded(), `'/opt/my tools/it'\''s/expediter' hook copilot || true`},
		{"PowerShell", powershellText(words), `& '/opt/my tools/it''s/expediter' hook copilot`},
		{"PowerShell, nothing to quote", powershellText([]string{"expediter", "hook"}), "expediter hook"},
		{"Windows", command{words: windows, windows: true}.guarded(), `"C:\Program Files\expediter.exe" hook copilot`},
		{"Windows, nothing to quote", command{words: []string{`C:\bin\expediter.exe`}, windows: true}.sh(), `C:\bin\expediter.exe`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %s, want %s", tt.got, tt.want)
			}
		})
	}
}
