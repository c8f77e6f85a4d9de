package session

import (
	"slices"
	"strings"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/report"
	"github.com/expediter-go/expediter/scope"
)

// Bounds of a to-do list. What is beyond them is left out.
const (
	MaxItems     = 200 // items of one list
	MaxItemText  = 500 // characters
	MaxItemTools = 16  // tools of one item, and items that it waits for
)

// item is a sub-task as the session keeps it. Its texts are clean.
type item struct {
	ID    string    `json:"id,omitempty"`
	Text  string    `json:"text"`
	State TodoState `json:"state,omitempty"`
	After []string  `json:"after,omitempty"`
	Tools []string  `json:"tools,omitempty"` // the plan's, and those that were asked for while it was active
}

// name is what identifies an item.
func (t item) name() string {
	if t.ID != "" {
		return t.ID
	}
	return t.Text
}

// same reports whether two items are one, as they were before any change.
func (t item) same(other item) bool { return t.ID == other.ID && t.Text == other.Text }

// Subtask is one item of the list that counts. Its texts are clean.
type Subtask struct {
	Todo
	Tools []string // that it needs, as far as is known
}

// Plan is the list that counts: the agent's own, if it shows one, else what
// SetPlan was given.
func (s *Session) Plan() (list []Subtask, agents bool) {
	for _, it := range s.list() {
		list = append(list, Subtask{Todo: Todo{ID: it.ID, Text: it.Text, State: it.State, DependsOn: it.After}, Tools: it.Tools})
	}
	return list, len(s.state.Todos) > 0
}

// todos takes in what the agent wrote to its list.
func (s *Session) todos(t Todos) { s.change(&s.state.Todos, t) }

// SetPlan takes in sub-tasks that no to-do list showed. They count while the
// agent shows none of its own. tools are those that each item needs, by its
// place; nil: not known.
func (s *Session) SetPlan(t Todos, tools [][]string) {
	if t.Replace { // ids may be mere numbers: another text is another sub-task
		s.state.Plan = slices.DeleteFunc(slices.Clone(s.state.Plan), func(old item) bool {
			return !slices.ContainsFunc(t.Items, func(next Todo) bool { return clean(next).same(old) })
		})
	}
	s.change(&s.state.Plan, t)
	for i, needs := range tools {
		if i >= len(t.Items) || len(needs) == 0 {
			continue
		}
		if k := find(s.state.Plan, clean(t.Items[i]).name()); k >= 0 {
			s.state.Plan[k].Tools = needs[:min(len(needs), MaxItemTools)]
		}
	}
}

// change applies a change to a list, and notes the list in the journal.
func (s *Session) change(list *[]item, t Todos) {
	old := *list
	if t.Replace {
		*list = nil
	}
	for _, todo := range t.Items[:min(len(t.Items), MaxItems)] {
		next := clean(todo)
		if next.name() == "" {
			continue // nothing in it can be printed
		}
		i := find(*list, next.name())
		if i < 0 && len(*list) < MaxItems {
			if k := find(old, next.name()); k >= 0 {
				next.Tools = old[k].Tools
			}
			*list = append(*list, next)
		}
		if i >= 0 {
			(*list)[i].take(next)
		}
	}
	for i, it := range *list {
		if k := find(old, it.name()); k < 0 || old[k].State != it.State || old[k].Text != it.Text {
			s.note(i, it)
		}
	}
}

// clean makes what an agent wrote fit to keep.
func clean(t Todo) item {
	it := item{ID: redact.Text(t.ID, maxID), Text: redact.Text(t.Text, MaxItemText), State: t.State}
	for _, d := range t.DependsOn[:min(len(t.DependsOn), MaxItemTools)] {
		it.After = append(it.After, redact.Text(d, maxID))
	}
	return it
}

func find(list []item, name string) int {
	return slices.IndexFunc(list, func(t item) bool { return t.name() == name })
}

// take changes an item by what is given of the next.
func (t *item) take(next item) {
	if next.Text != "" {
		t.Text = next.Text
	}
	if next.State != TodoUnknown {
		t.State = next.State
	}
	if next.After != nil {
		t.After = next.After
	}
}

func (s *Session) note(i int, it item) {
	note := map[string]any{"id": it.ID, "number": i + 1, "title": it.Text, "state": it.State.String()}
	if err := s.engine.Note(expediter.OpSubtask, note, s.state.Step, s.at); err != nil && s.err == nil {
		s.err = err
	}
}

