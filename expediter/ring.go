package expediter

import (
	"math/bits"
	"slices"
	"sync/atomic"
)

// ring remembers which calls were recorded: one bit for each of the latest
// numbers, in words tagged with the epoch that they serve. tryClaim needs no
// lock; all else needs Engine.mu.
type ring struct {
	words [ringWords]atomic.Uint64 // epoch<<32 | recorded bits
	late  map[uint64]uint32        // by number/32: calls of older epochs that are not recorded yet
	lost  uint64                   // numbers below may have been forgotten
}

const (
	ringWords = 1024
	ringCalls = ringWords * 32
	ringFull  = 1<<32 - 1

	// maxLate bounds the words kept of calls that nobody records.
	maxLate = 1 << 16
)

func newRing() *ring {
	r := &ring{late: map[uint64]uint32{}}
	r.words[0].Store(1) // number 0 is no call
	return r
}

func ringPlace(seq uint64) (word int, epoch, bit uint64) {
	return int(seq / 32 % ringWords), seq / ringCalls, 1 << (seq % 32)
}

// tryClaim records the call if that takes nothing but its bit. It is false
// when claim has to look closer. It is small enough to be inlined.
func (r *ring) tryClaim(seq uint64) bool {
	word, bit := &r.words[seq/32%ringWords], uint64(1)<<(seq%32)
	w := word.Load()
	if w>>32 != seq/ringCalls {
		return roll(word, w, seq)
	}
	return w&bit == 0 && word.CompareAndSwap(w, w|bit)
}

// roll is tryClaim for the first call of a word's next epoch.
func roll(word *atomic.Uint64, w, seq uint64) bool {
	_, epoch, bit := ringPlace(seq)
	return w&ringFull == ringFull && w>>32+1 == epoch && word.CompareAndSwap(w, epoch<<32|bit)
}

// claim records the call, or says that it was recorded before, or forgotten.
func (r *ring) claim(seq uint64) error {
	i, epoch, bit := ringPlace(seq)
	for {
		w := r.words[i].Load()
		switch {
		case w>>32 > epoch:
			return r.claimLate(seq)
		case w>>32 < epoch:
			if r.words[i].CompareAndSwap(w, epoch<<32|bit) {
				r.retire(i, w, epoch)
				return nil
			}
		case w&bit != 0:
			return ErrAlreadyRecorded
		case r.words[i].CompareAndSwap(w, w|bit):
			return nil
		}
	}
}

// retire keeps what is still in flight of the epochs that a word has left.
func (r *ring) retire(i int, w, epoch uint64) {
	if pending := ^uint32(w); pending != 0 {
		r.late[w>>32*ringWords+uint64(i)] = pending
	}
	for e := w>>32 + 1; e < epoch; e++ {
		r.late[e*ringWords+uint64(i)] = ringFull
	}
	if len(r.late) > maxLate {
		r.forget()
	}
}

func (r *ring) claimLate(seq uint64) error {
	pending := r.late[seq/32]
	bit := uint32(1) << (seq % 32)
	switch {
	case pending&bit == 0 && seq < r.lost:
		return ErrUnknownCall
	case pending&bit == 0:
		return ErrAlreadyRecorded
	case pending == bit:
		delete(r.late, seq/32)
	default:
		r.late[seq/32] = pending &^ bit
	}
	return nil
}

// forget drops the older half of what nobody has recorded.
func (r *ring) forget() {
	keys := make([]uint64, 0, len(r.late))
	for k := range r.late {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys[:len(keys)/2] {
		delete(r.late, k)
		r.lost = max(r.lost, (k+1)*32)
	}
}

// recorded reports whether the call is recorded, as far as is known.
func (r *ring) recorded(seq uint64) bool {
	i, epoch, bit := ringPlace(seq)
	switch w := r.words[i].Load(); {
	case w>>32 > epoch:
		return r.late[seq/32]&uint32(bit) == 0
	case w>>32 < epoch:
		return false
	default:
		return w&bit != 0
	}
}

// pending lists the numbers up to last that are not recorded, oldest first.
func (r *ring) pending(last uint64) []uint64 {
	var out []uint64
	for k, open := range r.late {
		for ; open != 0; open &= open - 1 {
			out = append(out, k*32+uint64(bits.TrailingZeros32(open)))
		}
	}
	for i := range r.words {
		w := r.words[i].Load()
		for e := w >> 32; e*ringCalls+uint64(i)*32 <= last; e++ {
			open := uint32(ringFull)
			if e == w>>32 {
				open = ^uint32(w)
			}
			for ; open != 0; open &= open - 1 {
				if seq := e*ringCalls + uint64(i)*32 + uint64(bits.TrailingZeros32(open)); seq <= last {
					out = append(out, seq)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// restore makes every number up to last recorded but those that are pending.
func (r *ring) restore(last, lost uint64, pending []uint64) {
	r.lost = lost
	epoch, place := last/ringCalls, int(last/32%ringWords)
	for i := range r.words {
		switch {
		case i < place:
			r.words[i].Store(epoch<<32 | ringFull)
		case i == place:
			r.words[i].Store(epoch<<32 | (2<<(last%32) - 1))
		case epoch > 0:
			r.words[i].Store((epoch-1)<<32 | ringFull)
		}
	}
	for _, seq := range pending {
		i, e, bit := ringPlace(seq)
		if w := r.words[i].Load(); w>>32 == e {
			r.words[i].Store(w &^ bit)
		} else {
			r.late[seq/32] |= uint32(bit)
		}
	}
}
