package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/store"
)

// maxTools bounds the undeclared tools of a session, and so what each hook has
// to load.
const maxTools = 512

// maxSegment is after how many events the journal begins a new segment, so that
// old ones can go.
const maxSegment = 20_000

// The keys of a session in its store. The journal is beside them.
const (
	keyMeta   = "meta"   // Meta
	keySetup  = "setup"  // Setup
	keyEngine = "engine" // expediter.Snapshot: what the journal folds to
	keyState  = "state"  // state
	keyFleet  = "fleet"  // what the engine's fleet wants to be kept; see Session.Fleet
)

// Setup is what a session's engine is made of.
type Setup struct {
	Policy  expediter.Policy `json:"policy"`
	Map     capability.Map   `json:"map,omitempty"`
	Source  string           `json:"source"`            // where the map is from, for people
	Stamp   string           `json:"stamp"`             // changes when the source does
	Problem string           `json:"problem,omitempty"` // why another source was not used

	// Of a mirrored session's engine; see expediter.Config. MaxTools 0: maxTools.
	Strict   bool `json:"strict,omitempty"`
	Stepless bool `json:"stepless,omitempty"`
	MaxTools int  `json:"max_tools,omitempty"`
}

func (s Setup) config() expediter.Config {
	return expediter.Config{Policy: s.Policy, Tools: s.Map, Strict: s.Strict, Stepless: s.Stepless, MaxTools: cmp.Or(s.MaxTools, maxTools)}
}

// Choose says what a session's engine is made of, given what it is made of now
// (zero: the session begins). Returning the same Stamp keeps it.
type Choose func(now Setup) (Setup, error)

