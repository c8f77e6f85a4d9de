package hook

import (
	"testing"
	"time"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/session"
)

// fakeFleet counts the visits of hooks. It gives leases where it is there.
type fakeFleet struct {
	visits, left int
	memory       string // that the last visit was given
	away, busy   bool   // busy: another has every lease
}

func (f *fakeFleet) fleet(id string) Fleet {
	return Fleet{ID: id, Visit: func(engine *expediter.Engine, memory []byte, at time.Time) Visit {
		f.visits++
		f.memory = string(memory)
		var wants []string
		mode := expediter.FleetLeased
		if f.away {
			mode = expediter.FleetAlone
		}
		engine.Share(expediter.Fleet{Mode: mode, Wanted: func(w expediter.Want) { wants = append(wants, w.Tool) }}, expediter.NoStep, at)
		return Visit{Reached: !f.away, Settle: func() {
			for _, tool := range wants {
				if !f.busy {
					_ = engine.Lease(tool, at.Add(time.Minute), expediter.NoStep, at)
				}
			}
			wants = nil
		}, Leave: func() []byte { f.left++; return []byte(`"seen"`) }}
	}}
}

// visited tells what visits there were since it was last asked.
func (f *fakeFleet) visited(t *testing.T, want int, when string) {
	t.Helper()
	if f.visits != want || f.left != want {
		t.Errorf("%s: %d visits, %d of them ended, want %d", when, f.visits, f.left, want)
	}
	f.visits, f.left = 0, 0
}

const netDown = "getaddrinfo ENOTFOUND search.example.com"

func TestVisitsOfAFleet(t *testing.T) {
	a, f := newAgent(t, nil), &fakeFleet{}
	a.opts.Fleet, a.every = f.fleet("one"), 10*time.Millisecond
	search := func(failure string) (before, after string) {
		return a.call("WebSearch", map[string]any{"query": a.calls}, failure)
	}
	search("")
	f.visited(t, 1, "the first two events, within a second")
	if f.memory != "" {
		t.Errorf("the first visit remembers %q", f.memory)
	}
	search("")
	f.visited(t, 0, "the next two")
	a.at = a.at.Add(2 * time.Second)
	search(netDown)
	f.visited(t, 1, "after two seconds")
	if f.memory != `"seen"` {
		t.Errorf("got memory %q, want that of the visit before", f.memory)
	}
	search(netDown)
	f.visited(t, 0, "a failure that opens nothing")
	search(netDown)
	f.visited(t, 1, "an opening")
	a.call("Read", map[string]any{"file_path": "/w/a"}, "")
	f.visited(t, 0, "another tool")
	search("")
	f.visited(t, 1, "a request for the open tool")
}

func TestTrialNeedsALeaseOfTheFleet(t *testing.T) {
	a, f := newAgent(t, nil), &fakeFleet{busy: true}
	a.opts.Fleet, a.every = f.fleet("one"), 10*time.Millisecond
	a.fails(3, "WebSearch", netDown)
	a.at = a.at.Add(time.Hour)
	before, _ := a.call("WebSearch", map[string]any{"query": "q"}, "")
	a.wants(before, "expediter: SKIP. WebSearch is open")
	f.busy = false
	before, after := a.call("WebSearch", map[string]any{"query": "q"}, "")
	a.wants(before, "expediter: PROBE.")
	a.wants(after, "WebSearch works again")
}

func TestAwayFleetIsLeftAloneForAWhile(t *testing.T) {
	a, f := newAgent(t, nil), &fakeFleet{away: true}
	a.opts.Fleet, a.every = f.fleet("one"), 10*time.Millisecond
	a.fails(3, "WebSearch", netDown)
	f.visited(t, 1, "all of three failures")
	a.at = a.at.Add(29 * time.Second)
	a.call("Read", map[string]any{"file_path": "/w/a"}, "")
	f.visited(t, 0, "after 29 seconds")
	a.at = a.at.Add(2 * time.Second)
	a.call("Read", map[string]any{"file_path": "/w/a"}, "")
	f.visited(t, 1, "after 31 seconds")
	before, _ := a.call("WebSearch", map[string]any{"query": "q"}, "")
	a.wants(before, "expediter: PROBE.")
}

func TestLeavingAFleet(t *testing.T) {
	a, f := newAgent(t, nil), &fakeFleet{busy: true}
	a.opts.Fleet, a.every = f.fleet("one"), 10*time.Millisecond
	a.fails(3, "WebSearch", netDown)
	a.opts.Fleet = f.fleet("two")
	a.call("Read", map[string]any{"file_path": "/w/a"}, "")
	if f.memory != "" {
		t.Errorf("another fleet is told what was remembered of the first: %q", f.memory)
	}
	a.opts.Fleet = Fleet{}
	a.at = a.at.Add(time.Hour)
	before, _ := a.call("WebSearch", map[string]any{"query": "q"}, "")
	a.wants(before, "expediter: PROBE.")
	a.change(func(s *session.Session) error {
		if got := s.Status().Fleet; got != expediter.FleetNone || s.Fleet() != nil {
			t.Errorf("got mode %v and memory %q, want none", got, s.Fleet())
		}
		return nil
	})
}
