package redisfleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

// live takes a fleet of two through all that a fleet does.
func live(t *testing.T, client redis.UniversalClient, scope string) {
	t.Helper()
	o := hasty(scope)
	o.SharedBudget = true
	o.MaxClosed = 1
	agents := joinAll(t, 2, client, o)
	for _, tool := range []string{"Grep", "Fetch"} {
		agents[0].fail(tool, 2, cascade.Upstream)
		allAre(t, agents, tool, breaker.Open)
		agents[1].record(agents[1].trial(tool), expediter.Failure(cascade.Upstream, "still"))
		agents[0].record(agents[0].trial(tool), expediter.Success())
		allAre(t, agents, tool, breaker.Closed)
	}
	agents[0].fail("Read", 2, cascade.Network)
	agents[0].fail("Edit", 2, cascade.Network)
	await(t, "an incident", func() bool { return agents[1].Status().Paused == expediter.Systemic })
	v, err := redisfleet.Look(t.Context(), client, o)
	if err != nil || !v.Active || v.Members != 2 {
		t.Errorf("look: got %+v, %v", v, err)
	}
	await(t, "beats", func() bool { return agents[0].fleet.Status().Members == 2 })
	for _, a := range agents {
		if err := a.fleet.Close(); err != nil {
			t.Error(err)
		}
		if s := a.fleet.Status(); s.Counts.Sessions != 1 || len(s.Comments) != 0 {
			t.Errorf("got %+v, want one session without comments", s)
		}
	}
}

// rights is what the documentation names.
const rights = "~expediter:{acl}:* resetchannels -@all +hello +auth +evalsha +eval +xread +xadd +xlen +time +del " +
	"+hget +hset +hsetnx +hdel +hlen +hmget +hgetall +hscan +zadd +zrem +zcard +zpopmin +zremrangebyscore +rpush +ltrim +llen +lrange"

func TestRightsThatAreEnough(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	admin := server.Client()
	set := append([]any{"ACL", "SETUSER", "fleet", "on", ">secret"}, words(rights)...)
	if err := admin.Do(t.Context(), set...).Err(); err != nil {
		t.Fatal(err)
	}
	client, o, err := redisfleet.Parse("redis://fleet:secret@" + server.Addr + "/?scope=acl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	live(t, client, o.Scope)

	// Each is needed: a name too many would be a right too many.
	info := admin.Info(t.Context(), "commandstats").Val()
	for _, right := range strings.Fields(rights) {
		name := strings.TrimPrefix(right, "+")
		switch name {
		case right, "hello", "auth", "hscan": // hscan: where others wrote a great many fields
			continue
		}
		if !strings.Contains(info, "cmdstat_"+name+":") {
			t.Errorf("%s was never called; take it out of the rights", name)
		}
	}
}

func words(s string) []any {
	var all []any
	for _, w := range strings.Fields(s) {
		all = append(all, w)
	}
	return all
}

func TestRightsThatAreTooFew(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "secret")
	client, o, err := redisfleet.Parse("redis://" + server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	o.Timeout = 300 * time.Millisecond
	a := join(t, client, o)
	if s := a.fleet.Status(); s.Connected || !strings.Contains(s.Why, "unauthenticated") && !strings.Contains(s.Why, "NOAUTH") {
		t.Errorf("without a password: got %+v, want away for want of it", s)
	}
	a.fail("Grep", 2, cascade.Upstream)
	a.record(a.trial("Grep"), expediter.Success())
}

func TestCluster(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1")
	admin := server.Client()
	if err := admin.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	await(t, "the cluster is up", func() bool {
		return strings.Contains(admin.ClusterInfo(t.Context()).Val(), "cluster_state:ok")
	})
	client, o, err := redisfleet.Parse("redis://" + server.Addr + "?cluster=true&scope=a{b}c/d%25")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	live(t, client, o.Scope) // scripts whose keys are in two places would be refused
	slots := map[int64]bool{}
	keys, err := admin.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) < 5 {
		t.Fatal(keys, err)
	}
	for _, k := range keys {
		if !strings.HasPrefix(k, "expediter:{a%7Bb%7Dc/d%25}:") {
			t.Errorf("key %q is not of the scope", k)
		}
		slots[admin.ClusterKeySlot(t.Context(), k).Val()] = true
	}
	if len(slots) != 1 {
		t.Errorf("the keys of a scope are in %d slots, want 1", len(slots))
	}
}
