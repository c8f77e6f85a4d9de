package operator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shellQuoted is a text as one word.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// live are layers that run what they hold. A layer puts a text into another: %q
// is the text as one word, %s the text as it is, %n a new name.
var live = []string{
	"bash -c %q", "eval %q", "(\n%s\n)", "{\n%s\n}", "if true; then\n%s\nfi", "if ! {\n%s\n}; then :; fi",
	"for i in 1 2; do\n%s\ndone", "while :; do\n%s\nbreak\ndone", "case a in a)\n%s\n;; esac", "f%n() {\n%s\n}\nf%n",
	"echo \"$(\n%s\n)\"", "x=$(\n%s\n)", "cat <(\n%s\n)", "export x=\"$(\n%s\n)\"", "printf '%%s\\n' %q | bash", "bash <<< %q",
	"bash <<'E%n'\n%s\nE%n", "cat <<'E%n' | bash -s\n%s\nE%n", "cat <<'E%n' > f%n.sh\n%s\nE%n\nbash f%n.sh",
	"source <(printf '%%s\\n' %q)", "x%n=%q\neval \"$x%n\"", "x%n=%q; bash -c \"$x%n\"", "x%n=%q\nbash <<< \"$x%n\"",
	"printf '%%s\\n' %q > f%n.sh\n. ./f%n.sh", "printf '%%s\\n' %q | tee f%n.sh > /dev/null; chmod +x f%n.sh; ./f%n.sh",
	"env -u B A=1 bash -c %q", "timeout 9 bash -c %q", "nice -n 1 bash -c %q", "nohup bash -c %q", "setsid -w bash -c %q",
	"command eval %q", "builtin eval %q", "bash -c 'eval \"$1\"' _ %q", "echo x | xargs -I[] bash -c %q",
	"find . -maxdepth 0 -exec bash -c %q \\;", "true && {\n%s\n}", "false || {\n%s\n}", "{\n%s\n} &\nwait", "A=1 bash -c %q < /dev/null",
	"set -- %q\neval \"$1\"", "a%n=(x %q)\neval \"${a%n[1]}\"", "while read -r l; do\n%s\ndone <<< x", "time {\n%s\n}",
	"printf '%%s\\n' %q | while IFS= read -r l; do echo \"$l\"; done | bash",
}

func wrap(layer, text string, name int) string {
	return strings.NewReplacer("%q", shellQuoted(text), "%s", text, "%n", fmt.Sprint(name), "%%", "%").Replace(layer)
}

// What is found is found in every layer that would run it, two deep.
func TestControlsFindsItInLayers(t *testing.T) {
	var texts []string
	for what, found := range denied {
		if what != runsAny { // a shell of its own may know that there is none
			texts = append(texts, found...)
		}
	}
	texts = append(texts, longer...)
	slices.Sort(texts)
	quoted := slices.DeleteFunc(slices.Clone(live), func(layer string) bool { return !strings.Contains(layer, "%q") })
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(rt, "text")
		for i := range rapid.IntRange(1, 2).Draw(rt, "layers") {
			text = wrap(rapid.SampledFrom(quoted).Draw(rt, "layer"), text, i)
		}
		if Controls(text) == "" {
			rt.Errorf("not found: %s", text)
		}
	})
}

// What is allowed stays so in a shell of its own.
func TestControlsAllowsItInLayers(t *testing.T) {
	for _, text := range allowed {
		for _, layer := range []string{"bash -c %q", "eval %q", "sh <<< %q", "(\n%s\n)", "x=$(\n%s\n)", "if true; then\n%s\nfi"} {
			if strings.Contains(layer, "%s") && (strings.Count(text, "'")%2 == 1 || strings.Count(text, `"`)%2 == 1 || strings.Contains(text, "((")) {
				continue // an open quote or parenthesis takes in the layer
			}
			if got := Controls(wrap(layer, text, 0)); got != "" {
				t.Errorf("got %q, want nothing: %s", got, wrap(layer, text, 0))
			}
		}
	}
}
