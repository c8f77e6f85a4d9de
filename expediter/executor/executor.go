package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// Grace is how long a tool may take to come back by itself once its time is up
// or its caller has cancelled it. What it then returns is returned.
const Grace = 100 * time.Millisecond

// Config makes an Executor. It is validated once and copied. Its funcs may be
// called concurrently and must not panic.
type Config struct {
	Engine    *expediter.Engine
	Step      func() int64             // the agent's step now; nil: expediter.NoStep
	Now       func() time.Time         // nil: time.Now
	Deadline  time.Duration            // of each call; 0: only what the caller's context has
	Deadlines map[string]time.Duration // by tool, instead of Deadline; 0: none; that of `a/b` serves `a/b/c`
	// Panicked hears of each panic of a tool, with the stack of the tool's
	// goroutine, before it goes on in the caller. A panic that comes after the
	// caller has gone ends here.
	Panicked func(tool string, value any, stack []byte)
}

// Executor runs tools. It is safe for concurrent use. Make one with New.
type Executor struct {
	cfg     Config
	rules   map[string]classify.Rules // by map entry
	running atomic.Int64              // tools whose caller has gone
	late    atomic.Int64              // tools that came back after that
}

// New makes an executor, or reports everything that is wrong with cfg.
func New(cfg Config) (*Executor, error) {
	var errs []error
	if cfg.Engine == nil {
		errs = append(errs, errors.New("executor: Engine is nil; make one with expediter.New"))
	}
	if cfg.Deadline < 0 {
		errs = append(errs, fmt.Errorf("executor: Deadline %v is below zero; give 0 for none", cfg.Deadline))
	}
	for tool, d := range cfg.Deadlines {
		if d < 0 {
			errs = append(errs, fmt.Errorf("executor: Deadlines[%.64q] %v is below zero; give 0 for none", tool, d))
		}
	}
	rules, err := ownRules(cfg.Engine)
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	cfg.Deadlines = maps.Clone(cfg.Deadlines)
	if cfg.Step == nil {
		cfg.Step = func() int64 { return expediter.NoStep }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Executor{cfg: cfg, rules: rules}, nil
}

// ownRules compiles the classify rules of the engine's capability map.
func ownRules(x *expediter.Engine) (map[string]classify.Rules, error) {
	compiled := map[string]classify.Rules{}
	if x == nil {
		return compiled, nil
	}
	var errs []error
	for _, row := range x.Status().Tools {
		entry := row.Entry
		if _, done := compiled[entry.Tool]; done || entry.Tool == "" {
			continue
		}
		var rules []classify.Rule
		for _, r := range entry.Classify {
			rules = append(rules, classify.Rule(r))
		}
		c, err := classify.Compile(rules)
		if err != nil {
			errs = append(errs, fmt.Errorf("executor: classify rules of %.64q: %w", entry.Tool, err))
		}
		compiled[entry.Tool] = c
	}
	return compiled, errors.Join(errs...)
}

// Receipt stands beside a call's result.
type Receipt struct {
	Decision expediter.Decision
	Answered bool              // the tool itself returned; value and error are its own
	Outcome  expediter.Outcome // as recorded; zero if no call was made
	Recorded expediter.Result
	// Err is what the engine said to the record: expediter.ErrUnknownCall if
	// the call took so long that it was forgotten; else nil.
	Err error
}

// Do runs fn as one call of the tool, if the engine lets it, and records its
// outcome, whatever that is. It returns
//
//   - fn's value and error, untouched, if fn returns;
//   - *Refused if the engine said SKIP or PAUSE: fn did not run;
//   - *Overdue if the tool's deadline passed, ctx.Err() if ctx ended, and fn
//     did not come back within Grace. fn then goes on alone and what it
//     returns is dropped; see Abandoned. A passed deadline is recorded as a
//     timeout, a cancellation as ignored;
//   - the same error if ctx had ended before: nothing was asked or recorded.
//
// A panic of fn is recorded as a failure and goes on in the caller with its
// value; so does runtime.Goexit. fn's context ends when Do returns.
func Do[T any](ctx context.Context, e *Executor, tool string, fn func(context.Context) (T, error)) (T, Receipt, error) {
	var value, none T // value is fn's until it has answered
	receipt, err := e.call(ctx, tool, func(ctx context.Context) error {
		v, err := fn(ctx)
		value = v
		return err
	})
	if !receipt.Answered {
		return none, receipt, err
	}
	return value, receipt, err
}

// Wrap returns fn guarded by Do, for callers that need no Receipt.
func Wrap[A, T any](e *Executor, tool string, fn func(context.Context, A) (T, error)) func(context.Context, A) (T, error) {
	return func(ctx context.Context, arg A) (T, error) {
		v, _, err := Do(ctx, e, tool, func(ctx context.Context) (T, error) { return fn(ctx, arg) })
		return v, err
	}
}

// Abandoned counts the calls whose caller did not wait for the end: those that
// still run, each with a goroutine, and those that came back late.
func (e *Executor) Abandoned() (running, late int64) {
	return e.running.Load(), e.late.Load()
}

// call is Do without its type. The slot of the call is freed on every path
// that leaves it.
func (e *Executor) call(ctx context.Context, tool string, fn func(context.Context) error) (Receipt, error) {
	if err := ctx.Err(); err != nil {
		return Receipt{}, err
	}
	start := e.cfg.Now()
	d := e.cfg.Engine.Decide(tool, e.cfg.Step(), start)
	if !d.Verb.Go() {
		return Receipt{Decision: d}, &Refused{Tool: tool, Decision: d}
	}
	end := e.run(ctx, tool, fn)
	now := e.cfg.Now()
	end.outcome.Duration = max(now.Sub(start), 0)
	receipt := Receipt{Decision: d, Answered: end.way == returned, Outcome: end.outcome}
	receipt.Recorded, receipt.Err = e.cfg.Engine.Record(d.Call, end.outcome, e.cfg.Step(), now)
	switch end.way {
	case panicked:
		e.tellPanic(tool, end)
		panic(end.value)
	case exited:
		runtime.Goexit()
	}
	return receipt, end.err
}

// deadline is the tool's own, or its parent's, or the default.
func (e *Executor) deadline(tool string) time.Duration {
	if name, ok := capability.Nearest(e.cfg.Deadlines, tool); ok {
		return e.cfg.Deadlines[name]
	}
	return e.cfg.Deadline
}
