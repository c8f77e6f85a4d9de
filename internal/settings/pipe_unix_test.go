//go:build unix

package settings

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of settings is an error, and not waited for.
func TestSettingsThatAreAPipe(t *testing.T) {
	d := newDesk(t, "claude-code")
	if err := os.MkdirAll(filepath.Dir(d.file()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(d.file(), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := Install(d.Request)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "no ordinary file") {
			t.Errorf("error %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the pipe")
	}
}
