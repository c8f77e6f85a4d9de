//go:build unix

package hook

import (
	"syscall"
	"testing"
	"time"

	"github.com/expediter-go/expediter/internal/session"
)

// TestMapThatIsAPipe: nothing waits for whoever might write to it.
func TestMapThatIsAPipe(t *testing.T) {
	a := newAgent(t, nil)
	if err := syscall.Mkfifo(a.path("project/.expediter.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = a.serve("PreToolUse", map[string]any{"tool_name": "Read", "tool_use_id": "1"})
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the hook waits for a pipe")
	}
	a.change(func(s *session.Session) error {
		a.wants(s.Setup().Problem, ".expediter.yaml is no regular file")
		return nil
	})
}
