package redisfleet_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

func TestOpeningIsKnownToAll(t *testing.T) {
	t.Parallel()
	agents := joinAll(t, 3, redistest.Start(t).Client(), hasty("opening"))
	agents[0].fail("Grep", 2, cascade.Upstream)
	allAre(t, agents, "Grep", breaker.Open)
	for i, a := range agents {
		s, _ := a.Tool("Grep")
		if s.Run != 2 || s.Trip.Category != cascade.Upstream || s.LastFailure.Text != "Grep is down" {
			t.Errorf("engine %d: run %d, trip %+v, last failure %+v; want those of the engine that opened it", i, s.Run, s.Trip, s.LastFailure)
		}
		if got := a.Status().Consumed; (got > 0) != (i == 0) {
			t.Errorf("engine %d: consumed %d; only who made the calls is charged", i, got)
		}
	}
}

func TestFailuresAreCountedByEachEngine(t *testing.T) {
	t.Parallel()
	agents := joinAll(t, 2, redistest.Start(t).Client(), hasty("runs"))
	agents[0].fail("Grep", 1, cascade.Upstream)
	agents[1].fail("Grep", 1, cascade.Upstream)
	agents[0].ForceOpen("Marker", "", expediter.NoStep, time.Now())
	allAre(t, agents, "Marker", breaker.Open)
	for i, a := range agents {
		if got := a.state("Grep"); got != breaker.Closed {
			t.Errorf("engine %d: got %v, want CLOSED: no engine has seen two failures", i, got)
		}
	}
	if got := agents[1].fleet.Status().Counts.Published; got != 0 {
		t.Errorf("published %d, want none: a failure that changes nothing is not told", got)
	}
}

func TestOneTrialInTheWholeFleet(t *testing.T) {
	t.Parallel()
	o := hasty("trial")
	o.LeaseTTL = 1200 * time.Millisecond
	agents := joinAll(t, 10, redistest.Start(t).Client(), o)
	agents[0].fail("Grep", 2, cascade.Upstream)
	allAre(t, agents, "Grep", breaker.Open)
	var trials atomic.Int64
	var probed sync.WaitGroup
	probed.Add(1)
	end := make(chan struct{})
	var all sync.WaitGroup
	for i := range 200 {
		a := agents[i%len(agents)]
		all.Go(func() {
			for {
				select {
				case <-end:
					return
				case <-time.After(10 * time.Millisecond):
				}
				if d := a.decide("Grep"); d.Verb == expediter.Probe {
					if trials.Add(1) == 1 {
						probed.Done()
					}
					<-end // a long trial
					a.record(d.Call, expediter.Success())
					return
				}
			}
		})
	}
	probed.Wait()
	<-time.After(2 * o.LeaseTTL) // it is renewed
	close(end)
	all.Wait()
	if got := trials.Load(); got != 1 {
		t.Errorf("got %d trials, want 1", got)
	}
	allAre(t, agents, "Grep", breaker.Closed)
}

func TestFailedTrialAnchorsAllAnew(t *testing.T) {
	t.Parallel()
	agents := joinAll(t, 3, redistest.Start(t).Client(), hasty("anchor"))
	agents[0].fail("Grep", 2, cascade.Upstream)
	allAre(t, agents, "Grep", breaker.Open)
	first, _ := agents[2].Tool("Grep")
	agents[1].record(agents[1].trial("Grep"), expediter.Failure(cascade.Timeout, "still down"))
	for i, a := range agents {
		await(t, "the failed trial is known", func() bool {
			s, _ := a.Tool("Grep")
			return s.FailedProbes == 1
		})
		s, _ := a.Tool("Grep")
		if s.State != breaker.Open || s.NextAt <= first.NextAt || s.LastFailure.Text != "still down" {
			t.Errorf("engine %d: %v, next %d (was %d), last failure %q", i, s.State, s.NextAt, first.NextAt, s.LastFailure.Text)
		}
	}
	agents[2].record(agents[2].trial("Grep"), expediter.Success())
	allAre(t, agents, "Grep", breaker.Closed)
}

func TestSeveralGoodTrialsUnderOneLease(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	p := quick()
	p.HalfOpenSuccesses = 3
	a, b := newAgent(t, p), newAgent(t, p)
	a.join(client, hasty("good"))
	b.join(client, hasty("good"))
	a.fail("Grep", 2, cascade.Upstream)
	allAre(t, []*agent{a, b}, "Grep", breaker.Open)
	for range 3 {
		a.record(a.trial("Grep"), expediter.Success())
	}
	allAre(t, []*agent{a, b}, "Grep", breaker.Closed)
	if got := b.fleet.Status().Counts.Leases + a.fleet.Status().Counts.Leases; got != 1 {
		t.Errorf("got %d leases, want 1", got)
	}
}

