package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(stateless{m}, map[string]func(){"expediter": main, "mcp-server": mcpServer, "mcp-client": mcpClient,
		"mcp-flaky": flakyServer, "mcp-faulty": faultyServer, "mcp-drive": proxyDriver, "mcp-bench": benchPeer})
}

// stateless runs tests with a store of their own: proxies keep their sessions where
// the user's are unless told otherwise.
type stateless struct{ *testing.M }

func (m stateless) Run() int {
	dir, err := os.MkdirTemp("", "expediter")
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return m.M.Run()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup:               setup,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"status": status, "transcript": transcript},
	})
}

// setup tells scripts where the repository is, and lets its tools find what a
// user's would.
func setup(env *testscript.Env) error {
	repo, err := filepath.Abs("../..")
	if err != nil {
		return err
	}
	env.Setenv("REPO", repo)
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
	for _, name := range []string{"HOME", "GOPATH", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOFLAGS"} {
		if value, ok := os.LookupEnv(name); ok {
			env.Setenv(name, value)
		}
	}
	// A program with the race detector waits a second before it ends, in case
	// another goroutine is about to report one.
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	return nil
}

// status runs a command and requires its exit status: status N cmd args...
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status of %q: got %d, want %d", args[1:], got, want)
	}
}
