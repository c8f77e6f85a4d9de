package redisfleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/expediter"
)

// Fleet is one engine's membership of a fleet. Its methods are safe for concurrent
// use. Make one with Join, and Close it.
//
// One goroutine, the loop, does all that touches the fleet's view, the leases and
// Redis; a second one waits for the log. The engine's callbacks only put into
// what mu guards and wake the loop. mu is never held during a call of the engine,
// of Redis or of a function of the user's.
type Fleet struct {
	engine  *expediter.Engine
	wire    *wire
	o       Options
	serials string // begins the serials of this Fleet's own changes
	wake    chan struct{}
	settles chan chan struct{} // closed when all that there was is done
	stop    context.CancelFunc
	joined  chan struct{} // closed when the fleet was reached first
	done    chan struct{} // closed when the loop has ended

	seen     place // the latest that the log or an answer has told of; the loop's own, as the next
	unread   place // where the log ended at a beat, and the latest here was before that
	unreadAt time.Time

	mu        sync.Mutex
	view      view                      // written by the loop alone, under mu
	leases    map[string]lease          // likewise
	live      bool                      // changes of tools are offered as they come
	outbox    []offer                   // in order
	unsettled map[string]string         // by tool, "" for the incident: the serial of the latest change whose verdict is not there
	wanted    map[string]expediter.Want // by tool
	flood     bool                      // a change found no room: the engine is compared with the view as a whole
	unshared  map[string]bool           // tools that the fleet had no room for
	count     uint64                    // of serials
	status    Status
	said      map[string]bool
	unlogged  []string // comments
}

// view is the fleet's state as far as this member has read it.
type view struct {
	epoch    string // empty: never read
	last     place  // the latest entry of the log
	tools    map[string]entry
	incident entry
	cycle    place
	members  int
}

// offer is a change that this engine came to, with what it was based on: the fleet
// accepts it if that still holds.
type offer struct {
	serial string
	change expediter.Change
	base   place  // the generation that the engine knew
	token  string // of the lease that the trial had
	json   string // as it travels
	after  string // the serial of this engine's own change that it builds on, if that is not settled yet
}

// about is what the change is about: a tool, or "" for the incident. ok is false
// for the shared budget, which has no generations.
func (f offer) about() (tool string, ok bool) { return f.change.Tool, !f.budget() }

// budget reports whether the change is one of the shared budget.
func (f offer) budget() bool {
	return f.change.Kind == expediter.ChangeCharged || f.change.Kind == expediter.ChangeCycle
}

const (
	maxOutbox   = 4096
	maxWanted   = 1024
	maxComments = 64
)

// Join makes the engine one of a fleet's, until Close. It waits for Redis until ctx
// is done, and no longer than Options.Timeout: then the engine begins alone and
// joins as soon as Redis is there. What is wrong with the options is an error. The
// client stays the caller's, who closes it after Close.
//
// What the fleet knows of a tool wins over what the engine has come to before.
// Controls given to the engine before are its own affair.
func Join(ctx context.Context, client redis.UniversalClient, engine *expediter.Engine, o Options) (*Fleet, error) {
	var errs []error
	if client == nil || engine == nil {
		errs = append(errs, errors.New("a client and an engine are needed"))
	}
	o, err := o.filled()
	known, err2 := o.Memory.view()
	if errs = append(errs, err, err2); errors.Join(errs...) != nil {
		return nil, fmt.Errorf("redisfleet: %w", errors.Join(errs...))
	}
	f := newFleet(client, engine, o, known)
	f.share(expediter.FleetAlone)
	living, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.stop = stop
	go f.run(living)
	wait := time.NewTimer(o.Timeout)
	defer wait.Stop()
	select {
	case <-f.joined:
	case <-ctx.Done():
	case <-wait.C:
	}
	return f, nil
}

