package session

import (
	"cmp"
	"encoding/hex"
	"hash/fnv"
	"slices"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
)

// Bounds of what is kept of calls.
const (
	maxFlying = 1000 // calls in flight; the oldest are given up
	maxKnown  = 128  // calls that were decided
	maxID     = 256  // bytes
	maxText   = 512  // characters of a failure's text
)

// Call is one tool call, as far as it is known when it is told.
type Call struct {
	ID          string // the agent's; empty: it gives none, and calls are paired by tool and arguments
	Subagent    string // empty: the main agent
	Observation classify.Observation
	Todos       *Todos // the to-do list that the call writes; nil: none
}

// state is what a session knows beside its engine. It says nothing that the
// journal does not: it is kept to spare each process the reading of it.
type state struct {
	Step    int64            `json:"step,omitempty"`
	Ahead   int64            `json:"ahead,omitempty"`   // milliseconds that the session's time is ahead of the clock: see setTime
	Batches map[string]batch `json:"batches,omitempty"` // by subagent
	Ends    bool             `json:"ends,omitempty"`    // the agent tells when a batch is through
	Flying  []flying         `json:"flying,omitempty"`  // oldest first
	Known   []known          `json:"known,omitempty"`   // calls with an id that were decided, oldest first
	Todos   []item           `json:"todos,omitempty"`   // the agent's own list
	Plan    []item           `json:"plan,omitempty"`    // what `expediter plan` was given
	Cycle   expediter.Counts `json:"cycle"`             // as it began
	Mirror  uint64           `json:"mirror,omitempty"`  // of a mirrored session: the number of the journal's latest event
}

// flying is a call that was allowed and has not come back.
type flying struct {
	ID       string           `json:"id,omitempty"`
	Subagent string           `json:"sub,omitempty"`
	Key      string           `json:"key"`
	Args     uint64           `json:"args,omitempty"` // a hash of tool and arguments
	Call     expediter.CallID `json:"call"`
	At       int64            `json:"at"`
}

// known is what became of a call with an id, so that one that is told twice
// counts once.
type known struct {
	ID       string           `json:"id"`
	Subagent string           `json:"sub,omitempty"`
	Args     uint64           `json:"args"`
	At       int64            `json:"at"`
	Verb     expediter.Verb   `json:"verb"`
	Reason   expediter.Reason `json:"reason,omitzero"`
	GaveUp   bool             `json:"gave_up,omitempty"` // nobody told its end in time
	Past     bool             `json:"past,omitempty"`    // its batch is through: what is told now is another call
}

// twice is within what time a call is told once more. Hooks that are installed
// twice run at the same time, and each answers within seconds.
const twice = 10 * time.Second

// Ruling is the decision about a call.
type Ruling struct {
	expediter.Decision
	Key   string // the breaker of the call
	Again bool   // the same call was decided before: nothing was counted
}

// Before decides about a call that is about to be made.
func (s *Session) Before(c Call) Ruling {
	c = c.bounded()
	key := classify.Key(c.Observation)
	if k, ok := s.again(c); ok {
		return Ruling{Key: key, Again: true, Decision: expediter.Decision{Verb: k.Verb, Would: k.Verb, Reason: k.Reason}}
	}
	step := s.stepOf(c.Subagent)
	d := s.decide(c, key, step)
	s.work(key)
	return Ruling{Decision: d, Key: key}
}

// Anew is Before once more, for a call that was just skipped and may be decided in
// another way now.
func (s *Session) Anew(c Call) Ruling {
	if k := len(s.state.Known) - 1; c.ID != "" && k >= 0 && s.state.Known[k].ID == c.bounded().ID {
		s.state.Known = s.state.Known[:k]
	}
	return s.Before(c)
}

