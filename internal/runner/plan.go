package runner

import (
	"context"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/task"
)

// Planned is a call that a dry run would have made or skipped.
type Planned struct {
	Work     Work
	Tool     string
	Decision expediter.Decision
	Argv     []string // of a call that may be made
	Instead  *Planned // the route that would be taken; nil: none
}

// Plan decides the first pass without making a call: what each call of each
// sub-task would meet now, after the pre-call checks.
func (r *Run) Plan(ctx context.Context) []Planned {
	r.step++
	r.check(ctx)
	var plan []Planned
	for _, j := range r.jobs {
		for j.next = range j.Subtask.Calls {
			c := j.call()
			p := r.planned(j, c.Tool)
			if p.Decision.Verb.Go() {
				p.Argv = r.argv(c.Tool, c.With)
			} else if args, ok := takeable(c, p.Decision.Route); ok {
				instead := r.planned(j, p.Decision.Route.Tool)
				instead.Argv = r.argv(instead.Tool, args)
				p.Instead = &instead
			}
			plan = append(plan, p)
		}
	}
	return plan
}

func (r *Run) planned(j *job, tool string) Planned {
	return Planned{Work: j.Work, Tool: tool, Decision: r.decide(j, tool)}
}

func (r *Run) argv(tool string, args task.Args) []string {
	t, _ := r.cfg.Task.Tool(tool)
	return t.Argv(args)
}
