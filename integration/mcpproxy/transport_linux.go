package mcpproxy

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// parentThread starts processes, on one thread that lasts as long as the proxy does:
// to Linux a process's parent is the thread that started it.
var parentThread = sync.OnceValue(func() chan<- func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for job := range jobs {
			job()
		}
	}()
	return jobs
})

// startChild starts the command so that it is asked to end when the proxy is
// killed: one that takes no notice of the end of its input would live on.
func startChild(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	started := make(chan error, 1)
	parentThread() <- func() { started <- cmd.Start() }
	return <-started
}
