package precheck_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/precheck"
)

// model is a checker of one tool, said plainly: what the tool is like, what a
// check found, and when.
type model struct {
	real  capability.Score
	fails bool // the check
	found capability.Score
	at    time.Time
	holds bool // found has not been dropped
	runs  int
	tells capability.Score // what the engine has
	ttl   time.Duration
	now   time.Time
}

func (m *model) check(context.Context) (capability.Score, error) {
	m.runs++
	if m.fails {
		return capability.Unavailable, errors.New("the check broke")
	}
	return m.real, nil
}

// ask is what the checker must find now, and how often it has looked.
func (m *model) ask(runs int) (capability.Score, int) {
	if m.holds && m.now.Sub(m.at) < m.ttl {
		return m.found, runs
	}
	m.found, m.at, m.holds = m.real, m.now, true
	if m.fails {
		m.found = capability.Available
	}
	return m.found, runs + 1
}

func TestCheckerAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{ttl: time.Minute, now: start}
		c, err := precheck.New(precheck.Config{Checks: map[string]precheck.Check{"Grep": m.check}, TTL: m.ttl})
		if err != nil {
			t.Fatal(err)
		}
		x, err := expediter.New(expediter.Config{Events: c.Observe(expediter.Events{})})
		if err != nil {
			t.Fatal(err)
		}
		x.SetAvailability("Grep", capability.Available, 0, m.now)
		t.Repeat(map[string]func(*rapid.T){
			"real":  func(t *rapid.T) { m.real = capability.Score(rapid.IntRange(0, 2).Draw(t, "score")) },
			"fails": func(t *rapid.T) { m.fails = rapid.Bool().Draw(t, "fails") },
			"time": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "seconds")) * time.Second)
			},
			"forget": func(*rapid.T) { c.Forget("Grep"); m.holds = false },
			"open": func(t *rapid.T) {
				if err := x.ForceOpen("Grep", "test", 0, m.now); err != nil {
					t.Fatal(err)
				}
				m.holds = false
				if err := x.Reset("Grep", "test", 0, m.now); err != nil {
					t.Fatal(err)
				}
			},
			"incident": func(*rapid.T) {
				for _, tool := range []string{"a", "b"} {
					if err := x.Reset(tool, "test", 0, m.now); err != nil {
						t.Fatal(err)
					}
					for x.Status().Paused == expediter.NoReason {
						d := x.Decide(tool, 0, m.now)
						if !d.Verb.Go() {
							break
						}
						_, _ = x.Record(d.Call, expediter.Failure(cascade.Network, "no route to host"), 0, m.now)
					}
				}
				if x.Status().Paused == expediter.Systemic {
					m.holds, m.tells = false, capability.Available
					_, _ = x.ConfirmRecovery("test", 0, m.now)
				}
				x.BeginCycle(0, m.now)
			},
			"score": func(t *rapid.T) {
				want, runs := m.ask(m.runs)
				if got := c.Score(t.Context(), "Grep", m.now); got != want || m.runs != runs {
					t.Fatalf("Score: got %v after %d runs, want %v after %d", got, m.runs, want, runs)
				}
			},
			"apply": func(t *rapid.T) {
				want, runs := m.ask(m.runs)
				m.tells = want
				if got := c.Apply(t.Context(), x, 0, m.now); got[0].Score != want || m.runs != runs {
					t.Fatalf("Apply: got %v after %d runs, want %v after %d", got, m.runs, want, runs)
				}
			},
			"": func(t *rapid.T) {
				for _, r := range x.Status().Tools {
					if r.Tool == "Grep" && r.Score != m.tells {
						t.Fatalf("the engine has %v, want %v", r.Score, m.tells)
					}
				}
			},
		})
	})
}
