package redisfleet_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var wholeModel = flag.Bool("model", false, "check the model of the protocol in its larger sizes too (some minutes, and 2.2 GB)")

// What the checker says of a violated property of docs/fleet.pml.
const (
	countedTwice = "s.counted"
	openedOnOld  = ".when>s.when"
	staysOpen    = "m[0].bound"
)

// TestModel checks docs/fleet.pml exhaustively, and that it finds the fault where a
// part of the protocol is left out.
func TestModel(t *testing.T) {
	for _, tool := range []string{"spin", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("no %s; install the packages spin and gcc", tool)
			}
			t.Skipf("no %s; install the packages spin and gcc to check docs/fleet.pml", tool)
		}
	}
	tests := []struct {
		name, defines, fault string
		large                bool
	}{
		{name: "as it is", defines: "-DFAILS=1 -DTROUBLES=1"},
		{name: "as it is, two failures", defines: "-DFAILS=2 -DTROUBLES=1", large: true},
		{name: "as it is, two troubles", defines: "-DFAILS=1 -DTROUBLES=2", large: true},
		{name: "without the token", defines: "-DFAILS=2 -DTROUBLES=1 -DNOTOKEN", fault: countedTwice, large: true},
		{name: "without the base", defines: "-DFAILS=1 -DTROUBLES=1 -DNOBASE", fault: openedOnOld},
		{name: "losses sought in the log alone", defines: "-DFAILS=1 -DTROUBLES=1 -DNOSEEN", fault: staysOpen, large: true},
		{name: "a lease for a trial under way", defines: "-DFAILS=2 -DTROUBLES=1 -DNOWISH", fault: countedTwice, large: true},
	}
	for _, tt := range tests {
		if tt.large && !*wholeModel {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			if !tt.large {
				t.Parallel()
			}
			out := checkModel(t, tt.defines)
			fault := regexp.MustCompile(`(?m)^pan:\d+: (.*)$`).FindString(out)
			if (tt.fault == "") != (fault == "") || !strings.Contains(fault, tt.fault) {
				t.Errorf("got the fault %q, want %q", fault, tt.fault)
			}
			if tt.fault == "" && (!strings.Contains(out, "errors: 0") || strings.Contains(out, "not completed") || strings.Contains(out, "max search depth too small")) {
				t.Errorf("the search did not go through:\n%s", out)
			}
			for _, line := range regexp.MustCompile(`(?m)^.*(states, stored|total actual memory|elapsed time).*$`).FindAllString(out, -1) {
				t.Log(strings.TrimSpace(line))
			}
		})
	}
}

// checkModel makes the checker and runs it.
func checkModel(t *testing.T, defines string) string {
	t.Helper()
	dir := t.TempDir()
	source, err := filepath.Abs("../../docs/fleet.pml")
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	run("spin", append(strings.Fields(defines), "-a", source)...)
	run("cc", "-DNP", "-DNOFAIR", "-O1", "-DCOLLAPSE", "-DMEMLIM=6000", "-w", "-o", "pan", "pan.c")
	return run(filepath.Join(dir, "pan"), "-l", "-m400000")
}
