package redisfleet_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

var schedules = flag.Uint64("schedules", 6, "random schedules of a fleet; the seed of each is its number")

// storm is a fleet to which everything happens at random.
type storm struct {
	t      *testing.T
	random *rand.Rand
	client *redis.Client
	agents []*agent
	trials []trialOf
}

// trialOf is a trial in flight.
type trialOf struct {
	agent *agent
	call  expediter.CallID
}

var stormTools = []string{"Grep", "Read", "Fetch"}

// act does one thing of one agent, or to Redis.
func (s *storm) act() {
	a := s.agents[s.random.IntN(len(s.agents))]
	tool := stormTools[s.random.IntN(len(stormTools))]
	now := time.Now()
	switch n := s.random.IntN(40); {
	case n < 24:
		s.call(a, tool)
	case n < 30 && len(s.trials) > 0:
		s.end(s.random.IntN(len(s.trials)))
	case n < 32:
		_ = a.ForceOpen(tool, "storm", expediter.NoStep, now)
	case n < 33:
		_ = a.Disable(tool, "storm", expediter.NoStep, now)
	case n < 36:
		_ = a.Reset(tool, "storm", expediter.NoStep, now)
	case n < 38:
		_, _ = a.ConfirmRecovery("storm", expediter.NoStep, now)
	case n < 39:
		s.client.ClientKillByFilter(s.t.Context(), "TYPE", "normal")
	default:
		s.client.FlushAll(s.t.Context())
	}
	if s.random.IntN(3) == 0 {
		<-time.After(time.Duration(s.random.IntN(5)) * time.Millisecond)
	}
}

// call makes a call that mostly fails; a trial stays in flight for a while.
func (s *storm) call(a *agent, tool string) {
	switch d := a.decide(tool); d.Verb {
	case expediter.Call:
		_, _ = a.Record(d.Call, s.outcome(), expediter.NoStep, time.Now())
	case expediter.Probe:
		s.trials = append(s.trials, trialOf{a, d.Call})
	}
}

func (s *storm) outcome() expediter.Outcome {
	if s.random.IntN(4) == 0 {
		return expediter.Success()
	}
	return expediter.Failure([]cascade.Category{cascade.Network, cascade.Upstream}[s.random.IntN(2)], "storm")
}

func (s *storm) end(i int) {
	t := s.trials[i]
	s.trials = append(s.trials[:i], s.trials[i+1:]...)
	_, _ = t.agent.Record(t.call, s.outcome(), expediter.NoStep, time.Now())
}

// settled waits until an engine has read all that there is and told all that it
// knows.
func (s *storm) settled(a *agent) bool {
	last := s.client.HGet(s.t.Context(), "expediter:{storm}:fleet", "last").Val()
	f := a.fleet.Status()
	return f.Connected && f.Buffered == 0 && f.Position == last
}

// states is how the tools stand, in words. HALF_OPEN is open: the trial is one
// engine's.
func states(a *agent) string {
	var all []string
	for _, tool := range stormTools {
		t, _ := a.Tool(tool)
		switch {
		case t.Forced:
			all = append(all, "forced")
		case t.Disabled:
			all = append(all, "disabled")
		case t.State == breaker.Closed:
			all = append(all, "closed")
		default:
			all = append(all, "open")
		}
	}
	return fmt.Sprint(strings.Join(all, " "), ", paused: ", a.Status().Paused == expediter.Systemic)
}

// seen is the same of what the fleet knows.
func (s *storm) seen() string {
	v, err := redisfleet.Look(s.t.Context(), s.client, redisfleet.Options{Scope: "storm"})
	if err != nil {
		return err.Error()
	}
	kinds := map[string]string{}
	for _, t := range v.Tools {
		kinds[t.Change.Tool] = map[expediter.ChangeKind]string{expediter.ChangeForcedOpen: "forced", expediter.ChangeDisabled: "disabled"}[t.Change.Kind]
		if kinds[t.Change.Tool] == "" {
			kinds[t.Change.Tool] = "open"
		}
	}
	var all []string
	for _, tool := range stormTools {
		if kinds[tool] == "" {
			kinds[tool] = "closed"
		}
		all = append(all, kinds[tool])
	}
	return fmt.Sprint(strings.Join(all, " "), ", paused: ", v.Active)
}

// TestConverges lets engines, operators and Redis do anything at any time, and then
// wants all engines and Redis to agree, and the fleet to recover as one.
func TestConverges(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for seed := range *schedules {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			client := server.Client()
			client.FlushAll(t.Context())
			s := &storm{t: t, client: client, random: rand.New(rand.NewPCG(seed, 7))}
			s.agents = joinAll(t, 3, client, hasty("storm"))
			for range 120 {
				s.act()
			}
			for len(s.trials) > 0 {
				s.end(0)
			}
			s.agree()
			s.recover()
		})
	}
}

func (s *storm) agree() {
	s.t.Helper()
	var got, want []string
	agree := func() bool {
		got, want = nil, nil
		for _, a := range s.agents {
			if !s.settled(a) {
				return false
			}
			got, want = append(got, states(a)), append(want, s.seen())
		}
		return cmp.Equal(got, want)
	}
	defer func() {
		if s.t.Failed() {
			for _, a := range s.agents {
				s.t.Logf("%+v", a.fleet.Status())
			}
			for _, e := range s.client.XRange(s.t.Context(), "expediter:{storm}:log", "-", "+").Val() {
				s.t.Logf("%s by %s: %s", e.ID, e.Values["m"], e.Values["c"])
			}
			s.t.Logf("engines and fleet (-fleet +engines):\n%s", cmp.Diff(want, got))
		}
	}()
	await(s.t, "engines and fleet agree", agree)
}

// recover resets what operators did and lets every trial succeed.
func (s *storm) recover() {
	s.t.Helper()
	for _, tool := range stormTools {
		if t, _ := s.agents[0].Tool(tool); t.Forced || t.Disabled {
			_ = s.agents[0].Reset(tool, "over", expediter.NoStep, time.Now())
		}
	}
	if s.agents[0].Status().Paused == expediter.Systemic {
		_, _ = s.agents[0].ConfirmRecovery("over", expediter.NoStep, time.Now())
	}
	await(s.t, "all tools work", func() bool {
		for _, a := range s.agents {
			for _, tool := range stormTools {
				if d := a.decide(tool); d.Call != 0 {
					a.record(d.Call, expediter.Success())
				}
			}
		}
		return states(s.agents[0]) == "closed closed closed, paused: false"
	})
	s.agree()
}
