package classify

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/expediter-go/expediter/cascade"
)

// maxPattern bounds a user's pattern, in bytes.
const maxPattern = 1024

// Rule is a user's own rule, asked before the built-in ones. It has the fields
// of capability.ClassifyRule and converts from it. Exactly one of Match and
// ExitCode is set.
type Rule struct {
	Match    string // RE2 pattern, searched in the first and last 2 kB of the error text
	ExitCode *int
	Outcome  string // success, failure or ignored; empty: failure
	Category string // of a failure; empty: unknown
}

// Rules are compiled rules. The zero Rules are none.
type Rules struct{ rules []ownRule }

type ownRule struct {
	match    *regexp.Regexp // nil: by exit code
	exit     int
	outcome  cascade.Outcome
	category cascade.Category
	class    string
}

// RuleError is a rule that cannot be used.
type RuleError struct {
	Index   int    // of the rule, from 0
	Field   string // match, exit_code, outcome or category
	Problem string // what is wrong and what to do
}

// Error names the rule, counted from 1, and its field.
func (e *RuleError) Error() string {
	return fmt.Sprintf("rule %d: %s: %s", e.Index+1, e.Field, e.Problem)
}

// Compile makes rules ready, first match first. The error joins one *RuleError
// for each problem.
func Compile(rules []Rule) (Rules, error) {
	var all Rules
	var problems []error
	for i, r := range rules {
		own, errs := r.compile(i)
		problems = append(problems, errs...)
		all.rules = append(all.rules, own)
	}
	if err := errors.Join(problems...); err != nil {
		return Rules{}, err
	}
	return all, nil
}

func (r Rule) compile(index int) (own ownRule, problems []error) {
	fail := func(field, format string, args ...any) {
		problems = append(problems, &RuleError{Index: index, Field: field, Problem: fmt.Sprintf(format, args...)})
	}
	if (r.Match != "") == (r.ExitCode != nil) {
		fail("match", "set exactly one of match and exit_code")
	}
	if r.ExitCode != nil {
		own.exit = *r.ExitCode
		if own.exit == 0 {
			fail("exit_code", "0 is a success already; use another code")
		}
	} else if len(r.Match) > maxPattern {
		fail("match", "longer than %d bytes; split it into several rules", maxPattern)
	} else if re, err := regexp.Compile(r.Match); err != nil {
		fail("match", "%v; use RE2 syntax", err)
	} else {
		own.match = re
	}
	if r.Outcome != "" {
		if err := own.outcome.UnmarshalText([]byte(r.Outcome)); err != nil {
			fail("outcome", "%v", err)
		}
	}
	if err := own.category.UnmarshalText([]byte(r.Category)); err != nil {
		fail("category", "%v", err)
	} else if r.Category != "" && own.outcome != cascade.Failed {
		fail("category", "only a failure has one; remove it or set outcome to failure")
	}
	own.class = map[cascade.Outcome]string{
		cascade.Failed: own.category.String(), cascade.Succeeded: invalidInput.String(), cascade.Ignored: none.String(),
	}[own.outcome]
	return own, problems
}

// byOwnRule asks the user's rules. The class that it returns is only a
// stand-in: own has the outcome, the category and the class.
func (e *evidence) byOwnRule() (class, string, bool) {
	for i := range e.Rules.rules {
		r := &e.Rules.rules[i]
		if r.match != nil && r.match.MatchString(e.text) || r.match == nil && e.exit != nil && *e.exit == r.exit {
			e.own = r
			return unknown, "own:" + strconv.Itoa(i+1), true
		}
	}
	return 0, "", false
}
