package expediter_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// store is the model of what a fleet's members share: a log in one order, what it
// folds to, and the leases. integration/redisfleet keeps the same in Redis.
type store struct {
	log    []entry
	tools  map[string]*shared // and what stands of incidents, under ""
	tokens int
	leases map[string]lease
}

type entry struct {
	from int
	gen  int
	c    expediter.Change
}

type shared struct {
	gen  int
	last expediter.Change // what made it what it is
}

func (s *shared) closed() bool {
	return s.last.Kind == "" || s.last.Kind == expediter.ChangeClosed || s.last.Kind == expediter.ChangeReset
}

func (s *shared) open() bool {
	return s.last.Kind == expediter.ChangeOpened || s.last.Kind == expediter.ChangeProbeFailed
}

type lease struct {
	from, token int
	until       int64
}

// publish accepts a change, or refuses it with what stands instead.
func (s *store) publish(from int, c expediter.Change, base, token int, now int64) (ok bool, instead *shared) {
	t := s.tools[c.Tool]
	if t == nil {
		t = &shared{}
		s.tools[c.Tool] = t
	}
	switch c.Kind {
	case expediter.ChangeOpened:
		ok = t.closed() && base == t.gen
	case expediter.ChangeProbeFailed, expediter.ChangeClosed:
		l := s.leases[c.Tool]
		if ok = t.open() && token != 0 && l.token == token && now < l.until; ok {
			delete(s.leases, c.Tool)
		}
	case expediter.ChangeIncident:
		ok = t.last.Kind != expediter.ChangeIncident && base == t.gen
	case expediter.ChangeConfirmed:
		ok = t.last.Kind == expediter.ChangeIncident
	default:
		ok = true
	}
	if !ok {
		return false, t
	}
	t.gen++
	t.last = c
	s.log = append(s.log, entry{from, t.gen, c})
	return true, nil
}

// acquire gives a lease to one member at a time, of a tool or of those that are
// tried one after the other, if the member has read all about the tool.
func (s *store) acquire(from, known int, w expediter.Want, now, ttl int64) (token int, ok bool) {
	for _, name := range append([]string{w.Tool}, w.With...) {
		if l := s.leases[name]; now < l.until {
			return 0, false
		}
	}
	if t := s.tools[w.Tool]; t == nil || !t.open() || t.gen != known {
		return 0, false
	}
	s.tokens++
	s.leases[w.Tool] = lease{from, s.tokens, now + ttl}
	return s.tokens, true
}

// member is one engine with its connection to the store.
type member struct {
	id      int
	x       *expediter.Engine
	pos     int // in the log
	out     []expediter.Change
	wants   []expediter.Want
	known   map[string]int  // generations read
	sent    map[string]int  // generations made by own changes
	crossed map[string]bool // another's change came while an own one was under way
	tokens  map[string]int
	calls   []made
}

type made struct {
	tool string
	d    expediter.Decision
}

const leaseMS = 2000

func newMember(t *rapid.T, id int, now time.Time) *member {
	m := &member{id: id, known: map[string]int{}, sent: map[string]int{}, crossed: map[string]bool{}, tokens: map[string]int{}}
	x, err := expediter.New(expediter.Config{Policy: expediter.Policy{Budget: 1000}, Tools: tools("a", "b", "c")})
	if err != nil {
		t.Fatal(err)
	}
	m.x = x
	x.Share(expediter.Fleet{Mode: expediter.FleetLeased,
		Changed: func(c expediter.Change) { m.out = append(m.out, c) },
		Wanted:  func(w expediter.Want) { m.wants = append(m.wants, w) },
	}, expediter.NoStep, now)
	return m
}

// send publishes the oldest change of the member.
func (m *member) send(t *rapid.T, s *store, now int64) {
	c := m.out[0]
	m.out = m.out[1:]
	ok, instead := s.publish(m.id, c, max(m.known[c.Tool], m.sent[c.Tool]), m.tokens[c.Tool], now)
	if ok {
		m.sent[c.Tool] = s.tools[c.Tool].gen
	}
	if !ok && c.Tool != "" && instead.gen == m.known[c.Tool] { // else the log brings what there is to know
		m.adopt(t, instead.last, now)
	}
}

