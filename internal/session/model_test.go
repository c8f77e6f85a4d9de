package session_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/session"
)

// Each event of a session is a transaction that reaches the disk, so the default
// of -rapid.checks is less here.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "40"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// told is what the model remembers of one call. Nothing is ever forgotten.
type told struct {
	id, sub, tool string
	decided, ends int            // events that the journal must have
	flying        bool           // allowed, and not back
	loose         bool           // given up, or not told before: its end counts as a call of its own
	past          bool           // its batch is through: told once more it is another call
	verb          expediter.Verb // as answered; zero: nobody asked
	at            time.Time
}

// turn is the model's view of the present turn of one agent.
type turn struct {
	step  int64
	over  bool
	ended time.Time // zero: nothing has come back
}

// model is a naive session beside the real one: every call that was ever told,
// and the turns. It knows nothing of breakers: whether a call was allowed it
// takes from the answer.
type model struct {
	*agent
	calls []*told
	turns map[string]*turn
	step  int64
	ends  bool // the agent tells the ends of its batches
	n     int
}

func (m *model) flying(which func(*told) bool) (list []*told) {
	for _, c := range m.calls {
		if c.flying && which(c) {
			list = append(list, c)
		}
	}
	return list
}

func of(sub string) func(*told) bool { return func(c *told) bool { return c.sub == sub } }

// giveUp is what a call becomes whose end nobody told in time.
func giveUp(calls []*told) {
	for _, c := range calls {
		c.flying, c.loose = false, true
		c.ends++
	}
}

// begin is the turn that a call belongs to which is told now.
func (m *model) begin(sub string) {
	tn := m.turns[sub]
	if tn != nil && !tn.over && (m.ends || tn.ended.IsZero() || m.now.Sub(tn.ended) < time.Second) {
		return
	}
	giveUp(m.flying(func(c *told) bool { return m.now.Sub(c.at) >= time.Hour }))
	m.step++
	m.turns[sub] = &turn{step: m.step}
}

// came says that a call of sub was recorded as come back.
func (m *model) came(sub string) {
	if tn := m.turns[sub]; tn != nil {
		tn.ended = m.now
		tn.over = tn.over || !m.ends && len(m.flying(of(sub))) == 0
	}
}

func (m *model) over(sub string) {
	for _, c := range m.calls {
		c.past = c.past || c.sub == sub
	}
	if tn := m.turns[sub]; tn != nil {
		tn.over = true
	}
}

// asked notes a decision about a call.
func (m *model) asked(c *told, v expediter.Verb) {
	c.decided++
	c.verb, c.loose, c.past, c.at = v, false, false, m.now
	c.flying = v == expediter.Call || v == expediter.Probe
}

var (
	someSub  = rapid.SampledFrom([]string{"", "", "", "sub1", "sub2"})
	someTool = rapid.SampledFrom([]string{"web", "grep", "db/query", "db/list"})
)

func (c *told) call() session.Call {
	told := call(c.id, c.tool)
	told.Subagent = c.sub
	return told
}

func (m *model) fresh(t *rapid.T) *told {
	c := &told{id: fmt.Sprint("c", m.n), sub: someSub.Draw(t, "agent"), tool: someTool.Draw(t, "tool")}
	m.n++
	m.calls = append(m.calls, c)
	return c
}

// known is any call that was told before.
func (m *model) known(t *rapid.T) *told {
	if len(m.calls) == 0 {
		t.Skip("no calls yet")
	}
	return m.calls[rapid.IntRange(0, len(m.calls)-1).Draw(t, "which")]
}

// before tells a call before it is made, perhaps not for the first time.
func (m *model) tellBefore(t *rapid.T, c *told) {
	r := m.before(c.call())
	again := c.decided > 0 && !c.loose && !c.past && m.now.Sub(c.at) < 10*time.Second
	if r.Again != again {
		t.Fatalf("before %s: again is %v, want %v", c.id, r.Again, again)
	}
	if again {
		if c.verb != 0 && r.Verb != c.verb {
			t.Fatalf("before %s once more: %v, want %v as before", c.id, r.Verb, c.verb)
		}
		return
	}
	if m.begin(c.sub); c.flying { // its id is another call's now
		giveUp([]*told{c})
	}
	m.asked(c, r.Verb)
}

// after tells a call that is over, perhaps not for the first time, or never
// told before.
func (m *model) tellAfter(t *rapid.T, c *told) {
	over := worked(c.call())
	if rapid.Bool().Draw(t, "failed") {
		over = failed(over)
	}
	l := m.after(over)
	switch {
	case c.flying:
		if !l.Counted {
			t.Fatalf("after %s: it does not count", c.id)
		}
		c.flying = false
	case c.decided > 0 && !c.loose:
		if l.Counted {
			t.Fatalf("after %s: it counts, and it is over or was denied", c.id)
		}
		return
	default:
		m.begin(c.sub)
		m.asked(c, 0)
		if !l.Counted {
			return // its tool is open
		}
	}
	c.ends++
	m.came(c.sub)
}

