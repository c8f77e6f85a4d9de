package proof

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/replay"
	"github.com/expediter-go/expediter/integration/redisfleet"
)

// memberConfig is what a member is started with.
type memberConfig struct {
	Redis, Tools string // addresses
	Name         string
	Journal      string // a file; empty: none
	Work         []string
	Pause        time.Duration // of a worker between two calls
	ProbeEvery   time.Duration
	Calls        int // all workers rest after so many calls in all; 0: never

	Scope                                   string // and the rest of redisfleet.Options
	LeaseTTL, LeaseHold, Timeout, BeatEvery time.Duration
}

func (c memberConfig) options() redisfleet.Options {
	return redisfleet.Options{Scope: c.Scope, Member: c.Name, LeaseTTL: c.LeaseTTL, LeaseHold: c.LeaseHold,
		Timeout: c.Timeout, BeatEvery: c.BeatEvery}
}

// report is a member's answer to each command.
type report struct {
	Connected   bool
	Tools       map[string]string // state
	Counts      expediter.Counts
	Fleet       redisfleet.Counts
	MaxDecideUS int64
	Resting     bool
	Began       time.Duration // of open: before the outcome that opens it
	Stamps      []stamp       // of dump
	Costs       []int64       // of dump: ns that a call's Decide and Record took together
	Error       string
}

// stamp is when a tool changed its state here.
type stamp struct {
	Tool, Change string // "CLOSED->OPEN"
	Own          bool   // not adopted
	At           time.Duration
	Wall         time.Time
}

// member is the process.
type member struct {
	cfg       memberConfig
	engine    *expediter.Engine
	fleet     *redisfleet.Fleet
	resting   atomic.Bool
	left      atomic.Int64
	maxDecide atomic.Int64

	mu     sync.Mutex
	stamps []stamp
	costs  []int64
}

// noCascade is so many tools that no common cause is found.
const noCascade = 1 << 10

// policyOf opens a tool after three failures and tries it on a fixed interval.
func policyOf(every time.Duration) expediter.Policy {
	return expediter.Policy{Budget: budget.Unlimited, Cascade: expediter.Cascade{MinTools: noCascade},
		Policy: breaker.Policy{FailureThreshold: 3, Probe: breaker.Pacing{Unit: breaker.Time, Every: every.Milliseconds(), Max: every.Milliseconds()}}}
}

