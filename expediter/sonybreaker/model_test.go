package sonybreaker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/sonybreaker"
)

// model is SPEC section 2 with one trial at a time and a lease, in nanoseconds.
type model struct {
	m     breaker.Machine
	gen   int
	trial *modelCall
	lease int64
}

type modelCall struct {
	done  func(error) // the guard's
	gen   int
	since int64
	over  bool
}

// allow returns gobreaker's reason, or nil and the call.
func (m *model) allow(now int64) (*modelCall, error) {
	if m.trial != nil {
		if now-m.trial.since < m.lease {
			return nil, gobreaker.ErrTooManyRequests
		}
		m.trial.over = true
	}
	was := m.m.State()
	if !m.m.Admit(now) {
		return nil, gobreaker.ErrOpenState
	}
	m.moved(was)
	c := &modelCall{gen: m.gen, since: now}
	if m.m.State() == breaker.HalfOpen {
		m.trial = c
	}
	return c, nil
}

func (m *model) moved(was breaker.State) {
	if m.m.State() != was {
		m.gen++
		m.trial = nil
	}
}

func (m *model) done(c *modelCall, err error, now int64) {
	if c.over {
		return
	}
	c.over = true
	if c.gen != m.gen {
		return
	}
	if m.trial == c {
		m.trial = nil
	}
	was := m.m.State()
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil:
		m.m.Fail(now)
	default:
		m.m.Succeed()
	}
	m.moved(was)
}

// A guard of New is the model, whatever is done in whatever order, and the
// engine says of the tool what the model says.
func TestGuardIsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(rt *rapid.T) { checkModel(t, rt) })
	})
}

// noDeadline hides Deadline, which rapid would ask and a bubble forbids.
type noDeadline struct{ rapid.TB }

func checkModel(t *testing.T, rt *rapid.T) {
	p := sonybreaker.Policy{FailureThreshold: rapid.IntRange(1, 3).Draw(rt, "threshold"),
		HalfOpenSuccesses: rapid.IntRange(1, 3).Draw(rt, "successes"), Cooldown: time.Duration(rapid.Int64Range(2, 5).Draw(rt, "cooldown"))}
	machine, err := breaker.New(p.FailureThreshold, p.HalfOpenSuccesses, int64(p.Cooldown))
	if err != nil {
		rt.Fatal(err)
	}
	want := &model{m: machine, lease: rapid.Int64Range(1, 8).Draw(rt, "lease")}
	x := newEngine(t, expediter.Config{})
	g, err := sonybreaker.New(settings(t, p), sonybreaker.Config{Engine: x, Tool: "Search", Lease: time.Duration(want.lease)})
	if err != nil {
		rt.Fatal(err)
	}
	got := rig{g, x}
	began := time.Now()
	now := func() int64 { return int64(time.Since(began)) }
	var calls []*modelCall
	rt.Repeat(map[string]func(*rapid.T){
		"": func(rt *rapid.T) {
			if is, should := got.state(), want.m.State(); is != should {
				rt.Fatalf("the engine says %v, the model %v", is, should)
			}
		},
		"wait": func(rt *rapid.T) { time.Sleep(time.Duration(rapid.Int64Range(1, 6).Draw(rt, "ns"))) },
		"allow": func(rt *rapid.T) {
			c, reason := want.allow(now())
			done, err := g.Allow()
			if !errors.Is(err, reason) || (err == nil) != (reason == nil) {
				rt.Fatalf("got %v, want %v", err, reason)
			}
			if err == nil {
				c.done = done
				calls = append(calls, c)
			}
		},
		"done": func(rt *rapid.T) {
			if len(calls) == 0 {
				rt.Skip("no call was allowed yet")
			}
			c := rapid.SampledFrom(calls).Draw(rt, "call")
			result := rapid.SampledFrom([]error{nil, errDown, context.Canceled}).Draw(rt, "result")
			want.done(c, result, now())
			c.done(result)
		},
	})
}
