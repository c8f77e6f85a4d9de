package hookproc

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
)

// fatal is an input whose reader ends the process, as running out of memory does.
type fatal struct{}

func (fatal) Read([]byte) (int, error) {
	go panic("nobody recovers this")
	select {}
}

// What nothing can recover must not end with the status 2 that Go gives it: to
// agents that is a denial.
func TestFatalIsNoDenial(t *testing.T) {
	if os.Getenv("EXPEDITER_TEST_FATAL") != "" {
		os.Exit(Main([]string{"claude-code"}, fatal{}, io.Discard, io.Discard, nil))
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFatalIsNoDenial$")
	cmd.Env = append(os.Environ(), "EXPEDITER_TEST_FATAL=1", "EXPEDITER_STORE="+t.TempDir())
	cmd.Dir = t.TempDir() // of a core
	var exit *exec.ExitError
	if out, err := cmd.CombinedOutput(); !errors.As(err, &exit) || exit.ExitCode() == 2 {
		t.Errorf("%v\n%.500s", err, out)
	}
}
