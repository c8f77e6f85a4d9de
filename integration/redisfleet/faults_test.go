package redisfleet_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

func TestBeginsAloneAndJoinsWhenRedisIsThere(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := server.Client()
	server.Kill()
	o := hasty("later")
	o.Timeout = 300 * time.Millisecond
	began := time.Now()
	a := join(t, client, o)
	if took := time.Since(began); took > 5*o.Timeout {
		t.Errorf("joining took %v; it is to wait no longer than %v", took, o.Timeout)
	}
	if s := a.fleet.Status(); s.Connected || s.Why == "" || a.Status().Fleet != expediter.FleetAlone {
		t.Errorf("got %+v, engine %v; want away with a reason, and alone", s, a.Status().Fleet)
	}
	a.fail("Grep", 2, cascade.Upstream)
	a.record(a.trial("Grep"), expediter.Failure(cascade.Upstream, "tried alone"))
	server.Restart()
	a.connected(true)
	b := join(t, client, o)
	allAre(t, []*agent{a, b}, "Grep", breaker.Open)
}

func TestRedisRestartedEmpty(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	client := server.Client()
	agents := joinAll(t, 3, client, hasty("empty"))
	agents[0].fail("Grep", 2, cascade.Network)
	allAre(t, agents, "Grep", breaker.Open)
	agents[0].fail("Fetch", 2, cascade.Network)
	if err := agents[1].ForceOpen("Edit", "no edits", expediter.NoStep, time.Now()); err != nil {
		t.Fatal(err)
	}
	allAre(t, agents, "Edit", breaker.Open)
	for _, a := range agents {
		await(t, "paused", func() bool { return a.Status().Paused == expediter.Systemic })
	}
	server.Restart()
	for _, a := range agents {
		await(t, "a second session", func() bool { s := a.fleet.Status(); return s.Connected && s.Counts.Sessions == 2 })
	}
	late := join(t, client, hasty("empty"))
	await(t, "the joiner knows all", func() bool {
		edit, _ := late.Tool("Edit")
		return late.state("Grep") == breaker.Open && late.state("Fetch") == breaker.Open && edit.Forced && late.Status().Paused == expediter.Systemic
	})
	if got := late.Status().Incidents[0]; got.Cause != "network" || !cmp.Equal(got.Members, []string{"Fetch", "Grep"}) {
		t.Errorf("incident: got %+v, want that of Fetch and Grep by the network", got)
	}
}

func TestKeysDeletedByHand(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	agents := joinAll(t, 2, client, hasty("deleted"))
	agents[0].fail("Grep", 2, cascade.Upstream)
	allAre(t, agents, "Grep", breaker.Open)
	client.FlushAll(t.Context())
	for _, a := range agents {
		await(t, "it is noticed", func() bool { s := a.fleet.Status(); return s.Counts.Resyncs > 0 && s.Members == 2 })
		if got := a.fleet.Status().Counts.Sessions; got != 1 {
			t.Errorf("got %d sessions, want 1: Redis was never away", got)
		}
	}
	late := join(t, client, hasty("deleted"))
	allAre(t, []*agent{late}, "Grep", breaker.Open)
}

func TestLogThatLostItsEnd(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	agents := joinAll(t, 2, client, hasty("shorter"))
	agents[0].fail("Grep", 2, cascade.Upstream)
	allAre(t, agents, "Grep", breaker.Open)
	before := client.HGet(t.Context(), "expediter:{shorter}:fleet", "last").Val()
	agents[0].fail("Fetch", 2, cascade.Upstream)
	allAre(t, agents, "Fetch", breaker.Open)
	lost := client.HGet(t.Context(), "expediter:{shorter}:fleet", "last").Val()
	client.TxPipelined(t.Context(), func(p redis.Pipeliner) error { // as after a failover
		p.XDel(t.Context(), "expediter:{shorter}:log", lost)
		p.HSet(t.Context(), "expediter:{shorter}:fleet", "last", before)
		p.HDel(t.Context(), "expediter:{shorter}:tools", "Fetch")
		return nil
	})
	await(t, "the opening is offered again", func() bool {
		return strings.HasPrefix(client.HGet(t.Context(), "expediter:{shorter}:tools", "Fetch").Val(), "1 opened ")
	})
	allAre(t, agents, "Fetch", breaker.Open)
}

