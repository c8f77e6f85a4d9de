//go:build unix

package mcpproxy

import (
	"errors"
	"os"
	"os/exec"
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
