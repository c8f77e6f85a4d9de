package freshness

import (
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"

	"github.com/expediter-go/expediter/capability"
)

// DefaultMax is how many results a Tracker remembers.
const DefaultMax = 10_000

// Key names one question to one tool: the tool and its arguments.
type Key [sha256.Size]byte

// KeyOf returns the key of a call. Arguments that mean the same must be
// written the same way.
func KeyOf(tool, args string) Key {
	h := sha256.New()
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(tool)))
	h.Write(size[:])
	h.Write([]byte(tool))
	h.Write([]byte(args))
	return Key(h.Sum(nil))
}

// Result is what a tool returned, and what is known of its age.
type Result struct {
	Tool     string
	Args     string               // in the form that KeyOf wants
	Subject  string               // what may have changed since: "filesystem"; empty: "its source"
	Output   []byte               // hashed, not kept
	DataAt   time.Time            // the data's own time; zero: it has none
	LastGood bool                 // from a cache of last good results; DataAt is then when it was retrieved
	Declared capability.Freshness // what the map says of the tool
}

// Tracker labels results. It keeps a hash of each output, never the output,
// and forgets the results that were not seen for longest. It is safe for
// concurrent use. Make one with NewTracker.
type Tracker struct {
	began time.Time
	max   int

	mu      sync.Mutex
	byKey   map[Key]*list.Element // of *seen
	recency *list.List            // front: seen last
}

type seen struct {
	key         Key
	tool        string
	sum         [sha256.Size]byte
	date        time.Time // the data's own time, else when it was retrieved
	contradicts string    // a later observation; empty: none
}

// NewTracker returns a Tracker for a task that began then. max is how many
// results it remembers; below 1: DefaultMax.
func NewTracker(began time.Time, max int) *Tracker {
	if max < 1 {
		max = DefaultMax
	}
	return &Tracker{began: began, max: max, byKey: map[Key]*list.Element{}, recency: list.New()}
}

// Observe labels a result that was retrieved at that time, and remembers it.
// The first rule of SPEC section 11 that holds gives the label. A result from
// a cache of last good results is labelled and not remembered.
func (t *Tracker) Observe(r Result, at time.Time) Label {
	if r.LastGood {
		return Stale(dateOf(r, at))
	}
	now := &seen{key: KeyOf(r.Tool, r.Args), tool: plain(r.Tool), sum: sha256.Sum256(r.Output), date: dateOf(r, at)}
	t.mu.Lock()
	before := t.rememberLocked(now)
	t.mu.Unlock()
	return t.label(r, before, now)
}

func (t *Tracker) label(r Result, before, now *seen) Label {
	same := before != nil && before.sum == now.sum
	switch {
	case !r.DataAt.IsZero() && r.DataAt.Before(t.began):
		return Stale(r.DataAt)
	case same && before.contradicts != "":
		return Unverified(r.Tool, before.date)
	case same && r.Declared != capability.Live:
		return Cached(r.Tool, r.Subject)
	case r.Declared == capability.Caches:
		return Unverified(r.Tool, now.date)
	case r.Declared == capability.FreshnessUnknown && r.DataAt.IsZero() && before == nil:
		return Unknown
	}
	return ""
}

// Contradict says that a later observation disagrees with the remembered
// result of that key. It returns the label that the result carries from now
// on; ok is false when nothing is remembered under the key, or nothing was
// observed. A different result of the same call takes the doubt away.
func (t *Tracker) Contradict(key Key, observation string) (label Label, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.byKey[key]
	if e == nil || observation == "" {
		return "", false
	}
	s := *e.Value.(*seen)
	s.contradicts = plain(observation)
	if s.contradicts == "" {
		s.contradicts = "unprintable"
	}
	e.Value = &s
	return Unverified(s.tool, s.date), true
}

// Contradiction returns the observation that speaks against the remembered
// result of that key, bounded and without control characters; empty: none.
func (t *Tracker) Contradiction(key Key) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.byKey[key]; e != nil {
		return e.Value.(*seen).contradicts
	}
	return ""
}

// rememberLocked puts now in the place of what was known before, which it
// returns; nil: nothing.
func (t *Tracker) rememberLocked(now *seen) (before *seen) {
	if e := t.byKey[now.key]; e != nil {
		before = e.Value.(*seen)
		if before.sum == now.sum && before.contradicts != "" {
			now.contradicts, now.date = before.contradicts, before.date
		}
		e.Value = now
		t.recency.MoveToFront(e)
		return before
	}
	t.byKey[now.key] = t.recency.PushFront(now)
	if t.recency.Len() > t.max {
		oldest := t.recency.Back()
		delete(t.byKey, oldest.Value.(*seen).key)
		t.recency.Remove(oldest)
	}
	return nil
}

func dateOf(r Result, at time.Time) time.Time {
	if r.DataAt.IsZero() {
		return at
	}
	return r.DataAt
}
