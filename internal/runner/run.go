package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/precheck"
	"github.com/expediter-go/expediter/internal/task"
	"github.com/expediter-go/expediter/report/freshness"
)

// DefaultPace is how long a pass lasts at least, so that nothing is retried at
// once.
const DefaultPace = time.Second

// Config makes a Run.
type Config struct {
	Task            *task.File
	Base            string           // folder that the task's own folders are relative to
	Policy          expediter.Policy // zero fields: faithful
	UserUnavailable bool             // nobody can do a manual fallback
	Journal         func(*expediter.Event)
	Progress        func(Progress) // called on Do's goroutine; nil: nobody looks
	Pace            time.Duration  // 0: DefaultPace
}

// Run is one task being worked off. Do or Plan is called once; Status and Kill
// may be called by any goroutine.
type Run struct {
	cfg     Config
	engine  *expediter.Engine
	checker *precheck.Checker
	rules   rules
	fresh   *freshness.Tracker
	jobs    []*job
	step    int64
	tried   map[string]int // failed probes that a tool had when the run began: a fleet's
	began   time.Time
	mu      sync.Mutex
	history []expediter.IncidentEvent  // under mu: a fleet's incidents come by themselves
	broken  error                      // the engine refused a record
	running atomic.Pointer[os.Process] // the command that runs now
}

// New makes a run ready, or says what is wrong with its policy, map or rules.
func New(cfg Config) (*Run, error) {
	if cfg.Pace == 0 {
		cfg.Pace = DefaultPace
	}
	r := &Run{cfg: cfg, began: time.Now()}
	var err error
	if r.rules, err = compileRules(cfg.Task); err != nil {
		return nil, err
	}
	if r.checker, err = precheck.New(precheck.Config{Checks: r.checks(), TTL: cfg.Pace / 2}); err != nil {
		return nil, err
	}
	r.engine, err = expediter.New(expediter.Config{
		Tools:           cfg.Task.Map,
		Policy:          cfg.Policy,
		UserUnavailable: cfg.UserUnavailable,
		Events:          r.checker.Observe(expediter.Events{Journal: cfg.Journal, Incident: r.incident}),
	})
	if err != nil {
		return nil, err
	}
	r.fresh = freshness.NewTracker(r.began, 0)
	for i, s := range cfg.Task.Subtasks {
		r.jobs = append(r.jobs, &job{Work: Work{Number: i + 1, Subtask: s}})
	}
	return r, nil
}

// incident hears of incidents.
func (r *Run) incident(e expediter.IncidentEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, e)
}

// past is what the engine has told of incidents.
func (r *Run) past() []expediter.IncidentEvent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.history)
}

// Status is the engine's.
func (r *Run) Status() expediter.Status { return r.engine.Status() }

// Engine is the run's own, for what connects it to the engines of others. Calls
// are Do's alone.
func (r *Run) Engine() *expediter.Engine { return r.engine }

// Kill ends the command that runs now, with its whole group and without a
// grace, for a program that is about to exit.
func (r *Run) Kill() {
	if p := r.running.Load(); p != nil {
		killGroup(p)
	}
}

// Account is what became of a run.
type Account struct {
	Task        *task.File
	Work        []Work // every sub-task, in the order of the task
	Status      expediter.Status
	History     []expediter.IncidentEvent
	Interrupted bool
	Began       time.Time
	Ended       time.Time
}

// Do works until every sub-task is settled, the engine pauses, or ctx ends.
// The account is complete in each case; the error is only that of an engine
// that refuses what the run tells it.
func (r *Run) Do(ctx context.Context) (Account, error) {
	r.note(expediter.OpTask, map[string]any{"name": noted(r.cfg.Task.Name), "subtasks": len(r.jobs)})
	r.tried = map[string]int{}
	for _, t := range r.engine.Status().Tools {
		r.tried[t.Tool] = t.FailedProbes
	}
	for r.open() && ctx.Err() == nil && r.broken == nil {
		r.step++
		began := time.Now()
		r.check(ctx)
		cut := r.pass(ctx) == paused || ctx.Err() != nil
		if cut && !r.confirmsItself() {
			break
		}
		if !cut {
			r.deferBlocked()
		}
		if r.open() && r.engine.Status().Paused != expediter.Budget {
			wait(ctx, began.Add(r.cfg.Pace))
		}
	}
	r.settleRest(ctx)
	a := Account{Task: r.cfg.Task, Status: r.engine.Status(), History: r.past(), Interrupted: ctx.Err() != nil,
		Began: r.began, Ended: time.Now()}
	for _, j := range r.jobs {
		a.Work = append(a.Work, j.Work)
	}
	return a, r.broken
}

// open reports whether any sub-task waits.
func (r *Run) open() bool {
	for _, j := range r.jobs {
		if j.State == Waiting {
			return true
		}
	}
	return false
}

// pass asks once for each sub-task that waits and whose dependencies are done.
func (r *Run) pass(ctx context.Context) answer {
	for _, j := range r.jobs {
		j.progress, j.called = false, false
	}
	for _, j := range r.jobs {
		if j.State != Waiting || !r.ready(j) {
			continue
		}
		if ctx.Err() != nil || r.broken != nil {
			return waiting
		}
		if r.attempt(ctx, j) == paused {
			return paused
		}
	}
	return waiting
}

// confirmsItself reports whether an incident that pauses the run will be
// confirmed by time (confirm_after_ms).
func (r *Run) confirmsItself() bool {
	s := r.engine.Status()
	return s.Paused == expediter.Systemic && s.Policy.Cascade.ConfirmAfterMS > 0
}

// wait waits until then, or until ctx ends.
func wait(ctx context.Context, then time.Time) {
	timer := time.NewTimer(time.Until(then))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// dir is where a tool's commands run.
func (r *Run) dir(t task.Tool) string {
	dir := r.cfg.Base
	for _, next := range []string{r.cfg.Task.Dir, t.Dir} {
		if filepath.IsAbs(next) {
			dir = next
		} else {
			dir = filepath.Join(dir, next)
		}
	}
	return dir
}

// note writes an annotation into the journal.
func (r *Run) note(op expediter.Op, note map[string]any) {
	if err := r.engine.Note(op, note, r.step, time.Now()); err != nil {
		r.broken = err
	}
}
