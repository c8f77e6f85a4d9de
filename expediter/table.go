package expediter

import (
	"slices"
	"sync/atomic"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// tool is one row of the state table. The atomic fields serve the fast path;
// all others belong to Engine.mu.
type tool struct {
	word   atomic.Uint64 // generation<<wordBits | fast | clean; see fast.go
	okStep atomic.Int64  // last success
	okAt   atomic.Int64
	used   atomic.Uint64 // undeclared: the number of the last call, for eviction
	flying atomic.Int64  // undeclared: calls in flight

	name     string
	idx      uint32
	order    uint64 // of entering the table
	born     uint64 // calls up to this id belong to an earlier tool of this idx
	declared bool
	gone     bool // evicted; a published name may still lead here
	barred   bool // strict mode does not know it
	spec     *spec
	m        breaker.Machine
	win      *breaker.Window // rate policy only
	genSeq   uint64          // calls up to this id are of older generations

	forced  bool
	off     bool // disabled
	score   capability.Score
	inc     *incident
	isHot   bool
	okEver  bool // it has had a success
	failing bool // its latest outcome is a failure
	*trouble
}

// trouble is what only tools that have failed, or were touched by an operator,
// need to hold. All others read from healthy; writers ask for ill first.
type trouble struct {
	anchor     breaker.Anchor
	notDue     int64     // retry_after: not due before this time
	dueNow     bool      // a good probe of another member made it due
	reason     string    // the operator's words
	outer      *External // what another breaker says; nil: nothing, or CLOSED. Never changed
	k          int       // failed probes since it last closed
	probe      probe
	latest     cascade.Failure
	failAt     cascade.Moment // of latest
	lastBad    *Moment        // last failure, for reports
	unverified int            // calls that may have taken effect, and nobody has looked
	counted    *Counted       // policy batch: the last failure that counted; never changed
	tripped    bool
	trip       cascade.Failure // of its last CLOSED→OPEN
	tripAt     cascade.Moment
	run        int      // the run of failures that opened it
	fails      []Moment // of that run, or of the run so far
	lease      int64    // a fleet's: this engine may make its trial before this time
	wantedAt   int64    // when the fleet was last told that a trial is due
	private    bool     // its being open is no business of the fleet's
}

// healthy is shared by all tools of all engines and never written.
var healthy = &trouble{}

// ill returns the tool's own trouble, for writing.
func (t *tool) ill() *trouble {
	if t.trouble == healthy {
		t.trouble = &trouble{}
	}
	return t.trouble
}

// freeProbe gives the probe slot back.
func (t *tool) freeProbe() {
	if t.probe.call != 0 {
		t.probe = probe{}
	}
}

// forgive forgets the failures of the run that has ended.
func (t *tool) forgive() {
	if t.fails != nil {
		t.fails = nil
	}
}

// spec is what tools of one entry and policy have in common.
type spec struct {
	entry *capability.Entry // of Config.Tools; the zero Entry: none
	plan  *capability.Plan
	alts  []*tool // of plan.Alternatives
	*tuning
}

// tuning is a policy and its schedules, shared by all entries that have it.
type tuning struct {
	policy  breaker.Policy
	backoff cascade.Backoff
	after   cascade.Backoff // of after_ms
}

// probe is the one trial in flight of a half-open tool.
type probe struct {
	call CallID // zero: none
	step int64
	at   int64
}

func (t *tool) source() cascade.Source {
	return cascade.Source{Tool: int(t.order), Shares: t.spec.entry.Shares}
}

// table finds tools by name. The engine publishes a map that never changes, so
// that readers need no lock; tools that came later wait in fresh until enough
// look-ups have missed, which keeps the cost of learning tools linear.
type table struct {
	rows   []*tool          // in order of entering; nil where evicted
	fresh  map[string]*tool // not published yet
	missed int
	free   []uint32 // idx of evicted tools
	orders uint64
	learnt int              // undeclared tools held
	specs  map[string]*spec // by entry name; "" is the spec of tools without an entry
	tuned  map[breaker.Policy]*tuning
}

// declare builds the table of a map: tools in order of first mention.
func (x *Engine) declare(m capability.Map) {
	x.table = table{fresh: map[string]*tool{}, specs: make(map[string]*spec, len(m)+1), tuned: map[breaker.Policy]*tuning{}}
	x.table.specs[""] = &spec{entry: &capability.Entry{}, tuning: x.tune(breaker.Policy{})}
	for i := range m {
		x.table.specs[m[i].Tool] = &spec{entry: &m[i], plan: capability.NewPlan(m[i]), tuning: x.tune(m[i].Policy)}
	}
	empty := []*tool{}
	x.tools.Store(&empty)
	names := m.Mentioned()
	published := make(map[string]*tool, len(names))
	x.names.Store(&published)
	all := make([]*tool, 0, len(names))
	for _, n := range names {
		t := x.newTool(n, x.specOf(n))
		t.declared = true
		t.score = t.spec.entry.Initial
		if t.spec.entry.Tool != n {
			t.score = capability.Available // a child does not inherit what was said of its parent
		}
		t.idx, t.order = uint32(len(all)), uint64(len(all))
		published[n] = t
		all = append(all, t)
	}
	x.table.orders = uint64(len(all))
	x.table.rows = all
	shared := slices.Clone(all)
	x.tools.Store(&shared)
	for _, e := range m {
		s := x.table.specs[e.Tool]
		for _, a := range s.plan.Alternatives {
			s.alts = append(s.alts, published[a.Tool])
		}
	}
	for _, t := range all {
		t.publish()
	}
}

// tune resolves an entry's own policy.
func (x *Engine) tune(own breaker.Policy) *tuning {
	if known := x.table.tuned[own]; known != nil {
		return known
	}
	p := own.Over(x.cfg.Policy.Policy)
	n := &tuning{policy: p, backoff: cascade.NewBackoff(p.Probe.Every, p.Probe.Max)}
	if p.Probe.AfterMS > 0 {
		n.after = cascade.NewBackoff(p.Probe.AfterMS, maxAfterMS)
	}
	x.table.tuned[own] = n
	return n
}

// maxAfterMS caps a doubled after_ms (SPEC section 3).
const maxAfterMS = 200_000

func (x *Engine) newTool(name string, s *spec) *tool {
	m, err := breaker.New(s.policy.FailureThreshold, s.policy.HalfOpenSuccesses, 0)
	if err != nil {
		panic("expediter: a validated policy was refused: " + err.Error())
	}
	t := &tool{name: name, spec: s, m: m, trouble: healthy}
	if s.policy.Trip.Policy == breaker.Rate {
		t.win = breaker.NewWindow(s.policy.Trip)
	}
	return t
}

// specOf finds the spec that serves a name: its own entry's, else that of a/b,
// else of a.
func (x *Engine) specOf(name string) *spec {
	if entry, ok := capability.Nearest(x.table.specs, name); ok {
		return x.table.specs[entry]
	}
	return x.table.specs[""]
}

// find returns the tool of that name, or nil.
func (x *Engine) find(name string) *tool {
	if t := (*x.names.Load())[name]; t != nil && !t.gone {
		return t
	}
	t := x.table.fresh[name]
	if t != nil {
		x.table.missed++
		if x.table.missed > len(*x.names.Load())/8+len(x.table.fresh) {
			x.publishNames()
		}
	}
	return t
}

// publishNames puts the fresh tools where the fast path finds them.
func (x *Engine) publishNames() {
	old := *x.names.Load()
	merged := make(map[string]*tool, len(old)+len(x.table.fresh))
	for n, t := range old {
		if !t.gone {
			merged[n] = t
		}
	}
	for n, t := range x.table.fresh {
		merged[n] = t
	}
	x.names.Store(&merged)
	clear(x.table.fresh)
	x.table.missed = 0
}

// enter puts a tool that nobody declared into the table. It is nil when the
// ids have no room for one more.
func (x *Engine) enter(name string) *tool {
	for x.table.learnt >= x.cfg.MaxTools && x.evict() {
	}
	if len(x.table.free) == 0 && len(*x.tools.Load()) >= maxTools-1 {
		return nil
	}
	return x.learn(name)
}

// learn is enter without making room.
func (x *Engine) learn(name string) *tool {
	x.table.learnt++
	name = string(append([]byte(nil), name...)) // do not hold a caller's larger buffer
	t := x.newTool(name, x.specOf(name))
	t.order = x.table.orders
	x.table.orders++
	t.born = x.seq.Load()
	t.genSeq = t.born
	t.used.Store(t.born)
	if s, ok := x.scores[name]; ok {
		t.score = s
		delete(x.scores, name)
	}
	t.barred = x.cfg.Strict && t.spec.plan == nil
	x.recall(t)
	x.place(t)
	x.table.fresh[name] = t
	x.table.rows = append(x.table.rows, t)
	t.publish()
	return t
}

// place gives a tool its idx, a freed one first.
func (x *Engine) place(t *tool) {
	all := *x.tools.Load()
	if n := len(x.table.free); n > 0 {
		t.idx = x.table.free[n-1]
		x.table.free = x.table.free[:n-1]
		all = slices.Clone(all)
		all[t.idx] = t
	} else {
		t.idx = uint32(len(all))
		all = append(all, t) // readers hold shorter slices of the same array
	}
	x.tools.Store(&all)
}

// evict drops the longest unused undeclared tool that is CLOSED, without
// failures, without calls in flight and without any to be verified; where there
// is none, the longest unused one without calls in flight that no operator and
// no incident holds. It is false when there is none either.
func (x *Engine) evict() bool {
	var idle, any *tool
	for _, t := range x.table.rows {
		if t.declared || t.forced || t.off || t.inc != nil || t.flying.Load() != 0 {
			continue
		}
		if any == nil || t.used.Load() < any.used.Load() {
			any = t
		}
		if !t.isHot && t.m.Fails() == 0 && t.unverified == 0 && (idle == nil || t.used.Load() < idle.used.Load()) {
			idle = t
		}
	}
	out := idle
	if out == nil {
		out = any
	}
	if out == nil {
		return false
	}
	out.word.Store(0) // from here on no call gets past the fast path
	if out.flying.Load() != 0 {
		out.publish()
		return false
	}
	x.remove(out)
	return true
}

// remove takes a tool out of the table. A published name may still lead to it.
func (x *Engine) remove(t *tool) {
	t.gone, t.failing = true, false
	t.m.Close()
	x.heat(t)
	delete(x.table.fresh, t.name)
	x.table.rows = slices.DeleteFunc(x.table.rows, func(r *tool) bool { return r == t })
	x.table.free = append(x.table.free, t.idx)
	x.table.learnt--
}

// known reports whether strict mode lets a name pass: it is mentioned in the
// map, or has an entry of its own or of a parent.
func (x *Engine) known(name string) bool {
	t := x.find(name)
	return t != nil && t.declared || x.specOf(name).plan != nil
}
