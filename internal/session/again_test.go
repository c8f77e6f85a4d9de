package session_test

import (
	"fmt"
	"testing"
	"time"

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
