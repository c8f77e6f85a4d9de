package trace

import (
	"bytes"
	"container/list"
	"encoding/json"
	"slices"
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

const (
	maxInput    = 64 << 10 // of a call, kept until its result is there
	maxAnswered = 32       // ids that a session remembers
	maxOpenHere = 1 << 14  // calls of a session without a result; the oldest is given up
)

// session is one session of a source, as its decoder tells it.
type session struct {
	sink     *sink
	key      string // as the decoder calls it
	name     string // the same, fit to keep
	place    *list.Element
	born     int
	step     int64
	turnID   string
	now      *turn // nil: none yet
	calls    int
	open     []*call  // the oldest first
	answered []string // ids, the oldest first
	held     []entry
}

// turn is one answer of the model.
type turn struct {
	calls  int
	tokens int64
}

// issued is a call that the agent asks for.
type issued struct {
	id, tool, server string
	agent            classify.AgentName
	protocol         classify.Protocol
	input            json.RawMessage
	argv             []string
	key              string // empty: classify finds it
	at               time.Time
}

// call is an issued call that waits for its result.
type call struct {
	issued
	session *session
	place   *list.Element // in sink.open
	number  int
	step    int64
	turn    *turn
	known   uint64
	fixed   bool // its key is not that of the observation
}

// resulted is the result of a call. The sink fills in Tool, Input, Agent,
// Protocol, Server and Argv where they are empty.
type resulted struct {
	id       string // empty: of the oldest open call
	how      How
	obs      classify.Observation
	at       time.Time
	duration time.Duration
	verdict  *classify.Verdict // nil: classify judges
}

// prompt says that the user speaks.
func (s *session) prompt(at time.Time) { s.promptOf("", at) }

// promptOf is prompt for a message that has an id: it may be told again.
func (s *session) promptOf(id string, at time.Time) {
	s.turn()
	s.tell(entry{Event: Event{Kind: Prompt, Step: s.step, At: milliseconds(at)}, id: told{session: s.key, id: id, at: at}.identity()})
}

// turn says that the model speaks again: later calls are of a new step. If it
// has asked for no call since, the step stays.
func (s *session) turn() {
	s.flush()
	s.turnID = ""
	if s.now == nil || s.now.calls > 0 {
		s.step++
	}
	s.now = &turn{}
}

// turnOf is turn, unless the turn of that id is the current one.
func (s *session) turnOf(id string) {
	if s.now != nil && id != "" && id == s.turnID {
		return
	}
	s.turn()
	s.turnID = id
}

// spent says what the current turn cost, besides what was said before.
func (s *session) spent(tokens int64) {
	if s.now == nil {
		s.turn()
	}
	s.now.tokens = max(s.now.tokens+max(tokens, 0), s.now.tokens)
}

// cost is spent for a format that says again and again what the current turn
// cost so far.
func (s *session) cost(tokens int64) {
	if s.now == nil {
		s.turn()
	}
	s.now.tokens = max(s.now.tokens, tokens)
}

// issue says that the agent asks for a call.
func (s *session) issue(c issued) {
	if s.now == nil {
		s.turn()
	}
	s.now.calls++
	o := &call{issued: c, session: s, number: s.calls, step: s.step, turn: s.now}
	s.calls++
	o.known = told{session: s.key, id: c.id, tool: c.tool, input: c.input, at: c.at}.identity()
	o.settle()
	s.open = append(s.open, o)
	o.place = s.sink.open.PushBack(o)
	s.sink.openBytes += len(o.input)
	s.tell(entry{Event: o.event(Issue, c.at), id: o.known})
	if len(s.open) > maxOpenHere {
		s.open[0].close()
	}
	for k := s.sink; k.open.Len() > maxOpen || k.openBytes > maxOpenBytes; {
		k.open.Front().Value.(*call).close()
	}
}

// settle finds the key, and makes the rest fit to keep.
func (c *call) settle() {
	if c.fixed = c.key != ""; !c.fixed {
		c.key = classify.Key(c.observation(classify.Observation{}))
	}
	c.tool = clip(c.tool)
	if len(c.input) > maxInput {
		c.input, c.fixed = nil, true
	}
	c.input = bytes.Clone(c.input)
}

// result says that the result of a call is there. Of several results of one
// call the first counts.
func (s *session) result(r resulted) {
	i := s.find(func(c *call) bool { return r.id == "" || c.id == r.id })
	if i < 0 {
		if r.id == "" || !slices.Contains(s.answered, r.id) {
			s.sink.stats.Orphans++
		}
		return
	}
	c := s.open[i]
	c.close()
	if c.id != "" {
		if len(s.answered) >= maxAnswered {
			s.answered = append(s.answered[:0], s.answered[1:]...)
		}
		s.answered = append(s.answered, c.id)
	}
	e := entry{Event: c.event(Result, r.at), id: c.known, turn: c.turn}
	e.How, e.Duration, e.Verdict = r.how, max(r.duration, 0), c.verdict(r)
	if e.Key = e.Verdict.Key; e.Verdict.Class != classOK {
		e.Text = excerpt(r.obs.Result)
	}
	s.tell(e)
}

// verdict is what the result says about its tool.
func (c *call) verdict(r resulted) classify.Verdict {
	var v classify.Verdict
	if r.verdict != nil {
		v = *r.verdict
	} else {
		r.obs.Unmarked = r.how == Judged
		v = c.session.sink.judge(c.observation(r.obs))
	}
	if c.fixed {
		v.Key = c.key
	}
	return v
}

// forget says that the latest call has no result.
func (s *session) forget() {
	if len(s.open) > 0 {
		s.open[len(s.open)-1].close()
	}
}

// classOK is the class of a result that is no error.
const classOK = "ok"

// observation completes what the decoder knows of a result.
func (c *call) observation(o classify.Observation) classify.Observation {
	if o.Tool == "" {
		o.Tool = c.tool
	}
	if o.Server == "" {
		o.Server = c.server
	}
	if o.Agent == "" {
		o.Agent = c.agent
	}
	if o.Protocol == classify.Plain {
		o.Protocol = c.protocol
	}
	if o.Input == nil {
		o.Input = c.input
	}
	if o.Argv == nil {
		o.Argv = c.argv
	}
	return o
}

func (c *call) event(kind Kind, at time.Time) Event {
	return Event{Kind: kind, Step: c.step, At: milliseconds(at), Call: c.number, Tool: c.tool, Key: c.key}
}

// close takes the call from those that wait.
func (c *call) close() {
	s := c.session
	s.sink.open.Remove(c.place)
	s.sink.openBytes -= len(c.input)
	i := s.find(func(o *call) bool { return o == c })
	s.open = slices.Delete(s.open, i, i+1)
}

// find looks for an open call from both ends: results are mostly those of the
// latest calls or of the earliest. It returns -1 if there is none.
func (s *session) find(is func(*call) bool) int {
	for i, j := 0, len(s.open)-1; i <= j; i, j = i+1, j-1 {
		if is(s.open[i]) {
			return i
		}
		if is(s.open[j]) {
			return j
		}
	}
	return -1
}

// tell hands an entry on. From the first result of a turn on they are held
// until it ends: only then it is known what it cost, and for how many calls.
func (s *session) tell(e entry) {
	e.Session = s.name
	if e.Kind != Result && len(s.held) == 0 {
		s.sink.tell(&e)
		return
	}
	s.held = append(s.held, e)
	if s.sink.held++; s.sink.held > maxHeld {
		s.flush()
	}
}

func (s *session) flush() {
	s.sink.held -= len(s.held)
	for i := range s.held {
		e := s.held[i]
		if e.turn != nil {
			e.Tokens = e.turn.tokens / int64(e.turn.calls)
		}
		s.sink.tell(&e)
	}
	clear(s.held)
	s.held = s.held[:0]
}

// end says that the session has no more events.
func (s *session) end() {
	s.flush()
	for len(s.open) > 0 {
		s.open[0].close()
	}
	s.sink.recent.Remove(s.place)
	delete(s.sink.sessions, s.key)
	e := entry{Event: Event{Kind: End, Session: s.name, Step: s.step}}
	s.sink.tell(&e)
}
