package task

import (
	"cmp"
	"slices"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/expediter"
)

// Defaults and bounds of a tool.
const (
	DefaultDeadline    = 60 * time.Second
	MaxDeadline        = 24 * time.Hour
	DefaultOutputLimit = 64 << 10 // bytes
	MaxOutputLimit     = 16 << 20
	MaxTools           = 1000
	MaxSubtasks        = 10_000
)

// File is a task file that has been read and checked: every reference in it
// resolves.
type File struct {
	Name       string // what the task is called
	Dir        string // where its tools run, relative to the file's own folder; empty: there
	Map        capability.Map
	PolicyName string           // faithful, interactive, or empty: faithful
	Policy     expediter.Policy // as written; zero fields: those of the named policy
	Tools      []Tool           // as written
	Subtasks   []Subtask        // as written
	Warnings   document.Problems
}

// Effective is the policy with every field set. named, unless it is empty,
// takes the place of the policy that the file names; what the file sets by
// itself stays.
func (f *File) Effective(named string) (expediter.Policy, error) {
	base, err := expediter.PolicyNamed(cmp.Or(named, f.PolicyName, defaultPolicy))
	if err != nil {
		return expediter.Policy{}, err
	}
	p := f.Policy.Over(base)
	return p, p.Validate(true)
}

// Tool returns the tool of that name.
func (f *File) Tool(name string) (Tool, bool) {
	i := slices.IndexFunc(f.Tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return f.Tools[i], true
}

// Tool is a program that sub-tasks call.
type Tool struct {
	Name        string
	Dir         string            // relative to the file's Dir; empty: there
	Env         map[string]string // added to the environment
	Deadline    time.Duration     // of one call
	OutputLimit int               // bytes kept of each of its two outputs
	OKExit      []int             // exit statuses that are a good answer; 0 unless given
	Precheck    Precheck
	Classify    []capability.ClassifyRule // asked before those of its map entry
	command     []template
}

// Argv is the argument vector of one call: each element of the command with
// the values put in, never split again.
func (t Tool) Argv(args Args) []string {
	argv := make([]string, len(t.command))
	for i, element := range t.command {
		argv[i] = element.expand(args)
	}
	return argv
}

// Params are the names of the values that the command takes, sorted.
func (t Tool) Params() []string {
	var names []string
	for _, element := range t.command {
		for _, p := range element {
			if p.name {
				names = append(names, p.text)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Precheck names what a tool needs before it can be called (SPEC section 9).
// Empty fields are not checked; the worst score counts.
type Precheck struct {
	Program string `json:"program,omitempty"` // on PATH
	File    string `json:"file,omitempty"`    // exists; relative to the tool's directory
	TCP     string `json:"tcp,omitempty"`     // host:port accepts a connection
	HTTP    string `json:"http,omitempty"`    // URL answers
}

// Subtask is one piece of the work.
type Subtask struct {
	ID    string   // unique
	Title string   // its ID unless given
	After []string // IDs that must have succeeded before
	Calls []Call   // made in this order
}

// Tools are the tools that the sub-task's calls name first, each once, in
// order.
func (s Subtask) Tools() []string {
	var names []string
	for _, c := range s.Calls {
		if !slices.Contains(names, c.Tool) {
			names = append(names, c.Tool)
		}
	}
	return names
}

// Call is one use of a tool, and the same use of the tools that may stand in
// for it.
type Call struct {
	Tool string
	With Args
	Or   map[string]Args // by alternative; those that take the same input included
}
