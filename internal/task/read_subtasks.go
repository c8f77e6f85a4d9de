package task

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/scope"
)

type rawSubtask struct {
	ID    string         `json:"id"`
	Title string         `json:"title"`
	After []string       `json:"after"`
	Calls *document.Node `json:"calls"`
}

type rawCall struct {
	Tool string         `json:"tool"`
	With *document.Node `json:"with"`
	Or   *document.Node `json:"or"`
}

func (r *reader) subtasks(root, n *document.Node) {
	if len(n.Items()) == 0 {
		place := n
		if n == nil {
			place = root
		}
		r.fail(place, "the task has no sub-tasks", "add subtasks: a list of what is to be done")
		return
	}
	if len(n.Items()) > MaxSubtasks {
		r.failf(n, fmt.Sprintf("split the task; at most %d", MaxSubtasks), "%d sub-tasks", len(n.Items()))
		return
	}
	taken := r.names("sub-task")
	for i, item := range n.Items() {
		s := r.subtask(i, item)
		taken(item, s.ID)
		r.file.Subtasks = append(r.file.Subtasks, s)
	}
	r.dependencies(n)
}

func (r *reader) subtask(i int, n *document.Node) Subtask {
	var raw rawSubtask
	if n.Kind != document.Mapping {
		r.fail(n, "a sub-task is a mapping, found "+n.Kind.String(), "write id, title and calls")
		return Subtask{ID: strconv.Itoa(i + 1)}
	}
	r.add(n.Decode(&raw))
	s := Subtask{ID: raw.ID, Title: raw.Title, After: raw.After}
	if s.ID == "" {
		s.ID = strconv.Itoa(i + 1)
	}
	if s.Title == "" {
		s.Title = s.ID
	}
	if len(raw.Calls.Items()) == 0 {
		r.fail(n, "the sub-task has no calls", "add calls: a list of {tool, with}")
	}
	for _, item := range raw.Calls.Items() {
		if call, ok := r.call(item); ok {
			s.Calls = append(s.Calls, call)
		}
	}
	return s
}

func (r *reader) call(n *document.Node) (Call, bool) {
	var raw rawCall
	if n.Kind != document.Mapping {
		r.fail(n, "a call is a mapping, found "+n.Kind.String(), "write {tool: Name, with: {…}}")
		return Call{}, false
	}
	r.add(n.Decode(&raw))
	place := n
	if key := n.Key("tool"); key != nil {
		place = key
	}
	t, ok := r.known(place, raw.Tool)
	if !ok {
		return Call{}, false
	}
	c := Call{Tool: t.Name, With: r.args(place, raw.With, t), Or: map[string]Args{}}
	entry := r.entry(t.Name)
	r.alternatives(raw.Or, entry, &c)
	r.sameInput(entry, &c)
	return c, true
}

// known finds a tool by name.
func (r *reader) known(place *document.Node, name string) (Tool, bool) {
	if name == "" {
		r.fail(place, "the call names no tool", "add tool: the name of one under tools")
		return Tool{}, false
	}
	t, ok := r.file.Tool(name)
	if !ok && len(r.problems) < document.MaxProblems {
		var names []string
		for _, t := range r.file.Tools {
			names = append(names, t.Name)
		}
		do := "define it under tools"
		if near := document.Nearest(name, names); near != "" {
			do += ", or did you mean " + document.Quote(near) + "?"
		}
		r.failf(place, do, "no tool is called %s", document.Quote(name))
	}
	return t, ok
}

// alternatives reads the calls of the tools that may stand in.
func (r *reader) alternatives(n *document.Node, entry capability.Entry, c *Call) {
	if n == nil || n.Kind == document.Null {
		return
	}
	if n.Kind != document.Mapping {
		r.fail(n, "or is a mapping, found "+n.Kind.String(), "write the alternative's name and its values: {Bash: {command: …}}")
		return
	}
	taken := r.names("alternative")
	for key, value := range n.Fields() {
		t, ok := r.known(key, key.Text())
		if !ok || taken(key, key.Text()) {
			continue
		}
		if r.entries != nil && !declares(entry, t.Name) {
			r.failf(key, "declare it there with what is lost, or remove this call",
				"the capability map declares no alternative %s for %s", document.Quote(t.Name), document.Quote(c.Tool))
			continue
		}
		c.Or[t.Name] = r.args(key, value, t)
	}
}

func declares(entry capability.Entry, alternative string) bool {
	return slices.ContainsFunc(entry.Alternatives, func(a capability.Alternative) bool { return a.Tool == alternative })
}

// sameInput adds the alternatives that take the same input unchanged.
func (r *reader) sameInput(entry capability.Entry, c *Call) {
	for _, a := range entry.Alternatives {
		t, defined := r.file.Tool(a.Tool)
		_, written := c.Or[a.Tool]
		if a.Passthrough && defined && !written && len(without(t.Params(), c.With)) == 0 {
			c.Or[a.Tool] = t.cloneArgs(c.With)
		}
	}
}

// dependencies checks what the sub-tasks come after.
func (r *reader) dependencies(n *document.Node) {
	ids := map[string]bool{}
	for _, s := range r.file.Subtasks {
		ids[s.ID] = true
	}
	before := len(r.problems)
	for i, s := range r.file.Subtasks {
		items := n.Items()[i].Key("after").Items()
		for j, id := range s.After {
			if !ids[id] && j < len(items) {
				r.failf(items[j], "name the id of one", "no sub-task is called %s", document.Quote(id))
			}
		}
	}
	if len(r.problems) > before {
		return
	}
	if err := r.file.Scope().Validate(); err != nil && r.problems.Err() == nil {
		r.fail(n, err.Error(), "")
	}
}

// Scope is the task as scope reduction sees it.
func (f *File) Scope() scope.Task {
	t := scope.Task{Name: f.Name}
	for _, s := range f.Subtasks {
		t.Subtasks = append(t.Subtasks, scope.Subtask{ID: s.ID, Title: s.Title, Tools: s.Tools(), After: s.After})
	}
	return t
}
