package session

import (
	"slices"
	"time"
)

// batch is the present batch of one agent or subagent: the calls of one turn of
// its model, which are one step (SPEC section 1).
type batch struct {
	Step  int64 `json:"step"`
	Over  bool  `json:"over,omitempty"`  // the next call begins another
	Ended int64 `json:"ended,omitempty"` // when the latest call of it came back, in milliseconds
}

const (
	// modelTurn is what a turn of a model takes at least. Calls of one batch
	// follow each other faster.
	modelTurn = time.Second
	// longest is how long a call may take before nobody expects it back.
	longest = time.Hour

	// maxBatches bounds the batches that are remembered; beyond it all begin anew.
	maxBatches = 256
)

// stepOf is the step of a call that is told now, and begins it if it is a new
// one.
func (s *Session) stepOf(subagent string) int64 {
	b, ok := s.state.Batches[subagent]
	late := !s.state.Ends && b.Ended != 0 && s.since(b.Ended) >= modelTurn
	if ok && !b.Over && !late {
		return b.Step
	}
	s.giveUpAll(func(f flying) bool { return s.since(f.At) >= longest })
	s.state.Step++
	if s.state.Batches == nil || len(s.state.Batches) >= maxBatches {
		s.state.Batches = map[string]batch{}
	}
	s.state.Batches[subagent] = batch{Step: s.state.Step}
	return s.state.Step
}

// landed says that a call of an agent came back. Where the agent does not tell
// the end of a batch, it is when nothing is in flight.
func (s *Session) landed(subagent string) {
	b, ok := s.state.Batches[subagent]
	if !ok {
		return
	}
	b.Ended = s.at.UnixMilli()
	b.Over = b.Over || !s.state.Ends && !s.flies(subagent)
	s.state.Batches[subagent] = b
}

func (s *Session) flies(subagent string) bool {
	return slices.ContainsFunc(s.state.Flying, func(f flying) bool { return f.Subagent == subagent })
}

// BatchEnd says that all calls of one turn are through. Those whose end was not
// told are judged by what the batch says of them, or given up.
func (s *Session) BatchEnd(subagent string, calls []Call) {
	s.state.Ends = true
	for _, c := range calls {
		c = c.bounded()
		if i := s.flight(c, ""); c.ID != "" && i >= 0 {
			s.After(c)
		}
	}
	s.giveUpAll(func(f flying) bool { return f.Subagent == subagent })
	s.over(subagent)
}

// Start says that the agent's process has begun, perhaps anew: nothing of an
// earlier one is in flight, however that ended.
func (s *Session) Start() {
	s.giveUpAll(func(flying) bool { return true })
	s.Ended = false
}

// Prompt says that the user has spoken: a cycle begins (SPEC section 1). What is
// still in flight was refused or interrupted, or goes on beside.
func (s *Session) Prompt() {
	s.Prompts++
	s.Ended = false
	s.giveUpAll(func(f flying) bool { return f.Subagent == "" })
	s.over("")
	s.engine.BeginCycle(s.state.Step, s.at)
	s.state.Cycle = s.engine.Status().Counts
}

// Stop says that the agent's turn is over. Nothing of it is in flight then.
func (s *Session) Stop(subagent string) {
	s.giveUpAll(func(f flying) bool { return f.Subagent == subagent })
	if s.over(subagent); subagent != "" {
		delete(s.state.Batches, subagent)
	}
}

// over says that what an agent has called is through, and that its next call
// begins another batch.
func (s *Session) over(subagent string) {
	for i := range s.state.Known {
		k := &s.state.Known[i]
		k.Past = k.Past || k.Subagent == subagent
	}
	if b, ok := s.state.Batches[subagent]; ok {
		b.Over = true
		s.state.Batches[subagent] = b
	}
}

// End says that the session is over.
func (s *Session) End() {
	s.giveUpAll(func(flying) bool { return true })
	s.Ended = true
}

// Cycle is what the present cycle has counted so far: skipped and paused calls.
func (s *Session) Cycle() (skips, pauses uint64) {
	now, then := s.engine.Status().Counts, s.state.Cycle
	return now.Skips - then.Skips, now.Pauses - then.Pauses
}