// work says that a tool was asked for: the sub-task that is being worked on
// needs it.
func (s *Session) work(key string) {
	list := s.list()
	for i := range list {
		if t := &list[i]; t.State == TodoActive && len(t.Tools) < MaxItemTools && !slices.Contains(t.Tools, key) {
			t.Tools = append(t.Tools, key)
		}
	}
}

// list is the agent's own, or else the plan.
func (s *Session) list() []item {
	if len(s.state.Todos) > 0 {
		return s.state.Todos
	}
	return s.state.Plan
}

// Report is the input of a report of this session. Tools that are idle are left
// out, and counted.
func (s *Session) Report() report.Input {
	status := s.engine.Status()
	shown := status
	shown.Tools = slices.DeleteFunc(slices.Clone(status.Tools), s.Idle)
	in := report.Input{Task: s.title(), Status: &shown, Idle: len(status.Tools) - len(shown.Tools)}
	s.recall(&shown, &in)
	if list, _ := s.Plan(); len(list) > 0 {
		reduced, work := Assess(in.Task, list, &status)
		in.Scope, in.Work = &reduced, work
	}
	return in
}

// Assess is what the tools of an engine let a list of sub-tasks come to, and how
// far each is. The list is not empty.
func Assess(task string, list []Subtask, status *expediter.Status) (scope.Result, []report.Work) {
	view := report.ScopeView(status)
	reduced, err := scope.Reduce(taskOf(task, list), view)
	if err != nil { // dependencies that make no sense
		reduced, _ = scope.Reduce(taskOf(task, alone(list)), view)
	}
	work := make([]report.Work, 0, len(list))
	for i, it := range list {
		work = append(work, workOf(it, reduced.Items[i]))
	}
	return reduced, work
}

// Idle reports whether nothing is known of a tool but its name, from the map, from
// one that was in use before, or from a call that told nothing: no call is under
// way, and nothing keeps it from being called.
func (s *Session) Idle(t expediter.ToolStatus) bool {
	return t.State == breaker.Closed && t.Score == capability.Available && !t.Disabled && t.External == nil &&
		t.LastFailure == nil && t.LastSuccess == nil && t.Unverified == 0 &&
		!slices.ContainsFunc(s.state.Flying, func(f flying) bool { return f.Key == t.Tool })
}

func (s *Session) title() string {
	title := s.Agent + " session"
	if s.Project != "" {
		title += " in " + redact.Text(s.Project, MaxItemText)
	}
	return title
}

func taskOf(name string, list []Subtask) scope.Task {
	t := scope.Task{Name: name}
	for _, it := range list {
		t.Subtasks = append(t.Subtasks, scope.Subtask{ID: it.ID, Title: it.Text, Tools: it.Tools, After: it.DependsOn,
			Done: it.State == TodoDone, Failed: it.State == TodoDropped})
	}
	return t
}

// alone is a list whose items do not depend on each other, and have no ids that
// might be there twice.
func alone(list []Subtask) []Subtask {
	out := slices.Clone(list)
	for i := range out {
		out[i].ID, out[i].DependsOn = "", nil
	}
	return out
}

func workOf(it Subtask, reduced scope.Item) report.Work {
	w := report.Work{ID: it.ID, Title: it.Text}
	switch {
	case it.State == TodoDone:
		w.State = report.Succeeded
	case it.State == TodoDropped:
		w.State, w.Reason = report.Deferred, "the agent took it off its list"
	case reduced.Verdict == scope.Deferred:
		w.State = report.Deferred
		w.Reason, w.Unblock = blocked(reduced)
	case it.State == TodoActive:
		w.State = report.Started
	}
	return w
}

// blocked is what keeps a sub-task from being attempted, and what would help.
func blocked(it scope.Item) (reason string, unblock []string) {
	var why []string
	for _, n := range it.Needs {
		if n.Blocked() {
			why = append(why, n.Tool+" "+n.Reason)
			unblock = append(unblock, n.Unblock...)
		}
	}
	if len(why) == 0 && len(it.WaitsFor) > 0 {
		why = append(why, "it waits for others that are deferred")
	}
	return strings.Join(why, ", "), unblock
}