// again finds the decision about a call that is told once more. Its id alone
// does not say so: some models count theirs from one in each turn, and another
// tool must not get the answer of the first.
func (s *Session) again(c Call) (known, bool) {
	k, ok := s.knows(c)
	if i := s.flight(c, ""); !ok && c.ID != "" && i >= 0 { // so many others came since that it is not known any more
		f := s.state.Flying[i]
		k, ok = known{Verb: expediter.Call, Args: f.Args, At: f.At}, true
	}
	return k, ok && !k.GaveUp && !k.Past && k.Args == c.hash() && s.since(k.At) < twice
}

// decide asks the engine, and remembers what is in flight now. Of calls with the
// same id the latest flies.
func (s *Session) decide(c Call, key string, step int64) expediter.Decision {
	if i := slices.IndexFunc(s.state.Flying, func(f flying) bool { return c.ID != "" && f.ID == c.ID }); i >= 0 {
		s.giveUp(i)
	}
	s.Ended = false
	args, at := c.hash(), s.at.UnixMilli()
	s.about = about{Call: c.ID, Subagent: c.Subagent}
	d := s.engine.Decide(key, step, s.at)
	s.about = about{}
	if c.ID != "" {
		s.state.Known = append(s.state.Known, known{ID: c.ID, Subagent: c.Subagent, Args: args, At: at, Verb: d.Verb, Reason: d.Reason})
		s.state.Known = s.state.Known[max(len(s.state.Known)-maxKnown, 0):]
	}
	if d.Call != 0 {
		s.state.Flying = append(s.state.Flying, flying{ID: c.ID, Subagent: c.Subagent, Key: key, Args: args, Call: d.Call, At: at})
	}
	for len(s.state.Flying) > maxFlying {
		s.giveUp(0)
	}
	return d
}

// Learnt is what the session made of a call that came back.
type Learnt struct {
	Key     string
	Verdict classify.Verdict
	Result  expediter.Result
	Counted bool // false: it had been recorded before, or its tool is open and nobody asked
}

// After takes in what came of a call. One that was never asked about is decided
// and recorded now; if its tool is open, the agent has gone round us, which says
// nothing.
func (s *Session) After(c Call) Learnt {
	c = c.bounded()
	o := c.Observation
	l := Learnt{Key: classify.Key(o)}
	entry, _ := s.setup.Map.Lookup(l.Key)
	o.At, o.Rules = s.at, rulesOf(entry)
	l.Verdict = classify.Observe(o)
	call, ok := s.land(c, l.Key)
	if !ok {
		return l
	}
	s.about = about{Call: c.ID, Subagent: c.Subagent}
	result, err := s.engine.Record(call, outcome(o, l.Verdict, entry), s.state.Step, s.at)
	s.about = about{}
	l.Result, l.Counted = result, err == nil
	if l.Verdict.Outcome == cascade.Succeeded && c.Todos != nil {
		s.todos(*c.Todos)
	}
	s.landed(c.Subagent)
	return l
}

// land finds the call in flight that came back; ok is false if there is nothing
// to record.
func (s *Session) land(c Call, key string) (call expediter.CallID, ok bool) {
	if i := s.flight(c, key); i >= 0 {
		call = s.state.Flying[i].Call
		s.state.Flying = slices.Delete(s.state.Flying, i, i+1)
		return call, true
	}
	if k, known := s.knows(c); known && !k.GaveUp {
		return 0, false
	}
	d := s.decide(c, key, s.stepOf(c.Subagent))
	if d.Call != 0 {
		s.state.Flying = s.state.Flying[:len(s.state.Flying)-1]
	}
	return d.Call, d.Call != 0
}

// flight is the index of a call in flight: by its id and tool, for its arguments
// may be others since. Without an id it is the oldest with its arguments, else
// the latest of its key: older ones may have got lost.
func (s *Session) flight(c Call, key string) int {
	hash := c.hash()
	if c.ID != "" {
		return slices.IndexFunc(s.state.Flying, func(f flying) bool { return f.ID == c.ID && sameTool(f.Args, hash) })
	}
	latest := -1
	for i, f := range s.state.Flying {
		if f.ID != "" || f.Key != key || f.Subagent != c.Subagent {
			continue
		}
		if latest = i; f.Args == hash {
			break
		}
	}
	return latest
}

