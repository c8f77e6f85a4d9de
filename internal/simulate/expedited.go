package simulate

import (
	"fmt"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/report"
)

// Bounds of an expedited agent, as `expediter run` has them.
const (
	paceMS    = 1_000   // a pass lasts at least that long
	maxIdle   = 60      // passes that a sub-task waits without a call
	maxPasses = 1_000   // of a policy that neither defers nor pauses
	answerMS  = 300_000 // until the user answers a pause
)

// epoch is the wall clock at the beginning; a time of zero would say that
// there is no clock.
var epoch = time.UnixMilli(1_700_000_000_000)

// expedited is an agent that asks the real engine before every call, as
// `expediter run` does: it passes over the sub-tasks that wait, makes each call
// at most once in a pass, takes declared alternatives, defers what has no way
// left, and writes a report.
type expedited struct {
	*agent
	engine  *expediter.Engine
	failure []expediter.Outcome // of a call that failed, by tool
	jobs    []*job
	step    int64
	answers int // pauses that the user will still answer
}

// job is one sub-task in the queue.
type job struct {
	number  int // from 0
	next    int // the call that is to be made
	tries   [2]int
	state   report.WorkState // NotAttempted while it waits
	settled bool
	called  bool // in this pass
	moved   bool // a call succeeded in this pass
	idle    int  // passes in a row without a call
	tool    string
	reason  string
	failure string
	routed  bool // an alternative stood in
	wrong   bool
}

func newExpedited(a *agent, policy expediter.Policy, answers int) (*expedited, error) {
	engine, err := expediter.New(expediter.Config{Tools: capabilities(), Policy: policy})
	if err != nil {
		return nil, err
	}
	x := &expedited{agent: a, engine: engine, answers: answers}
	for _, d := range devices {
		x.failure = append(x.failure, a.world.failure(d.name))
	}
	for i := range a.plan {
		x.jobs = append(x.jobs, &job{number: i})
	}
	return x, nil
}

// work passes over the queue until all is settled or a pause goes unanswered.
func (x *expedited) work() (tally, error) {
	for x.waiting() && x.step < maxPasses {
		x.step++
		began := x.now
		goesOn, err := x.pass()
		if err != nil {
			return tally{}, err
		}
		if !goesOn {
			break
		}
		x.deferBlocked()
		if x.waiting() {
			x.now = max(x.now, began+paceMS)
		}
	}
	x.settleRest()
	x.tally.probes = int(x.engine.Status().Counts.Probes)
	x.account()
	return x.finish(), nil
}

func (x *expedited) waiting() bool {
	for _, j := range x.jobs {
		if !j.settled {
			return true
		}
	}
	return false
}

func (x *expedited) at() time.Time { return epoch.Add(time.Duration(x.now) * time.Millisecond) }

// pass asks once for each sub-task that waits; false: paused for good.
func (x *expedited) pass() (bool, error) {
	for _, j := range x.jobs {
		j.called, j.moved = false, false
	}
	for _, j := range x.jobs {
		if j.settled {
			continue
		}
		if goesOn, err := x.attempt(j); !goesOn || err != nil {
			return false, err
		}
	}
	return true, nil
}

// attempt makes a sub-task's calls in order until one does not succeed.
func (x *expedited) attempt(j *job) (goesOn bool, err error) {
	for j.next < len(x.plan[j.number]) {
		d, ok := x.decide(x.tool(j))
		if !ok {
			return false, nil
		}
		succeeded, err := x.follow(j, d)
		if !succeeded || err != nil {
			return true, err
		}
		j.next++
		j.tries, j.moved, j.failure = [2]int{}, true, ""
	}
	x.settle(j, report.Succeeded, "")
	return true, nil
}

func (x *expedited) tool(j *job) int { return x.plan[j.number][j.next] }

