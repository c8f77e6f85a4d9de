package runner

import (
	"context"
	"fmt"
	"slices"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/task"
)

// State is how a sub-task stands. The zero value is Waiting.
type State uint8

const (
	Waiting      State = iota // in the queue
	Done                      // every call succeeded
	Failed                    // the tool worked and said no, or failed until the run ended
	Deferred                  // its tool is broken and nothing could stand in
	NotAttempted              // the run ended before its turn
)

var stateNames = [...]string{Waiting: "waiting", Done: "done", Failed: "failed", Deferred: "deferred", NotAttempted: "not_attempted"}

// String returns the word that journals use.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// Work is what became of one sub-task.
type Work struct {
	Number  int // from 1
	Subtask task.Subtask
	State   State
	Reason  string   // why it is not done; one line, hostile
	Tool    string   // the tool that it waits for or failed with; empty: none
	Taken   []Taken  // routes by which its calls succeeded
	Outputs []Output // of the calls that succeeded
}

// Taken is a route that was taken: another tool stood in.
type Taken struct {
	Tool  string // that was skipped
	Route *capability.Route
}

// Output is what a successful call returned.
type Output struct {
	Tool    string
	Text    string // bounded; hostile
	Dropped int64  // bytes beyond the tool's output limit
	Label   string // of its freshness; empty: fresh
}

// maxIdle is how many passes in a row a sub-task waits without a single call
// before it is deferred: its tool's trial is then further away than a run
// should last.
const maxIdle = 60

// maxUnavailable is how many checks in a row have to find a tool missing
// before what needs it is deferred.
const maxUnavailable = 2

type job struct {
	Work
	next        int  // the call that is to be made
	progress    bool // a call succeeded in this pass
	called      bool // a call was made in this pass
	idle        int  // passes in a row without a call
	unavailable int  // passes in a row in which its tool was unavailable
	failure     string
}

func (j *job) call() task.Call { return j.Subtask.Calls[j.next] }

// settle takes a sub-task out of the queue and says so.
func (r *Run) settle(j *job, state State, reason string) {
	j.State, j.Reason = state, reason
	note := map[string]any{"id": noted(j.Subtask.ID), "title": noted(j.Subtask.Title), "state": state.String()}
	if reason != "" {
		note["reason"] = noted(reason)
	}
	r.note(expediter.OpSubtask, note)
	r.show(Progress{Kind: Settled, Work: &j.Work, Text: reason})
}

// noted makes a text fit for a journal's note: bounded, on one line, without
// secrets.
func noted(text string) string {
	const most = 300
	return redact.Text(text, most)
}

// ready reports whether everything that j comes after is done.
func (r *Run) ready(j *job) bool {
	return !slices.ContainsFunc(r.before(j), func(d *job) bool { return d.State != Done })
}

func (r *Run) before(j *job) []*job {
	var list []*job
	for _, d := range r.jobs {
		if slices.Contains(j.Subtask.After, d.Subtask.ID) {
			list = append(list, d)
		}
	}
	return list
}

// deferBlocked ends a pass: it defers the sub-tasks that nothing will help,
// and all that depends on one that cannot be done any more.
func (r *Run) deferBlocked() {
	status := r.engine.Status()
	for _, j := range r.jobs {
		if j.State != Waiting || !r.ready(j) || j.progress {
			continue
		}
		if reason := r.blocked(j, status); reason != "" {
			j.Tool = j.call().Tool
			r.settle(j, Deferred, reason)
		}
	}
	for again := true; again; {
		again = false
		for _, j := range r.jobs {
			if d := r.hopeless(j); d != nil {
				r.settle(j, Deferred, fmt.Sprintf("depends on sub-task %d, which %s", d.Number, ends[d.State]))
				again = true
			}
		}
	}
}

var ends = map[State]string{Failed: "failed", Deferred: "is deferred"}

// hopeless returns a sub-task that j comes after and that will not be done.
func (r *Run) hopeless(j *job) *job {
	if j.State != Waiting {
		return nil
	}
	for _, d := range r.before(j) {
		if d.State == Failed || d.State == Deferred {
			return d
		}
	}
	return nil
}

// blocked says why a sub-task that had no success in this pass will have none
// in the next; empty: it may.
func (r *Run) blocked(j *job, status expediter.Status) string {
	i := slices.IndexFunc(status.Tools, func(t expediter.ToolStatus) bool { return t.Tool == j.call().Tool })
	if i < 0 {
		return ""
	}
	t := status.Tools[i]
	if j.idle++; j.called {
		j.idle = 0
	}
	if j.unavailable++; t.Score != capability.Unavailable {
		j.unavailable = 0
	}
	if _, ok := takeable(j.call(), t.ViableRoute); ok {
		return ""
	}
	switch {
	case j.unavailable >= maxUnavailable:
		return t.Tool + " is unavailable"
	case t.State != breaker.Closed && t.FailedProbes > r.tried[t.Tool]:
		return t.Tool + " circuit OPEN, its probe failed"
	case j.idle >= maxIdle:
		return fmt.Sprintf("%s had no trial within %d passes", t.Tool, maxIdle)
	}
	return ""
}

// takeable returns the values with which the task's own call takes a route.
func takeable(c task.Call, route *capability.Route) (task.Args, bool) {
	if route == nil || route.Kind != capability.UseAlternative {
		return nil, false
	}
	args, ok := c.Or[route.Tool]
	return args, ok
}

// settleRest accounts for what a pause or an interrupt left in the queue.
func (r *Run) settleRest(ctx context.Context) {
	why := "paused"
	if ctx.Err() != nil {
		why = "interrupted"
	}
	for _, j := range r.jobs {
		switch {
		case j.State != Waiting:
		case j.failure != "":
			r.settle(j, Failed, j.failure)
		default:
			r.settle(j, NotAttempted, why)
		}
	}
}
