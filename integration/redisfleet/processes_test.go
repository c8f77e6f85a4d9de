package redisfleet_test

import (
	"testing"
	"time"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

// brisk are options of processes that die or stand still: the fleet waits for them
// a second.
func brisk(scope string) redisfleet.Options {
	o := hasty(scope)
	o.LeaseTTL = time.Second
	return o
}

func TestProcesses_ProberKilled(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	b := newBand(t, server.Client(), brisk("killed"), "Grep", "Read")
	b.start(4, server.Addr)
	b.set(true, "Grep")
	_, by := b.hold(t, "Grep")
	b.known(b.all, "Grep")
	b.named(by).kill()
	b.stood[by] = true
	b.set(false, "Grep")
	b.is(others(b, by), "Grep", breaker.Closed)
	b.finish()
}

func others(b *band, name string) []*process {
	var found []*process
	for _, p := range b.all {
		if p.member != name {
			found = append(found, p)
		}
	}
	return found
}

func TestProcesses_RedisInTrouble(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		empty       bool
		strike, end func(b *band, s *redistest.Server)
	}{
		{"killed, restarted with its data", false,
			func(_ *band, s *redistest.Server) { s.Kill() },
			func(_ *band, s *redistest.Server) { s.Restart() }},
		{"restarted empty", true,
			func(_ *band, s *redistest.Server) { s.Kill() },
			func(_ *band, s *redistest.Server) { s.Restart() }},
		{"paused", false, command("CLIENT", "PAUSE", 60_000, "WRITE"), command("CLIENT", "UNPAUSE")},
		{"full", false, command("CONFIG", "SET", "maxmemory", 1), command("CONFIG", "SET", "maxmemory", 0)},
		{"a read-only replica", false, command("REPLICAOF", "127.0.0.1", 1), command("REPLICAOF", "NO", "ONE")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var args []string
			if !tt.empty {
				args = []string{"--dir", t.TempDir(), "--appendonly", "yes", "--appendfsync", "always"}
			}
			server := redistest.Start(t, args...)
			o := brisk("trouble")
			o.Timeout = 400 * time.Millisecond
			b := newBand(t, server.Client(), o, "Grep", "Fetch", "Read")
			all := b.start(3, server.Addr)
			b.set(true, "Grep")
			b.known(all, "Grep")
			before := b.log()
			tt.strike(b, server)
			for _, p := range all {
				p.stands(expediter.FleetAlone)
			}
			b.goesOn(all, "Read")
			b.set(true, "Fetch") // found out by each alone
			b.known(all, "Fetch")
			b.set(false, "Grep")
			if tt.empty {
				b.past = append(b.past, before)
			}
			tt.end(b, server)
			for _, p := range all {
				p.stands(expediter.FleetLeased)
			}
			b.is(all, "Grep", breaker.Closed)
			b.known(all, "Fetch")
			b.finish()
			if !b.view()["Fetch"] {
				t.Error("the fleet does not know what was found out without it")
			}
		})
	}
}

func command(args ...any) func(*band, *redistest.Server) {
	return func(b *band, _ *redistest.Server) {
		b.t.Helper()
		if err := b.client.Do(b.t.Context(), args...).Err(); err != nil {
			b.t.Fatal(err)
		}
	}
}

func TestProcesses_TwoScopes(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	a := newBand(t, server.Client(), brisk("team/a"), "Grep", "Read")
	b := newBand(t, server.Client(), brisk("team/b"), "Grep", "Read")
	a.start(2, server.Addr)
	b.start(2, server.Addr)
	a.set(true, "Grep")
	a.known(a.all, "Grep")
	b.goesOn(b.all, "Grep")
	a.set(false, "Grep")
	a.is(a.all, "Grep", breaker.Closed)
	a.finish()
	b.finish()
	for _, p := range b.all {
		if len(p.adopted)+len(p.trials) > 0 {
			t.Errorf("%s: adopted %+v and made %d trials; all that happened was in another scope", p.member, p.adopted, len(p.trials))
		}
	}
}

func TestProcesses_LateJoiner(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	b := newBand(t, server.Client(), brisk("late"), "Grep", "Fetch", "Read")
	b.start(2, server.Addr)
	b.set(true, "Grep", "Fetch")
	b.known(b.all, "Grep")
	b.known(b.all, "Fetch")
	b.set(false, "Fetch")
	b.is(b.all, "Fetch", breaker.Closed)
	late := b.start(1, server.Addr)
	b.goesOn(late, "Fetch")
	b.known(late, "Grep")
	b.finish()
	if calls := b.requests(func(r request) bool { return r.member == "m2" && r.tool == "Grep" && !r.probe }); len(calls) > 0 {
		t.Errorf("the joiner has called %d times what the fleet knew to be down", len(calls))
	}
	if late[0].paused {
		t.Error("the joiner paused")
	}
}
