package sonybreaker

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// DefaultLease is how long a trial may take: the engine's own probe_ttl_ms.
const DefaultLease = breaker.DefaultProbeTTLMS * time.Millisecond

// Config is what a guard needs beside its breaker. It is validated once. Its
// funcs may be called concurrently and must not panic.
type Config struct {
	Engine *expediter.Engine // hears of every change of state through External
	Tool   string            // the tool's name in the engine
	Step   func() int64      // the agent's step now; nil: expediter.NoStep
	Now    func() time.Time  // times the lease, and what the engine hears; nil: time.Now
	Lease  time.Duration     // a trial that is not done by then is given up; 0: DefaultLease
}

// Guard is a gobreaker in front of one tool. It is an executor.Guard, and safe
// for concurrent use. Make one with New, Over or Observe.
//
// Where gobreaker lets MaxRequests trials through at once, the guard lets one.
// A trial that is not done when its lease ends is given up at the next Allow,
// which takes its place; what it says later is dropped. gobreaker cannot be
// reset, so the guard ends the trial in its stead, with ErrTrialLost: a breaker
// of New leaves that uncounted, and so does any whose IsExcluded is Ignored, or
// asks it. Any other breaker counts it as a failed trial and opens again.
type Guard struct {
	cfg     Config
	breaker twoStep
	verdict func(error) error // what the breaker is told of a call's error; asked outside mu
	changed func(from, to gobreaker.State)
	shared  bool // others call the breaker too, so its state is looked at

	mu     sync.Mutex
	now    moment           // of what is being done
	before gobreaker.Counts // before the call's end that is being told; else zero
	state  gobreaker.State
	gen    uint64 // counts the changes of state
	trial  *call  // under way; nil: none
	queue  queue
}

// twoStep is the part of a gobreaker that a guard uses.
type twoStep interface {
	Allow() (done func(error), err error)
	State() gobreaker.State
	Counts() gobreaker.Counts
}

// call is one call that the breaker let through.
type call struct {
	done  func(error) // the breaker's own
	since time.Time
	gen   uint64
	over  bool // its end was told
}

// moment is when something is done.
type moment struct {
	step int64
	at   time.Time
}

// Refusal is the error of a call that the breaker did not let through. It is
// never a failure of the tool. errors.Is finds gobreaker.ErrOpenState or
// gobreaker.ErrTooManyRequests in it, and expediter.ErrNotCalled.
type Refusal struct {
	Tool   string
	Reason error
}

// Error says what to do next.
func (r *Refusal) Error() string {
	if errors.Is(r.Reason, gobreaker.ErrTooManyRequests) {
		return fmt.Sprintf("gobreaker has a trial of %.64q under way; take its route until the trial is done", r.Tool)
	}
	return fmt.Sprintf("gobreaker is open for %.64q; take its route until a trial is due", r.Tool)
}

// Unwrap returns gobreaker's error.
func (r *Refusal) Unwrap() error { return r.Reason }

// Is reports whether target is expediter.ErrNotCalled.
func (r *Refusal) Is(target error) bool { return target == expediter.ErrNotCalled }

// Over puts a guard over a breaker that the program has, and may go on to use
// besides. The engine then hears of a change of state at the guard's next Allow,
// done or Look. A trial that another caller took and does not end holds its
// place for good: nothing but its own done frees it.
func Over[T any](b *gobreaker.TwoStepCircuitBreaker[T], cfg Config) (*Guard, error) {
	if b == nil {
		return nil, errNoBreaker
	}
	return over(b, cfg)
}

var errNoBreaker = errors.New("sonybreaker: the breaker is nil; make it before its guard")

func over(b twoStep, cfg Config) (*Guard, error) {
	return start(&Guard{cfg: cfg, breaker: b, shared: true, verdict: func(err error) error { return err }})
}

