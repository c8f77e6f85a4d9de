package redisfleet

import (
	stdcmp "cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

// machine drives the scripts on a real Redis beside a model of what they keep.
// Time passes in steps of seconds, far more than a test takes.
type machine struct {
	ctx     context.Context
	members []*wire
	epoch   string
	seconds int // that Redis's clock is ahead
	serial  int

	view   view // the model: the fold of the log
	leases map[string]modelLease
	token  uint64
}

type modelLease struct {
	member, count int
	token         string
	until         int // in seconds of the machine
}

const ttlSeconds = 10

var modelTools = []string{"Grep", "Read", "Fetch"}

func newMachine(t *rapid.T, ctx context.Context, client redis.UniversalClient, scope string) *machine {
	m := &machine{ctx: ctx, leases: map[string]modelLease{}, view: view{tools: map[string]entry{}}}
	for i := range 3 {
		o, err := Options{Scope: scope, Member: fmt.Sprintf("m%d", i), LeaseTTL: ttlSeconds * time.Second,
			LeaseHold: time.Second, MaxClosed: 1}.filled()
		if err != nil {
			t.Fatal(err)
		}
		m.members = append(m.members, newWire(client, o))
	}
	found, err := m.members[0].join(ctx, "m0", "epoch")
	if err != nil {
		t.Fatal(err)
	}
	m.epoch = found.epoch
	return m
}

func (m *machine) member(t *rapid.T) (int, *wire) {
	i := rapid.IntRange(0, len(m.members)-1).Draw(t, "member")
	m.members[i].skew = strconv.Itoa(1000 * m.seconds)
	return i, m.members[i]
}

func tool(t *rapid.T) string { return rapid.SampledFrom(modelTools).Draw(t, "tool") }

// base is the tool's generation, or one that is out of date.
func (m *machine) base(t *rapid.T, of entry) place {
	switch rapid.IntRange(0, 4).Draw(t, "base") {
	case 0:
		return place{}
	case 1:
		return place{ms: 7, seq: 7}
	}
	return of.gen
}

// live is the lease of a tool, if it is not over.
func (m *machine) live(tool string) (modelLease, bool) {
	l, ok := m.leases[tool]
	return l, ok && l.until > m.seconds
}

func (m *machine) Acquire(t *rapid.T) {
	i, w := m.member(t)
	name := tool(t)
	e := m.view.tools[name]
	base := m.base(t, e)
	with := rapid.SliceOfDistinct(rapid.SampledFrom(modelTools), rapid.ID).Draw(t, "with")
	g, err := w.acquire(m.ctx, m.epoch, name, base, with)
	if err != nil {
		t.Fatal(err)
	}
	l, live := m.live(name)
	other := slices.ContainsFunc(with, func(o string) bool { _, live := m.live(o); return o != name && live })
	switch {
	case !e.open() || base != e.gen:
		if g.token != "" || g.busy != 0 {
			t.Fatalf("of %v at %v, which is %s at %v: got %+v, want none", name, base, e.kind, e.gen, g)
		}
	case live && l.member != i || other:
		if g.token != "" || g.busy <= 0 || g.busy > ttlSeconds*time.Second {
			t.Fatalf("while another has it: got %+v, want it busy", g)
		}
	case live:
		if g.token != l.token {
			t.Fatalf("asked again: got token %s, want %s as before", g.token, l.token)
		}
		l.until = m.seconds + ttlSeconds
		m.leases[name] = l
	default:
		m.granted(t, i, name, g)
	}
}

// granted takes in a lease that has to be a new one.
func (m *machine) granted(t *rapid.T, member int, name string, g grant) {
	token, err := strconv.ParseUint(g.token, 10, 64)
	if err != nil || token <= m.token {
		t.Fatalf("got %+v, want a lease with a token above %d", g, m.token)
	}
	count := m.leases[name].count + 1
	if want := min(time.Second<<(count-1), longestHold); g.hold != want {
		t.Fatalf("lease %d of the generation: may go unused for %v, want %v", count, g.hold, want)
	}
	m.token = token
	m.leases[name] = modelLease{member: member, count: count, token: g.token, until: m.seconds + ttlSeconds}
}

func (m *machine) Renew(t *rapid.T) {
	_, w := m.member(t)
	name := tool(t)
	l, live := m.live(name)
	token := l.token
	if stale := rapid.Bool().Draw(t, "stale token"); stale || token == "" {
		token, live = "12", false
	}
	ttl := rapid.SampledFrom([]int{0, ttlSeconds}).Draw(t, "ttl")
	held, err := w.renew(m.ctx, time.Duration(ttl)*time.Second, []string{name, token})
	if err != nil {
		t.Fatal(err)
	}
	if held[0] != live {
		t.Fatalf("renewing %s: got %v, want %v", name, held[0], live)
	}
	if live {
		if l.until = m.seconds + ttl; ttl == 0 {
			l.until = 0
		}
		m.leases[name] = l
	}
}

func (m *machine) Pass(t *rapid.T) {
	m.seconds += rapid.SampledFrom([]int{3, 30}).Draw(t, "seconds")
}

// Publish offers one change, of any kind, based on anything.
func (m *machine) Publish(t *rapid.T) {
	i, w := m.member(t)
	m.serial++
	o := offer{serial: strconv.Itoa(m.serial), change: expediter.Change{
		Kind: rapid.SampledFrom([]expediter.ChangeKind{expediter.ChangeOpened, expediter.ChangeOpened, expediter.ChangeProbeFailed,
			expediter.ChangeClosed, expediter.ChangeForcedOpen, expediter.ChangeDisabled, expediter.ChangeReset,
			expediter.ChangeIncident, expediter.ChangeConfirmed}).Draw(t, "kind"),
		Text: fmt.Sprintf("text %d", m.serial)}}
	switch o.change.Kind {
	case expediter.ChangeIncident:
		o.change.Cause, o.change.Members = "network", modelTools[:rapid.IntRange(1, 3).Draw(t, "members")]
	case expediter.ChangeConfirmed:
	default:
		o.change.Tool = tool(t)
	}
	e := m.view.at(o.change.Tool)
	o.base = m.base(t, e)
	l, live := m.live(o.change.Tool)
	o.token = rapid.SampledFrom([]string{"", "12", l.token}).Draw(t, "token")
	var err error
	if o.json, err = writeChange(o.change); err != nil {
		t.Fatal(err)
	}
	verdicts, err := w.publish(m.ctx, m.epoch, []offer{o})
	if err != nil {
		t.Fatal(err)
	}
	holds := o.token != "" && o.token == l.token || o.token == "" && live && l.member == i
	want := m.accepts(o, e, holds)
	if v := verdicts[0]; v.accepted != want || v.full {
		t.Fatalf("%+v over %+v, lease %+v: got %+v, want accepted: %v", o, e, l, v, want)
	}
	if want {
		delete(m.leases, o.change.Tool)
	}
}

// accepts is the rule.
func (m *machine) accepts(o offer, e entry, holds bool) bool {
	switch o.change.Kind {
	case expediter.ChangeOpened:
		return e.kind == "" || e.plain() && e.gen == o.base
	case expediter.ChangeProbeFailed, expediter.ChangeClosed:
		return e.open() && holds
	case expediter.ChangeIncident:
		return e.kind != expediter.ChangeIncident && e.gen == o.base
	case expediter.ChangeConfirmed:
		return e.kind == expediter.ChangeIncident && e.gen == o.base
	}
	return true
}

// Check reads the log on, folds it, and compares that with what a joiner reads.
func (m *machine) Check(t *rapid.T) {
	w := m.members[0]
	entries, err := w.client.XRange(m.ctx, w.keys.log, "("+stdcmp.Or(m.view.last.String(), "0-0"), "+").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range entries {
		e, err := parseTold(x.ID, x.Values)
		if err != nil || e.prev != m.view.last {
			t.Fatalf("%+v: %v; it follows %v, want %v", x, err, e.prev, m.view.last)
		}
		m.view.last = e.at
		m.view.fold(e)
	}
	found, err := w.join(m.ctx, "m0", "another")
	if err != nil {
		t.Fatal(err)
	}
	got := read(found, w.o, func(where string, err error) { t.Fatalf("%s: %v", where, err) })
	m.forget(t, got)
	m.view.epoch = got.epoch
	if diff := cmp.Diff(m.view, got, cmp.AllowUnexported(view{}, entry{}, place{})); diff != "" {
		t.Fatalf("the fold of the log, and what a joiner reads (-fold +joiner):\n%s", diff)
	}
}

// forget drops the tools that were closed longest ago from the model, as many as
// Redis does.
func (m *machine) forget(t *rapid.T, got view) {
	var closed []string
	for name, e := range m.view.tools {
		if e.plain() {
			closed = append(closed, name)
		}
	}
	slices.SortFunc(closed, func(a, b string) int {
		if m.view.tools[a].gen.before(m.view.tools[b].gen) {
			return -1
		}
		return 1
	})
	for _, name := range closed[:max(len(closed)-1, 0)] {
		if _, kept := got.tools[name]; kept && m.view.tools[name].gen.ms != m.view.tools[closed[len(closed)-1]].gen.ms {
			t.Fatalf("%s is kept, though it closed before another, and one is to be kept", name)
		} else if kept { // of one millisecond, any may go
			delete(m.view.tools, closed[len(closed)-1])
			return
		}
		delete(m.view.tools, name)
	}
}

func TestScriptsModel(t *testing.T) {
	t.Parallel()
	client := redistest.Start(t).Client()
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		m := newMachine(rt, t.Context(), client, fmt.Sprintf("run%d", runs))
		rt.Repeat(map[string]func(*rapid.T){
			"": m.Check, "acquire": m.Acquire, "acquire again": m.Acquire, "renew": m.Renew, "pass": m.Pass, "publish": m.Publish, "publish more": m.Publish,
		})
	})
}
