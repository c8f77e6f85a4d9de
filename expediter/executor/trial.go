package executor

import (
	"context"
	"sync/atomic"
)

// trial is a PROBE under way, as the context of its func carries it. What asks
// for the same tool within, such as the HTTP client that the func uses, is part of
// that trial: asked by itself it would be refused, since a trial is in flight, and
// the tool would never be reached again.
type trial struct {
	e     *Executor
	tool  string
	outer *trial // of another tool, or of another executor; nil: none
	over  atomic.Bool
}

type trialKey struct{}

func trialOf(ctx context.Context) *trial {
	t, _ := ctx.Value(trialKey{}).(*trial)
	return t
}

// carrying is the context of the func of a trial. Whoever keeps it beyond the
// trial is asked for as anybody.
func (e *Executor) carrying(ctx context.Context, tool string) (context.Context, *trial) {
	t := &trial{e: e, tool: tool, outer: trialOf(ctx)}
	return context.WithValue(ctx, trialKey{}, t), t
}

// within reports whether ctx is that of a trial of the tool that is under way.
func (e *Executor) within(ctx context.Context, tool string) bool {
	for t := trialOf(ctx); t != nil; t = t.outer {
		if t.e == e && t.tool == tool && !t.over.Load() {
			return true
		}
	}
	return false
}
