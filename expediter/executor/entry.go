package executor

import (
	"errors"
	"fmt"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// entry is what the executor needs of an entry of the capability map. The zero
// entry is that of a tool without one.
type entry struct {
	rules        classify.Rules
	effects      bool // a repeated call does something again
	noSubstitute bool
	alternatives []capability.Alternative
}

// entriesOf reads the engine's capability map.
func entriesOf(x *expediter.Engine) (map[string]entry, error) {
	entries := map[string]entry{}
	if x == nil {
		return entries, nil
	}
	var errs []error
	for _, row := range x.Status().Tools {
		from := row.Entry
		if _, done := entries[from.Tool]; done || from.Tool == "" {
			continue
		}
		var rules []classify.Rule
		for _, r := range from.Classify {
			rules = append(rules, classify.Rule(r))
		}
		compiled, err := classify.Compile(rules)
		if err != nil {
			errs = append(errs, fmt.Errorf("executor: classify rules of %.64q: %w", from.Tool, err))
		}
		entries[from.Tool] = entry{rules: compiled, effects: from.SideEffects >= capability.Idempotent,
			noSubstitute: from.NoSubstitute, alternatives: from.Alternatives}
	}
	return entries, errors.Join(errs...)
}

// entry is the tool's own, or its parent's, and so on.
func (e *Executor) entry(tool string) entry {
	name, _ := capability.Nearest(e.entries, tool)
	return e.entries[name]
}
