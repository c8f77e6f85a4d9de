//go:build linux

package operator

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	// inert are layers that run nothing of what they hold.
	inert = []string{
		"printf '%%s\\n' %q", "echo %q > note.md", "grep -c %q /dev/null", "cat <<'E%n' > note.md\n%s\nE%n", ": %q", "true %q",
		"bash -c 'echo \"$1\"' _ %q", "f%n() {\n%s\n}", "x%n=%q", "printf '%%s\\n' %q | cat", "printf '%%s\\n' %q | sort | uniq -c",
		"printf '%%s\\n' %q | while IFS= read -r l; do echo \"$l\"; done", "cat <<'E%n' | grep -c x\n%s\nE%n", "echo %q | tee note.md",
		"[[ x == %q ]]", "case %q in x) ;; esac", "test -z %q", "for w in %q; do echo \"$w\"; done",
	}
	// ways are texts that run a command of expediter, %s.
	ways = []string{
		"expediter %s", "exp\"edit\"er %s", "\\expediter %s", "$'exped\\x69ter' %s", "expediter --store x %s", "expediter --store=x %s",
		"expediter %s --yes", "E=expediter; $E %s", "E=expediter\n\"$E\" %s", "E=exped; ${E}iter %s", "E=exped; E+=iter; $E %s",
		"$(echo expediter) %s", "expediter \"$(echo %s)\"", "expediter `printf %s`", "C=%s; expediter $C", "C=%s; expediter \"${C}\"",
		"env expediter %s", "timeout 9 expediter %s", "command expediter %s", "nohup expediter %s", "nice expediter %s",
		"exec expediter %s", "(exec -a cat expediter %s)", "echo %s | xargs expediter", "echo %s | xargs -I[] expediter []",
		"find . -maxdepth 0 -exec expediter %s \\;", "X='expediter %s'; $X", "A=(expediter %s); \"${A[@]}\"", "set -- expediter %s; \"$@\"",
		"f() { expediter \"$@\"; }; f %s", "f() { \"$1\" %s; }; f expediter", "./bin/exped*r %s", "{expediter,%s}", "ln -sf bin/expediter e; ./e %s",
		"${E:-expediter} %s", ": ${E:=expediter}; $E %s", "for c in status %s; do expediter $c; done", "printf -v E expediter; $E %s",
		"read -r E <<< expediter; $E %s", "E=expediter/; ${E%%/} %s", "declare E=expediter; $E %s", "F=E E=expediter; ${!F} %s",
		"which expediter > /dev/null; \"$(which expediter)\" %s", "expediter status; ! expediter %s", "cd bin; ./expediter %s; cd ..",
	}
)

// TestControlsAgainstBash compares what Controls says of a text with what bash
// does with it. The program that it runs is a stand-in which only notes the
// call.
func TestControlsAgainstBash(t *testing.T) {
	root := t.TempDir()
	log := filepath.Join(root, "log")
	write(t, filepath.Join(root, "stand-in"), "#!/bin/bash\nfor a; do case $a in confirm|reset|open) echo \"$a\" >> '"+log+"' ;; esac; done\n")
	rapid.Check(t, func(rt *rapid.T) {
		command := rapid.SampledFrom([]string{"confirm", "reset", "open", "status", "report"}).Draw(rt, "command")
		text := fmt.Sprintf(rapid.SampledFrom(ways).Draw(rt, "way"), command)
		names := 0
		for range rapid.IntRange(0, 3).Draw(rt, "layers") {
			layers := live
			if rapid.IntRange(0, 5).Draw(rt, "kind") == 0 {
				layers = inert
			}
			names++
			text = wrap(rapid.SampledFrom(layers).Draw(rt, "layer"), text, names)
		}
		ran, ok := underBash(rt, root, log, text)
		if found := Controls(text); ok && ran != (found != "") {
			rt.Errorf("bash ran a human's command: %v; Controls: %q\n%s", ran, found, text)
		}
	})
}

// underBash runs a text in a folder of its own, and reports whether it called
// the stand-in with one of the human's commands. It is not ok where bash does
// not take its own syntax: some releases misread time { and arrays in $( ).
func underBash(rt *rapid.T, root, log, text string) (ran, ok bool) {
	dir, err := os.MkdirTemp(root, "run")
	if err != nil {
		rt.Fatal(err)
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "bin")
	if err := errorsOf(os.Mkdir(bin, 0o700), os.Symlink(filepath.Join(root, "stand-in"), filepath.Join(bin, "expediter")), os.RemoveAll(log)); err != nil {
		rt.Fatal(err)
	}
	cmd := exec.Command("bash", "-c", text)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + dir}
	out, _ := cmd.CombinedOutput() // what the text exits with is its own affair
	_, err = os.Stat(log)
	return err == nil, !strings.Contains(string(out), "syntax error")
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}