func TestMissedEntriesOfTheLog(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	agents := joinAll(t, 2, client, hasty("gap"))
	o := hasty("gap")
	// Openings that the log does not have, as if it had been trimmed.
	v, err := redisfleet.Look(t.Context(), client, o)
	if err != nil || !v.Exists {
		t.Fatal(v, err)
	}
	client.HSet(t.Context(), "expediter:{gap}:tools", "Grep", `1 opened 5-1 other - {"kind":"opened","tool":"Grep"}`)
	client.HSet(t.Context(), "expediter:{gap}:fleet", "last", "5-1")
	agents[0].fail("Fetch", 2, cascade.Upstream)
	allAre(t, agents, "Fetch", breaker.Open)
	allAre(t, agents, "Grep", breaker.Open)
	for _, a := range agents {
		if s := a.fleet.Status(); s.Counts.Resyncs == 0 || s.Counts.Sessions != 1 {
			t.Errorf("got %+v, want the view read anew in the same session", s.Counts)
		}
	}
}

func TestLogThatIsCutBeforeItIsRead(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	o := hasty("cut")
	o.Timeout = 500 * time.Millisecond
	a := joinAll(t, 1, client, o)[0]
	client.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
		p.HSet(t.Context(), "expediter:{cut}:tools", "Grep", `1 opened 9999999999999-1 other - {"kind":"opened","tool":"Grep"}`)
		p.HSet(t.Context(), "expediter:{cut}:fleet", "last", "9999999999999-1")
		return nil
	})
	allAre(t, []*agent{a}, "Grep", breaker.Open)
	if s := a.fleet.Status(); s.Counts.Resyncs == 0 || s.Counts.Sessions != 1 {
		t.Errorf("got %+v, want the view read anew in the same session", s.Counts)
	}
}

func TestSizesAreBounded(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	o := hasty("sizes")
	o.LogLength, o.SharedBudget = 100, true
	agents := joinAll(t, 2, client, o)
	for i := range 300 {
		agents[0].fail(fmt.Sprintf("tool%d", i), 1, cascade.Upstream)
	}
	await(t, "all are published", func() bool { return agents[0].fleet.Status().Counts.Published == 300 })
	if n := client.XLen(t.Context(), "expediter:{sizes}:log").Val(); n > 200 {
		t.Errorf("the log has %d entries, want about 100", n)
	}
	if n := client.LLen(t.Context(), "expediter:{sizes}:charges").Val(); n != 256 {
		t.Errorf("%d charges are kept, want 256", n)
	}
	await(t, "what is kept is adopted", func() bool { return agents[1].Status().Consumed >= 256 })
	agents[0].BeginCycle(expediter.NoStep, time.Now())
	await(t, "none are kept", func() bool { return client.LLen(t.Context(), "expediter:{sizes}:charges").Val() == 0 })
}

func TestLeaseOfAMemberThatIsCutOff(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	o := hasty("cutoff")
	o.LeaseTTL = 500 * time.Millisecond
	own := redis.NewClient(&redis.Options{Addr: server.Addr})
	a := join(t, own, o)
	b := join(t, server.Client(), o)
	a.connected(true)
	b.connected(true)
	a.fail("Grep", 2, cascade.Upstream)
	allAre(t, []*agent{a, b}, "Grep", breaker.Open)
	call := a.trial("Grep")
	_ = own.Close()
	began := time.Now()
	b.record(b.trial("Grep"), expediter.Failure(cascade.Upstream, "still down"))
	if took := time.Since(began); took < o.LeaseTTL/4 {
		t.Errorf("the next trial came after %v, while the lease held", took)
	}
	a.record(call, expediter.Success()) // it goes on alone, and the fleet does not count it
	if got := b.state("Grep"); got != breaker.Open {
		t.Errorf("got %v, want OPEN", got)
	}
}

