package runner

import (
	"errors"
	"fmt"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/task"
)

// rules are the user's own classification rules, by tool.
type rules map[string]classify.Rules

// compileRules makes ready the rules of every tool: its own, then those of the
// map entry that serves it.
func compileRules(f *task.File) (rules, error) {
	all := rules{}
	var problems []error
	for _, t := range f.Tools {
		entry, _ := f.Map.Lookup(t.Name)
		compiled, err := CompileRules(t.Name, t.Classify, entry.Classify)
		problems = append(problems, err)
		all[t.Name] = compiled
	}
	return all, errors.Join(problems...)
}

// CompileRules makes ready the rules for what a tool returns; those of an
// earlier list are asked first. The error names the tool.
func CompileRules(tool string, lists ...[]capability.ClassifyRule) (classify.Rules, error) {
	var all []classify.Rule
	for _, list := range lists {
		for _, r := range list {
			all = append(all, classify.Rule(r))
		}
	}
	compiled, err := classify.Compile(all)
	if err != nil {
		return compiled, fmt.Errorf("tool %q, classify: %w", tool, err)
	}
	return compiled, nil
}