func (m *member) adopt(t *rapid.T, c expediter.Change, now int64) {
	if _, err := m.x.Adopt(c, expediter.NoStep, time.UnixMilli(now)); err != nil {
		t.Fatal(err)
	}
}

// read takes in the next entry of the log.
func (m *member) read(t *rapid.T, s *store, now int64) {
	e := s.log[m.pos]
	m.pos++
	m.known[e.c.Tool] = e.gen
	foreign := e.from != m.id
	if foreign && m.underWay(e.c.Tool) {
		m.crossed[e.c.Tool] = true
	}
	// Its own entry is what it knows, unless another's came before it.
	if foreign || m.crossed[e.c.Tool] {
		m.adopt(t, e.c, now)
	}
	if !m.underWay(e.c.Tool) {
		delete(m.crossed, e.c.Tool)
	}
}

// underWay reports whether own changes of a tool have not come back in the log.
func (m *member) underWay(tool string) bool {
	return m.sent[tool] > m.known[tool] || slices.ContainsFunc(m.out, func(c expediter.Change) bool { return c.Tool == tool })
}

// world is a whole fleet.
type world struct {
	now int64
	s   *store
	all []*member
}

func (w *world) at() time.Time { return time.UnixMilli(w.now) }

func (w *world) anyone(t *rapid.T) *member {
	return w.all[rapid.IntRange(0, len(w.all)-1).Draw(t, "member")]
}

var (
	anyOf     = rapid.SampledFrom([]string{"a", "b", "c"})
	anyReason = rapid.SampledFrom([]cascade.Category{cascade.Upstream, cascade.Upstream, cascade.Network})
)

// TestFleetModel: whatever the order in which members decide, publish and read,
// no trial is made but under a lease that holds, one member holds it, and once
// all have read everything they see the same.
func TestFleetModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{now: 1_000_000, s: &store{tools: map[string]*shared{}, leases: map[string]lease{}}}
		for id := range rapid.IntRange(2, 4).Draw(t, "members") {
			w.all = append(w.all, newMember(t, id, w.at()))
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { oneTrial(t, w.all, w.now) },
			"time": func(t *rapid.T) {
				w.now += rapid.SampledFrom([]int64{1, 300, 1500, 2500, 31_000}).Draw(t, "ms")
			},
			"decide": func(t *rapid.T) { w.decide(t, w.anyone(t), anyOf.Draw(t, "tool")) },
			"break":  w.breakTool,
			"try":    w.try,
			"record": w.record,
			"publish": func(t *rapid.T) {
				if m := w.anyone(t); len(m.out) > 0 {
					m.send(t, w.s, w.now)
				}
			},
			"read": func(t *rapid.T) {
				if m := w.anyone(t); m.pos < len(w.s.log) {
					m.read(t, w.s, w.now)
				}
			},
			"read all": func(t *rapid.T) {
				for m := w.anyone(t); m.pos < len(w.s.log); {
					m.read(t, w.s, w.now)
				}
			},
			"lease": w.lease,
			"confirm": func(t *rapid.T) {
				_, _ = w.anyone(t).x.ConfirmRecovery("looked", expediter.NoStep, w.at()) // often there is none
			},
			"reset": func(t *rapid.T) {
				if err := w.anyone(t).x.Reset(anyOf.Draw(t, "tool"), "mended", expediter.NoStep, w.at()); err != nil {
					t.Fatal(err)
				}
			},
			"force open": func(t *rapid.T) {
				if err := w.anyone(t).x.ForceOpen("c", "maintenance", expediter.NoStep, w.at()); err != nil {
					t.Fatal(err)
				}
			},
		})
		converge(t, w.s, w.all, w.now)
	})
}

