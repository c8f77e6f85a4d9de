package trace

import (
	"hash/maphash"
	"time"
)

// Seen remembers calls and prompts, so that what a resumed session tells again
// counts once. It holds at most two generations of half a million 64-bit hashes
// each: the older one is forgotten when the newer one is full. A copy that comes
// after a million other calls is taken for new. The zero Seen is empty.
type Seen struct{ ids recent[uint64, struct{}] }

const maxSeen = 1 << 19

// add reports whether it has id already.
func (s *Seen) add(id uint64) bool {
	_, ok := s.ids.get(id)
	s.ids.put(id, struct{}{}, maxSeen)
	return ok
}

var seed = maphash.MakeSeed()

// longID is from where on an id is held to be drawn at random, in bytes. A
// shorter one, such as call_1, says little without its session and time; without
// a time nothing tells a copy from a second try.
const longID = 16

// told is what a copy of a call or prompt has in common with it.
type told struct {
	session, id, tool string
	input             []byte
	at                time.Time
}

// identity is a hash of that; 0 if too little is known.
func (t told) identity() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	switch {
	case len(t.id) >= longID:
	case t.id == "" || t.at.IsZero():
		return 0
	default:
		h.WriteString(t.session)
		h.WriteByte(0)
		maphash.WriteComparable(&h, t.at.UnixNano())
	}
	h.WriteString(t.id)
	h.WriteByte(0)
	h.WriteString(t.tool)
	h.WriteByte(0)
	h.Write(t.input)
	return h.Sum64()
}
