package precheck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
)

// Defaults of a Config.
const (
	DefaultTTL      = 30 * time.Second
	DefaultDeadline = 2 * time.Second
	DefaultParallel = 8
)

// Config makes a Checker. It is validated once and copied.
type Config struct {
	// Checks by tool. The check of `a/b` also serves `a/b/c`, unless that has
	// its own. A tool without a check is available.
	Checks   map[string]Check
	TTL      time.Duration // how long a score holds; 0: DefaultTTL
	Deadline time.Duration // of each check; 0: DefaultDeadline
	Parallel int           // checks that one Apply runs at once; 0: DefaultParallel
}

// Finding is what became of one tool's check.
type Finding struct {
	Tool  string
	Score capability.Score
	// Err says why the check gave no verdict of its own, so that Score is
	// Available: it failed, panicked (ErrPanicked), did not end in time
	// (context.DeadlineExceeded, or ErrStillRunning if it has not ended since),
	// or the caller stopped waiting (its context's error).
	Err error
}

// Checker runs checks and remembers their scores. It is safe for concurrent
// use and starts goroutines only while a check runs. Make one with New.
type Checker struct {
	cfg     Config
	flights singleflight.Group // by check: one runs, all who ask wait for it

	mu     sync.Mutex // guards all below
	scores map[string]verdict
	epochs map[string]uint64           // by check: counts what made its score doubtful
	busy   map[string]bool             // checks whose function has not returned
	told   map[string]capability.Score // by tool: what the engine last heard
}

// New makes a checker, or reports everything that is wrong with cfg.
func New(cfg Config) (*Checker, error) {
	var errs []error
	for tool, check := range cfg.Checks {
		if tool == "" || check == nil {
			errs = append(errs, fmt.Errorf("precheck: Checks[%.64q] needs a tool and a check; remove it", tool))
		}
	}
	if cfg.TTL < 0 || cfg.Deadline < 0 || cfg.Parallel < 0 {
		errs = append(errs, fmt.Errorf("precheck: TTL %v, Deadline %v, Parallel %d: give none below zero; 0 is the default", cfg.TTL, cfg.Deadline, cfg.Parallel))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	cfg.Checks = maps.Clone(cfg.Checks)
	orElse(&cfg.TTL, DefaultTTL)
	orElse(&cfg.Deadline, DefaultDeadline)
	orElse(&cfg.Parallel, DefaultParallel)
	return &Checker{
		cfg:    cfg,
		scores: map[string]verdict{},
		epochs: map[string]uint64{},
		busy:   map[string]bool{},
		told:   map[string]capability.Score{},
	}, nil
}

func orElse[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}

// Score returns the tool's score at a time: the remembered one if it still
// holds, else that of a check, for which it waits until ctx is done. A caller
// who stops waiting gets Available and does not stop the check for the others.
func (c *Checker) Score(ctx context.Context, tool string, at time.Time) capability.Score {
	v, _ := c.ask(ctx, c.checkOf(tool), at)
	return v.score
}

// Target checks what one call is aimed at, such as a file or a URL, for
// Engine.DecideScored. Nothing is remembered; the check has the checker's
// deadline and ends with ctx.
func (c *Checker) Target(ctx context.Context, check Check) capability.Score {
	return c.run(ctx, check, func() {}).score
}

// Apply asks for the scores of tools in parallel (none: of every tool that has
// a check) and tells the engine those that changed, in the given order. It
// returns the findings in that order, without the tools that have no check. A
// caller who stops waiting leaves the engine with what it knew.
func (c *Checker) Apply(ctx context.Context, x *expediter.Engine, step int64, at time.Time, tools ...string) []Finding {
	if len(tools) == 0 {
		tools = slices.Sorted(maps.Keys(c.cfg.Checks))
	}
	verdicts := make([]verdict, len(tools))
	known := make([]bool, len(tools))
	var g errgroup.Group
	g.SetLimit(c.cfg.Parallel)
	for i, tool := range tools {
		if name := c.checkOf(tool); name != "" {
			g.Go(func() error {
				verdicts[i], known[i] = c.ask(ctx, name, at)
				return nil
			})
		}
	}
	_ = g.Wait() // no check returns its error here: it is in its verdict
	findings := make([]Finding, 0, len(tools))
	for i, tool := range tools {
		name := c.checkOf(tool)
		if name == "" {
			continue
		}
		if known[i] {
			c.tell(x, tool, name, verdicts[i], step, at)
		}
		findings = append(findings, Finding{Tool: tool, Score: verdicts[i].score, Err: verdicts[i].err})
	}
	return findings
}

// maxTold bounds what is remembered of tools that share a parent's check.
const maxTold = 100_000

// tell gives the engine a score it has not heard, unless the tool has changed
// since the check began. Two callers may tell at once: each makes sure that
// what it said last is what was meant last, so the engine ends up right.
func (c *Checker) tell(x *expediter.Engine, tool, name string, v verdict, step int64, at time.Time) {
	c.mu.Lock()
	last, heard := c.told[tool]
	if c.epochs[name] != v.epoch || heard && last == v.score {
		c.mu.Unlock()
		return
	}
	if len(c.told) >= maxTold {
		clear(c.told)
	}
	c.told[tool] = v.score
	c.mu.Unlock()
	for said := v.score; ; {
		x.SetAvailability(tool, said, step, at)
		c.mu.Lock()
		meant, heard := c.told[tool]
		c.mu.Unlock()
		if !heard || meant == said {
			return
		}
		said = meant
	}
}

// checkOf names the check that serves a tool; empty: none does.
func (c *Checker) checkOf(tool string) string {
	name, _ := capability.Nearest(c.cfg.Checks, tool)
	return name
}

// Forget drops the scores of tools (none: all), because the caller knows of a
// change. A check that is running now will not be believed.
func (c *Checker) Forget(tools ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(tools) == 0 {
		for name := range c.cfg.Checks {
			c.epochs[name]++
		}
		clear(c.scores)
		return
	}
	for _, tool := range tools {
		if name := c.checkOf(tool); name != "" {
			c.epochs[name]++
			delete(c.scores, name)
		}
	}
}
