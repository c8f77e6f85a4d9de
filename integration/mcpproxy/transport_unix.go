//go:build unix

package mcpproxy

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// ownGroup makes the command lead a process group of its own, so that the
// group can be ended as one and a terminal's Ctrl-C does not reach it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// endGroup asks the group to end.
func endGroup(p *os.Process) error { return signalGroup(p, syscall.SIGTERM) }

// killGroup ends what is left of the group.
func killGroup(p *os.Process) { _ = signalGroup(p, syscall.SIGKILL) }

func signalGroup(p *os.Process, sig syscall.Signal) error {
	err := syscall.Kill(-p.Pid, sig)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// wholePipeWrite is how many bytes are written to a pipe as a whole or not at all
// (PIPE_BUF).
var wholePipeWrite = map[bool]int{true: 4096, false: 512}[runtime.GOOS == "linux"]

// tryWrite writes to a pipe, if that is possible without waiting.
func tryWrite(w io.Writer, data []byte) bool {
	f, ok := w.(syscall.Conn)
	if !ok {
		return false
	}
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	n := 0
	err = c.Write(func(fd uintptr) bool {
		n, err = syscall.Write(int(fd), data)
		return true
	})
	return err == nil && n == len(data)
}
