package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/internal/operator"
)

// The commands that a hook keeps agents from running refuse in an agent's shell,
// and say so in their help. There are no others of that kind.
func TestHumanCommands(t *testing.T) {
	t.Setenv("EXPEDITER_STORE", t.TempDir())
	t.Setenv("EXPEDITER_OPERATOR", "")
	t.Setenv("CLAUDECODE", "1")
	arguments := map[string][]string{"reset": {"Bash"}, "open": {"Bash", "--reason", "x"}, "install": {"codex"}, "uninstall": {"codex"}}
	var guarded []string
	for _, cmd := range rootCommand().Commands() {
		if cmd.GroupID != humanGroup {
			continue
		}
		guarded = append(guarded, cmd.Name())
		if !strings.Contains(cmd.Long, forHumans) {
			t.Errorf("%s: its help does not say whom it is for", cmd.Name())
		}
		var stderr strings.Builder
		status := execute(append([]string{cmd.Name()}, arguments[cmd.Name()]...), strings.NewReader(""), io.Discard, &stderr)
		if want := "expediter " + cmd.Name() + " is for a human"; status != exitError || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: status %d, %q, want a refusal", cmd.Name(), status, stderr.String())
		}
	}
	want := operator.HumanCommands()
	slices.Sort(want)
	slices.Sort(guarded)
	if diff := cmp.Diff(want, guarded); diff != "" {
		t.Errorf("the hook denies, the commands refuse: -want +got\n%s", diff)
	}
}
