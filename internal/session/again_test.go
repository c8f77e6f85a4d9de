package session_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/session"
)

// Some models count the ids of their calls from one in each turn.
func TestIDsThatComeAgain(t *testing.T) {
	const same = "call_0"
	turn := func(a *agent, tool string, end func(session.Call) session.Call) expediter.Verb {
		c := call(same, tool)
		r := a.before(c)
		if r.Verb == expediter.Call || r.Verb == expediter.Probe {
			a.after(end(c))
		}
		a.do(func(s *session.Session) { s.BatchEnd("", nil) })
		return r.Verb
	}
	t.Run("each failure counts", func(t *testing.T) {
		a := newAgent(t, t.TempDir())
		for range 3 {
			turn(a, "web", failed)
		}
		if got := a.state("web"); got != breaker.Open {
			t.Errorf("web is %v after three failures, want OPEN", got)
		}
		a.journal()
	})
	t.Run("another tool is not denied", func(t *testing.T) {
		a := newAgent(t, t.TempDir())
		a.breakTool("web")
		if got := turn(a, "web", failed); got != expediter.Skip {
			t.Fatalf("web: %v, want SKIP", got)
		}
		if got := turn(a, "grep", worked); got != expediter.Call {
			t.Errorf("grep: %v, want CALL", got)
		}
	})
	t.Run("a pause ends with it", func(t *testing.T) {
		a := newAgent(t, t.TempDir())
		a.setup.Policy.Budget = 1
		turn(a, "web", failed)
		if got := a.before(call(same, "grep")).Verb; got != expediter.Pause {
			t.Fatalf("grep: %v, want PAUSE", got)
		}
		a.do(func(s *session.Session) { s.Prompt() })
		if got := a.before(call(same, "grep")).Verb; got != expediter.Call {
			t.Errorf("grep after the prompt: %v, want CALL", got)
		}
	})
	t.Run("an agent that tells no ends of batches", func(t *testing.T) {
		a := newAgent(t, t.TempDir())
		a.breakTool("web")
		var got []expediter.Verb
		for range 2 {
			a.now = a.now.Add(20 * time.Second)
			got = append(got, a.before(call(same, "web")).Verb)
		}
		if want := "[SKIP PROBE]"; fmt.Sprint(got) != want {
			t.Errorf("web: %v, want %v", got, want)
		}
	})
}

// A call whose end nobody tells must not hand its outcome to another tool's.
func TestSameIDOtherTool(t *testing.T) {
	a := newAgent(t, t.TempDir())
	for range 3 {
		a.now = a.now.Add(time.Minute)
		a.before(call("1", "grep"))
		a.before(call("1", "web"))
		a.after(failed(call("1", "web")))
	}
	if grep, web := a.state("grep"), a.state("web"); grep != breaker.Closed || web != breaker.Open {
		t.Errorf("grep is %v, web %v; want CLOSED, OPEN", grep, web)
	}
	for _, row := range a.status().Tools {
		if row.Tool == "grep" && row.LastFailure != nil {
			t.Errorf("grep has the failure of another tool: %+v", row.LastFailure)
		}
	}
	a.journal()
}

// A call without an id whose end got lost does not take that of a later one:
// a trial would never come back.
func TestLostCallWithoutID(t *testing.T) {
	a := newAgent(t, t.TempDir())
	of := func(args string) session.Call {
		c := call("", "web")
		c.Observation.Input = []byte(args)
		return c
	}
	a.before(of(`{"lost":1}`))
	for range 3 {
		a.before(of(`{}`))
		a.after(failed(of(`{}`)))
	}
	a.now = a.now.Add(time.Minute)
	if got := a.before(of(`{"asked":1}`)).Verb; got != expediter.Probe {
		t.Fatalf("web: %v, want PROBE", got)
	}
	a.after(worked(of(`{"asked":1,"rewritten":true}`)))
	if got := a.state("web"); got != breaker.Closed {
		t.Errorf("web is %v after a trial that worked, want CLOSED", got)
	}
	a.journal()
}

// TestHealthyToolsAreNotDenied: of several tools one is broken. However calls get
// lost, are told twice, late, for another agent or under an id that was there
// before, its failures are its own.
func TestHealthyToolsAreNotDenied(t *testing.T) {
	const broken = "web"
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "store")
		if err != nil {
			rt.Fatal(err)
		}
		a := newAgent(rt, dir)
		var told []session.Call
		draw := func() session.Call {
			c := call(rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(rt, "id"), someTool.Draw(rt, "tool"))
			c.Subagent = someSub.Draw(rt, "agent")
			c.Observation.Input = []byte(rapid.SampledFrom([]string{`{}`, `{"a":1}`}).Draw(rt, "arguments"))
			return c
		}
		some := func(rt *rapid.T) session.Call {
			if len(told) == 0 {
				rt.Skip("nothing was told")
			}
			return told[rapid.IntRange(0, len(told)-1).Draw(rt, "which")]
		}
		end := func(c session.Call) session.Call {
			if c.Observation.Tool == broken {
				return failed(c)
			}
			return worked(c)
		}
		before := func(c session.Call) {
			if r := a.before(c); c.Observation.Tool != broken && r.Verb != expediter.Call {
				rt.Fatalf("%s %q: %v (%v), and it never failed", c.Observation.Tool, c.ID, r.Verb, r.Reason)
			}
		}
		sub := func() string { return someSub.Draw(rt, "agent") }
		rt.Repeat(map[string]func(*rapid.T){
			"before":       func(*rapid.T) { told = append(told, draw()); before(told[len(told)-1]) },
			"before again": func(rt *rapid.T) { before(some(rt)) },
			"after":        func(rt *rapid.T) { a.after(end(some(rt))) },
			"after alone":  func(*rapid.T) { a.after(end(draw())) },
			"batch end": func(rt *rapid.T) {
				list := []session.Call{end(some(rt)), end(some(rt))}
				a.do(func(s *session.Session) { s.BatchEnd(sub(), list) })
			},
			"prompt": func(*rapid.T) { a.do(func(s *session.Session) { s.Prompt() }) },
			"stop":   func(*rapid.T) { a.do(func(s *session.Session) { s.Stop(sub()) }) },
			"start":  func(*rapid.T) { a.do(func(s *session.Session) { s.Start() }) },
			"time": func(rt *rapid.T) {
				a.now = a.now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, 2 * time.Second, time.Minute, 72 * time.Hour, -time.Hour}).Draw(rt, "passes"))
			},
			"": func(rt *rapid.T) {
				if len(told) == 0 {
					return
				}
				for _, row := range a.status().Tools {
					if row.Tool != broken && (row.LastFailure != nil || row.State != breaker.Closed) {
						rt.Fatalf("%s has a failure, and is %v", row.Tool, row.State)
					}
				}
			},
		})
	})
}
