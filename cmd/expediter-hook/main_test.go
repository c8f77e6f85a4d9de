package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"expediter-hook": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}

// Every package that is linked begins with each tool call of an agent. These
// bring a resolver and the C library, a logger, a command line.
func TestLittleIsLinked(t *testing.T) {
	list, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(list))
	for _, heavy := range []string{"net", "net/http", "os/user", "runtime/cgo", "go.uber.org/zap", "github.com/spf13/pflag", "github.com/spf13/cobra"} {
		if slices.Contains(linked, heavy) {
			t.Errorf("%s is linked; go list -deps and go mod why tell by whom", heavy)
		}
	}
}
