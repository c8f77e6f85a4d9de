package expediter

import (
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// The fast path: a CALL on a healthy tool, and its success, without a lock.
//
// All calls draw their sequence number from one counter; an id is that number
// and the tool's idx. Recording is one compare-and-swap on a bit of a ring of
// words, each tagged with its epoch, so that it happens once (see ring.go). A
// tool's word says whether the fast path may answer for it (fast), whether a
// success would change anything (clean), and its generation: the counter at
// its last change of state. A call is of the current generation if its number
// is larger.
//
// A change of state first stores 0 in the word and then reads the counter. A
// request that drew its number and still saw the old word therefore has a
// number that is not larger: it was decided before the change, and is recorded
// as stale.
const (
	idxBits = 20

	wordFast  = 1 // CLOSED, nothing to say: CALL
	wordClean = 2 // a success changes no counter
	wordOpen  = 4 // OPEN, nothing else to say: see quickSkip
	wordBits  = 3
)

// An id's low bits are its tool's idx spread out, so that an id that was made
// up or changed names a tool that does not exist.
const (
	idxMask   = 1<<idxBits - 1
	idxSpread = 0x9e375 // odd
	idxGather = 0xb94dd // idxSpread * idxGather = 1 modulo 1<<idxBits
)

func callID(seq uint64, idx uint32) CallID {
	return CallID(seq<<idxBits | uint64(idx)*idxSpread&idxMask)
}

func (id CallID) seq() uint64 { return uint64(id) >> idxBits }

func (id CallID) idx() uint32 { return uint32(id) * idxGather & idxMask }

// fastCall answers CALL for a healthy tool. It is zero when the slow path has
// to decide.
func (x *Engine) fastCall(t *tool, step, at int64) CallID {
	if step > x.clock.step.Load() || at > x.clock.at.Load() {
		x.clock.advance(step, at)
	}
	seq := x.seq.Add(1)
	if !t.declared {
		t.fly(seq)
	}
	if w := t.word.Load(); w&wordFast == 0 || w>>wordBits >= seq {
		if !t.declared {
			t.land()
		}
		x.burn(seq)
		return 0
	}
	return callID(seq, t.idx)
}

// fly counts a call of an undeclared tool, which is not evicted meanwhile.
func (t *tool) fly(seq uint64) {
	t.flying.Add(1)
	t.used.Store(seq)
}

// land counts a call that is no longer in flight. One that was issued while the
// tool was declared was never counted, and is recorded here if Restore was given
// another map meanwhile.
func (t *tool) land() {
	for n := t.flying.Load(); n > 0 && !t.flying.CompareAndSwap(n, n-1); n = t.flying.Load() {
	}
}

// burn gives up a number that was drawn and cannot be issued.
func (x *Engine) burn(seq uint64) {
	x.mu.Lock()
	x.ring.claim(seq)
	x.burnt++
	x.mu.Unlock()
}

// fastSuccess records a success that changes no counter. It is false when the
// slow path has to record.
func (x *Engine) fastSuccess(id CallID, step, at int64) bool {
	all, seq := *x.tools.Load(), id.seq()
	if int(id.idx()) >= len(all) {
		return false
	}
	t := all[id.idx()]
	w := t.word.Load()
	if w&wordClean == 0 || w>>wordBits >= seq || seq > x.seq.Load() || !x.ring.tryClaim(seq) {
		return false
	}
	if !t.declared {
		t.land()
	}
	if s, a := x.clock.now(); step > s || at > a || t.okStep.Load() != s || t.okAt.Load() != a {
		step, at = x.clock.advance(step, at)
		raise(&t.okStep, step)
		raise(&t.okAt, at)
	}
	return true
}

// publish tells the fast path how the tool stands.
func (t *tool) publish() {
	w := t.genSeq << wordBits
	switch {
	case t.score != capability.Available || t.forced || t.off || t.barred || t.outer != nil:
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

// callInfo is a call that needs more than its id: a degraded threshold, or one
// that counts for nothing.
type callInfo struct {
	threshold int  // 0: the tool's own
	shadow    bool // made while disabled, or against our advice in observe-only
}

// maxSpecial bounds Engine.special: callers that never record must not fill
// the memory. A call that is dropped from it counts as a plain one.
const maxSpecial = 1 << 16

// issue draws an id under the lock.
func (x *Engine) issue(t *tool, info callInfo) CallID {
	id := callID(x.seq.Add(1), t.idx)
	if info != (callInfo{}) {
		if len(x.special) >= maxSpecial {
			x.dropSpecial()
		}
		x.special[id] = info
	}
	if !t.declared {
		t.fly(id.seq())
	}
	return id
}

// dropSpecial drops the older half.
func (x *Engine) dropSpecial() {
	mean, n := CallID(0), CallID(len(x.special))
	for id := range x.special {
		mean += id / n
	}
	for id := range x.special {
		if id <= mean {
			delete(x.special, id)
		}
	}
}

// take claims a call, so that nobody else records it.
func (x *Engine) take(id CallID) (*tool, callInfo, error) {
	all, seq := *x.tools.Load(), id.seq()
	if seq == 0 || seq > x.seq.Load() || int(id.idx()) >= len(all) {
		return nil, callInfo{}, ErrUnknownCall
	}
	t := all[id.idx()]
	if seq <= t.born || t.gone { // of a tool that was evicted, which had no calls in flight
		if x.ring.recorded(seq) {
			return nil, callInfo{}, ErrAlreadyRecorded
		}
		return nil, callInfo{}, ErrUnknownCall
	}
	if err := x.ring.claim(seq); err != nil {
		return nil, callInfo{}, err
	}
	if !t.declared {
		t.land()
	}
	info := x.special[id]
	delete(x.special, id)
	return t, info, nil
}
