package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
)

// readRules makes a judge of the classify rules of a map or task file; an empty
// name is none of the user's own.
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
		var own []classify.Rule
		for _, r := range entry.Classify {
			own = append(own, classify.Rule(r))
		}
		compiled, err := classify.Compile(own)
		if err != nil {
			problems = append(problems, fmt.Errorf("tool %q, classify: %w", entry.Tool, err))
		}
		rules[entry.Tool] = compiled
	}
	return rules, errors.Join(problems...)
}
