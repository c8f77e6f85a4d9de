package simulate

import (
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/report"
)

// account settles the agent's sub-tasks: those that it finished, and the others
// by what its real report says of them.
func (x *expedited) account() {
	var unfinished []int
	for i, j := range x.jobs {
		if j.state != report.Succeeded {
			unfinished = append(unfinished, i)
			continue
		}
		x.end(j.finished())
	}
	if unfinished == nil {
		return
	}
	r := x.report()
	for _, i := range unfinished {
		if x.honest(x.jobs[i], r, r.Work[i]) {
			x.end(deferred)
		} else {
			x.end(givenUp)
		}
	}
}

// finished is the ending of a sub-task all of whose calls succeeded.
func (j *job) finished() ending {
	switch {
	case j.wrong:
		return wrong
	case j.routed:
		return degraded
	}
	return done
}

func (x *expedited) report() report.Report {
	status := x.engine.Status()
	in := report.Input{Task: "simulated", Status: &status}
	for _, j := range x.jobs {
		in.Work = append(in.Work, report.Work{Number: j.number + 1, Title: "sub-task", State: j.state, Reason: j.reason})
	}
	return report.New(in)
}

// honest reports whether the report names an unfinished sub-task with a reason
// that is true: the tool that it blames did fail, for the cause that the report
// gives; or the pause that it blames came from failures that did happen.
func (x *expedited) honest(j *job, r report.Report, w report.Work) bool {
	if w.State == report.Succeeded || w.Reason == "" {
		return false
	}
	if w.State == report.NotAttempted {
		return r.Paused != "" && x.trueCharge(r)
	}
	for _, t := range r.Tools {
		if t.Tool == j.tool && t.LastFailure != nil {
			return x.failedFor(t.Tool, category(t.LastFailure.Category))
		}
	}
	return false
}

// trueCharge reports whether the report has failures to show for a pause, and
// all of them are true.
func (x *expedited) trueCharge(r report.Report) bool {
	for _, c := range r.Budget.Charges {
		if !x.failedFor(c.Tool, category(c.Category)) {
			return false
		}
	}
	return len(r.Budget.Charges) > 0
}

func category(name string) cascade.Category {
	var c cascade.Category
	_ = c.UnmarshalText([]byte(name)) // written by this report; Unknown otherwise
	return c
}
