package runner

import (
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

// Kind is what a Progress tells.
type Kind uint8

const (
	Checked Kind = iota // a pre-call check found Tool not available
	Decided             // the engine has decided about a call of Tool
	Ended               // a call of Tool has ended
	Settled             // a sub-task is done, failed or deferred
)

// Progress is one thing that happened, for whoever watches a run. Texts are as
// the tools gave them: hostile.
type Progress struct {
	Kind     Kind
	Step     int64
	Work     *Work // the sub-task; nil for Checked. Do not keep or change it
	Tool     string
	Score    capability.Score   // Checked
	Decision expediter.Decision // Decided and Ended
	NoCall   bool               // Decided: a route is there, and the task has no call for it
	Result   cascade.Outcome    // Ended
	Answered bool               // Ended: the tool worked and its answer is good
	Category cascade.Category   // Ended: of a failure
	Text     string             // Ended: why it did not succeed; Settled: the reason
	Took     time.Duration      // Ended
}

func (r *Run) show(p Progress) {
	if r.cfg.Progress != nil {
		p.Step = r.step
		r.cfg.Progress(p)
	}
}
