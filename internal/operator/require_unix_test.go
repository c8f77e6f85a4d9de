//go:build unix

package operator

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"require": require, "detached": detached})
}

// require is Require as a program.
func require() {
	if err := Require("confirm", os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("a human")
}

// detached is the same in a session of its own: it has no controlling terminal.
func detached() {
	if _, err := syscall.Setsid(); err != nil {
		fmt.Fprintln(os.Stderr, "setsid:", err)
		os.Exit(2)
	}
	require()
}

// The scripts run require at a real pseudo-terminal, and without one.
func TestRequireScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true})
}
