package hook

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/expediter-go/expediter/internal/session"
)

// TestTrialOfAnEarlierProcess: a trial that was under way when the agent ended is
// not waited for once it is back.
func TestTrialOfAnEarlierProcess(t *testing.T) {
	a := newAgent(t, nil)
	a.fails(3, "WebSearch", refused)
	a.at = a.at.Add(time.Minute)
	trial := map[string]any{"tool_name": "WebSearch", "tool_use_id": "trial", "agent_id": "sub"}
	a.wants(a.tell("PreToolUse", trial), "PROBE")
	got, _ := a.call("WebSearch", nil, "")
	a.wants(got, "SKIP", "is on trial")
	a.tell("SessionEnd", nil)
	a.tell("SessionStart", map[string]any{"source": "resume"})
	got, _ = a.call("WebSearch", nil, "")
	a.wants(got, "PROBE")
	a.change(func(s *session.Session) error {
		if s.Ended {
			t.Error("the session is still ended")
		}
		return nil
	})
}

// TestOldSessionsGo: they go when another one begins, whether the agent tells of
// that or not.
func TestOldSessionsGo(t *testing.T) {
	for _, event := range []string{"SessionStart", "PreToolUse"} {
		t.Run(event, func(t *testing.T) {
			a := newAgent(t, nil)
			a.at = time.Now()
			a.call("Read", nil, "")
			files, err := filepath.Glob(a.path("store/sessions/*.session"))
			if err != nil || len(files) != 1 {
				t.Fatalf("sessions: %v, %v", files, err)
			}
			old := time.Now().Add(-40 * 24 * time.Hour)
			if err := os.Chtimes(files[0], old, old); err != nil {
				t.Fatal(err)
			}
			a.session = "s2"
			a.tell(event, map[string]any{"source": "startup", "tool_name": "Read", "tool_use_id": "1"})
			if list, err := a.st.Sessions(t.Context()); err != nil || len(list) != 1 || list[0].ID.Session != "s2" {
				t.Errorf("sessions: %+v, %v; want s2 alone", list, err)
			}
		})
	}
}
