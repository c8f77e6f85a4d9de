package analysis

import (
	"slices"
	"strconv"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/trace"
)

// event is what the policies need of a trace.Event.
type event struct {
	kind     trace.Kind
	answered bool // marked as an error, yet an answer
	doomed   bool // of a call that a spliced outage hits
	call     int
	step, at int64
	tool     string
	key      string
	outcome  expediter.Outcome // of a result, as judged; its signature is a stand-in, see signatures
	note     string            // of a result, for timelines
	tokens   int64
}

func (e *event) name(k Keys) string {
	if k == ToolKeys || e.key == "" {
		return e.tool
	}
	return e.key
}

func (s *sessions) take(ev *trace.Event) event {
	e := event{kind: ev.Kind, call: ev.Call, step: ev.Step, at: ev.At, tool: ev.Tool, key: ev.Key, tokens: ev.Tokens}
	if e.step <= 0 {
		e.step = expediter.NoStep
	}
	if ev.Kind != trace.Result {
		return e
	}
	v := &ev.Verdict
	e.outcome = s.heard(v)
	e.outcome.Duration = ev.Duration
	e.answered = v.Outcome == cascade.Succeeded && answers(v.Class)
	if s.texts && (v.Outcome != cascade.Succeeded || e.answered) {
		e.note = note(v, ev.Text)
	}
	return e
}

// heard is a verdict as an engine takes it.
func (s *signatures) heard(v *classify.Verdict) expediter.Outcome {
	return expediter.Outcome{Result: v.Outcome, Category: v.Category, Signature: s.short(v.Signature), RetryAfter: v.RetryAfter}
}

// signatures gives each signature a short stand-in. Engines only compare them,
// and would clean a long one again under every policy.
type signatures struct {
	known map[string]string
	given int
}

// maxSignatures bounds those that are known at once. One that is forgotten
// gets another stand-in, and matches no longer.
const maxSignatures = 1 << 16

func (s *signatures) short(signature string) string {
	if signature == "" {
		return ""
	}
	short, known := s.known[signature]
	if !known {
		if s.known == nil || len(s.known) >= maxSignatures {
			s.known = map[string]string{}
		}
		s.given++
		short = strconv.Itoa(s.given)
		s.known[signature] = short
	}
	return short
}

// answers reports whether a success of that class is an error to whoever asked.
func answers(class string) bool { return class != "ok" && class != "" }

// session is one recorded session whose end has not been read yet.
type session struct {
	file, name, format string
	events             []event
	begun              bool                // a chunk of it was handed on
	names              map[string]struct{} // of tools, by key, in the chunks that were handed on before its end
	latest             uint64              // the number of its latest event
}

// chunk is a stretch of one session. Workers share it and change nothing.
type chunk struct {
	session     *session
	events      []event
	first, last bool
	outage      *outage // over these events; nil: none
}

const (
	// maxChunk bounds the events of a session that are held back; most
	// sessions are shorter and are laid under each policy in one go.
	maxChunk = 8192
	// maxHeld bounds those of all sessions together.
	maxHeld = 1 << 16
	// maxEngines bounds the engines that are held for sessions of which a part
	// was handed on, of all policies together.
	maxEngines = 2000
	// maxEngineTools bounds the tools that those engines know.
	maxEngineTools = 40_000
)

// sessions gathers the events of interleaved sessions into chunks.
type sessions struct {
	open  map[[2]string]*session
	order []*session // open ones, in order of their first event
	held  int        // events
	begun int        // open sessions of which a part was handed on
	most  int        // of begun
	named int        // tools of begun ones
	names int        // of named, at most
	cut   int        // sessions that were ended early, to stay within most
	count uint64     // of events
	texts bool       // timelines are wanted
	emit  func(chunk) error
	signatures
}

// add takes one event.
func (s *sessions) add(ev *trace.Event) error {
	id := [2]string{ev.File, ev.Session}
	o := s.open[id]
	if o == nil {
		o = &session{file: ev.File, name: ev.Session, format: ev.Format}
		s.open[id] = o
		s.order = append(s.order, o)
	}
	if ev.Kind == trace.End {
		delete(s.open, id)
		return s.flush(o, true)
	}
	o.events = append(o.events, s.take(ev))
	s.held++
	s.count++
	o.latest = s.count
	switch {
	case len(o.events) >= maxChunk:
		return s.flush(o, false)
	case s.held >= maxHeld:
		return s.relieve()
	}
	return nil
}

// flush hands on what is held of a session.
func (s *sessions) flush(o *session, last bool) error {
	c := chunk{session: o, events: o.events, first: !o.begun, last: last}
	s.held -= len(o.events)
	switch {
	case last && o.begun:
		s.begun--
		s.named -= len(o.names)
	case !last && !o.begun:
		s.begun++
	}
	if !last {
		s.named += o.learn()
	}
	o.events, o.begun = nil, true
	if last {
		s.forget()
	}
	if err := s.emit(c); err != nil || s.begun <= s.most && s.named <= s.names {
		return err
	}
	return s.cutIdle()
}

// learn remembers the tools of what is held, and returns how many are new.
func (o *session) learn() int {
	if o.names == nil {
		o.names = map[string]struct{}{}
	}
	before := len(o.names)
	for i := range o.events {
		if e := &o.events[i]; e.kind == trace.Issue {
			o.names[e.key] = struct{}{}
		}
	}
	return len(o.names) - before
}

// cutIdle ends the session that has been silent longest, of those of which
// every policy holds an engine.
func (s *sessions) cutIdle() error {
	var idle *session
	for _, o := range s.order {
		if o.begun && s.open[o.id()] == o && (idle == nil || o.latest < idle.latest) {
			idle = o
		}
	}
	s.cut++
	delete(s.open, idle.id())
	return s.flush(idle, true)
}

func (o *session) id() [2]string { return [2]string{o.file, o.name} }

// relieve hands on what is held of every session.
func (s *sessions) relieve() error {
	for _, o := range slices.Clone(s.order) {
		if len(o.events) > 0 {
			if err := s.flush(o, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget drops ended sessions from the order, now and then.
func (s *sessions) forget() {
	if len(s.order) < 2*len(s.open)+16 {
		return
	}
	kept := s.order[:0]
	for _, o := range s.order {
		if s.open[o.id()] == o {
			kept = append(kept, o)
		}
	}
	clear(s.order[len(kept):])
	s.order = kept
}

// end ends every session that had no end of its own.
func (s *sessions) end() error {
	for _, o := range slices.Clone(s.order) {
		if s.open[o.id()] != o {
			continue
		}
		delete(s.open, o.id())
		if err := s.flush(o, true); err != nil {
			return err
		}
	}
	return nil
}
