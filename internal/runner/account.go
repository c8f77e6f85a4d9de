package runner

import (
	"slices"

	"github.com/expediter-go/expediter/report"
	"github.com/expediter-go/expediter/scope"
)

var workStates = map[State]report.WorkState{
	Done: report.Succeeded, Failed: report.Failed, Deferred: report.Deferred, NotAttempted: report.NotAttempted,
}

// Input is the account as reports want it.
func (a Account) Input() report.Input {
	view := report.ScopeView(&a.Status)
	in := report.Input{Task: a.Task.Name, Status: &a.Status, Interrupted: a.Interrupted, History: a.History,
		Work: make([]report.Work, 0, len(a.Work))}
	for _, w := range a.Work {
		out := report.Work{Number: w.Number, ID: w.Subtask.ID, Title: w.Subtask.Title, State: workStates[w.State], Reason: w.Reason}
		for _, t := range w.Taken {
			out.Degraded = append(out.Degraded, report.Degradation{Tool: t.Tool, Through: t.Route.Tool, Label: t.Route.Label, Lost: t.Route.Degradation})
		}
		for _, o := range w.Outputs {
			out.Data = append(out.Data, report.Datum{Tool: o.Tool, Label: o.Label, Text: o.Text})
		}
		if w.State == Deferred && w.Tool != "" {
			out.Unblock = view(w.Tool).Unblock
		}
		in.Work = append(in.Work, out)
	}
	in.Scope = a.scope(view)
	return in
}

// scope is the task as it was reduced: what is done, and what the run
// deferred, whatever alternatives are there that the task has no call for.
func (a Account) scope(view scope.View) *scope.Result {
	t := a.Task.Scope()
	for i, w := range a.Work {
		t.Subtasks[i].Done, t.Subtasks[i].Failed = w.State == Done, w.State == Failed
	}
	reduced, err := scope.Reduce(t, view)
	if err != nil { // the task file was checked
		return nil
	}
	for i, w := range a.Work {
		if w.State == Deferred {
			deferItem(&reduced.Items[i], w.Tool, view)
		}
	}
	return &reduced
}

func deferItem(it *scope.Item, tool string, view scope.View) {
	it.Verdict = scope.Deferred
	i := slices.IndexFunc(it.Needs, func(n scope.Need) bool { return n.Tool == tool })
	if i < 0 || it.Needs[i].Blocked() {
		return
	}
	n := &it.Needs[i]
	if n.Alternative != "" {
		n.Unblock = append(n.Unblock, "say in the task how "+n.Alternative+" can stand in")
	}
	if n.Usable { // it was deferred for another reason than its state
		t := view(tool)
		n.Reason, n.Unblock = t.Reason, slices.Clone(t.Unblock)
	}
	n.Usable, n.Alternative, n.Method, n.Degradation = false, "", "", ""
}
