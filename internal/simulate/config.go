package simulate

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/expediter-go/expediter/expediter"
)

// Bounds of a Config.
const (
	MaxRate     = 0.5 // half of all calls
	MaxSeeds    = 1_000
	MaxAgents   = 1_000
	MaxSubtasks = 1_000
	MaxRetries  = 20
	MaxAnswers  = 1_000
	MaxPolicies = 10
	maxRates    = 20
	maxTotal    = 100_000_000 // sub-tasks of all runs
)

// None is the value of a count that is meant to be zero where zero means the
// default.
const None = -1

// Config says what to simulate. The zero Config is the default comparison.
type Config struct {
	Seed     uint64    // of everything that is drawn
	Seeds    int       // worlds for each model and rate; default 30
	Agents   int       // in each world; default 5
	Subtasks int       // of each agent; default 40
	Retries  int       // repetitions of a failed call by agents without expediter; default 3; None: none
	Answers  int       // pauses that the user of an agent answers; default 3; None: none
	OwnWords bool      // the error of a tool names it; false: all tools fail with the same words
	Rates    []float64 // 0 to MaxRate; default 0, 0.05, 0.1, 0.2, 0.3
	Models   []Model   // default: all
	Policies []Policy  // compared beside faithful and interactive
	Workers  int       // runs at a time; default: as many as there are processors
	// Progress hears of each world that is finished, one call at a time; nil: nobody does.
	Progress func(finished, all int)
}

// Policy is one more policy of the engine in the comparison.
type Policy struct {
	Name string
	expediter.Policy
}

func (c Config) withDefaults() Config {
	orElse(&c.Seeds, 30)
	orElse(&c.Agents, 5)
	orElse(&c.Subtasks, 40)
	orElse(&c.Retries, 3)
	orElse(&c.Answers, 3)
	orElse(&c.Workers, runtime.GOMAXPROCS(0))
	c.Retries, c.Answers = max(c.Retries, 0), max(c.Answers, 0)
	if c.Rates == nil {
		c.Rates = []float64{0, 0.05, 0.1, 0.2, 0.3}
	}
	if c.Models == nil {
		c.Models = Models()
	}
	return c
}

func orElse(field *int, def int) {
	if *field == 0 {
		*field = def
	}
}

// validate reports everything that is wrong with a Config whose defaults are
// set.
func (c Config) validate() error {
	var errs []error
	within := func(what string, n, most int) {
		if n < 1 || n > most {
			errs = append(errs, fmt.Errorf("%s: %d; give 1 to %d", what, n, most))
		}
	}
	within("seeds", c.Seeds, MaxSeeds)
	within("agents", c.Agents, MaxAgents)
	within("subtasks", c.Subtasks, MaxSubtasks)
	within("workers", c.Workers, 1<<10)
	if c.Retries > MaxRetries {
		errs = append(errs, fmt.Errorf("retries: %d; give 0 to %d", c.Retries, MaxRetries))
	}
	if c.Answers > MaxAnswers {
		errs = append(errs, fmt.Errorf("answers: %d; give 0 to %d", c.Answers, MaxAnswers))
	}
	errs = append(errs, c.checkRates(), c.checkModels(), c.checkPolicies())
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return c.checkSize()
}

func (c Config) checkRates() error {
	var errs []error
	if len(c.Rates) == 0 || len(c.Rates) > maxRates {
		errs = append(errs, fmt.Errorf("rates: %d of them; give 1 to %d", len(c.Rates), maxRates))
	}
	for i, r := range c.Rates {
		switch {
		case !(r >= 0 && r <= MaxRate):
			errs = append(errs, fmt.Errorf("rates: %v; give 0 to %v", r, MaxRate))
		case slices.Contains(c.Rates[:i], r):
			errs = append(errs, fmt.Errorf("rates: %v twice; name each once", r))
		}
	}
	return errors.Join(errs...)
}

func (c Config) checkModels() error {
	var errs []error
	if len(c.Models) == 0 {
		errs = append(errs, errors.New("models: none; name at least one"))
	}
	for i, m := range c.Models {
		switch {
		case !slices.Contains(Models(), m):
			errs = append(errs, fmt.Errorf("models: %s has no faults to simulate; name one of %v", m, Models()))
		case slices.Contains(c.Models[:i], m):
			errs = append(errs, fmt.Errorf("models: %s twice; name each once", m))
		}
	}
	return errors.Join(errs...)
}

func (c Config) checkPolicies() error {
	var errs []error
	if len(c.Policies) > MaxPolicies {
		errs = append(errs, fmt.Errorf("policies: %d; at most %d are compared", len(c.Policies), MaxPolicies))
	}
	for i, p := range c.Policies {
		same := func(other Policy) bool { return other.Name == p.Name }
		if p.Name == "" || slices.ContainsFunc(builtIn(), same) || slices.ContainsFunc(c.Policies[:i], same) {
			errs = append(errs, fmt.Errorf("policies: the name %.80q is empty or taken; give each policy a name of its own", p.Name))
		}
		if err := p.Over(expediter.Faithful()).Validate(true); err != nil {
			errs = append(errs, fmt.Errorf("policies: %.80q: %w", p.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (c Config) checkSize() error {
	runs := len(c.Models) * len(c.Rates) * c.Seeds * len(c.ways())
	if total := runs * c.Agents * c.Subtasks; total > maxTotal {
		return fmt.Errorf("%d runs of %d agents with %d sub-tasks each are %d sub-tasks in all; stay below %d: fewer seeds, agents, sub-tasks, rates or models",
			runs, c.Agents, c.Subtasks, total, maxTotal)
	}
	return nil
}

// builtIn are the policies that are always compared.
func builtIn() []Policy {
	return []Policy{{"faithful", expediter.Faithful()}, {"interactive", expediter.Interactive()}}
}
