package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// grace is how long a command may take to end after SIGTERM before its whole
// group is killed, and how long its output may stay open after it ended.
const grace = 2 * time.Second

// command is one call as a program.
type command struct {
	argv     []string
	dir      string
	env      []string // added to this process's environment
	deadline time.Duration
	limit    int                         // bytes kept of each of the two outputs
	running  *atomic.Pointer[os.Process] // set while it runs; nil: nobody asks
}

// finished is what came of a command.
type finished struct {
	stdout, stderr string // bounded
	dropped        int64  // bytes of both beyond the limit
	exit           int    // -1: ended by a signal, or never started
	err            error  // why it did not end by itself, or did not start
	timedOut       bool
	took           time.Duration
}

// run starts the command in a process group of its own, with no input, and
// waits for it. On the deadline and when ctx ends the whole group gets
// SIGTERM, and SIGKILL after the grace. What the command leaves running in its
// group is killed when it ends.
func (c command) run(ctx context.Context) finished {
	limited, cancel := context.WithTimeout(ctx, c.deadline)
	defer cancel()
	stdout, stderr := &head{limit: c.limit}, &tail{limit: c.limit}
	cmd := exec.CommandContext(limited, c.argv[0], c.argv[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = grace + grace/2
	ownGroup(cmd)
	var kill *time.Timer // set when the command is ended early, before Wait returns
	cmd.Cancel = func() error {
		kill = time.AfterFunc(grace, func() { killGroup(cmd.Process) })
		return endGroup(cmd.Process)
	}
	began := time.Now()
	err := c.start(cmd)
	if err == nil {
		c.publish(cmd.Process)
		err = cmd.Wait()
		c.publish(nil)
	}
	f := finished{took: time.Since(began), exit: -1, err: err}
	if cmd.Process != nil {
		killGroup(cmd.Process)
	}
	if kill != nil {
		kill.Stop()
		f.err = limited.Err()
		f.timedOut = errors.Is(f.err, context.DeadlineExceeded)
	} else if cmd.ProcessState != nil && cmd.ProcessState.Exited() {
		f.exit, f.err = cmd.ProcessState.ExitCode(), nil // an exit status is an answer, no error
	}
	f.stdout, f.stderr = stdout.String(), stderr.String()
	f.dropped = stdout.dropped + stderr.dropped
	return f
}

// start starts cmd. A folder that is missing is said to be missing: the system
// would say it of the program.
func (c command) start(cmd *exec.Cmd) error {
	err := cmd.Start()
	if err == nil || c.dir == "" {
		return err
	}
	if _, missing := os.Stat(c.dir); missing != nil {
		return fmt.Errorf("the tool's folder: %w", missing)
	}
	return err
}

func (c command) publish(p *os.Process) {
	if c.running != nil {
		c.running.Store(p)
	}
}

// head keeps the first limit bytes written to it and counts the rest.
type head struct {
	limit   int
	kept    []byte
	dropped int64
}

func (h *head) Write(p []byte) (int, error) {
	keep := min(len(p), h.limit-len(h.kept))
	h.kept = append(h.kept, p[:keep]...)
	h.dropped += int64(len(p) - keep)
	return len(p), nil
}

func (h *head) String() string { return string(h.kept) }

// tail keeps the last limit bytes written to it, where a program says why it
// failed, and counts the rest.
type tail struct {
	limit   int
	kept    []byte // at most twice the limit while writing
	dropped int64
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-t.limit):]...)
	t.dropped += int64(max(0, len(p)-t.limit))
	if len(t.kept) >= 2*t.limit {
		t.cut()
	}
	return len(p), nil
}

func (t *tail) cut() {
	if over := len(t.kept) - t.limit; over > 0 {
		t.dropped += int64(over)
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
}

func (t *tail) String() string {
	t.cut()
	return string(t.kept)
}

var (
	_ io.Writer = (*head)(nil)
	_ io.Writer = (*tail)(nil)
)