func newFleet(client redis.UniversalClient, engine *expediter.Engine, o Options, known view) *Fleet {
	return &Fleet{
		engine: engine, wire: newWire(client, o), o: o, serials: rand.Text()[:12] + "-",
		wake: make(chan struct{}, 1), settles: make(chan chan struct{}), joined: make(chan struct{}), done: make(chan struct{}),
		view: known, leases: map[string]lease{}, unsettled: map[string]string{}, wanted: map[string]expediter.Want{}, unshared: map[string]bool{}, said: map[string]bool{},
		status: Status{Scope: o.Scope, Member: o.Member, Since: o.Now(), Why: "not reached yet"},
	}
}

// Close leaves the fleet: what is waiting is offered, leases are given back, and
// the engine goes on by itself. It waits no longer than about twice
// Options.Timeout. It must not be called from an observer of the engine. A second
// Close does nothing.
func (f *Fleet) Close() error {
	f.stop()
	<-f.done
	return nil
}

// share tells the engine how it stands to the fleet.
func (f *Fleet) share(mode expediter.FleetMode) {
	s := expediter.Fleet{Mode: mode}
	if mode != expediter.FleetNone {
		s.Charges, s.Changed, s.Wanted = f.o.SharedBudget, f.changed, f.want
	}
	f.engine.Share(s, expediter.NoStep, f.o.Now())
}

// changed hears what the engine came to. The generation that it was based on is
// the one that the loop has shown the engine last. While a change is under way in
// both directions that may be one too new: then a tool is opened again that was
// just closed, which the next trial puts right. The other way round an opening
// would be lost.
func (f *Fleet) changed(c expediter.Change) {
	if c.Tool != "" && f.private(c.Tool) {
		f.regain(c)
		return
	}
	if c.Members = f.shared(c.Members); c.Kind == expediter.ChangeIncident && len(c.Members) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	full := len(f.outbox) >= maxOutbox
	switch budget := (offer{change: c}).budget(); {
	case budget && !f.live:
		f.offerLocked(c)
		f.trimLocked()
	case budget && full:
		f.status.Dropped++
	case f.live && !full:
		f.offerLocked(c)
	default:
		// Without Redis, or without room, the engine itself keeps what it came to:
		// it is compared with the fleet when that is there again.
		f.flood = f.flood || full
	}
}

// regain shares a tool again that the fleet had no room for, once it is CLOSED as it
// is for the others.
func (f *Fleet) regain(c expediter.Change) {
	if c.Kind == expediter.ChangeClosed || c.Kind == expediter.ChangeReset {
		f.mu.Lock()
		delete(f.unshared, c.Tool)
		f.mu.Unlock()
	}
}

// offerLocked puts a change into the outbox.
func (f *Fleet) offerLocked(c expediter.Change) {
	f.count++
	o := offer{serial: f.serials + strconv.FormatUint(f.count, 10), change: c}
	if tool, ok := o.about(); ok {
		o.base, o.after = f.view.tools[tool].gen, f.unsettled[tool]
		if tool == "" {
			o.base = f.view.incident.gen
		}
		o.token = f.leases[tool].token
		f.unsettled[tool] = o.serial
	}
	f.outbox = append(f.outbox, o)
	f.wakeLoop()
}

// trimLocked keeps the charges that wait while Redis is away within their bound;
// the oldest go.
func (f *Fleet) trimLocked() {
	if more := len(f.outbox) - maxCharges; more > 0 {
		f.status.Dropped += uint64(more)
		f.outbox = slices.Delete(f.outbox, 0, more)
	}
}

// want hears that a trial is due and needs a lease.
func (f *Fleet) want(w expediter.Want) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.wanted[w.Tool]; known || len(f.wanted) < maxWanted {
		f.wanted[w.Tool] = w
	}
	f.wakeLoop()
}

func (f *Fleet) wakeLoop() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// private reports whether a tool is this process's own affair.
func (f *Fleet) private(tool string) bool {
	if f.o.Private != nil && f.o.Private(tool) {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unshared[tool]
}

// shared leaves out the tools that are private.
func (f *Fleet) shared(tools []string) []string {
	var kept []string
	for _, t := range tools {
		if !f.private(t) {
			kept = append(kept, t)
		}
	}
	return kept
}
