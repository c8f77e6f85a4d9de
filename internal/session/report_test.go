package session

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/store"
)

// A report leaves out the tools of which the map alone is known, and counts them.
func TestReportLeavesOutIdleTools(t *testing.T) {
	setup := Setup{Policy: expediter.Interactive(), Stamp: "x"}
	for _, name := range []string{"Read", "Grep", "Write", "WebFetch", "Agent"} {
		setup.Map = append(setup.Map, capability.Entry{Tool: name, Provides: "work", Fallback: "ask", KnownIssues: name + " is odd"})
	}
	call := func(id, tool string) Call {
		return Call{ID: id, Observation: classify.Observation{Protocol: classify.Agent, Agent: classify.ClaudeCode, Tool: tool, Input: []byte(`{"command":"ls"}`)}}
	}
	tests := []struct {
		name string
		do   func(*Session) error
		want []string
	}{
		{"nothing happened", func(*Session) error { return nil }, nil},
		{"a call that came back", func(s *Session) error { s.Before(call("1", "Read")); s.After(call("1", "Read")); return nil }, []string{"Read"}},
		{"a call under way", func(s *Session) error { s.Before(call("1", "Grep")); return nil }, []string{"Grep"}},
		{"a call that was given up", func(s *Session) error { s.Before(call("1", "Grep")); s.Stop(""); return nil }, nil},
		{"a tool that the map does not mention", func(s *Session) error { s.Before(call("1", "Bash")); s.Stop(""); return nil }, nil},
		{"opened by hand", func(s *Session) error { return s.Engine().ForceOpen("Write", "frozen", s.Step(), s.At()) }, []string{"Write"}},
		{"disabled", func(s *Session) error { return s.Engine().Disable("Agent", "", s.Step(), s.At()) }, []string{"Agent"}},
		{"not available", func(s *Session) error {
			s.Engine().SetAvailability("WebFetch", capability.Unavailable, s.Step(), s.At())
			return nil
		}, []string{"WebFetch"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			choose := func(Setup) (Setup, error) { return setup, nil }
			err := Update(t.Context(), store.Open(t.TempDir()), store.ID{Agent: "claude-code", Session: "s"}, time.UnixMilli(1_700_000_000_000), choose, func(s *Session) error {
				if err := tt.do(s); err != nil {
					return err
				}
				in := s.Report()
				var got []string
				for _, tool := range in.Status.Tools {
					got = append(got, tool.Tool)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
				if all := len(s.Status().Tools); in.Idle != all-len(got) {
					t.Errorf("%d are left out, and %d of %d are listed", in.Idle, len(got), all)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestReportAfterAnotherMap: the tools of the map that was in use before are no
// more than names.
func TestReportAfterAnotherMap(t *testing.T) {
	st, id, at := store.Open(t.TempDir()), store.ID{Agent: "claude-code", Session: "s"}, time.UnixMilli(1_700_000_000_000)
	for stamp, tool := range []string{"Read", "Grep"} {
		setup := Setup{Policy: expediter.Interactive(), Stamp: string(rune('a' + stamp)), Map: capability.Map{{Tool: tool, Fallback: "ask"}}}
		err := Update(t.Context(), st, id, at, func(Setup) (Setup, error) { return setup, nil }, func(s *Session) error {
			if in := s.Report(); len(in.Status.Tools) != 0 || in.Idle != stamp+1 {
				t.Errorf("with the map of %s: %d listed and %d left out, want 0 and %d", tool, len(in.Status.Tools), in.Idle, stamp+1)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
