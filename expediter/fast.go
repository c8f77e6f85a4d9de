package expediter

import (
	"sync/atomic"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// The fast path: a CALL on a healthy tool, and its success, without a lock.
//
// An engine's calls draw their ids from one counter. A call in flight is one
// word in a ring of slots, found by its id; recording it is one
// compare-and-swap, so that it happens once. A tool's word says whether the
// fast path may answer for it (fast), whether a success would change anything
// (clean), and its generation: the counter at its last change of state. A call
// is of the current generation if its id is larger.
//
// A change of state first stores 0 in the word and then reads the counter. A
// request that drew its id and still saw the old word therefore has an id that
// is not larger: it was decided before the change, and is recorded as stale.
const (
	ringBits  = 10
	ringSize  = 1 << ringBits
	ringMask  = ringSize - 1
	idxBits   = 24
	stateBits = 2

	slotInFlight = 1
	slotRecorded = 2
	slotSpecial  = 3 // in Engine.special

	wordFast  = 1 // CLOSED, nothing to say: CALL
	wordClean = 2 // a success changes no counter
	wordOpen  = 4 // OPEN, nothing else to say: see quickSkip
	wordBits  = 3
)

type ring struct {
	slots [ringSize]atomic.Uint64
}

func newRing() *ring { return &ring{} }

func slotWord(id CallID, idx uint32, state uint64) uint64 {
	return uint64(id)>>ringBits<<(idxBits+stateBits) | uint64(idx)<<stateBits | state
}

func slotState(w uint64) uint64 { return w & (1<<stateBits - 1) }

func slotIdx(w uint64) uint32 { return uint32(w >> stateBits & (1<<idxBits - 1)) }

// slotIs reports whether the word belongs to id.
func slotIs(w uint64, id CallID) bool { return w>>(idxBits+stateBits) == uint64(id)>>ringBits }

// slotCall returns the id of the word in slot i.
func slotCall(w uint64, i int) CallID {
	return CallID(w>>(idxBits+stateBits)<<ringBits | uint64(i))
}

// busy lists the tools with calls in flight.
func (r *ring) busy() map[uint32]bool {
	busy := map[uint32]bool{}
	for i := range r.slots {
		if w := r.slots[i].Load(); slotState(w) == slotInFlight {
			busy[slotIdx(w)] = true
		}
	}
	return busy
}

// fastCall answers CALL for a healthy tool. It is false when the slow path has
// to decide.
func (x *Engine) fastCall(t *tool, step, at int64) (CallID, bool) {
	if t.word.Load()&wordFast == 0 {
		return 0, false
	}
	if step > x.clock.step.Load() || at > x.clock.at.Load() {
		x.clock.advance(step, at)
	}
	id := CallID(x.seq.Add(1))
	w := t.word.Load()
	slot := &x.ring.slots[id&ringMask]
	old := slot.Load()
	if w&wordFast == 0 || w>>wordBits >= uint64(id) || slotState(old) == slotInFlight ||
		!slot.CompareAndSwap(old, slotWord(id, t.idx, slotInFlight)) {
		x.burnt.Add(1)
		return 0, false
	}
	if !t.declared {
		t.used.Store(uint64(id))
	}
	return id, true
}

// fastSuccess records a success that changes no counter. It is false when the
// slow path has to record.
func (x *Engine) fastSuccess(id CallID, step, at int64) bool {
	slot := &x.ring.slots[id&ringMask]
	w := slot.Load()
	if slotState(w) != slotInFlight || !slotIs(w, id) {
		return false
	}
	t := (*x.tools.Load())[slotIdx(w)]
	tw := t.word.Load()
	if tw&wordClean == 0 || tw>>wordBits >= uint64(id) {
		return false
	}
	if !slot.CompareAndSwap(w, w&^(1<<stateBits-1)|slotRecorded) {
		return false
	}
	seenStep, seenAt := x.clock.now()
	if step > seenStep || at > seenAt {
		seenStep, seenAt = x.clock.advance(step, at)
	}
	if t.okStep.Load() != seenStep {
		raise(&t.okStep, seenStep)
	}
	if t.okAt.Load() != seenAt {
		raise(&t.okAt, seenAt)
	}
	return true
}

// publish tells the fast path how the tool stands.
func (t *tool) publish() {
	w := t.genSeq << wordBits
	switch {
	case t.score != capability.Available || t.forced || t.off:
	case t.m.State() == breaker.Open && t.inc == nil:
		w |= wordOpen
	case t.m.State() == breaker.Closed:
		w |= wordFast
		if t.okEver && !t.failing && t.m.Fails() == 0 && t.win == nil && t.spec.policy.SlowCallMS <= 0 {
			w |= wordClean
		}
	}
	if t.word.Load() != w {
		t.word.Store(w)
	}
}

// newGeneration makes every call issued so far stale. The tool is published
// again at the end of the event.
func (x *Engine) newGeneration(t *tool) {
	t.word.Store(0)
	t.genSeq = x.seq.Load()
	t.freeProbe()
	if t.win != nil {
		t.win.Reset()
	}
}

// publishGate opens the fast path while nothing pauses, nothing is to be
// cautious about, and nobody watches every call.
func (x *Engine) publishGate() {
	left := x.ledger.Remaining()
	quiet := !x.perOp && !x.observe && x.active == nil
	x.gate.Store(quiet && (left < 0 || left > 1))
	x.quick = quiet && left != 0 && x.events.Routed == nil
}

// callInfo is a call that needs more than its slot: a degraded threshold, a
// call that counts for nothing, or one that the ring had no room for.
type callInfo struct {
	tool      *tool
	threshold int  // 0: the tool's own
	shadow    bool // made while disabled, or against our advice in observe-only
	step, at  int64
}

// maxSpecial bounds Engine.special; see forget.
const maxSpecial = 1 << 16

// issue draws an id under the lock. info is kept only when it says something.
func (x *Engine) issue(t *tool, info callInfo) CallID {
	for {
		id := CallID(x.seq.Add(1))
		slot := &x.ring.slots[id&ringMask]
		old := slot.Load()
		if slotState(old) == slotInFlight {
			x.spill(slot, old, int(id&ringMask))
			old = slot.Load()
		}
		state := uint64(slotInFlight)
		if info.threshold != 0 || info.shadow {
			state = slotSpecial
		}
		if slotState(old) == slotInFlight || !slot.CompareAndSwap(old, slotWord(id, t.idx, state)) {
			x.burnt.Add(1)
			continue
		}
		if state == slotSpecial {
			info.tool = t
			x.keep(id, info)
		}
		if !t.declared {
			t.used.Store(uint64(id))
		}
		return id
	}
}

// spill moves a call that is still in flight out of its slot. It fails, and
// need not be repeated, when the call was recorded meanwhile.
func (x *Engine) spill(slot *atomic.Uint64, old uint64, i int) {
	if slot.CompareAndSwap(old, old&^(1<<stateBits-1)|slotSpecial) {
		step, at := x.clock.now()
		x.keep(slotCall(old, i), callInfo{tool: (*x.tools.Load())[slotIdx(old)], step: step, at: at})
	}
}

func (x *Engine) keep(id CallID, info callInfo) {
	if len(x.special) >= maxSpecial {
		x.forget()
	}
	x.special[id] = info
}

// forget drops the older half of the special calls: callers that never record
// must not fill the memory. Recording one of them is ErrAlreadyRecorded.
func (x *Engine) forget() {
	mean, n := CallID(0), CallID(len(x.special))
	for id := range x.special {
		mean += id / n
	}
	for id := range x.special {
		if id <= mean {
			delete(x.special, id)
			x.burnt.Add(1)
			x.table.forgot = max(x.table.forgot, id)
		}
	}
}
