package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Scope is whose settings are changed.
type Scope uint8

const (
	Project Scope = iota // those of one project
	User                 // those of the user, for all projects
)

// String is project or user.
func (s Scope) String() string {
	if s == User {
		return "user"
	}
	return "project"
}

// Request is what to install or uninstall.
type Request struct {
	Agent   string // one of Agents
	Scope   Scope
	Project string              // the project's folder, absolute
	Home    string              // the user's, absolute; empty: unknown, which Scope User needs
	Env     func(string) string // environment variables
	State   string              // folder of the records, made when needed; empty: nothing is remembered

	Program []string // what the agent is to run before `hook AGENT`: a program named expediter, with what goes before it
	Map     string   // file given to the hook as --map; empty: none
	Store   string   // folder given to it as --store; empty: none
	Windows bool     // the agent's shell is none of Unix

	Plugin string // claude-code: not the settings, but a plugin in this folder
}

func (r Request) agent() (*agent, error) {
	i := slices.IndexFunc(agents, func(a *agent) bool { return a.name == r.Agent })
	if i < 0 {
		return nil, fmt.Errorf("%w %.60q; say one of %s", ErrAgent, r.Agent, strings.Join(Agents(), ", "))
	}
	if r.Plugin != "" && r.Agent != "claude-code" {
		return nil, fmt.Errorf("%w: a plugin folder is for claude-code, not for %s; leave --plugin out", ErrAgent, r.Agent)
	}
	if r.Windows && agents[i].scripts {
		return nil, fmt.Errorf("%w: on Windows %s does not run the scripts that this would write", ErrAgent, agents[i].title)
	}
	return agents[i], nil
}

// command is what the agent is to run.
func (r Request) command(a *agent) (command, error) {
	words := append(slices.Clone(r.Program), "hook", a.name)
	if r.Map != "" {
		words = append(words, "--map", r.Map)
	}
	if r.Store != "" {
		words = append(words, "--store", r.Store)
	}
	if !runsHook(words, a.name) || slices.Contains(r.Program, "") {
		return command{}, fmt.Errorf("%w %.200q runs no program named expediter, and could not be found again; give the path of one", ErrCommand, strings.Join(r.Program, " "))
	}
	return command{words: words, windows: r.Windows}, nil
}

// path is the agent's file, or its folder of scripts.
func (r Request) path(a *agent, scope Scope) (string, error) {
	if scope == Project {
		return filepath.Join(r.Project, filepath.FromSlash(a.project)), nil
	}
	if r.Home == "" {
		return "", fmt.Errorf("%w: the home folder is unknown; set HOME, or use --scope project", ErrPlace)
	}
	return a.user(homes{r.Home, r.Env}), nil
}