// Meta is what is known of a session itself.
type Meta struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`           // the agent's id of it, hostile
	Project string `json:"project,omitempty"` // the folder it works in, hostile; empty: unknown
	Began   int64  `json:"began"`             // milliseconds since 1970
	Seen    int64  `json:"seen"`              // of the latest event, by the clock
	Prompts int    `json:"prompts,omitempty"` // of the user
	Ended   bool   `json:"ended,omitempty"`   // the agent said so; a later event begins it again

	// Of a mirrored session.
	Client string `json:"client,omitempty"` // what the client calls itself, hostile
	Socket string `json:"socket,omitempty"` // where its proxy hears commands, while it runs; empty: nowhere
}

// Session is a session within one transaction. It is not for concurrent use,
// and not to be kept.
type Session struct {
	Meta
	tx     *store.Tx
	at     time.Time
	setup  Setup
	engine *expediter.Engine
	state  state
	new    bool
	remade bool  // the setup is another one than before
	about  about // what the event now being applied is about

	mu  sync.Mutex // of what a fleet's own goroutines touch through the journal
	err error      // of the journal
}

// about is what a journal's line has beside the engine's event.
type about struct {
	Call     string `json:"agent_call,omitempty"` // the agent's id of the call
	Subagent string `json:"subagent,omitempty"`
}

// Update lets f happen to a session, alone among all processes, and saves what
// came of it: all of it or, with an error or a panic of f, nothing. It makes the
// session if there is none, of what choose says. A nil choose keeps what there
// is, and without a session is store.ErrNoSession. at is the time by the clock.
// The other errors are those of the store, of choose and of f. Where the store
// finds its file damaged, choose and f run once more (see store.Update).
func Update(ctx context.Context, st *store.Store, id store.ID, at time.Time, choose Choose, f func(*Session) error) error {
	if choose == nil {
		if err := st.View(ctx, id, func(*store.Tx) error { return nil }); err != nil {
			return err
		}
	}
	return st.Update(ctx, id, func(tx *store.Tx) error {
		s, err := load(tx, id, at, choose)
		if err != nil {
			return err
		}
		if err := f(s); err != nil {
			return err
		}
		return s.save()
	})
}

// View shows a session as it is. What f does to it is not kept. Updates of the
// session wait meanwhile.
func View(ctx context.Context, st *store.Store, id store.ID, at time.Time, f func(*Session) error) error {
	return st.View(ctx, id, func(tx *store.Tx) error {
		s := &Session{tx: tx}
		if err := s.read(); err != nil {
			return err
		}
		s.setTime(at)
		var err error
		if s.engine, err = s.restore(tx.Get(keyEngine), false, expediter.Events{}); err != nil {
			return err
		}
		return f(s)
	})
}

func load(tx *store.Tx, id store.ID, at time.Time, choose Choose) (*Session, error) {
	s := &Session{tx: tx}
	if err := s.read(); err != nil {
		return nil, err
	}
	s.setTime(at)
	if s.new = s.Began == 0; s.new && choose == nil { // it went between two looks
		return nil, fmt.Errorf("session %.64q: %w", id.Session, store.ErrNoSession)
	}
	if s.new {
		s.Meta = Meta{Agent: id.Agent, Session: id.Session, Began: at.UnixMilli()}
	}
	if choose != nil {
		setup, err := choose(s.setup)
		if err != nil {
			return nil, err
		}
		if s.remade = s.new || setup.Stamp != s.setup.Stamp; s.remade {
			s.setup = setup
		}
	}
	return s, s.begin()
}

// read takes in what the store has beside the engine's state.
func (s *Session) read() error {
	for key, into := range map[string]any{keyMeta: &s.Meta, keySetup: &s.setup, keyState: &s.state} {
		data := s.tx.Get(key)
		if data == nil {
			continue
		}
		if err := json.Unmarshal(data, into); err != nil {
			return unreadable(key, err)
		}
	}
	return nil
}

// unreadable is the error for a value that is whole, as the store has seen to, and
// still not what this version writes.
func unreadable(key string, err error) error {
	return fmt.Errorf("session: its %s cannot be read: %w; another version wrote it: use that one, or begin a new session", key, err)
}

// maxWait is what processes wait for each other at most: so much earlier than
// the latest event may a clock be read that was not put back.
const maxWait = time.Minute

// setTime is the session's time at a reading of the clock. The engine's time
// never goes back; if the clock is put back, time goes on from where it was, or
// no trial would be due until the clock has caught up.
func (s *Session) setTime(clock time.Time) {
	if back := s.Seen - clock.UnixMilli(); back > maxWait.Milliseconds() {
		s.state.Ahead += back
		s.Seen = clock.UnixMilli()
	}
	s.at = clock.Add(time.Duration(s.state.Ahead) * time.Millisecond)
}

// begin makes the engine go on where it was. A change of what it is made of,
// like a journal that has grown long, begins a segment with a start event.
func (s *Session) begin() error {
	snapshot := s.tx.Get(keyEngine)
	silent := !s.remade && snapshot != nil && s.tx.SegmentLen() > 0 && s.tx.SegmentLen() < maxSegment
	if !silent {
		if err := s.tx.NewSegment(); err != nil {
			return err
		}
	}
	var err error
	s.engine, err = s.restore(snapshot, silent, expediter.Events{Journal: s.write})
	return errors.Join(err, s.err)
}

func (s *Session) restore(snapshot []byte, continued bool, ev expediter.Events) (*expediter.Engine, error) {
	cfg := s.setup.config()
	cfg.Continued, cfg.Events = continued, ev
	if snapshot == nil {
		return expediter.New(cfg)
	}
	var saved expediter.Snapshot
	if err := json.Unmarshal(snapshot, &saved); err != nil {
		return nil, unreadable(keyEngine, err)
	}
	return expediter.Restore(cfg, &saved)
}

// write puts an event into the journal, with what it is about.
func (s *Session) write(ev *expediter.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	var of about
	switch ev.Op {
	case expediter.OpShare, expediter.OpLease, expediter.OpAdopt: // of no call, whenever they come
	default:
		of = s.about
	}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // CLOSED->OPEN stays readable
	err := enc.Encode(struct {
		*expediter.Event
		about
	}{ev, of})
	if err == nil {
		err = s.tx.Append(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
	}
	s.err = err
}

// save puts everything into the transaction.
func (s *Session) save() error {
	if s.err != nil {
		return fmt.Errorf("session: journal: %w", s.err)
	}
	s.Seen = max(s.Seen, s.at.UnixMilli()-s.state.Ahead)
	if s.remade {
		if err := s.put(keySetup, s.setup); err != nil {
			return err
		}
	}
	return errors.Join(s.put(keyMeta, s.Meta), s.put(keyEngine, s.engine.Snapshot()), s.put(keyState, s.state))
}

func (s *Session) put(key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("session: %s: %w", key, err)
	}
	if bytes.Equal(data, s.tx.Get(key)) {
		return nil
	}
	return s.tx.Put(key, data)
}

// Fleet is what SetFleet has kept; nil: nothing.
func (s *Session) Fleet() []byte { return s.tx.Get(keyFleet) }

// SetFleet keeps what whoever connects the engine to a fleet wants to know with the
// next event; nil: nothing. The engine must have left the fleet, or nobody else use
// it, when the event ends.
func (s *Session) SetFleet(memory []byte) error { return s.tx.Put(keyFleet, memory) }

// New reports whether the session began with this event.
func (s *Session) New() bool { return s.new }

// Setup is what the engine is made of.
func (s *Session) Setup() Setup { return s.setup }

// Status is the engine's.
func (s *Session) Status() expediter.Status { return s.engine.Status() }

// Engine is the session's engine, for controls. Calls go through Before and
// After.
func (s *Session) Engine() *expediter.Engine { return s.engine }

// Step is the latest step.
func (s *Session) Step() int64 { return s.state.Step }

// At is the session's time of the event.
func (s *Session) At() time.Time { return s.at }