// start validates the config and tells the engine where the breaker stands.
func start(g *Guard) (*Guard, error) {
	var errs []error
	if g.cfg.Engine == nil {
		errs = append(errs, errors.New("sonybreaker: Engine is nil; make one with expediter.New"))
	}
	if g.cfg.Tool == "" {
		errs = append(errs, errors.New("sonybreaker: Tool is empty; give the name that the engine knows the tool by"))
	}
	if g.cfg.Lease < 0 {
		errs = append(errs, fmt.Errorf("sonybreaker: Lease %v is below zero; give 0 for %v", g.cfg.Lease, DefaultLease))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	g.cfg.Lease = cmp.Or(g.cfg.Lease, DefaultLease)
	if g.cfg.Step == nil {
		g.cfg.Step = func() int64 { return expediter.NoStep }
	}
	if g.cfg.Now == nil {
		g.cfg.Now = time.Now
	}
	g.state = g.breaker.State()
	now := g.moment()
	if err := g.cfg.Engine.External(g.cfg.Tool, states[g.state], "gobreaker", now.step, now.at); err != nil {
		return nil, fmt.Errorf("sonybreaker: %w", err)
	}
	return g, nil
}

// Allow asks the breaker for one call. done is to be called once with the
// call's error, nil if the tool worked, after the call is recorded with the
// engine; further calls of it do nothing. A *Refusal says that the call must
// not be made.
func (g *Guard) Allow() (done func(error), err error) {
	c, err := g.admit(g.moment())
	delivered := false
	defer func() {
		if c != nil && !delivered { // an observer panicked: nobody will make this call
			g.end(c, ErrTrialLost, g.moment())
		}
	}()
	g.deliver()
	delivered = true
	if err != nil {
		return nil, &Refusal{Tool: g.cfg.Tool, Reason: err}
	}
	return func(err error) {
		g.end(c, g.verdict(err), g.moment())
		g.deliver()
	}, nil
}

// Look tells the engine where a breaker stands that others call too. Looking is
// like asking: a gobreaker whose Timeout has passed becomes half-open. It must
// not be called from the breaker's own funcs, which run under the guard's lock.
func (g *Guard) Look() {
	g.seen(g.moment())
	g.deliver()
}

func (g *Guard) seen(now moment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.beginLocked(now)
	g.lookLocked()
}

func (g *Guard) moment() moment { return moment{g.cfg.Step(), g.cfg.Now()} }

// admit is Allow without its words. mu is held while gobreaker works, so that
// the state after it is the one that it decided in.
func (g *Guard) admit(now moment) (*call, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.beginLocked(now)
	if g.trial != nil && g.heldLocked() {
		return nil, gobreaker.ErrTooManyRequests
	}
	done, err := g.breaker.Allow()
	if !errors.Is(err, gobreaker.ErrOpenState) {
		g.lookLocked()
	} else if g.state != gobreaker.StateOpen {
		g.sawLocked(g.state, gobreaker.StateOpen)
	}
	if err != nil {
		return nil, err
	}
	c := &call{done: done, since: now.at, gen: g.gen}
	if g.state == gobreaker.StateHalfOpen {
		g.trial = c
	}
	return c, nil
}

// beginLocked is the start of whatever is done.
func (g *Guard) beginLocked(now moment) { g.now, g.before = now, gobreaker.Counts{} }

// heldLocked reports whether a trial keeps others out. One whose lease is over
// is given up.
func (g *Guard) heldLocked() bool {
	g.lookLocked()
	if g.trial.gen != g.gen { // others have ended the trials
		g.trial = nil
		return false
	}
	if g.now.at.Sub(g.trial.since) < g.cfg.Lease {
		return true
	}
	g.endLocked(g.trial, ErrTrialLost)
	return false
}

// end tells the breaker of a call's end, once.
func (g *Guard) end(c *call, err error, now moment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.beginLocked(now)
	g.endLocked(c, err)
}

func (g *Guard) endLocked(c *call, err error) {
	if c.over {
		return
	}
	c.over = true
	if g.trial == c {
		g.trial = nil
	}
	if !g.shared && c.gen != g.gen {
		return // of an older generation; asking gobreaker could make it half-open
	}
	g.before = g.breaker.Counts()
	c.done(err)
	g.lookLocked()
}

// lookLocked sees what others have made of the breaker.
func (g *Guard) lookLocked() {
	if !g.shared {
		return
	}
	if is := g.breaker.State(); is != g.state {
		g.sawLocked(g.state, is)
	}
}