func TestRedisAwayAndBack(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	server := redistest.Start(t)
	client := server.Client()
	o := hasty("away")
	o.Timeout = 500 * time.Millisecond
	o.Log = zap.New(core)
	agents := joinAll(t, 2, client, o)
	agents[0].fail("Grep", 2, cascade.Upstream)
	allAre(t, agents, "Grep", breaker.Open)
	if err := client.Do(t.Context(), "CLIENT", "PAUSE", "1500", "ALL").Err(); err != nil {
		t.Fatal(err)
	}
	for _, a := range agents {
		a.connected(false)
	}
	began := time.Now()
	agents[0].fail("Fetch", 2, cascade.Upstream)
	agents[1].record(agents[1].trial("Grep"), expediter.Success()) // alone, and not for the fleet
	if took := time.Since(began); took > time.Second {
		t.Errorf("calls took %v while Redis was away", took)
	}
	for _, a := range agents {
		a.connected(true)
	}
	allAre(t, agents, "Fetch", breaker.Open)
	allAre(t, agents, "Grep", breaker.Open) // its trial had no lease
	agents[0].record(agents[0].trial("Grep"), expediter.Success())
	allAre(t, agents, "Grep", breaker.Closed)
	if logs.FilterMessageSnippet("away").Len() != 2 || logs.FilterMessageSnippet("connected").Len() != 4 {
		t.Errorf("log: got %v, want each of two to be away once and connected twice", logs.All())
	}
}

func TestRedisThatTakesNoWrites(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, setting, on, off, says string }{
		{"full", "maxmemory", "1", "0", "OOM"},
		{"read-only", "min-replicas-to-write", "1", "0", "NOREPLICAS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			client := redistest.Start(t).Client()
			agents := joinAll(t, 2, client, hasty("writes"))
			client.ConfigSet(t.Context(), tt.setting, tt.on)
			agents[0].fail("Grep", 2, cascade.Upstream)
			for _, a := range agents {
				a.connected(false)
				if s := a.fleet.Status(); !strings.Contains(s.Why, tt.says) {
					t.Errorf("why: got %q, want it to say %s", s.Why, tt.says)
				}
			}
			agents[0].record(agents[0].trial("Grep"), expediter.Failure(cascade.Upstream, "tried alone"))
			client.ConfigSet(t.Context(), tt.setting, tt.off)
			allAre(t, agents, "Grep", breaker.Open)
		})
	}
}

func TestKeysOfAnotherType(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"fleet", "log", "tools", "closed", "leases", "charges", "members"} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			client := redistest.Start(t).Client()
			a := join(t, client, hasty("types"))
			a.connected(true)
			name := "expediter:{types}:" + key
			client.Del(t.Context(), name)
			client.Set(t.Context(), name, "something else", 0)
			a.fail("Grep", 2, cascade.Upstream)
			a.record(a.trial("Grep"), expediter.Failure(cascade.Upstream, "still"))
			client.Del(t.Context(), name)
			a.connected(true)
			await(t, "the opening is known", func() bool {
				return strings.Contains(client.HGet(t.Context(), "expediter:{types}:tools", "Grep").Val(), `"tool":"Grep"`)
			})
		})
	}
}

