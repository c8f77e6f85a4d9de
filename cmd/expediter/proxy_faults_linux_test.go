package main

import (
	"errors"
	"slices"
	"syscall"
	"testing"
)

// A server that takes no notice of the end of its input ends with a proxy that is
// killed outright.
func TestProxyKilledWithAStubbornServer(t *testing.T) {
	t.Parallel()
	f := besideFaulty(t, "{command: mcp-faulty, args: [stays]}", "")
	pid := f.serverPid()
	if err := f.proxy.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = f.session.Close()
	_ = f.proxy.Wait() // says that it was killed
	f.until(func() (string, bool) {
		return "the server is there", errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	})
	if got := recordsOf(t, f.journals, "bad/pid"); !slices.Equal(got, []string{"CALL", "success"}) {
		t.Errorf("recorded %v", got)
	}
}
