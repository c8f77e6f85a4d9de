package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/runner"
)

// readRules makes a judge of the classify rules of a map, which may stand in a
// task file; an empty name is none of the user's own.
func readRules(cmd *cobra.Command, name string) (func(classify.Observation) classify.Verdict, error) {
	if name == "" {
		return nil, nil
	}
	m, err := loadMap(cmd, name)
	if err != nil {
		return nil, err
	}
	rules, err := compileRules(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return func(o classify.Observation) classify.Verdict {
		if entry, ok := m.Lookup(classify.Key(o)); ok {
			o.Rules = rules[entry.Tool]
		}
		return classify.Observe(o)
	}, nil
}

// compileRules makes ready the rules of every entry, by its tool.
func compileRules(m capability.Map) (map[string]classify.Rules, error) {
	rules := map[string]classify.Rules{}
	var problems []error
	for _, entry := range m {
		compiled, err := runner.CompileRules(entry.Tool, entry.Classify)
		problems = append(problems, err)
		rules[entry.Tool] = compiled
	}
	return rules, errors.Join(problems...)
}