// knows is the latest call with this id, of the same tool.
func (s *Session) knows(c Call) (known, bool) {
	if c.ID == "" {
		return known{}, false
	}
	hash := c.hash()
	for _, k := range slices.Backward(s.state.Known) {
		if k.ID == c.ID && sameTool(k.Args, hash) {
			return k, true
		}
	}
	return known{}, false
}

// giveUp records a call in flight whose end nobody told: it says nothing about
// its tool. If its end is told all the same, it counts as a call of its own.
func (s *Session) giveUp(i int) {
	f := s.state.Flying[i]
	s.state.Flying = slices.Delete(s.state.Flying, i, i+1)
	s.about = about{Call: f.ID, Subagent: f.Subagent}
	_, _ = s.engine.Record(f.Call, expediter.Ignored(), s.state.Step, s.at) // forgotten is as good
	s.about = about{}
	for k := range s.state.Known {
		if f.ID != "" && s.state.Known[k].ID == f.ID {
			s.state.Known[k].GaveUp = true
		}
	}
}

// giveUpAll gives up the calls in flight for which old holds.
func (s *Session) giveUpAll(old func(flying) bool) {
	for i := len(s.state.Flying) - 1; i >= 0; i-- {
		if old(s.state.Flying[i]) {
			s.giveUp(i)
		}
	}
}

// bounded cuts an id that is no id to its hash.
func (c Call) bounded() Call {
	if len(c.ID) > maxID {
		c.ID = hashOf(c.ID)
	}
	if len(c.Subagent) > maxID {
		c.Subagent = hashOf(c.Subagent)
	}
	return c
}

// hash tells calls apart by tool, server and arguments. Its upper 16 bits are the
// tool's alone.
func (c Call) hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.Observation.Tool))
	tool := h.Sum64() << 48
	for _, part := range [...][]byte{[]byte(c.Observation.Server), c.Observation.Input} {
		_, _ = h.Write([]byte{0})
		_, _ = h.Write(part)
	}
	return tool | h.Sum64()>>16
}

// sameTool reports whether two hashes are of calls of one tool.
func sameTool(a, b uint64) bool { return (a^b)>>48 == 0 }

func hashOf(id string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(id))
	return hex.EncodeToString(h.Sum(nil))
}

// rulesOf are the classification rules of a map entry. They were checked when
// the map was read.
func rulesOf(e capability.Entry) classify.Rules {
	if len(e.Classify) == 0 {
		return classify.Rules{}
	}
	rules := make([]classify.Rule, len(e.Classify))
	for i, r := range e.Classify {
		rules[i] = classify.Rule(r)
	}
	compiled, err := classify.Compile(rules)
	if err != nil {
		return classify.Rules{}
	}
	return compiled
}

// outcome is what the engine is told. The text is masked: it is kept on disk.
func outcome(o classify.Observation, v classify.Verdict, e capability.Entry) expediter.Outcome {
	out := expediter.Outcome{Result: v.Outcome, Category: v.Category, Signature: v.Signature, Duration: o.Duration, RetryAfter: v.RetryAfter}
	if v.Outcome != cascade.Failed {
		return out
	}
	out.Text = redact.Text(cmp.Or(classify.ErrorText(o), v.Signature), maxText)
	// classify.InDoubt would say so of a lost connection too, but asks an error for
	// one that never came about: here there are but words.
	out.MayHaveTakenEffect = v.Category == cascade.Timeout && e.SideEffects >= capability.Idempotent
	return out
}

// since is how long ago a moment in milliseconds was.
func (s *Session) since(ms int64) time.Duration { return s.at.Sub(time.UnixMilli(ms)) }
