package report

import (
	"fmt"
	"strings"

	"github.com/expediter-go/expediter/scope"
)

// outline is a report as a document with headings, for the formats that have
// them.
type outline struct {
	Title    string
	Outcome  Outcome
	Summary  string
	Banner   []string
	Sections []outlined
}

// outlined is one section of an outline.
type outlined struct {
	Title   string
	Lead    []string
	Items   []line
	Ordered bool
	Tools   []toolRow
	After   []string
	Data    []outlinedData
}

// toolRow is a row of the state table, ready to print.
type toolRow struct {
	Tool, State, Health, Fails, LastFailure, LastSuccess string
}

// outlinedData is what a tool returned for a sub-task.
type outlinedData struct {
	Subtask, Tool, Label, Text string
}

func (r Report) outline() outline {
	o := outline{Title: "Run report", Outcome: r.Outcome, Summary: r.Summary}
	if r.Task != "" {
		o.Title += ": " + r.Task
	}
	o.Banner = nonEmpty(r.banner())
	for _, inc := range r.Incidents {
		o.Banner = append(o.Banner, inc.Line)
	}
	o.Sections = []outlined{
		{Title: "Completed work", Items: r.workLines(true)},
		{Title: "Incomplete work", Items: r.workLines(false)},
		{Title: "Tool health", Tools: r.toolRows(), Lead: r.toolLead()},
		r.budgetSection(),
	}
	if len(r.Recommendations) > 0 {
		o.Sections = append(o.Sections, outlined{Title: "Recommendation", Items: plainLines(r.Recommendations), Ordered: true})
	}
	if r.Scope != nil {
		o.Sections = append(o.Sections, scopeSection(r.Scope))
	}
	o.Sections = append(o.Sections, outlined{Title: "Policy", Items: r.policyLines()})
	for _, s := range r.details() {
		if s.lines != nil {
			o.Sections = append(o.Sections, outlined{Title: s.title, Items: s.lines})
		}
	}
	if data := r.outlinedData(); data != nil {
		o.Sections = append(o.Sections, outlined{Title: "Results", Data: data})
	}
	return o
}

func (r Report) toolLead() []string {
	switch {
	case r.Policy == nil:
		return []string{"unknown"}
	case len(r.Tools) == 0:
		return []string{"none"}
	}
	return nil
}

func (r Report) toolRows() []toolRow {
	var rows []toolRow
	for _, t := range r.Tools {
		rows = append(rows, toolRow{Tool: t.Tool, State: t.State, Health: t.Health, Fails: fmt.Sprint(t.Fails),
			LastFailure: r.whenOrNever(t.LastFailure), LastSuccess: r.whenOrNever(t.LastSuccess)})
	}
	return rows
}

func (r Report) budgetSection() outlined {
	if r.Budget == nil {
		return outlined{Title: "Failure budget", Lead: []string{"unknown"}}
	}
	return outlined{Title: "Failure budget", Lead: []string{r.budgetLine(), "Status: " + r.Budget.status()}, Items: r.chargeLines()}
}

func scopeSection(s *scope.Result) outlined {
	o := outlined{Title: "Scope reduction"}
	for _, advice := range scopeAdvice(s) {
		o.After = append(o.After, strings.ReplaceAll(advice, "\n", " "))
	}
	for _, l := range scopeLines(s) {
		mark := "[ ]"
		if l.achievable {
			mark = "[x]"
		}
		o.Items = append(o.Items, line{Mark: mark, Text: fmt.Sprintf("%d. %s (%s)", l.number, l.title, l.tools), Sub: l.Sub})
	}
	achievable := len(s.Numbers(scope.Keep, scope.Degraded, scope.Done))
	o.Lead = append(o.Lead, fmt.Sprintf("Original scope: %s", count(len(s.Items), "sub-task")),
		fmt.Sprintf("Reduced scope: %s achievable", count(achievable, "sub-task")))
	if failed := len(s.Numbers(scope.Failed)); failed > 0 {
		o.Lead = append(o.Lead, "Failed: "+count(failed, "sub-task"))
	}
	for _, d := range deferredLines(s) {
		o.Lead = append(o.Lead, "Deferred: "+d)
	}
	return o
}

func (r Report) outlinedData() []outlinedData {
	var list []outlinedData
	for _, w := range r.Work {
		for _, d := range w.Data {
			list = append(list, outlinedData{Subtask: fmt.Sprintf("Sub-task %d: %s", w.Number, w.Title),
				Tool: d.Tool, Label: d.Label, Text: strings.Join(d.Lines, "\n")})
		}
	}
	return list
}