func (m *model) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"before":       func(t *rapid.T) { m.tellBefore(t, m.fresh(t)) },
		"before again": func(t *rapid.T) { m.tellBefore(t, m.known(t)) },
		"after": func(t *rapid.T) {
			flying := m.flying(func(*told) bool { return true })
			if len(flying) == 0 {
				t.Skip("nothing flies")
			}
			m.tellAfter(t, flying[rapid.IntRange(0, len(flying)-1).Draw(t, "which")])
		},
		"after again": func(t *rapid.T) { m.tellAfter(t, m.known(t)) },
		"after alone": func(t *rapid.T) { m.tellAfter(t, m.fresh(t)) },
		"batch end":   m.batchEnd,
		"prompt": func(t *rapid.T) {
			m.do(func(s *session.Session) { s.Prompt() })
			giveUp(m.flying(of("")))
			m.over("")
		},
		"stop": func(t *rapid.T) {
			sub := someSub.Draw(t, "agent")
			m.do(func(s *session.Session) { s.Stop(sub) })
			giveUp(m.flying(of(sub)))
			if m.over(sub); sub != "" {
				delete(m.turns, sub)
			}
		},
		"end": func(t *rapid.T) {
			m.do(func(s *session.Session) { s.End() })
			giveUp(m.flying(func(*told) bool { return true }))
		},
		"start": func(t *rapid.T) {
			m.do(func(s *session.Session) { s.Start() })
			giveUp(m.flying(func(*told) bool { return true }))
		},
		"confirm": func(t *rapid.T) {
			m.do(func(s *session.Session) { _, _ = s.Engine().ConfirmRecovery("", s.Step(), s.At()) })
		},
		"time": func(t *rapid.T) {
			m.now = m.now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, 400 * time.Millisecond, 3 * time.Second,
				time.Minute, 2 * time.Hour, 25 * time.Hour, -5 * time.Second}).Draw(t, "passes"))
			if late := m.last.Add(-30 * time.Second); m.now.Before(late) {
				m.now = late // further back would be a clock that was put back
			}
		},
		"clock goes back": func(t *rapid.T) {
			if m.last.IsZero() {
				t.Skip("nothing has happened yet")
			}
			m.ahead += rapid.SampledFrom([]time.Duration{2 * time.Minute, 24 * time.Hour}).Draw(t, "by")
			m.now = m.last // time goes on from there, once an event has shown it
			m.tellBefore(t, m.fresh(t))
		},
		"map":     m.changeMap,
		"journal": func(t *rapid.T) { m.verify(t) },
	}
}

// batchEnd tells the end of a turn, with some of its calls.
func (m *model) batchEnd(t *rapid.T) {
	sub := someSub.Draw(t, "agent")
	var list []session.Call
	flying := m.flying(of(sub))
	for _, c := range flying {
		if rapid.Bool().Draw(t, "listed") {
			list = append(list, worked(c.call()))
		}
	}
	m.do(func(s *session.Session) { s.BatchEnd(sub, list) })
	m.ends = true
	for _, c := range flying {
		c.flying = false
		c.ends++
		c.loose = !slices.ContainsFunc(list, func(l session.Call) bool { return l.ID == c.id })
		if !c.loose {
			m.came(sub)
		}
	}
	m.over(sub)
}

func (m *model) changeMap(t *rapid.T) {
	m.setup.Stamp += "'"
	m.setup.Policy = expediter.Interactive()
	m.setup.Policy.Budget = rapid.SampledFrom([]int{1, 5, -1}).Draw(t, "budget")
	m.setup.Map = rapid.SampledFrom([]capability.Map{nil, {
		{Tool: "web", Provides: "pages", Fallback: "ask", Policy: breaker.Policy{FailureThreshold: 1}},
		{Tool: "db", Provides: "rows", NoSubstitute: true, Shares: []string{"host"}},
		{Tool: "grep", Provides: "text", Fallback: "ask", Alternatives: []capability.Alternative{{Tool: "web"}}, Shares: []string{"host"}},
	}}).Draw(t, "map")
}

// verify compares everything: the journal folds to the engine, it tells of each
// call as often as it should, and as many calls are in flight.
func (m *model) verify(t *rapid.T) {
	if len(m.calls) == 0 {
		return
	}
	var steps, flying int64
	m.do(func(s *session.Session) {
		steps, flying = s.Step(), int64(len(s.Engine().Snapshot().Pending))
	})
	if want := int64(len(m.flying(func(*told) bool { return true }))); flying != want {
		t.Fatalf("%d calls in flight, want %d", flying, want)
	}
	if steps != m.step {
		t.Fatalf("step %d, want %d", steps, m.step)
	}
	want := map[string][2]int{}
	for _, c := range m.calls {
		want[c.id] = [2]int{c.decided, c.ends}
	}
	if diff := cmp.Diff(want, tally(m.journal())); diff != "" {
		t.Fatalf("decisions and ends of each call (-want +got):\n%s", diff)
	}
}

// TestSessionAgainstAModel: whatever is told in whatever order, each call counts
// once, steps are turns, and the journal folds to the session.
func TestSessionAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "store")
		if err != nil {
			rt.Fatal(err)
		}
		m := &model{agent: newAgent(rt, dir), turns: map[string]*turn{}}
		rt.Repeat(m.actions())
		m.verify(rt)
	})
}
