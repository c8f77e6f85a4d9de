package mcpproxy

import (
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/report/freshness"
)

// client is one downstream session: an engine of its own, its cycle and its
// plan. It is safe for concurrent use. Make one with newClient.
type client struct {
	p        *Proxy
	id       string
	human    human
	engine   *expediter.Engine
	policy   expediter.Policy  // effective
	facts    map[string]*facts // by map entry; see factsOf
	fresh    *freshness.Tracker
	journal  *journal  // nil: none
	mirrored *mirrored // nil: not in a store
	fleet    *place    // nil: in none

	outages sync.Map     // *upstream to *outage
	shown   sync.Map     // *upstream to the *login whose address the human was shown last
	busy    atomic.Int64 // calls under way
	used    atomic.Int64 // when one was last decided or ended, in milliseconds
	changed atomic.Int64 // counts what rows depend on
	rows    rows
	asked   inquiry
	plan    plan
	told    history
}

// facts are what the map says of a tool.
type facts struct {
	capability.Entry
	rules classify.Rules
}

// noFacts are those of a tool that the map does not have.
var noFacts facts

// checkDecisions says what of the config no decision can be made by.
func checkDecisions(cfg Config) error {
	_, err := expediter.New(engineConfig(cfg))
	return err
}

// engineConfig has an entry for the connection to each server beside those of the
// map: a lost one is an outage of its tools, and its return the good probe after
// which they are due.
func engineConfig(cfg Config) expediter.Config {
	tools := cfg.Tools.Clone()
	for _, s := range cfg.Servers {
		key := connectionKey(s.Name)
		if _, ok := tools.Lookup(key); !ok && !s.Disabled {
			tools = append(tools, capability.Entry{Tool: key, Provides: "the connection to the server"})
		}
	}
	policy := cfg.Policy
	if policy == (expediter.Policy{}) {
		policy = expediter.Interactive()
	}
	return expediter.Config{Tools: tools, Policy: policy, Strict: cfg.Strict, Stepless: true}
}

// newClient is a client that has done nothing yet. A config that checkDecisions
// refuses gives one whose map is empty.
func (p *Proxy) newClient(id string, h human) *client {
	c := &client{p: p, id: id, human: h}
	now := c.now()
	c.fresh = freshness.NewTracker(now, 0)
	c.used.Store(now.UnixMilli())
	c.journal = newJournal(p.env, id, now, c.log())
	cfg := engineConfig(p.cfg)
	c.mirrored = p.keeper.keep(c, h.client, cfg)
	c.facts = factsOf(cfg.Tools)
	cfg.Events = c.events()
	var err error
	if c.engine, err = expediter.New(cfg); err != nil {
		c.log().Error("the map or the policy cannot be used; deciding without a map", zap.Error(err))
		c.facts = nil
		c.engine, _ = expediter.New(expediter.Config{Policy: expediter.Interactive(), Stepless: true, Events: c.events()})
	}
	c.policy = c.engine.Status().Policy
	c.fleet = p.joinFleet(c.engine)
	c.mirrored.begin()
	return c
}

func (c *client) events() expediter.Events {
	ev := expediter.Events{
		Transition: func(expediter.Transition) { c.changed.Add(1) },
		Incident:   c.incident,
	}
	switch {
	case c.journal != nil && c.mirrored != nil:
		ev.Journal = func(e *expediter.Event) {
			c.journal.event(e)
			c.mirrored.event(e)
		}
	case c.journal != nil:
		ev.Journal = c.journal.event
	case c.mirrored != nil:
		ev.Journal = c.mirrored.event
	}
	return ev
}

func (c *client) incident(e expediter.IncidentEvent) {
	c.changed.Add(1)
	c.told.incident(e)
}

// factsOf makes the entries of a map ready. Rules that do not compile are none:
// the map was read by who would have said so.
func factsOf(m capability.Map) map[string]*facts {
	all := make(map[string]*facts, len(m))
	for _, e := range m {
		f := &facts{Entry: e}
		rules := make([]classify.Rule, len(e.Classify))
		for i, r := range e.Classify {
			rules[i] = classify.Rule(r)
		}
		if len(rules) > 0 {
			f.rules, _ = classify.Compile(rules)
		}
		all[e.Tool] = f
	}
	return all
}

// factsOf is what the map says of a tool, or of the server that it is of.
func (c *client) factsOf(key string) *facts {
	if name, ok := capability.Nearest(c.facts, key); ok {
		return c.facts[name]
	}
	return &noFacts
}

func (c *client) now() time.Time { return c.p.env.Now() }

func (c *client) log() *zap.Logger { return c.p.log }

// begin says that a call begins, and leave that it has ended. The first after an
// idle gap begins a cycle, since whoever works with the client has turned to
// something else; unless the budget is exhausted: then only the human does.
func (c *client) begin(at time.Time) {
	now := at.UnixMilli()
	last := c.used.Swap(now)
	if c.busy.Add(1) > 1 || now-last < c.p.cfg.Proxy.IdleGap.Milliseconds() {
		return
	}
	if st := c.engine.Status(); !exhausted(st) && len(st.Charges) > 0 {
		c.engine.BeginCycle(expediter.NoStep, at)
		c.changed.Add(1)
	}
}

func (c *client) leave() {
	c.used.Store(c.now().UnixMilli())
	c.busy.Add(-1)
}

// exhausted reports whether the failure budget is spent, whatever else pauses.
func exhausted(st expediter.Status) bool {
	return st.Limit >= 0 && st.Consumed >= st.Limit
}

// close ends the session. Calls that are still under way may end after it.
func (c *client) close() {
	c.p.leaveFleet(c.fleet)
	c.journal.close()
	c.mirrored.close()
}
