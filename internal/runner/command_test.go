//go:build unix

package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func shell(t *testing.T, script string) command {
	t.Helper()
	return command{argv: []string{"sh", "-c", script}, dir: t.TempDir(), deadline: 20 * time.Second, limit: 1 << 10}
}

func TestCommandKeepsBothOutputsAndTheExitStatus(t *testing.T) {
	c := shell(t, `echo "$GREETING"; echo trouble >&2; exit 3`)
	c.env = []string{"GREETING=hello"}
	f := c.run(context.Background())
	if f.stdout != "hello\n" || f.stderr != "trouble\n" || f.exit != 3 || f.err != nil || f.timedOut {
		t.Errorf("got %+v, want hello, trouble, exit status 3", f)
	}
}

func TestCommandHasNoInput(t *testing.T) {
	if f := shell(t, `cat; echo end`).run(context.Background()); f.stdout != "end\n" {
		t.Errorf("got %+v, want an empty standard input", f)
	}
}

func TestCommandThatDoesNotExist(t *testing.T) {
	c := command{argv: []string{"no-such-program-here"}, deadline: time.Second, limit: 10}
	if f := c.run(context.Background()); f.err == nil || f.exit != -1 {
		t.Errorf("got %+v, want an error", f)
	}
}

func TestCommandOutputIsCapped(t *testing.T) {
	f := shell(t, `i=0; while [ $i -lt 2000 ]; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); done`).run(context.Background())
	if len(f.stdout) != 1<<10 || !strings.HasPrefix(f.stdout, "out 0\n") {
		t.Errorf("stdout: %d bytes from %.10q, want the first 1024", len(f.stdout), f.stdout)
	}
	if len(f.stderr) != 1<<10 || !strings.HasSuffix(f.stderr, "err 1999\n") {
		t.Errorf("stderr: %d bytes, want the last 1024", len(f.stderr))
	}
	const written = 2 * (10*6 + 90*7 + 900*8 + 1000*9)
	if want := int64(written - 2<<10); f.dropped != want {
		t.Errorf("dropped: got %d, want %d", f.dropped, want)
	}
}

// gone reports whether the process whose id stands in file has ended.
func gone(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if stopped(pid) {
			return true
		}
		<-time.After(10 * time.Millisecond)
	}
	return false
}

// stopped reports whether pid is no running process: gone, or a zombie that
// nobody has waited for.
func stopped(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}

func TestDeadlineEndsTheWholeGroup(t *testing.T) {
	c := shell(t, `sleep 60 & echo $! > child; wait`)
	c.deadline = 300 * time.Millisecond
	f := c.run(context.Background())
	if !f.timedOut || !errors.Is(f.err, context.DeadlineExceeded) || f.exit != -1 {
		t.Errorf("got %+v, want a timeout", f)
	}
	if !gone(t, filepath.Join(c.dir, "child")) {
		t.Error("the command's child outlived the deadline")
	}
}

func TestCommandThatIgnoresSIGTERMIsKilled(t *testing.T) {
	c := shell(t, `trap '' TERM; echo $$ > child; while :; do sleep 1; done`)
	c.deadline = 200 * time.Millisecond
	began := time.Now()
	f := c.run(context.Background())
	if took := time.Since(began); !f.timedOut || took > 3*grace {
		t.Errorf("got %+v after %s, want a timeout soon after the grace of %s", f, took, grace)
	}
	if !gone(t, filepath.Join(c.dir, "child")) {
		t.Error("the command still runs")
	}
}

func TestWhatACommandLeavesBehindIsKilled(t *testing.T) {
	c := shell(t, `sleep 60 >/dev/null 2>&1 & echo $! > child; echo done`)
	if f := c.run(context.Background()); f.stdout != "done\n" || f.exit != 0 {
		t.Errorf("got %+v, want done", f)
	}
	if !gone(t, filepath.Join(c.dir, "child")) {
		t.Error("the command's child outlived it")
	}
}

func TestInterruptIsNoTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	f := shell(t, `sleep 60`).run(ctx)
	if f.timedOut || !errors.Is(f.err, context.Canceled) {
		t.Errorf("got %+v, want context.Canceled and no timeout", f)
	}
}

func TestCommandInAFolderThatIsMissing(t *testing.T) {
	c := shell(t, "true")
	c.dir = filepath.Join(c.dir, "missing")
	f := c.run(context.Background())
	if !errors.Is(f.err, os.ErrNotExist) || !strings.Contains(f.err.Error(), "the tool's folder") {
		t.Errorf("got %v, want an error about the folder", f.err)
	}
}