func runMember(cfg memberConfig) error {
	m := &member{cfg: cfg}
	m.left.Store(int64(cfg.Calls))
	m.resting.Store(true)
	events := expediter.Events{Transition: m.moved}
	if cfg.Journal != "" {
		f, err := os.Create(cfg.Journal)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		events.Journal = replay.NewWriter(f).Event
	}
	var err error
	if m.engine, err = expediter.New(expediter.Config{Policy: policyOf(cfg.ProbeEvery), Events: events}); err != nil {
		return err
	}
	client := redis.NewClient(&redis.Options{Addr: cfg.Redis, ContextTimeoutEnabled: true, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	if m.fleet, err = redisfleet.Join(context.Background(), client, m.engine, cfg.options()); err != nil {
		return err
	}
	for _, tool := range cfg.Work {
		c, err := dialTools(cfg.Tools)
		if err != nil {
			return err
		}
		go m.work(tool, c)
	}
	return m.obey()
}

// obey does what the lines of the standard input say, until they end.
func (m *member) obey() error {
	out := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	if err := out.Encode(m.report()); err != nil {
		return err
	}
	for in.Scan() {
		what, tool, _ := strings.Cut(in.Text(), " ")
		if what == "leave" {
			return m.fleet.Close()
		}
		if err := out.Encode(m.obeyOne(what, tool)); err != nil {
			return err
		}
	}
	return in.Err()
}

func (m *member) obeyOne(what, tool string) report {
	var err error
	var began time.Duration
	switch what {
	case "work":
		m.resting.Store(false)
	case "rest":
		m.resting.Store(true)
	case "open":
		began, err = m.open(tool)
	case "succeed":
		err = m.succeed(tool, 10_000)
	case "reset":
		err = m.engine.Reset(tool, "", expediter.NoStep, time.Now())
	}
	r := m.report()
	r.Began = began
	if err != nil {
		r.Error = err.Error()
	}
	if what == "dump" {
		m.mu.Lock()
		r.Stamps, r.Costs, m.stamps, m.costs = m.stamps, m.costs, nil, nil
		m.mu.Unlock()
	}
	return r
}

func (m *member) report() report {
	s := m.engine.Status()
	f := m.fleet.Status()
	r := report{Connected: f.Connected && s.Fleet == expediter.FleetLeased, Tools: map[string]string{}, Counts: s.Counts, Fleet: f.Counts,
		MaxDecideUS: m.maxDecide.Load(), Resting: m.resting.Load()}
	for _, row := range s.Tools {
		r.Tools[row.Tool] = row.State.String()
		if row.State == breaker.HalfOpen {
			r.Tools[row.Tool] = breaker.Open.String() // for the fleet it is
		}
	}
	return r
}

// moved keeps the times of changes.
func (m *member) moved(t expediter.Transition) {
	s := stamp{t.Tool, t.From.String() + "->" + t.To.String(), !strings.HasSuffix(t.Why, "in the fleet"), monotonic(), time.Now()}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.stamps) < 1<<16 {
		m.stamps = append(m.stamps, s)
	}
}

// work calls one tool again and again, as its decisions say.
func (m *member) work(tool string, c *toolClient) {
	next := time.NewTicker(m.cfg.Pause)
	defer next.Stop()
	for range next.C {
		if m.resting.Load() {
			continue
		}
		began := time.Now()
		d := m.engine.Decide(tool, expediter.NoStep, began)
		decided := time.Since(began)
		m.decided(decided)
		if d.Verb != expediter.Call && d.Verb != expediter.Probe {
			continue
		}
		ok, err := c.call(tool, m.cfg.Name, d.Verb.String(), m.tag(tool, d.Verb))
		if err != nil {
			return // the tools are gone, and so is the test
		}
		outcome := expediter.Success()
		if !ok {
			outcome = expediter.Failure(cascade.Unknown, tool+" is down")
		}
		began = time.Now()
		if _, err := m.engine.Record(d.Call, outcome, expediter.NoStep, began); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		m.cost(decided + time.Since(began))
		if m.left.Add(-1) == 0 {
			m.resting.Store(true)
		}
	}
}

func (m *member) cost(took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.costs) < 1<<16 {
		m.costs = append(m.costs, took.Nanoseconds())
	}
}

func (m *member) decided(took time.Duration) {
	for us := took.Microseconds(); ; {
		most := m.maxDecide.Load()
		if us <= most || m.maxDecide.CompareAndSwap(most, us) {
			return
		}
	}
}

// tag says by which right a call is made.
func (m *member) tag(tool string, verb expediter.Verb) string {
	switch {
	case verb != expediter.Probe:
		return "-"
	case m.engine.Status().Fleet != expediter.FleetLeased: // the leases may not have been dropped yet
		return "alone"
	}
	for _, l := range m.fleet.Status().Leases {
		if l.Tool == tool {
			return l.Token
		}
	}
	return "alone"
}

// open makes calls of a tool fail until it opens, and says when the last one failed.
func (m *member) open(tool string) (time.Duration, error) {
	for {
		now := time.Now()
		d := m.engine.Decide(tool, expediter.NoStep, now)
		if d.Verb != expediter.Call {
			return 0, fmt.Errorf("%s: %v, not CALL", tool, d.Verb)
		}
		began := monotonic()
		r, err := m.engine.Record(d.Call, expediter.Failure(cascade.Unknown, tool+" is down"), expediter.NoStep, now)
		if err != nil || r.Opened {
			return began, err
		}
	}
}

// succeed makes calls that succeed.
func (m *member) succeed(tool string, n int) error {
	for range n {
		now := time.Now()
		if _, err := m.engine.Record(m.engine.Decide(tool, expediter.NoStep, now).Call, expediter.Success(), expediter.NoStep, now); err != nil {
			return err
		}
	}
	return nil
}