// decide asks the engine, and the user where it pauses; false: nobody answers.
func (x *expedited) decide(tool int) (expediter.Decision, bool) {
	for {
		d := x.engine.Decide(devices[tool].name, x.step, x.at())
		if d.Verb != expediter.Pause {
			return d, true
		}
		x.tally.pauses++
		if x.answers == 0 {
			return d, false
		}
		x.answers--
		x.now += answerMS
		if d.Reason == expediter.Systemic {
			// The only error is that nothing is active any more, which is as good.
			_, _ = x.engine.ConfirmRecovery("the user says so", x.step, x.at())
		}
		x.engine.BeginCycle(x.step, x.at())
	}
}

// follow does what a decision other than PAUSE says.
func (x *expedited) follow(j *job, d expediter.Decision) (succeeded bool, err error) {
	tool := x.tool(j)
	if d.Verb.Go() {
		return x.make(j, x.request(j, tool), d)
	}
	x.deny(x.request(j, tool))
	if d.Route == nil || d.Route.Kind != capability.UseAlternative {
		return false, nil
	}
	other := deviceIndex(d.Route.Tool)
	instead := x.engine.Decide(d.Route.Tool, x.step, x.at())
	if !instead.Verb.Go() {
		return false, nil
	}
	succeeded, err = x.make(j, x.request(j, other), instead)
	j.routed = j.routed || succeeded
	return succeeded, err
}

// request names the next attempt of a job's call at a tool.
func (x *expedited) request(j *job, tool int) request {
	q := request{agent: x.number, subtask: j.number, place: j.next, tool: tool}
	q.attempt = *x.attempts(j, tool)
	return q
}

func (x *expedited) attempts(j *job, tool int) *int {
	if tool == x.tool(j) {
		return &j.tries[0]
	}
	return &j.tries[1]
}

// make makes a call that the engine allowed, and records what came of it.
func (x *expedited) make(j *job, q request, d expediter.Decision) (succeeded bool, err error) {
	*x.attempts(j, q.tool)++
	j.called, j.tool = true, devices[q.tool].name
	f := x.call(q)
	o := expediter.Success()
	if f.down {
		o = x.failure[q.tool]
		j.failure = fmt.Sprintf("%s failed: %s", j.tool, o.Text)
	}
	o.Duration = time.Duration(f.took) * time.Millisecond
	if _, err := x.engine.Record(d.Call, o, x.step, x.at()); err != nil {
		return false, fmt.Errorf("recording a call of %s: %w", j.tool, err)
	}
	j.wrong = j.wrong || f.wrong
	return !f.down, nil
}

func (x *expedited) settle(j *job, state report.WorkState, reason string) {
	j.settled, j.state, j.reason = true, state, reason
}

// deferBlocked ends a pass: it defers the sub-tasks that nothing will help.
func (x *expedited) deferBlocked() {
	rows := map[string]expediter.ToolStatus{}
	for _, t := range x.engine.Status().Tools {
		rows[t.Tool] = t
	}
	for _, j := range x.jobs {
		if j.settled || j.moved {
			continue
		}
		t := rows[devices[x.tool(j)].name]
		if reason := j.blocked(t); reason != "" {
			j.tool = t.Tool
			x.settle(j, report.Deferred, reason)
		}
	}
}

// blocked says why a sub-task will have no success in the next pass; empty: it
// may.
func (j *job) blocked(t expediter.ToolStatus) string {
	if j.idle++; j.called {
		j.idle = 0
	}
	switch {
	case t.ViableRoute != nil && t.ViableRoute.Kind == capability.UseAlternative:
		return ""
	case t.State != breaker.Closed && t.FailedProbes > 0:
		return t.Tool + " circuit OPEN, its probe failed"
	case j.idle >= maxIdle:
		return fmt.Sprintf("%s had no trial within %d passes", t.Tool, maxIdle)
	}
	return ""
}

// settleRest accounts for what is left when the run ends.
func (x *expedited) settleRest() {
	for _, j := range x.jobs {
		switch {
		case j.settled:
		case j.failure != "":
			x.settle(j, report.Failed, j.failure)
		default:
			x.settle(j, report.NotAttempted, "paused")
		}
	}
}
