package redisfleet_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet"
)

// agent is one engine of a fleet.
type agent struct {
	*expediter.Engine
	t     testing.TB
	redis redis.UniversalClient
	fleet *redisfleet.Fleet
}

// quick is a policy with which a tool opens after two failures, and whose trials
// are due after 40 ms.
func quick() expediter.Policy {
	return expediter.Policy{Budget: budget.Unlimited, Policy: breaker.Policy{FailureThreshold: 2,
		Probe: breaker.Pacing{Unit: breaker.Time, Every: 40, Max: 40}}}
}

// hasty are options of a fleet that notices everything soon, but for a Redis that
// does not answer: a machine with much to do is not to look like one.
func hasty(scope string) redisfleet.Options {
	return redisfleet.Options{Scope: scope, BeatEvery: 100 * time.Millisecond, Timeout: 10 * time.Second,
		LeaseTTL: 2 * time.Second, LeaseHold: 200 * time.Millisecond}
}

func newAgent(t testing.TB, p expediter.Policy) *agent {
	t.Helper()
	x, err := expediter.New(expediter.Config{Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return &agent{Engine: x, t: t}
}

// join makes an engine of the quick policy one of the fleet's.
func join(t testing.TB, client redis.UniversalClient, o redisfleet.Options) *agent {
	t.Helper()
	a := newAgent(t, quick())
	a.join(client, o)
	return a
}

func (a *agent) join(client redis.UniversalClient, o redisfleet.Options) {
	a.t.Helper()
	var err error
	a.redis = client
	if a.fleet, err = redisfleet.Join(a.t.Context(), client, a.Engine, o); err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = a.fleet.Close() })
}

// joinAll is a fleet of n, all connected.
func joinAll(t testing.TB, n int, client redis.UniversalClient, o redisfleet.Options) []*agent {
	t.Helper()
	agents := make([]*agent, n)
	for i := range agents {
		agents[i] = join(t, client, o)
		agents[i].connected(true)
	}
	return agents
}

func (a *agent) decide(tool string) expediter.Decision {
	return a.Decide(tool, expediter.NoStep, time.Now())
}

func (a *agent) record(call expediter.CallID, o expediter.Outcome) expediter.Result {
	a.t.Helper()
	r, err := a.Record(call, o, expediter.NoStep, time.Now())
	if err != nil {
		a.t.Fatal(err)
	}
	return r
}

// fail makes calls of a tool that fail.
func (a *agent) fail(tool string, n int, category cascade.Category) {
	a.t.Helper()
	for range n {
		d := a.decide(tool)
		if d.Verb != expediter.Call {
			a.t.Fatalf("%s: got %v (%v), want CALL", tool, d.Verb, d.Reason)
		}
		a.record(d.Call, expediter.Failure(category, tool+" is down"))
	}
}

// trial asks until it is given the trial of a tool.
func (a *agent) trial(tool string) expediter.CallID {
	a.t.Helper()
	var d expediter.Decision
	await(a.t, "a trial of "+tool, func() bool {
		d = a.decide(tool)
		return d.Verb == expediter.Probe
	})
	return d.Call
}

func (a *agent) state(tool string) breaker.State {
	s, ok := a.Tool(tool)
	if !ok {
		return breaker.Closed
	}
	return s.State
}

func (a *agent) connected(want bool) {
	a.t.Helper()
	await(a.t, fmt.Sprintf("connected: %v", want), func() bool { return a.fleet.Status().Connected == want })
}

// allAre waits until a tool has one state in all engines.
func allAre(t testing.TB, agents []*agent, tool string, want breaker.State) {
	t.Helper()
	for i, a := range agents {
		await(t, fmt.Sprintf("%s %v in engine %d", tool, want, i), func() bool { return a.state(tool) == want })
	}
}

// await waits until something is so.
func await(t testing.TB, what string, so func() bool) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	end := time.After(10 * time.Second)
	for !so() {
		select {
		case <-look.C:
		case <-end:
			t.Fatalf("it never came to be: %s", what)
		}
	}
}
