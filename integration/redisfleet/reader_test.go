package redisfleet_test

import (
	"strings"
	"testing"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

// TestSharedReader has many engines in one process: they hear of each other as those
// of several do, and have a bounded number of connections.
func TestSharedReader(t *testing.T) {
	server := redistest.Start(t)
	client, counting := server.Client(), server.Client()
	o := hasty("shared")
	o.Reader = &redisfleet.Reader{}
	const n = 40
	agents := joinAll(t, n, client, o)
	agents[0].fail("Grep", 2, cascade.Network)
	allAre(t, agents, "Grep", breaker.Open)
	agents[n-1].record(agents[n-1].trial("Grep"), expediter.Success())
	allAre(t, agents, "Grep", breaker.Closed)

	late := join(t, client, o)
	late.connected(true)
	agents[1].fail("Read", 2, cascade.Network)
	allAre(t, []*agent{late, agents[2]}, "Read", breaker.Open)

	list := counting.ClientList(t.Context()).Val()
	blocked := 0
	for line := range strings.Lines(list) {
		if strings.Contains(line, "cmd=xread") && strings.Contains(line, "flags=b") {
			blocked++
		}
	}
	if all := strings.Count(list, "\n"); blocked > 1 || all > client.Options().PoolSize+2 {
		t.Errorf("%d connections, %d of which wait for news; want at most %d, and one", all, blocked, client.Options().PoolSize+2)
	}

	server.Kill()
	for _, i := range []int{0, n - 1} {
		agents[i].connected(false)
	}
	server.Restart()
	for _, a := range agents {
		a.connected(true)
	}
	agents[3].fail("Fetch", 2, cascade.Upstream)
	allAre(t, agents, "Fetch", breaker.Open)
}
