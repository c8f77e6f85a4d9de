package expediter

import (
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// Counted is the last failure of a tool that counted against its breaker, as a
// Snapshot keeps it. What fails alike at the same moment is the same
// observation.
type Counted struct {
	LastCall uint64          `json:"last_call"` // calls up to this number were decided before it was recorded
	Failure  cascade.Failure `json:"failure"`
	At       cascade.Moment  `json:"at"`
	Stepless bool            `json:"stepless,omitempty"` // recorded with NoStep
}

// batchMS is one moment where there are no steps.
const batchMS = 1000

// batched reports whether a failure is part of the observation that the tool's
// last counted failure made: its call was already decided then, it has the same
// category and signature, and it comes at the same step. It changes no counter
// and is not charged. Successes in between do not matter, nor does a circuit
// that opened meanwhile.
func (x *Engine) batched(t *tool, id CallID, f cascade.Failure) bool {
	c := t.counted
	if c == nil || t.spec.policy.Batch != breaker.On || id.seq() > c.LastCall || f != c.Failure {
		return false
	}
	if x.cur.stepless || c.Stepless {
		return x.cur.at-c.At.At <= batchMS
	}
	return x.cur.step == c.At.Step
}

// observed remembers a failure that counts. A slow call is none: it may hide no
// failure.
func (x *Engine) observed(t *tool, f cascade.Failure, slow bool) {
	if t.spec.policy.Batch != breaker.On {
		return
	}
	t.ill().counted = nil
	if !slow {
		t.ill().counted = &Counted{LastCall: x.seq.Load(), Failure: f, At: x.cur.moment(), Stepless: x.cur.stepless}
	}
}
