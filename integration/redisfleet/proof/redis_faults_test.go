package proof

import (
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
)

// trouble is something that befalls Redis, or the way to it, while a fleet works.
type trouble struct {
	name   string
	args   func(t *testing.T) []string // of redis-server
	proxy  bool                        // the members reach Redis through a proxy
	begin  func(t *testing.T, r *rig)
	end    func(t *testing.T, r *rig)
	stays  bool // the members stay connected
	forget bool // Redis has lost its log
}

func TestTroublesWithRedis(t *testing.T) {
	for _, tr := range troubles {
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			tr.befall(t)
		})
	}
}

// befall lets a fleet of four with one tool down go through the trouble. Meanwhile
// a second tool goes down, which each member finds for itself unless the fleet is
// there, and a third works on. Then all agree, and all recovers.
func (tr trouble) befall(t *testing.T) {
	var args []string
	if tr.args != nil {
		args = tr.args(t)
	}
	r := newRig(t, args...)
	way := r.server.Addr
	if tr.proxy {
		r.proxy = newProxy(t, r.server.Addr)
		way = r.proxy.Listen
	}
	r.fleet(4, func(c *memberConfig) { c.Redis, c.Timeout, c.LeaseTTL = way, 500*time.Millisecond, time.Second })
	r.tools.set(true, "Grep")
	r.agree(map[string]string{"Grep": "OPEN", "Fetch": "CLOSED", "Read": "CLOSED"})
	r.during(func() {
		tr.begin(t, r)
		if !tr.stays {
			r.all("goes on alone", func(a report) bool { return !a.Connected })
		}
		r.tools.set(true, "Fetch")
		r.all("finds that Fetch is down", func(a report) bool { return a.Tools["Fetch"] == "OPEN" && a.Tools["Grep"] == "OPEN" })
		for _, p := range r.members {
			before := p.say("status").Counts.Successes
			await(t, "Read works on", func() bool { return p.say("status").Counts.Successes > before+10 })
		}
		tr.end(t, r)
		r.all("connected again", func(a report) bool { return a.Connected })
	})
	r.agree(map[string]string{"Grep": "OPEN", "Fetch": "OPEN", "Read": "CLOSED"})
	r.tools.set(false, "Grep", "Fetch")
	r.agree(map[string]string{"Grep": "CLOSED", "Fetch": "CLOSED", "Read": "CLOSED"})
	for _, p := range r.members {
		if a := p.say("status"); a.MaxDecideUS > 300_000 {
			t.Errorf("%s: a decision took %d us; it waited for Redis", p.cfg.Name, a.MaxDecideUS)
		}
	}
	if tr.forget {
		return // what the log said is gone
	}
	r.check()
}

// do is a command to Redis that must succeed.
func (r *rig) do(args ...any) {
	r.t.Helper()
	if err := r.client.Do(r.t.Context(), args...).Err(); err != nil {
		r.t.Fatalf("%v: %v", args, err)
	}
}

func config(key, value string) func(*testing.T, *rig) {
	return func(_ *testing.T, r *rig) { r.do("CONFIG", "SET", key, value) }
}

func kill(_ *testing.T, r *rig)    { r.server.Kill() }
func restart(_ *testing.T, r *rig) { r.server.Restart() }
func nothing(*testing.T, *rig)     {}

var troubles = []trouble{
	{name: "killed, restarted with its data", begin: kill, end: restart, args: func(t *testing.T) []string {
		return []string{"--dir", t.TempDir(), "--appendonly", "yes", "--appendfsync", "always"}
	}},
	{name: "killed, restarted empty", begin: kill, end: restart, forget: true},
	{name: "paused", end: nothing, begin: func(_ *testing.T, r *rig) {
		r.do("CLIENT", "PAUSE", "1500", "ALL")
	}},
	{name: "full", begin: config("maxmemory", "1"), end: config("maxmemory", "0"),
		args: func(*testing.T) []string { return []string{"--maxmemory-policy", "noeviction"} }},
	{name: "read-only", begin: func(_ *testing.T, r *rig) { r.do("REPLICAOF", "127.0.0.1", "1") },
		end: func(_ *testing.T, r *rig) { r.do("REPLICAOF", "NO", "ONE") }},
	{name: "keys of other types", begin: func(t *testing.T, r *rig) {
		r.do("SET", "expediter:{proof}:fleet", "garbage")
	}, end: func(t *testing.T, r *rig) { r.do("DEL", "expediter:{proof}:fleet") }, forget: true},
	{name: "garbage in the keys", stays: true, end: nothing, begin: func(_ *testing.T, r *rig) {
		long := strings.Repeat("\xff{", 40_000)
		r.do("HSET", "expediter:{proof}:tools", "Garbage", long, "Other", "9 opened 1-1 x - {}", long, "1 opened 0-0 m - {}")
		r.do("HSET", "expediter:{proof}:leases", "Grep", long)
		r.do("RPUSH", "expediter:{proof}:charges", long, "1 1-1 s {}")
		r.do("XADD", "expediter:{proof}:log", "*", "c", long)
		r.do("XADD", "expediter:{proof}:log", "*", "v", "1", "m", long, "s", "", "p", "nowhere", "c", "{}")
	}},
	{name: "a slow network", proxy: true, stays: true,
		begin: toxic("latency", `{"latency":60,"jitter":40}`), end: clean},
	{name: "a network that is cut", proxy: true,
		begin: func(_ *testing.T, r *rig) { r.proxy.Stop() },
		end: func(t *testing.T, r *rig) {
			if err := r.proxy.Start(); err != nil {
				t.Fatal(err)
			}
		}},
	{name: "a network that swallows all", proxy: true, begin: toxic("timeout", `{"timeout":0}`), end: clean},
	{name: "connections that close slowly", proxy: true, begin: func(t *testing.T, r *rig) {
		toxic("slow_close", `{"delay":400}`)(t, r)
		toxic("limit_data", `{"bytes":2000}`)(t, r)
	}, end: clean, stays: true},
}

// newProxy is a network between the members and Redis.
func newProxy(t *testing.T, to string) *toxiproxy.Proxy {
	t.Helper()
	p := toxiproxy.NewProxy()
	p.Name, p.Listen, p.Upstream = "redis", "127.0.0.1:0", to
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// toxic makes the network bad in one way.
func toxic(kind, attributes string) func(*testing.T, *rig) {
	return func(t *testing.T, r *rig) {
		text := `{"type":"` + kind + `","stream":"downstream","attributes":` + attributes + `}`
		if _, err := r.proxy.Toxics.AddToxicJson(strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
}

// clean makes it good again; connections begin anew.
func clean(_ *testing.T, r *rig) {
	r.proxy.Toxics.ResetToxics()
}
