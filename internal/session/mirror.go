package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/store"
)

// AgentProxy is the agent of the sessions that a proxy mirrors.
const AgentProxy = "mcp"

// Mirrored reports whether the session's engine is not here, but in a proxy that
// runs or has run: only that one changes it.
func (m Meta) Mirrored() bool { return m.Agent == AgentProxy }

// Bounds of what waits to be written of one mirror.
const (
	maxWaiting      = 1 << 14 // events
	maxWaitingBytes = 8 << 20
)

// ErrBehind says that the engine has applied an event that it has not told yet, as
// it does at once. Write again with a new snapshot.
var ErrBehind = errors.New("session: an event is still to be told")

// Mirror keeps in a store what an engine tells that lives for long in one process,
// in the form of all sessions. Event takes the events, Write writes them; they are
// safe for concurrent use, but one Write at a time.
//
// What waits to be written is bounded. When it is too much, or when the session's
// file is lost, the journal begins anew with the state that its events came to.
type Mirror struct {
	store *store.Store
	setup Setup

	mu      sync.Mutex // no other is taken within it
	meta    Meta
	waiting []told // without a gap
	bytes   int
	last    uint64 // number of the latest event that was told
	lost    bool   // events between what was written and what waits

	// Of the one who writes.
	written uint64 // number of the latest event in the store; 0: none
	shift   uint64 // by which the store's numbers are ahead of the engine's
}

// told is an event of the engine as a line, without its number.
type told struct {
	seq  uint64
	rest []byte // of the line, after the number
}

// NewMirror is the mirror of an engine that has told nothing yet. What is hostile
// of meta is as it came.
func NewMirror(st *store.Store, meta Meta, setup Setup) *Mirror {
	return &Mirror{store: st, setup: setup, meta: meta}
}

// Meta is what is known of the session now.
func (m *Mirror) Meta() Meta {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.meta
}

// End says that the session is over. What is told after it is still kept.
func (m *Mirror) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.meta.Ended = true
}

// Event takes an event, and returns how many wait to be written. It is for the
// engine's Events.Journal.
func (m *Mirror) Event(ev *expediter.Event) (waiting int) {
	rest, err := withoutSeq(ev)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = ev.Seq
	m.meta.Seen = max(m.meta.Seen, ev.At)
	if err != nil || len(m.waiting) >= maxWaiting || m.bytes+len(rest) > maxWaitingBytes {
		m.waiting, m.bytes, m.lost = nil, 0, true
		return 0
	}
	m.waiting, m.bytes = append(m.waiting, told{ev.Seq, rest}), m.bytes+len(rest)
	return len(m.waiting)
}

// withoutSeq is the line of an event from its second member on.
func withoutSeq(ev *expediter.Event) ([]byte, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // CLOSED->OPEN stays readable
	if err := enc.Encode(ev); err != nil {
		return nil, err
	}
	rest, ok := bytes.CutPrefix(line.Bytes(), strconv.AppendUint([]byte(`{"seq":`), ev.Seq, 10))
	if !ok {
		return nil, fmt.Errorf("session: event %d does not begin with its number", ev.Seq)
	}
	return bytes.TrimSuffix(rest, []byte("\n")), nil
}

func (t told) line(shift uint64) []byte {
	return append(strconv.AppendUint([]byte(`{"seq":`), t.seq+shift, 10), t.rest...)
}

// Write writes what was told up to a snapshot, the snapshot and the plan, all or
// nothing. The snapshot is the engine's, taken after what the caller wants to be
// written; the plan replaces the one before. With an error other than ErrBehind
// what was told waits on.
func (m *Mirror) Write(ctx context.Context, snapshot *expediter.Snapshot, plan []Subtask) error {
	w, err := m.batch(snapshot, plan)
	if err != nil {
		return err
	}
	if err := m.store.Update(ctx, m.id(), w.write); err != nil {
		return err
	}
	m.written, m.shift = w.state.Mirror, w.shift
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for ; n < len(m.waiting) && m.waiting[n].seq <= snapshot.EventSeq; n++ {
		m.bytes -= len(m.waiting[n].rest)
	}
	m.waiting = slices.Delete(m.waiting, 0, n)
	if w.lost { // unless more was lost meanwhile
		m.lost = m.lost && (len(m.waiting) == 0 && m.last > snapshot.EventSeq || len(m.waiting) > 0 && m.waiting[0].seq > snapshot.EventSeq+1)
	}
	return nil
}

func (m *Mirror) id() store.ID { return store.ID{Agent: m.meta.Agent, Session: m.meta.Session} }

// writing is what one Write puts into the store. It may be done twice.
type writing struct {
	m        *Mirror
	meta     Meta
	lines    []told
	lost     bool
	snapshot expediter.Snapshot // with the engine's numbers
	state    state
	shift    uint64
}

func (m *Mirror) batch(snapshot *expediter.Snapshot, plan []Subtask) (*writing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last < snapshot.EventSeq {
		return nil, ErrBehind
	}
	w := &writing{m: m, meta: m.meta, lost: m.lost, snapshot: *snapshot}
	for _, t := range m.waiting {
		if t.seq > snapshot.EventSeq {
			break
		}
		w.lines = append(w.lines, t)
	}
	for _, t := range plan {
		it := clean(t.Todo)
		it.Tools = t.Tools
		w.state.Todos = append(w.state.Todos, it)
	}
	return w, nil
}

func (w *writing) write(tx *store.Tx) error {
	s := &Session{tx: tx}
	if err := s.read(); err != nil {
		return err
	}
	w.shift = w.m.shift
	add := w.goOn
	if w.lost || s.state.Mirror != w.m.written {
		add = w.anew
	}
	err := add(tx)
	if err != nil {
		return err
	}
	w.state.Mirror = w.snapshot.EventSeq + w.shift
	saved := w.snapshot
	saved.EventSeq = w.state.Mirror
	if s.Began == 0 {
		err = s.put(keySetup, w.m.setup)
	}
	return errors.Join(err, s.put(keyMeta, w.meta), s.put(keyEngine, saved), s.put(keyState, w.state))
}

// goOn adds the lines to the journal. One that has grown long goes on in a new
// segment, with a start of its own, which takes a number.
func (w *writing) goOn(tx *store.Tx) error {
	if tx.SegmentLen() == 0 {
		if err := tx.NewSegment(); err != nil {
			return err
		}
	}
	for _, t := range w.lines {
		if err := tx.Append(t.line(w.shift)); err != nil {
			return err
		}
	}
	if tx.SegmentLen() < maxSegment {
		return nil
	}
	w.shift++
	if err := tx.NewSegment(); err != nil {
		return err
	}
	return w.start(tx)
}

// anew begins the journal with what its events came to.
func (w *writing) anew(tx *store.Tx) error {
	if err := tx.Forget(); err != nil {
		return err
	}
	return w.start(tx)
}

// start appends a start with the snapshot, in the place of the latest event of it.
func (w *writing) start(tx *store.Tx) error {
	var line []byte
	cfg := w.m.setup.config()
	cfg.Events.Journal = func(ev *expediter.Event) { line, _ = json.Marshal(ev) }
	from := w.snapshot
	from.EventSeq = from.EventSeq + w.shift - 1
	if _, err := expediter.Restore(cfg, &from); err != nil {
		return err
	}
	return tx.Append(line)
}
