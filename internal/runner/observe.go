package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/task"
)

// rules are the map's own classification rules, by the entry that has them.
type rules map[string]classify.Rules

func compileRules(m capability.Map) (rules, error) {
	all := rules{}
	var errs []error
	for _, e := range m {
		own := make([]classify.Rule, len(e.Classify))
		for i, c := range e.Classify {
			own[i] = classify.Rule(c)
		}
		compiled, err := classify.Compile(own)
		if err != nil {
			errs = append(errs, fmt.Errorf("capability map, tool %q, classify: %w", e.Tool, err))
		}
		all[e.Tool] = compiled
	}
	return all, errors.Join(errs...)
}

// maxOutcomeText bounds what the engine is told of an error, in bytes.
const maxOutcomeText = 1 << 10

// observe turns a finished command into an outcome. answered says that its
// exit status is one that the task declares to be a good answer.
func (r *Run) observe(ctx context.Context, t task.Tool, argv []string, f finished) (o expediter.Outcome, answered bool) {
	if f.err == nil && slices.Contains(t.OKExit, f.exit) {
		return expediter.Outcome{Result: cascade.Succeeded, Duration: f.took}, true
	}
	entry, _ := r.cfg.Task.Map.Lookup(t.Name)
	seen := classify.Observation{Tool: t.Name, Argv: argv, Result: said(f), Failed: true, Err: f.err,
		ContextErr: ctx.Err(), DeadlineHit: f.timedOut, Duration: f.took, Rules: r.rules[entry.Tool]}
	if f.err == nil {
		seen.ExitCode = &f.exit
	}
	v := classify.Observe(seen)
	return expediter.Outcome{Result: v.Outcome, Category: v.Category, Signature: v.Signature,
		Text: reason(t, f), Duration: f.took, RetryAfter: v.RetryAfter}, false
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