func TestGarbageIsSkippedAndSaid(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	o := hasty("garbage")
	o.MaxTools, o.MaxClosed = 100, 100
	agents := joinAll(t, 1, client, o)
	ctx := t.Context()
	tools := map[string]string{
		"empty": "", "words": "hello", "version": "2 opened 1-1 m - {}", "kind": `1 stolen 1-1 m - {"kind":"stolen","tool":"kind"}`,
		"json": "1 opened 1-1 m - {", "place": `1 opened 1 m - {"kind":"opened","tool":"place"}`,
		"another tool":            `1 opened 1-1 m - {"kind":"opened","tool":"Grep"}`,
		"count":                   `1 opened 1-1 m - {"kind":"opened","tool":"count","run":-5}`,
		"member":                  `1 opened 1-1 m{} - {"kind":"opened","tool":"member"}`,
		"binary":                  "1 opened 1-1 m - \xff\x00\xfe",
		"large":                   `1 opened 1-1 m - {"kind":"opened","tool":"large","text":"` + strings.Repeat("x", 1<<20) + `"}`,
		strings.Repeat("n", 4096): `1 opened 1-1 m - {"kind":"opened"}`,
		"fine":                    `1 opened 1-1 m - {"kind":"opened","tool":"fine","text":"\u001b[31mred"}`,
	}
	for tool, text := range tools {
		client.HSet(ctx, "expediter:{garbage}:tools", tool, text)
	}
	client.HSet(ctx, "expediter:{garbage}:fleet", "incident", "1 incident 1-1 m 1-1 []")
	for _, fields := range [][]string{{"a", "b"}, {"v", "1"}, {"v", "1", "p", "x", "m", "m", "c", "{}"}} {
		client.XAdd(ctx, &redis.XAddArgs{Stream: "expediter:{garbage}:log", Values: fields})
	}
	late := join(t, client, o)
	agents = append(agents, late)
	late.connected(true)
	allAre(t, []*agent{late}, "fine", breaker.Open)
	for tool := range tools {
		if got := late.state(tool); got != breaker.Closed && tool != "fine" {
			t.Errorf("%.20q: got %v, want CLOSED", tool, got)
		}
	}
	if s, _ := late.Tool("fine"); s.LastFailure.Text != "red" {
		t.Errorf("text: got %q, want it clean", s.LastFailure.Text)
	}
	if got := len(late.fleet.Status().Comments); got < 8 {
		t.Errorf("comments: got %d: %q", got, late.fleet.Status().Comments)
	}
	agents[0].fail("Grep", 2, cascade.Upstream) // the log goes on
	allAre(t, agents, "Grep", breaker.Open)
	agents[0].fail("json", 2, cascade.Upstream) // and an entry that is none is replaced
	allAre(t, agents, "json", breaker.Open)
	agents[1].fail("Read", 2, cascade.Network) // likewise an incident
	agents[0].fail("Edit", 2, cascade.Network)
	await(t, "the incident", func() bool {
		text := client.HGet(ctx, "expediter:{garbage}:fleet", "incident").Val()
		return strings.Contains(text, `{"kind":"incident"`)
	})
}

func TestEntriesOfLaterVersions(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	agents := joinAll(t, 2, client, hasty("versions"))
	agents[0].fail("Grep", 2, cascade.Upstream)
	allAre(t, agents, "Grep", breaker.Open)
	last := client.HGet(t.Context(), "expediter:{versions}:fleet", "last").Val()
	id := client.XAdd(t.Context(), &redis.XAddArgs{Stream: "expediter:{versions}:log", Values: []string{"v", "2", "p", last, "q", "?"}}).Val()
	client.HSet(t.Context(), "expediter:{versions}:fleet", "last", id)
	agents[1].fail("Fetch", 2, cascade.Upstream)
	allAre(t, agents, "Fetch", breaker.Open)
	for i, a := range agents {
		await(t, "a comment", func() bool { return len(a.fleet.Status().Comments) > 0 }) // who opened the tool may read later
		s := a.fleet.Status()
		if len(s.Comments) != 1 || !strings.Contains(s.Comments[0], "another version") || s.Counts.Resyncs != 0 {
			t.Errorf("engine %d: got %+v, want the entry skipped and said", i, s)
		}
	}
}

func TestMoreToolsThanTheFleetHolds(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	o := hasty("full")
	o.MaxTools, o.MaxClosed = 3, 2
	p := quick()
	p.Cascade.MinTools = 1000
	a := newAgent(t, p)
	a.join(client, o)
	a.connected(true)
	for i := range 12 {
		a.fail(fmt.Sprintf("tool%d", i), 2, cascade.Unknown)
	}
	await(t, "all are judged", func() bool { c := a.fleet.Status().Counts; return c.Published+c.Refused == 12 })
	if n := client.HLen(t.Context(), "expediter:{full}:tools").Val(); n != 5 {
		t.Errorf("the fleet holds %d tools, want 5", n)
	}
	for i := range 12 { // those without room are tried by their own engine
		a.record(a.trial(fmt.Sprintf("tool%d", i)), expediter.Success())
	}
	await(t, "closed tools are forgotten", func() bool { return client.HLen(t.Context(), "expediter:{full}:tools").Val() == 2 })
	a.fail("tool0", 2, cascade.Unknown)
	await(t, "room again", func() bool { return client.HExists(t.Context(), "expediter:{full}:tools", "tool0").Val() })
}