func (w *world) decide(t *rapid.T, m *member, tool string) (called bool) {
	d := m.x.Decide(tool, expediter.NoStep, w.at())
	if l := w.s.leases[tool]; d.Verb == expediter.Probe && (l.from != m.id || w.now >= l.until) {
		t.Fatalf("member %d tries %s at %d under no lease: %+v", m.id, tool, w.now, l)
	}
	if d.Call != 0 {
		m.calls = append(m.calls, made{tool, d})
	}
	return d.Call != 0
}

// breakTool is three failures in a row.
func (w *world) breakTool(t *rapid.T) {
	m, tool, category := w.anyone(t), anyOf.Draw(t, "tool"), anyReason.Draw(t, "category")
	for range 3 {
		if d := m.x.Decide(tool, expediter.NoStep, w.at()); d.Verb == expediter.Call {
			_, _ = m.x.Record(d.Call, expediter.Failure(category, "broken"), expediter.NoStep, w.at())
		} else if d.Call != 0 {
			m.calls = append(m.calls, made{tool, d})
		}
	}
}

// try asks until there is a trial, or one is wanted.
func (w *world) try(t *rapid.T) {
	m, tool := w.anyone(t), anyOf.Draw(t, "tool")
	for range 4 {
		if w.decide(t, m, tool) {
			return
		}
	}
}

func (w *world) record(t *rapid.T) {
	m := w.anyone(t)
	if len(m.calls) == 0 {
		t.Skip()
	}
	c := m.calls[0]
	m.calls = m.calls[1:]
	o := expediter.Failure(anyReason.Draw(t, "category"), "broken")
	switch rapid.IntRange(0, 3).Draw(t, "outcome") {
	case 0:
		o = expediter.Success()
	case 1:
		o = expediter.Ignored()
	}
	if _, err := m.x.Record(c.d.Call, o, expediter.NoStep, w.at()); err != nil {
		t.Fatal(err)
	}
}

// lease grants the oldest wish of a member, if it may be.
func (w *world) lease(t *rapid.T) {
	m := w.anyone(t)
	if len(m.wants) == 0 {
		t.Skip()
	}
	want := m.wants[0]
	m.wants = m.wants[1:]
	token, ok := w.s.acquire(m.id, m.known[want.Tool], want, w.now, leaseMS)
	if !ok {
		return
	}
	m.tokens[want.Tool] = token
	if err := m.x.Lease(want.Tool, time.UnixMilli(w.now+leaseMS), expediter.NoStep, w.at()); err != nil {
		t.Fatal(err)
	}
}

// oneTrial is the invariant of the lease.
func oneTrial(t *rapid.T, all []*member, now int64) {
	held := map[string]int{}
	for _, m := range all {
		for _, row := range m.x.Status().Tools {
			if row.Leased > now && row.State != breaker.Closed {
				held[row.Tool]++
			}
		}
	}
	for tool, n := range held {
		if n > 1 {
			t.Fatalf("%d engines may make the trial of %s", n, tool)
		}
	}
}

// converge lets everything be published and read, and compares what all see.
func converge(t *rapid.T, s *store, all []*member, now int64) {
	for busy, n := true, 0; busy; n++ {
		if n > 1000 {
			t.Fatal("the members never come to rest")
		}
		busy = false
		for _, m := range all {
			for len(m.out) > 0 {
				m.send(t, s, now)
				busy = true
			}
			for m.pos < len(s.log) {
				m.read(t, s, now)
				busy = true
			}
		}
	}
	var views []string
	for _, m := range all {
		st := m.x.Status()
		view := st.Paused.String()
		slices.SortFunc(st.Tools, func(a, b expediter.ToolStatus) int { return int(a.Tool[0]) - int(b.Tool[0]) })
		for _, row := range st.Tools {
			view += fmt.Sprintf(" %s:%v/%v", row.Tool, row.State == breaker.Closed, row.Forced)
		}
		views = append(views, view)
	}
	for i, v := range views {
		if v != views[0] {
			t.Fatalf("member %d sees %q, member 0 %q; log %v", i, v, views[0], s.log)
		}
	}
}
