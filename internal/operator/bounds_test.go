package operator

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Texts that are made to be slow, deep or large. Each must end, and soon.
func TestControlsIsBounded(t *testing.T) {
	mib := func(piece string) string { return strings.Repeat(piece, 1<<20/len(piece)) }
	more := func(piece string) string { return strings.Repeat(piece, 1<<17/len(piece)) } // than what is parsed
	const some = 60 << 10                                                                // less than what is parsed
	kib := func(piece string) string { return strings.Repeat(piece, some/len(piece)) }
	tests := map[string]string{
		"no word":               mib("a"),
		"words":                 mib("expediter "),
		"halves":                more("expexpediteditediter"),
		"commands":              mib("expediter status;"),
		"parsed commands":       kib("expediter status;"),
		"quotes":                more(`'"expediter`),
		"parsed quotes":         kib(`'"expediter`),
		"parentheses":           more("(expediter "),
		"parsed parentheses":    kib("(expediter "),
		"substitutions":         more("$(ls expediter "),
		"closed substitutions":  strings.Repeat("$(", 300) + "expediter status" + strings.Repeat(")", 300),
		"quoted substitutions":  strings.Repeat(`"$(`, 190) + "expediter status" + strings.Repeat(`)"`, 190),
		"backquotes":            kib("`expediter "),
		"blocks":                kib("{ expediter;"),
		"ifs":                   kib("if expediter "),
		"closed ifs":            strings.Repeat("if ", 3000) + "expediter" + strings.Repeat("; then a; fi", 3000),
		"negations":             kib("! expediter "),
		"pipes":                 kib("expediter|"),
		"ands":                  kib("expediter&&"),
		"here-documents":        more("<<a expediter\n"),
		"parsed here-documents": kib("cat <<a expediter\nx\na\n"),
		"arithmetic":            "expediter; ((" + kib("1+") + "1))",
		"signs":                 "expediter; ((" + kib("!") + "1))",
		"tests":                 "expediter; [[ " + kib("! ") + "a ]]",
		"doubling":              "E=expediter; " + strings.Repeat("E=$E$E;", 200) + "$E status",
		"doubling output":       "f() { cat; cat; }; echo expediter" + strings.Repeat(" | { tee a; cat a; }", 100),
		"recursion":             "f() { expediter status; f; f; }; f",
		"aliases":               "alias a='b;b' b='a;a'; a; expediter status",
		"loops":                 strings.Repeat("for i in {1,2,3,4,5,6,7,8}; do ", 12) + "expediter status;" + strings.Repeat("done;", 12),
		"nested evals":          "E='expediter status'; " + kib(`eval "$E";`),
		"nested shells":         strings.Repeat("bash -c ", 3000) + "expediter",
		"wrappers":              kib("env ") + "expediter status",
		"xargs":                 "echo " + kib("x ") + "| xargs expediter run",
		"nested xargs":          "echo " + strings.Repeat("x ", 60) + "|" + strings.Repeat("xargs ", 60) + "expediter run",
		"braces":                kib("{expediter,a}"),
		"assignments":           kib("expediter=1 "),
		"no valid UTF-8":        more("expediter \xff\xc0"),
		"letters that change":   more("İexpediter "),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			if got := Controls(text); got != "" {
				t.Errorf("got %q, want nothing", got)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// What is over a bound is searched for the words.
func TestControlsOverTheBounds(t *testing.T) {
	filler := strings.Repeat("ls -la /tmp\n", 1<<13)
	deep := strings.Repeat("$(", 500) + "ls" + strings.Repeat(")", 500)
	tests := map[string]string{
		"a long text":                      filler + "expediter confirm\n" + filler,
		"a long text with a file":          "cat > x <<'X'\n" + filler + "X\nexpediter confirm",
		"a deep text":                      deep + "\nexpediter confirm",
		"a deep text before":               "expediter confirm\n" + deep,
		"many steps":                       strings.Repeat("for i in {1,2,3,4,5,6,7,8}; do ", 10) + "ls;" + strings.Repeat("done;", 10) + "expediter confirm",
		"shells in each other":             strings.Repeat("eval ", 40) + "expediter confirm",
		"a value that grows":               "E=x;" + strings.Repeat("E=$E$E;", 30) + "expediter confirm; echo $E",
		"a million bytes in one word":      "expediter confirm " + strings.Repeat("a", 1<<20),
		"a million bytes in a string":      "echo '" + strings.Repeat("a ", 1<<19) + "'; expediter confirm",
		"no valid UTF-8":                   "echo \xff; expediter confirm",
		"the bytes that stand for unknown": "echo \x1c\x1d\x1e; expediter confirm",
		"a NUL":                            "echo \x00; exped\x00iter confirm; expediter confirm",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Controls(text); got != runsConfirm {
				t.Errorf("got %q, want %q", got, runsConfirm)
			}
		})
	}
	t.Run("a long text that only writes", func(t *testing.T) {
		if got := Controls("cat > x <<'X'\n" + filler + "expediter confirm\nX\nls"); got != "" {
			t.Errorf("got %q, want nothing", got)
		}
	})
}

func TestSearch(t *testing.T) {
	tests := map[string]string{
		"expediter confirm": runsConfirm, `"expediter", "confirm"`: runsConfirm, "['Expediter','--store','x','confirm']": runsConfirm,
		"expediter.exe confirm": runsConfirm, "x/expediter confirm;": runsConfirm, "expediter\n\nconfirm": runsConfirm,
		"expediter status confirm": "", "expediterconfirm": "", "my-expediter confirm": "", "expediter/confirm": "", "expediter confirmed": "",
		"expediter": "", "": "", "confirm expediter": "",
		"EXPEDITER_OPERATOR=1": sets, "{'EXPEDITER_OPERATOR': '1'}": sets, `putenv("EXPEDITER_OPERATOR", "1")`: sets,
		"EXPEDITER_OPERATOR == 1": "", `get("EXPEDITER_OPERATOR", "")`: "", "EXPEDITER_OPERATOR": "", `getenv('EXPEDITER_OPERATOR', 0)`: "",
	}
	for text, want := range tests {
		if got := search(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, n := range []int{maxText - 20, maxText - 9, maxText - 8, maxText - 1, maxText, maxText + 1} {
		if got := search(strings.Repeat(" ", n) + "expediter confirm"); got != runsConfirm {
			t.Errorf("after %d blanks: got %q, want %q", n, got, runsConfirm)
		}
	}
}

func TestHides(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "expe": false, "exped": true, "EXPED": true, `e"x"p'e'd`: true, "exp\\\ned": true, "exp\ned": false, "expexped": true,
		"eexped": true, "exexpexped": true, "diter": true, "dditer": true, "editing": false, "diiter": false, "e x p e d": false, "exp`ed": true, "exp^ed": true,
	} {
		if got := hides(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestHumanCommandsIsACopy(t *testing.T) {
	HumanCommands()[0] = "status"
	if got := Controls("expediter confirm"); got != runsConfirm {
		t.Errorf("got %q, want %q", got, runsConfirm)
	}
}

func FuzzControls(f *testing.F) {
	for _, texts := range denied {
		for _, text := range texts {
			f.Add(text)
		}
	}
	for _, text := range slices.Concat(allowed, longer) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, shell := range []string{text, "expediter status; " + text, "bash -c 'expediter " + text + "'", "if ( expediter " + text} {
			got := Controls(shell)
			if got != "" && got != sets && !strings.HasPrefix(got, "it runs expediter ") {
				t.Errorf("%q: got %q", shell, got)
			}
			if got != "" && !hides(shell) {
				t.Errorf("%q: got %q of a text without the word", shell, got)
			}
			if again := Controls(shell); again != got {
				t.Errorf("%q: got %q, then %q", shell, got, again)
			}
		}
		if strings.IndexFunc(text, func(c rune) bool { return c < 'a' || c > 'z' }) < 0 {
			if got := Controls("bash -c '" + text + "; expediter confirm'"); got != runsConfirm {
				t.Errorf("after %q: got %q, want %q", text, got, runsConfirm)
			}
		}
		search(text)
	})
}

func BenchmarkControls(b *testing.B) {
	for name, text := range map[string]string{
		"ordinary":  "cd /repo && git status --short | head -20 && go test ./... 2>&1 | tail -40",
		"kilobyte":  strings.Repeat("cd /repo && git status --short | head -20\n", 25),
		"mentions":  `cd /repo && grep -rn "expediter confirm" docs | head -20 && go test ./cmd/expediter -run Confirm`,
		"a finding": `cd /repo && expediter --store /tmp/x confirm`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Controls(text)
			}
		})
	}
}
