package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/task"
)

// maxOutcomeText bounds what the engine is told of an error, in bytes.
const maxOutcomeText = 1 << 10

// observe turns a finished command into an outcome. answered says that its
// exit status is one that the task declares to be a good answer.
func (r *Run) observe(ctx context.Context, t task.Tool, argv []string, f finished) (o expediter.Outcome, answered bool) {
	if f.err == nil && slices.Contains(t.OKExit, f.exit) {
		return expediter.Outcome{Result: cascade.Succeeded, Duration: f.took}, true
	}
	seen := classify.Observation{Tool: t.Name, Argv: argv, Result: said(f), Failed: true, Err: f.err,
		ContextErr: ctx.Err(), DeadlineHit: f.timedOut, Duration: f.took, Rules: r.rules[t.Name]}
	if f.err == nil {
		seen.ExitCode = &f.exit
	}
	v := classify.Observe(seen)
	inDoubt := v.Outcome == cascade.Failed && classify.InDoubt(v.Category, f.err)
	return expediter.Outcome{Result: v.Outcome, Category: v.Category, Signature: v.Signature,
		Text: reason(t, f), Duration: f.took, RetryAfter: v.RetryAfter,
		MayHaveTakenEffect: r.effects(t.Name) >= capability.Idempotent && inDoubt}, false
}

// effects is what a repeated call of the tool does, as its map entry says.
func (r *Run) effects(tool string) capability.SideEffects {
	entry, _ := r.cfg.Task.Map.Lookup(tool)
	return entry.SideEffects
}

// said is the output in which a program says what went wrong.
func said(f finished) string {
	if strings.TrimSpace(f.stderr) != "" {
		return f.stderr
	}
	return f.stdout
}

// reason is why a command did not succeed, on one line.
func reason(t task.Tool, f finished) string {
	text := lastLine(said(f))
	switch {
	case f.timedOut:
		text = "timeout after " + t.Deadline.String()
	case f.err != nil && text == "":
		text = f.err.Error()
	case f.err == nil && text == "":
		text = fmt.Sprintf("exit status %d", f.exit)
	case f.err == nil:
		text = fmt.Sprintf("%s (exit status %d)", text, f.exit)
	}
	return text[:min(len(text), maxOutcomeText)]
}
