package precheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/expediter-go/expediter/capability"
)

// Why a check gave no verdict. They work with errors.Is on Finding.Err.
var (
	// ErrStillRunning: an earlier run of the check overran its deadline and has
	// not ended; the check ignores its context.
	ErrStillRunning = errors.New("the check still hangs in an earlier run; make it honour its context")
	// ErrPanicked: the check panicked or ended its goroutine.
	ErrPanicked = errors.New("the check panicked; mend it or remove it")
	// ErrChanging: the tool changed again and again while it was checked.
	ErrChanging = errors.New("the tool keeps changing while it is checked; ask again")
)

// verdict is what one run of a check gave. The zero verdict is Available.
type verdict struct {
	score capability.Score
	err   error
	at    time.Time // of the request that ran the check
	epoch uint64    // of the check when it began
}

// ask returns the check's verdict at a time, and whether it is one: not when
// the caller stopped waiting, or the tool changed during two checks in a row.
// It joins a check that is running, and asks again if the tool has changed
// since that began. name may be empty: no check, available.
func (c *Checker) ask(ctx context.Context, name string, at time.Time) (verdict, bool) {
	if name == "" {
		return verdict{}, true
	}
	for range 2 {
		if v, ok := c.remembered(name, at); ok {
			return v, true
		}
		flight := c.flights.DoChan(name, func() (any, error) { return c.fly(ctx, name, at), nil })
		select {
		case r := <-flight:
			if v := r.Val.(verdict); c.current(name, v) {
				return v, true
			}
		case <-ctx.Done():
			return verdict{err: ctx.Err()}, false
		}
	}
	return verdict{err: ErrChanging}, false
}

// remembered returns a score that still holds. A clock that went back by more
// than the time to live makes scores doubtful too.
func (c *Checker) remembered(name string, at time.Time) (verdict, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.scores[name]
	return v, ok && at.Sub(v.at).Abs() < c.cfg.TTL
}

func (c *Checker) current(name string, v verdict) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epochs[name] == v.epoch
}

// fly runs the check once for all who wait, and remembers its verdict unless
// the tool changed meanwhile. The context of the caller who happened to be
// first gives its values, not its end.
func (c *Checker) fly(ctx context.Context, name string, at time.Time) verdict {
	if v, ok := c.remembered(name, at); ok {
		return v
	}
	c.mu.Lock()
	epoch := c.epochs[name]
	if c.busy[name] {
		c.mu.Unlock()
		return verdict{err: ErrStillRunning, epoch: epoch}
	}
	c.busy[name] = true
	c.mu.Unlock()

	v := c.run(context.WithoutCancel(ctx), c.cfg.Checks[name], func() {
		c.mu.Lock()
		delete(c.busy, name)
		c.mu.Unlock()
	})
	v.at, v.epoch = at, epoch
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.epochs[name] == epoch {
		c.scores[name] = v
	}
	return v
}

// run gives a check its deadline and waits no longer than that. ended is
// called when the check's function has come back, however late.
func (c *Checker) run(ctx context.Context, check Check, ended func()) verdict {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Deadline)
	defer cancel()
	answer := make(chan verdict, 1)
	go func() {
		v := verdict{err: ErrPanicked} // stays so if the check ends its goroutine
		defer func() {
			if p := recover(); p != nil {
				v = verdict{err: fmt.Errorf("%w: %.200v", ErrPanicked, p)}
			}
			ended()
			answer <- v
		}()
		v = judged(check(ctx))
	}()
	select {
	case v := <-answer:
		return v
	case <-ctx.Done():
		return verdict{err: ctx.Err()}
	}
}

// judged is SPEC section 9: a check that fails by itself means available.
func judged(score capability.Score, err error) verdict {
	if err == nil && score > capability.Unavailable {
		err = fmt.Errorf("the check answered %s; it must be available, degraded or unavailable", score)
	}
	if err != nil {
		return verdict{err: err}
	}
	return verdict{score: score}
}
