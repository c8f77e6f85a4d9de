package expediter

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// Config makes an engine. It is validated once and copied.
type Config struct {
	Tools           capability.Map
	Policy          Policy // zero: Faithful; zero fields: their defaults
	Strict          bool   // SKIP tools that nobody declared
	UserUnavailable bool   // nobody can do a manual fallback
	Stepless        bool   // the caller passes NoStep: pacing by steps is an error
	MaxTools        int    // undeclared tools held at once; 0: DefaultMaxTools
	Events          Events
	// Continued: the journal of the snapshot goes on. Restore then tells no start
	// event, and the next event has the next number. Without meaning for New.
	Continued bool
	// Replay accepts probe.max below probe.every, as replay asks (SPEC 14).
	Replay bool
}

// DefaultMaxTools bounds the tools that a non-strict engine learns by itself.
const DefaultMaxTools = 10_000

// maxTools and maxSeq are what a call's id has bits for.
const (
	maxTools = 1 << idxBits
	maxSeq   = 1 << (64 - idxBits)
)

// Engine decides before every call and learns from what came of it. It is safe
// for concurrent use. Make one with New or Restore.
//
// A CALL on a healthy tool, and its success, take no lock (see fast.go). All
// else goes through mu, which guards every field below it.
type Engine struct {
	cfg    Config // validated, policy effective
	events Events
	perOp  bool // an observer sees every call

	names atomic.Pointer[map[string]*tool] // published tools by name; see table.go
	tools atomic.Pointer[[]*tool]          // by idx; nil where evicted
	gate  atomic.Bool                      // the fast path is open
	fleet atomic.Pointer[Fleet]            // nil: none
	clock clock
	seq   atomic.Uint64 // the number of the last call
	ring  *ring

	mu         sync.Mutex
	table      table
	detector   cascade.Detector
	ledger     *budget.Ledger
	special    map[CallID]callInfo
	burnt      uint64      // numbers that were drawn and not issued
	active     *incident   // at most one
	live       []*incident // active and recovering, oldest first
	hot        []*tool     // tools that are not CLOSED, or whose latest outcome is a failure
	views      []cascade.View
	scores     map[string]capability.Score // of tools that are not in the table yet
	observe    bool
	observeW   string
	suspect    *SystemicOutput
	unverified []Unverified // oldest first
	paused     Reason       // as last told to observers
	counts     Counts
	routes     routeRing
	fleetMode  FleetMode
	quick      bool // quickSkip may answer
	eventSeq   uint64
	cur        op // the event being applied
	queue      queue
}

// New makes an engine, or reports everything that is wrong with cfg.
func New(cfg Config) (*Engine, error) {
	x, err := build(cfg)
	if err != nil {
		return nil, err
	}
	x.start(nil)
	return x, nil
}

func build(cfg Config) (*Engine, error) {
	cfg.Policy = cfg.Policy.Over(Faithful())
	cfg.Tools = cfg.Tools.Clone()
	if cfg.MaxTools == 0 {
		cfg.MaxTools = DefaultMaxTools
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	ledger, err := budget.New(cfg.Policy.Budget, cfg.Policy.ChargePerTool)
	if err != nil {
		return nil, err
	}
	x := &Engine{
		cfg:     cfg,
		events:  cfg.Events,
		perOp:   cfg.Events.Journal != nil || cfg.Events.Decided != nil || cfg.Events.Recorded != nil,
		ring:    newRing(),
		ledger:  ledger,
		special: map[CallID]callInfo{},
		scores:  map[string]capability.Score{},
		detector: cascade.Detector{
			Window:   cascade.Window{Steps: max(cfg.Policy.Cascade.WindowSteps, 0), MS: max(cfg.Policy.Cascade.WindowMS, 0)},
			MinTools: cfg.Policy.Cascade.MinTools,
		},
	}
	x.declare(cfg.Tools)
	x.publishGate()
	return x, nil
}

func (c *Config) validate() error {
	var errs []error
	if err := c.Tools.Validate(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, prefixed("policy: ", c.Policy.Validate(!c.Replay))...)
	mentioned := c.Tools.Mentioned()
	for _, n := range mentioned {
		if toolName(n) != n {
			errs = append(errs, fmt.Errorf("tool %.64q: a name is at most %d bytes of UTF-8", n, maxName))
		}
	}
	if c.MaxTools < 1 || c.MaxTools > maxTools/2 || len(mentioned) > maxTools/2 {
		errs = append(errs, fmt.Errorf("tools: %d mentioned and max_tools %d; at most %d each, and max_tools at least 1", len(mentioned), c.MaxTools, maxTools/2))
	}
	stepless := func(path string, p Policy) {
		if c.Stepless && p.Probe.Unit == breaker.Steps {
			errs = append(errs, fmt.Errorf("%s: probe.unit is steps, but this caller has none; use attempts or time", path))
		}
	}
	stepless("policy", c.Policy)
	for i, e := range c.Tools {
		if e.Policy == (breaker.Policy{}) {
			continue // the engine's own
		}
		p, path := e.Policy.Over(c.Policy.Policy), fmt.Sprintf("Tools[%d] %q", i, e.Tool)
		for _, err := range prefixed("policy: ", p.Validate(!c.Replay)) {
			if !said(errs, err) { // of the engine's policy
				errs = append(errs, fmt.Errorf("%s: %w", path, err))
			}
		}
		stepless(path, Policy{Policy: p})
	}
	return errors.Join(errs...)
}

// prefixed puts a path before each of the errors that err joins.
func prefixed(path string, err error) []error {
	var errs []error
	switch joined, ok := err.(interface{ Unwrap() []error }); {
	case ok:
		for _, e := range joined.Unwrap() {
			errs = append(errs, prefixed(path, e)...)
		}
	case err != nil:
		errs = append(errs, fmt.Errorf("%s%w", path, err))
	}
	return errs
}

func said(errs []error, err error) bool {
	return slices.ContainsFunc(errs, func(e error) bool { return e.Error() == err.Error() })
}

// start is the journal's first event.
func (x *Engine) start(snapshot *Snapshot) {
	if x.events.Journal == nil || snapshot != nil && x.cfg.Continued {
		return
	}
	x.mu.Lock()
	x.begin(OpStart, 0, 0)
	if ev := x.cur.ev; ev != nil {
		ev.Step, ev.At = x.clock.now()
		ev.Start = &Start{
			Format: JournalFormat, Policy: x.cfg.Policy, Strict: x.cfg.Strict, NoUser: x.cfg.UserUnavailable,
			Stepless: x.cfg.Stepless, MaxTools: x.cfg.MaxTools, Replay: x.cfg.Replay, Map: x.cfg.Tools, Snapshot: snapshot,
		}
	}
	x.finish()
	x.mu.Unlock()
	x.deliver()
}

// JournalFormat is the version of the events that this package writes.
const JournalFormat = 1

// millis turns a caller's time into milliseconds; the zero time, like any
// before 1970, is 0.
func millis(at time.Time) int64 {
	return max(at.UnixMilli(), 0)
}

// clock is the latest step and time seen. It only goes forward.
type clock struct {
	step, at atomic.Int64
}

func (c *clock) now() (step, at int64) { return c.step.Load(), c.at.Load() }

// advance moves the clock and returns what the event's step and time read as.
func (c *clock) advance(step, at int64) (int64, int64) {
	return raise(&c.step, step), raise(&c.at, at)
}

// raise makes v at least n and returns it.
func raise(v *atomic.Int64, n int64) int64 {
	for {
		seen := v.Load()
		if n <= seen {
			return seen
		}
		if v.CompareAndSwap(seen, n) {
			return n
		}
	}
}
