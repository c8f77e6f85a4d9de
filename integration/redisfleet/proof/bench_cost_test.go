package proof

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/redisfleet"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

// local is an engine in this process, in a fleet of its own unless client is nil.
type local struct {
	b      *testing.B
	engine *expediter.Engine
	fleet  *redisfleet.Fleet
}

func newLocal(b *testing.B, client redis.UniversalClient) *local {
	b.Helper()
	l := &local{b: b}
	var err error
	if l.engine, err = expediter.New(expediter.Config{Policy: policyOf(20 * time.Millisecond)}); err != nil {
		b.Fatal(err)
	}
	if client == nil {
		return l
	}
	if l.fleet, err = redisfleet.Join(b.Context(), client, l.engine, redisfleet.Options{Scope: "proof", BeatEvery: time.Minute}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.fleet.Close() })
	await(b, "connected", func() bool { return l.fleet.Status().Connected })
	return l
}

// call makes a call that has an outcome, or reports that it may not be made.
func (l *local) call(tool string, o expediter.Outcome) bool {
	now := time.Now()
	d := l.engine.Decide(tool, expediter.NoStep, now)
	if !d.Verb.Go() {
		return false
	}
	if _, err := l.engine.Record(d.Call, o, expediter.NoStep, now); err != nil {
		l.b.Fatal(err)
	}
	return true
}

func (l *local) down(tool string) {
	for range 3 {
		l.call(tool, expediter.Failure(cascade.Unknown, tool+" is down: 502 Bad Gateway from upstream, connection reset by peer"))
	}
}

// decide measures the same calls with and without a fleet, in turns.
func (p *page) decide(b *testing.B) {
	server := redistest.Start(b)
	defer server.Kill()
	names := []string{"alone", "in a fleet"}
	engines := []*local{newLocal(b, nil), newLocal(b, server.Client())}
	best := []time.Duration{time.Hour, time.Hour}
	const n = 500_000
	for range 15 {
		for i, l := range engines {
			began := time.Now()
			for range n {
				l.call("Grep", expediter.Success())
			}
			best[i] = min(best[i], time.Since(began)/n)
		}
	}
	for i, l := range engines {
		allocs := testing.AllocsPerRun(1000, func() { l.call("Grep", expediter.Success()) })
		p.row("Decide and Record of a call that succeeds, "+names[i], fmt.Sprintf("%d ns, %.0f allocations (with the clock read; the best of 15 turns)",
			best[i].Nanoseconds(), allocs))
	}
}

// scripts is how many scripts Redis has run, each one round trip of a member's.
func scripts(b *testing.B, client *redis.Client) int {
	b.Helper()
	text, err := client.Info(b.Context(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	total := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "cmdstat_eval") {
			continue
		}
		_, calls, _ := strings.Cut(line, "calls=")
		calls, _, _ = strings.Cut(calls, ",")
		n, err := strconv.Atoi(calls)
		if err != nil {
			b.Fatal(err)
		}
		total += n
	}
	return total
}

// roundTrips counts at Redis what one agent's outcomes cost.
func (p *page) roundTrips(b *testing.B) {
	server := redistest.Start(b)
	defer server.Kill()
	client := server.Client()
	l := newLocal(b, client)
	published := func() int { return int(l.fleet.Status().Counts.Published) }
	measure := func(what string, n int, do func()) {
		before := scripts(b, client)
		do()
		p.row("round trips of "+what, fmt.Sprintf("%.2f each (%d)", float64(scripts(b, client)-before)/float64(n), n))
	}
	l.down("warm") // its script is sent whole once
	await(b, "published", func() bool { return published() == 1 })
	measure("successes in CLOSED", 100_000, func() {
		for range 100_000 {
			l.call("Grep", expediter.Success())
		}
	})
	measure("failures that open nothing", 20_000, func() {
		for i := range 30_000 {
			if i%3 == 2 {
				l.call("Grep", expediter.Success())
				continue
			}
			l.call("Grep", expediter.Failure(cascade.Unknown, "no"))
		}
	})
	const tools = 200
	measure("openings", tools, func() {
		for i := range tools {
			l.down(fmt.Sprintf("tool%d", i))
			await(b, "published", func() bool { return published() == i+2 })
		}
	})
	measure("trials, the lease and the outcome", tools, func() {
		for i := range tools {
			await(b, "a trial", func() bool { return l.call(fmt.Sprintf("tool%d", i), expediter.Success()) })
			await(b, "published", func() bool { return published() == tools+i+2 })
		}
	})
}

// memory measures what a tool and an entry of the log take in Redis.
func (p *page) memory(b *testing.B) {
	server := redistest.Start(b)
	defer server.Kill()
	client := server.Client()
	l := newLocal(b, client)
	const tools = 1000
	usage := func(key string) int64 {
		n, err := client.MemoryUsage(b.Context(), "expediter:{proof}:"+key, 0).Result()
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	for i := range tools {
		l.down(fmt.Sprintf("mcp/server/tool%04d", i))
	}
	await(b, "published", func() bool { return l.fleet.Status().Counts.Published == tools })
	p.row("memory of a tool that is not CLOSED", fmt.Sprintf("%d bytes (1,000, with a text of 90 bytes)", usage("tools")/tools))
	p.row("memory of an entry of the log", fmt.Sprintf("%d bytes; 10,000 are about %.1f MB", usage("log")/tools, float64(usage("log"))*10/1e6))
	for i := range tools {
		await(b, "a trial", func() bool { return l.call(fmt.Sprintf("mcp/server/tool%04d", i), expediter.Success()) })
	}
	await(b, "published", func() bool { return l.fleet.Status().Counts.Published == 2*tools })
	p.row("memory of a tool that is CLOSED, its generation", fmt.Sprintf("%d bytes; at most 1,000 are kept", (usage("tools")+usage("closed"))/tools))
}

// info is one number of Redis's INFO.
func info(b *testing.B, client *redis.Client, section, field string) float64 {
	b.Helper()
	text, err := client.Info(context.Background(), section).Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), field+":"); ok {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatalf("INFO %s has no %s", section, field)
	return 0
}
