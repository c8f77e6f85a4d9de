package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/analysis"
)

// policyNames are the words of --policy that are no files.
var policyNames = map[string]string{
	"never": analysis.NeverOpens, "all-failures": analysis.AllFailures,
	"faithful": analysis.Faithful, "interactive": analysis.Interactive,
}

// readPolicies finds the policies that are named; none named means all that
// have a name, ours first.
func readPolicies(cmd *cobra.Command, names []string) ([]analysis.Policy, error) {
	if len(names) == 0 {
		names = []string{"interactive", "faithful", "all-failures", "never"}
	}
	known := map[string]analysis.Policy{}
	for _, p := range analysis.Baselines() {
		known[p.Name] = p
	}
	var policies []analysis.Policy
	var problems []error
	seen := map[string]bool{}
	for _, name := range names {
		p, ok := known[policyNames[name]]
		if !ok {
			var err error
			p, err = readPolicy(cmd, name)
			problems = append(problems, err)
		}
		if seen[name] {
			problems = append(problems, usagef("--policy %.200q is given twice; leave one out", name))
		}
		seen[name] = true
		policies = append(policies, p)
	}
	return policies, errors.Join(problems...)
}

// readPolicy reads the policy of a file and its map, whose entries have
// policies of their own.
func readPolicy(cmd *cobra.Command, name string) (analysis.Policy, error) {
	file, err := readPolicyFile(cmd, name, "faithful, interactive, never or all-failures, or the path of a map or task file")
	return analysis.Policy{Name: name, Config: expediter.Config{Tools: file.tools, Policy: file.policy}}, err
}