func TestPrivateToolsAreNotShared(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	o := hasty("private")
	o.Private = func(tool string) bool { return strings.HasPrefix(tool, "Bash/") }
	agents := joinAll(t, 2, client, o)
	agents[0].fail("Bash/rg", 2, cascade.ToolMissing)
	agents[0].fail("Grep", 2, cascade.Upstream)
	allAre(t, agents, "Grep", breaker.Open)
	if got := agents[1].state("Bash/rg"); got != breaker.Closed {
		t.Errorf("got %v, want CLOSED", got)
	}
	agents[0].record(agents[0].trial("Bash/rg"), expediter.Success())
}

func TestScopesKnowNothingOfEachOther(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	a := joinAll(t, 2, client, hasty("team/a"))
	b := joinAll(t, 2, client, hasty("team/b"))
	a[0].fail("Grep", 2, cascade.Upstream)
	b[0].fail("Fetch", 2, cascade.Upstream)
	allAre(t, a, "Grep", breaker.Open)
	allAre(t, b, "Fetch", breaker.Open)
	a[1].record(a[1].trial("Grep"), expediter.Success())
	allAre(t, a, "Grep", breaker.Closed)
	for _, x := range append(a, b...) {
		if s := x.fleet.Status(); s.Counts.Adopted > 2 || x.state("Grep") != breaker.Closed {
			t.Errorf("%s: adopted %d, Grep %v", s.Scope, s.Counts.Adopted, x.state("Grep"))
		}
	}
	for _, x := range a {
		if got := x.state("Fetch"); got != breaker.Closed {
			t.Errorf("Fetch: got %v in the scope of another", got)
		}
	}
}

func TestSharedBudget(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	o := hasty("budget")
	o.SharedBudget = true
	p := quick()
	p.Budget, p.FailureThreshold = 3, 10
	agents := []*agent{newAgent(t, p), newAgent(t, p), newAgent(t, p)}
	for _, a := range agents[:2] {
		a.join(client, o)
		a.connected(true)
	}
	agents[0].fail("Grep", 2, cascade.Upstream)
	await(t, "charged elsewhere", func() bool { return agents[1].Status().Consumed == 2 })
	agents[1].fail("Fetch", 1, cascade.Upstream)
	agents[2].join(client, o)
	for i, a := range agents {
		await(t, fmt.Sprintf("engine %d pauses", i), func() bool { return a.decide("Read").Reason == expediter.Budget })
	}
	agents[2].BeginCycle(expediter.NoStep, time.Now())
	for i, a := range agents {
		await(t, fmt.Sprintf("engine %d resumes", i), func() bool { return a.Status().Consumed == 0 })
	}
}

func TestBriefMembersGoOnInTheNextProcess(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	o := hasty("brief")
	other := joinAll(t, 1, client, o)[0]
	o.Brief, o.Member, o.LeaseTTL = true, "session-1", time.Minute
	a := newAgent(t, quick())
	step := func(work func()) { // one process
		t.Helper()
		a.join(client, o)
		a.connected(true)
		work()
		if err := a.fleet.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(a.fleet.Memory())
		if err != nil {
			t.Fatal(err)
		}
		o.Memory = redisfleet.Memory{}
		if err := json.Unmarshal(data, &o.Memory); err != nil {
			t.Fatal(err)
		}
		next, err := expediter.Restore(expediter.Config{Policy: quick()}, a.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		a.Engine = next
	}
	step(func() { a.fail("Grep", 2, cascade.Upstream) })
	allAre(t, []*agent{other}, "Grep", breaker.Open)
	var call expediter.CallID
	step(func() { call = a.trial("Grep") })
	if d := other.decide("Grep"); d.Verb != expediter.Skip {
		t.Errorf("while the trial is in flight: got %v, want SKIP", d.Verb)
	}
	step(func() { a.record(call, expediter.Success()) })
	allAre(t, []*agent{other}, "Grep", breaker.Closed)

	// What it comes to while Redis is away is offered by the next process.
	a.fail("Grep", 2, cascade.Upstream)
	step(func() {})
	allAre(t, []*agent{other}, "Grep", breaker.Open)
	other.record(other.trial("Grep"), expediter.Success())
	await(t, "the fleet knows", func() bool {
		return strings.HasPrefix(client.HGet(t.Context(), "expediter:{brief}:tools", "Grep").Val(), "1 closed ")
	})
	step(func() {})
	if got := a.state("Grep"); got != breaker.Closed {
		t.Errorf("got %v, want CLOSED as in the fleet", got)
	}
}