func TestIncidentAndItsConfirmation(t *testing.T) {
	t.Parallel()
	agents := joinAll(t, 3, redistest.Start(t).Client(), hasty("incident"))
	agents[0].fail("Grep", 2, cascade.Network)
	allAre(t, agents, "Grep", breaker.Open)
	agents[1].fail("Fetch", 2, cascade.Network)
	for i, a := range agents {
		await(t, "paused", func() bool { return a.Status().Paused == expediter.Systemic })
		inc := a.Status().Incidents
		if len(inc) != 1 || inc[0].Cause != "network" || !cmp.Equal(inc[0].Members, []string{"Fetch", "Grep"}) {
			t.Errorf("engine %d: got incidents %+v, want one of Fetch and Grep by the network", i, inc)
		}
	}
	late := join(t, agents[0].redis, hasty("incident"))
	await(t, "the joiner pauses", func() bool { return late.decide("Read").Reason == expediter.Systemic })
	agents = append(agents, late)
	if _, err := agents[2].ConfirmRecovery("cable", expediter.NoStep, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, a := range agents {
		await(t, "no pause", func() bool { return a.Status().Paused == expediter.NoReason })
	}
	agents[0].record(agents[0].trial("Grep"), expediter.Success())
	agents[3].record(agents[3].trial("Fetch"), expediter.Success())
	for _, a := range agents {
		await(t, "the incident has ended", func() bool { return len(a.Status().Incidents) == 0 })
	}
}

func TestControlsOfOperators(t *testing.T) {
	t.Parallel()
	agents := joinAll(t, 3, redistest.Start(t).Client(), hasty("controls"))
	is := func(what string, so func(s expediter.ToolStatus) bool) {
		t.Helper()
		for _, a := range agents {
			await(t, what, func() bool { s, _ := a.Tool("Grep"); return so(s) })
		}
	}
	now := time.Now
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(agents[0].ForceOpen("Grep", "maintenance", expediter.NoStep, now()))
	is("forced open", func(s expediter.ToolStatus) bool { return s.Forced && s.Reason == "maintenance" })
	late := join(t, agents[0].redis, hasty("controls"))
	agents = append(agents, late)
	is("forced open for a joiner", func(s expediter.ToolStatus) bool { return s.Forced })
	must(agents[1].Disable("Grep", "flaky", expediter.NoStep, now()))
	is("disabled", func(s expediter.ToolStatus) bool { return s.Disabled && !s.Forced })
	must(agents[2].Reset("Grep", "done", expediter.NoStep, now()))
	is("reset", func(s expediter.ToolStatus) bool { return !s.Disabled && !s.Forced && s.State == breaker.Closed })
}

func TestJoinerTakesOverWhatTheFleetKnows(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	p := quick()
	p.Cascade.MinTools = 100 // what opens here is no incident, but would be one where it opens at once
	agents := []*agent{newAgent(t, p), newAgent(t, p)}
	for _, a := range agents {
		a.join(client, hasty("joiner"))
		a.connected(true)
	}
	for _, tool := range []string{"Grep", "Fetch", "Read", "Edit"} {
		agents[0].fail(tool, 2, cascade.Unknown)
		allAre(t, agents, tool, breaker.Open)
	}
	agents[1].record(agents[1].trial("Fetch"), expediter.Success())
	allAre(t, agents, "Fetch", breaker.Closed)
	agents[1].record(agents[1].trial("Grep"), expediter.Failure(cascade.Timeout, "no"))
	await(t, "the failed trial", func() bool { s, _ := agents[0].Tool("Grep"); return s.FailedProbes == 1 })

	late := newAgent(t, quick())
	late.fail("Fetch", 2, cascade.Upstream) // before it knows that Fetch works
	late.fail("Own", 2, cascade.Upstream)   // of which the fleet knows nothing
	late.join(client, hasty("joiner"))
	late.connected(true)
	agents = append(agents, late)
	for _, tool := range []string{"Grep", "Read", "Edit", "Own"} {
		allAre(t, agents, tool, breaker.Open)
	}
	allAre(t, agents, "Fetch", breaker.Closed)
	if s, _ := late.Tool("Grep"); s.FailedProbes != 1 || s.LastFailure.Text != "no" {
		t.Errorf("joiner: got %d failed trials, last failure %q; want those of the fleet", s.FailedProbes, s.LastFailure.Text)
	}
	if got := late.Status().Paused; got != expediter.NoReason {
		t.Errorf("joiner: paused (%v) by what opened before it was there", got)
	}
}

func TestLeavingGivesLeasesBackAndGoesOnAlone(t *testing.T) {
	t.Parallel()
	o := hasty("leaving")
	o.LeaseTTL = 5 * time.Minute
	o.LeaseHold = 5 * time.Minute
	agents := joinAll(t, 2, redistest.Start(t).Client(), o)
	agents[0].fail("Grep", 2, cascade.Upstream)
	allAre(t, agents, "Grep", breaker.Open)
	await(t, "a lease", func() bool {
		if s, _ := agents[0].Tool("Grep"); s.Leased > 0 {
			return true
		}
		if s, _ := agents[0].Tool("Grep"); s.NextAt < time.Now().UnixMilli() {
			return agents[0].decide("Grep").Verb == expediter.Probe
		}
		return false
	})
	if err := agents[0].fleet.Close(); err != nil {
		t.Fatal(err)
	}
	if got := agents[0].Status().Fleet; got != expediter.FleetNone {
		t.Errorf("mode: got %v, want none", got)
	}
	if s := agents[0].fleet.Status(); s.Connected || s.Why != "left" {
		t.Errorf("status: got %+v, want left", s)
	}
	agents[1].record(agents[1].trial("Grep"), expediter.Success())
	if got := agents[0].state("Grep"); got != breaker.Open {
		t.Errorf("who left: got %v, want OPEN still", got)
	}
}
