package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/expediter-go/expediter/expediter"
)

// Grace is how long a tool may take to come back by itself once its time is up
// or its caller has cancelled it. What it then returns is returned.
const Grace = 100 * time.Millisecond

// Config makes an Executor. It is validated once and copied. Its funcs and guards
// may be called concurrently and must not panic.
type Config struct {
	Engine    *expediter.Engine
	Step      func() int64             // the agent's step now; nil: expediter.NoStep
	Now       func() time.Time         // nil: time.Now
	Deadline  time.Duration            // of each call of Do; 0: only what the caller's context has
	Deadlines map[string]time.Duration // by tool, instead of Deadline; 0: none; that of `a/b` serves `a/b/c`
	Limits    map[string]Limit         // bulkheads, by tool as Deadlines; that of `a` is shared by all that it serves
	Guards    map[string]Guard         // another breaker in front of a tool, by tool as Deadlines
	Fallbacks map[string]Fallback      // what stands in for a call of Do that was refused or failed, by tool as Deadlines
	// Panicked hears of each panic of a tool, with the stack of the tool's
	// goroutine, before it goes on in the caller. A panic that comes after the
	// caller has gone ends here.
	Panicked func(tool string, value any, stack []byte)
	// CameBack hears of each abandoned call that ends after all.
	CameBack func(Late)
}

// Executor runs tools. It is safe for concurrent use. Make one with New.
type Executor struct {
	cfg         Config
	entries     map[string]entry     // by tool of the map
	bulkheads   map[string]*bulkhead // as Config.Limits
	kept        *keep                // last good results; nil: none are kept
	substitutes substitutes
	running     atomic.Int64 // tools whose caller has gone
	late        atomic.Int64 // tools that came back after that
}

// New makes an executor, or reports everything that is wrong with cfg.
func New(cfg Config) (*Executor, error) {
	entries, err := entriesOf(cfg.Engine)
	if err := errors.Join(cfg.validate(), err, validFallbacks(cfg.Fallbacks, entries)); err != nil {
		return nil, err
	}
	cfg.Deadlines, cfg.Guards, cfg.Fallbacks = maps.Clone(cfg.Deadlines), maps.Clone(cfg.Guards), maps.Clone(cfg.Fallbacks)
	return &Executor{cfg: cfg, entries: entries, bulkheads: bulkheads(cfg.Limits), kept: newKeep(cfg.Fallbacks)}, nil
}

func (cfg Config) validate() error {
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
	for tool, g := range cfg.Guards {
		if g == nil {
			errs = append(errs, fmt.Errorf("executor: Guards[%.64q] is nil; leave the tool out", tool))
		}
	}
	for tool, l := range cfg.Limits {
		errs = append(errs, l.validate(tool))
	}
	return errors.Join(errs...)
}

// Receipt stands beside a call's result.
type Receipt struct {
	Decision expediter.Decision
	Answered bool              // the tool itself returned; Used may be something else all the same
	Outcome  expediter.Outcome // as recorded; zero if no call was made
	Recorded expediter.Result
	// MayHaveTakenEffect: the tool is declared to have side effects, and nobody
	// knows whether this call had them. Verify that before it is repeated.
	MayHaveTakenEffect bool

	Used  Used          // whose value the caller got
	Label string        // of a value that is not the tool's own: how far it can be trusted
	Lost  string        // what such a value lacks
	Age   time.Duration // of a last good result
	Cause error         // what such a value stands in for: the tool's error, or *Refused
	// Instead is the receipt of the alternative's own call; nil: none was asked for.
	Instead *Receipt

	// Err is what went wrong beside the call. expediter.ErrUnknownCall: it took
	// so long that the engine forgot it. A fallback that could not be used says
	// why.
	Err error
}

// Do runs fn as one call of the tool, if the engine lets it, and records its
// outcome, whatever that is. It returns
//
//   - fn's value and error, untouched, if fn returns;
//   - *Refused if the engine said SKIP or PAUSE, or a bulkhead or guard refused
//     the call: fn did not run;
//   - *Overdue if the tool's deadline passed, ctx.Err() if ctx ended, and fn
//     did not come back within Grace. fn then goes on alone, and
//     what it returns is noted and dropped: see Abandoned and
//     Config.CameBack. A passed deadline is recorded as a timeout, a
//     cancellation as ignored;
//   - ctx.Err() if ctx had ended before, or ended while a place in the bulkhead
//     was awaited;
//   - no error, and what the tool's Fallback gives, where one is declared and
//     fits. The Receipt tells what it is, and has the error.
//
// A panic of fn is recorded as a failure and goes on in the caller with its
// value; so does runtime.Goexit. With a deadline, or a ctx that can end, fn runs
// in a goroutine of its own and its context ends when Do returns. Without, fn
// runs on the caller's goroutine and in ctx. The context that fn gets for a PROBE
// carries the trial: a call of the same tool made in it is part of that trial,
// neither asked for nor recorded by itself.
func Do[T any](ctx context.Context, e *Executor, tool string, fn func(context.Context) (T, error)) (T, Receipt, error) {
	var r Receipt
	value, err := attempt(ctx, e, tool, fn, &r)
	if len(e.cfg.Fallbacks) > 0 {
		value, err = orElse(ctx, e, tool, value, err, &r)
	}
	return value, r, err
}

// Wrap returns fn guarded by Do, for callers that need no Receipt. A value that
// is not fn's own comes with an error, *Degraded, so that nobody takes it for
// that. An arg that is a string is the question of Asking.
func Wrap[A, T any](e *Executor, tool string, fn func(context.Context, A) (T, error)) func(context.Context, A) (T, error) {
	return func(ctx context.Context, arg A) (T, error) {
		if text, ok := any(arg).(string); ok && e.kept != nil {
			ctx = Asking(ctx, text)
		}
		v, r, err := Do(ctx, e, tool, func(ctx context.Context) (T, error) { return fn(ctx, arg) })
		if err == nil && r.Used != UsedTool {
			err = &Degraded{Tool: tool, Receipt: r}
		}
		return v, err
	}
}

// Abandoned counts the calls whose caller did not wait for the end: those that
// still run, each with a goroutine, and those that came back late.
func (e *Executor) Abandoned() (running, late int64) {
	return e.running.Load(), e.late.Load()
}
