package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/task"
	"github.com/expediter-go/expediter/report/freshness"
)

// answer is what an attempt comes to.
type answer uint8

const (
	waiting answer = iota // ask again in the next pass
	succeeded
	settled // failed for good
	paused
)

// attempt makes a sub-task's calls in order, each at most once, until one does
// not succeed.
func (r *Run) attempt(ctx context.Context, j *job) answer {
	for j.next < len(j.Subtask.Calls) {
		if a := r.ask(ctx, j); a != succeeded {
			return a
		}
		j.next++
		j.progress, j.failure, j.Tool = true, "", ""
	}
	r.settle(j, Done, "")
	return succeeded
}

// ask has the next call decided, and makes it, or takes the route that the
// decision names if the task says how.
func (r *Run) ask(ctx context.Context, j *job) answer {
	c := j.call()
	d := r.decide(j, c.Tool)
	switch {
	case d.Verb == expediter.Pause:
		return paused
	case d.Verb.Go():
		return r.make(ctx, j, c.Tool, c.With, d)
	}
	args, ok := takeable(c, d.Route)
	if !ok {
		return waiting
	}
	instead := r.decide(j, d.Route.Tool)
	switch {
	case instead.Verb == expediter.Pause:
		return paused
	case !instead.Verb.Go():
		return waiting
	}
	r.note(expediter.OpRouteTaken, map[string]any{"id": noted(j.Subtask.ID), "tool": noted(c.Tool), "route": noted(d.Route.Tool),
		"label": d.Route.Label.String(), "degradation": noted(d.Route.Degradation)})
	a := r.make(ctx, j, d.Route.Tool, args, instead)
	if a == succeeded {
		j.Taken = append(j.Taken, Taken{Tool: c.Tool, Route: d.Route})
	}
	return a
}

func (r *Run) decide(j *job, tool string) expediter.Decision {
	d := r.engine.Decide(tool, r.step, time.Now())
	_, taken := takeable(j.call(), d.Route)
	other := d.Route != nil && d.Route.Kind == capability.UseAlternative
	r.show(Progress{Kind: Decided, Work: &j.Work, Tool: tool, Decision: d, NoCall: other && !taken})
	return d
}

// make runs the command of a call that the engine allowed, and records what
// came of it.
func (r *Run) make(ctx context.Context, j *job, name string, args task.Args, d expediter.Decision) answer {
	t, _ := r.cfg.Task.Tool(name)
	argv := t.Argv(args)
	j.called = true
	f := command{argv: argv, dir: r.dir(t), env: environment(t), deadline: t.Deadline, limit: t.OutputLimit,
		running: &r.running}.run(ctx)
	o, answered := r.observe(ctx, t, argv, f)
	if _, err := r.engine.Record(d.Call, o, r.step, time.Now()); err != nil {
		r.broken = fmt.Errorf("recording a call of %s: %w", name, err)
		return settled
	}
	r.show(Progress{Kind: Ended, Work: &j.Work, Tool: name, Decision: d, Result: o.Result, Answered: answered,
		Category: o.Category, Text: o.Text, Took: f.took})
	return r.conclude(ctx, j, t, argv, f, o, answered)
}

// conclude turns an outcome into what becomes of the sub-task.
func (r *Run) conclude(ctx context.Context, j *job, t task.Tool, argv []string, f finished, o expediter.Outcome, answered bool) answer {
	j.Tool = t.Name
	switch {
	case answered:
		j.Outputs = append(j.Outputs, Output{Tool: t.Name, Text: f.stdout, Dropped: f.dropped, Label: r.label(t, argv, f)})
		return succeeded
	case o.MayHaveTakenEffect && r.effects(t.Name) == capability.Destructive:
		r.settle(j, Deferred, fmt.Sprintf("%s failed: %s; it may have taken effect: verify that before it is repeated", t.Name, o.Text))
		return settled
	case o.Result == cascade.Failed:
		j.failure = fmt.Sprintf("%s failed: %s", t.Name, o.Text)
		return waiting
	case ctx.Err() != nil:
		j.failure = "interrupted while " + t.Name + " ran"
		return waiting
	case o.Result == cascade.Ignored && f.timedOut: // a shell's command; see classify
		r.settle(j, Failed, fmt.Sprintf("%s was ended by its time limit: %s; what it had begun may be done", t.Name, o.Text))
	case o.Result == cascade.Ignored:
		r.settle(j, Failed, fmt.Sprintf("%s did not carry out the call: %s", t.Name, o.Text))
	default:
		r.settle(j, Failed, fmt.Sprintf("%s answered: %s", t.Name, o.Text))
	}
	return settled
}

// label is the freshness of a result.
func (r *Run) label(t task.Tool, argv []string, f finished) string {
	entry, _ := r.cfg.Task.Map.Lookup(t.Name)
	args, err := json.Marshal(argv)
	if err != nil { // strings always marshal
		return string(freshness.Unknown)
	}
	return string(r.fresh.Observe(freshness.Result{Tool: t.Name, Args: string(args), Output: []byte(f.stdout),
		Subject: subject(entry), Declared: entry.Freshness}, time.Now()))
}

// subject is what may have changed since an identical result.
func subject(e capability.Entry) string {
	if e.Provides == "" {
		return ""
	}
	return "the source of its " + e.Provides
}

func environment(t task.Tool) []string {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		env = append(env, name+"="+t.Env[name])
	}
	return env
}

// lastLine is the last line of a text that says anything.
func lastLine(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
	}
	return last
}
