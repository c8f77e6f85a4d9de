package task

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
)

// Read reads a task file, YAML or JSON. name is for messages. The error is a
// document.Problems with everything that is wrong, each with its place.
func Read(name string, data []byte) (*File, error) {
	root, err := document.Parse(name, data)
	if err != nil {
		return nil, err
	}
	r := &reader{file: &File{}}
	r.root(root)
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	r.file.Warnings = r.problems.Warnings()
	return r.file, nil
}

// reader gathers a File and what is wrong with it.
type reader struct {
	file     *File
	problems document.Problems
	entries  map[string]capability.Entry // looked up, by tool; nil: the map is not usable
}

type rawFile struct {
	Name      string         `json:"name"`
	Dir       string         `json:"dir"`
	Map       *document.Node `json:"capability_map"`
	Expediter *document.Node `json:"expediter"`
	Tools     *document.Node `json:"tools"`
	Subtasks  *document.Node `json:"subtasks"`
}

func (r *reader) root(root *document.Node) {
	var raw rawFile
	if root.Kind != document.Mapping {
		r.fail(root, "a task file is a mapping, found "+root.Kind.String(), "write name, capability_map, tools and subtasks")
		return
	}
	r.add(root.Decode(&raw))
	r.file.Name, r.file.Dir = raw.Name, raw.Dir
	if raw.Name == "" {
		r.fail(root, "the task has no name", "add name: what the task is called")
	}
	r.capabilities(root, raw.Map)
	var problems document.Problems
	r.file.PolicyName, r.file.Policy, problems = ReadPolicy(raw.Expediter, raw.Map, r.file.Map)
	r.problems = append(r.problems, problems...)
	r.tools(root, raw.Tools)
	r.undeclared(raw.Tools)
	r.subtasks(root, raw.Subtasks)
}

func (r *reader) capabilities(root, n *document.Node) {
	if n == nil {
		r.fail(root, "the task has no capability_map", "add one; it may be an empty list")
		return
	}
	m, warnings, err := capability.FromNode(n)
	if err != nil {
		r.add(err)
		return
	}
	r.file.Map, r.entries = m, map[string]capability.Entry{}
	r.problems = append(r.problems, warnings...)
}

// entry is what the map says of a tool.
func (r *reader) entry(tool string) capability.Entry {
	e, known := r.entries[tool]
	if !known && r.entries != nil {
		e, _ = r.file.Map.Lookup(tool)
		r.entries[tool] = e
	}
	return e
}

// undeclared warns of tools that the map does not mention: nothing can stand
// in for them, and nobody is asked.
func (r *reader) undeclared(tools *document.Node) {
	if r.entries == nil {
		return
	}
	mentioned := map[string]bool{}
	for _, name := range r.file.Map.Mentioned() {
		mentioned[name] = true
	}
	for key := range tools.Fields() {
		name := key.Text()
		base, _, _ := strings.Cut(name, "/")
		if !mentioned[name] && !mentioned[base] {
			r.problems = append(r.problems, key.Warning(
				fmt.Sprintf("tool %s is not in the capability map", document.Quote(name)),
				"add an entry that says what it provides and what to do without it"))
		}
	}
}

// fail reports what is wrong at n.
func (r *reader) fail(n *document.Node, what, do string) {
	if len(r.problems) < document.MaxProblems {
		r.problems = append(r.problems, n.Problem(what, do))
	}
}

func (r *reader) failf(n *document.Node, do, format string, args ...any) {
	r.fail(n, fmt.Sprintf(format, args...), do)
}

// add takes over the problems of an error.
func (r *reader) add(err error) {
	var problems document.Problems
	switch {
	case err == nil:
	case errors.As(err, &problems):
		r.problems = append(r.problems, problems...)
	default:
		r.problems = append(r.problems, document.Problem{What: err.Error()})
	}
}

// names returns a func that reports whether a name is taken already, and
// complains about it.
func (r *reader) names(what string) func(n *document.Node, name string) bool {
	lines := map[string]int{}
	return func(n *document.Node, name string) bool {
		if line, taken := lines[name]; taken {
			r.failf(n, "give each its own", "%s %s is already on line %d", what, document.Quote(name), line)
			return true
		}
		lines[name] = n.Line
		return false
	}
}
