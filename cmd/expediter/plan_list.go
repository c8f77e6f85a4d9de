package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/scope"
)

// plan is a list of sub-tasks, each with an id.
type plan []session.Subtask

func planOf(s *session.Session) plan {
	list, _ := s.Plan()
	return list
}

// shownPlan is the list that counts, below a line that says whose it is.
func shownPlan(s *session.Session) string {
	list, own := s.Plan()
	what := "Plan"
	if own {
		what = "To-do list of the agent"
	}
	done := 0
	for _, t := range list {
		if t.State == session.TodoDone {
			done++
		}
	}
	whose := fmt.Sprintf("# %s, %s session %s: ", what, redact.Text(s.Agent, maxToolName), s.Name())
	if len(list) == 0 {
		return whose + "no sub-task yet; 'expediter plan set' and 'expediter plan add' give some\n"
	}
	head := fmt.Sprintf("%s%d of %d done\n", whose, done, len(list))
	return head + plan(list).text()
}

// apply gives the sub-tasks to the session: as its whole plan, or as changes.
func (p plan) apply(s *session.Session, whole bool) {
	todos := session.Todos{Replace: whole}
	tools := make([][]string, len(p))
	for i, t := range p {
		todos.Items = append(todos.Items, t.Todo)
		tools[i] = t.Tools
	}
	s.SetPlan(todos, tools)
}

// place is the index of a sub-task by its number, else by its id.
func (p plan) place(typed string) (int, error) {
	if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(p) {
		return n - 1, nil
	}
	if i := p.byID(typed); i >= 0 && typed != "" {
		return i, nil
	}
	switch {
	case len(p) == 0:
		return 0, fmt.Errorf("there is no sub-task %.40q: the plan is empty; 'expediter plan add' adds one", typed)
	default:
		return 0, fmt.Errorf("there is no sub-task %.40q; give a number from 1 to %d, see 'expediter plan show'", typed, len(p))
	}
}

// byID is the index of the sub-task with an id; -1: there is none.
func (p plan) byID(id string) int {
	return slices.IndexFunc(p, func(t session.Subtask) bool { return t.ID == id })
}

// free is an id for the next sub-task: its number, unless that is taken.
func (p plan) free() string {
	for n := len(p) + 1; ; n++ {
		id := strconv.Itoa(n)
		if p.byID(id) < 0 {
			return id
		}
	}
}

// check reports what a session would leave out, and dependencies that make no
// sense.
func (p plan) check(name string) error {
	if len(p) > session.MaxItems {
		return fmt.Errorf("%s: %d sub-tasks; a plan has at most %d, join some", name, len(p), session.MaxItems)
	}
	var t scope.Task
	for _, s := range p {
		if len(s.Tools) > session.MaxItemTools || len(s.DependsOn) > session.MaxItemTools {
			return fmt.Errorf("%s: %.60q names more than %d tools or sub-tasks; name those that matter", name, s.Text, session.MaxItemTools)
		}
		t.Subtasks = append(t.Subtasks, scope.Subtask{ID: s.ID, Title: s.Text, After: s.DependsOn})
	}
	if err := t.Validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// cleanAll makes names fit to keep, each once.
func cleanAll(names []string) []string {
	var out []string
	for _, name := range names {
		if name = redact.Text(name, maxTool); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
