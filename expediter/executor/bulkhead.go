package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Hold is how long an abandoned call, and one of Begin, keeps its place in a
// bulkhead if it does not end before: a tool that never returns must not block
// itself for ever.
const Hold = 10 * time.Minute

// ErrSaturated is why a *Refused was not called: as many calls of it are under
// way as its Limit allows. It says nothing about the tool.
var ErrSaturated = errors.New("as many calls of it are under way as its bulkhead allows")

// Limit is a bulkhead: how many calls of a tool may be under way at once. One
// that is abandoned counts until it comes back, at most for Hold. A trial goes
// beside a full bulkhead, as the engine lets only one go at a time: what hangs in
// a tool does not keep it from being found well again. So does whatever a guard
// lets through while the engine has it as OPEN or HALF_OPEN (Engine.External).
type Limit struct {
	Concurrent int           // 1 or more; 0 in the zero Limit: no bulkhead
	Wait       time.Duration // for a place, before ErrSaturated; 0: not at all
}

func (l Limit) validate(tool string) error {
	switch {
	case l == Limit{}:
		return nil
	case l.Concurrent < 1:
		return fmt.Errorf("executor: Limits[%.64q].Concurrent %d lets no call through; give 1 or more, or the zero Limit for no bulkhead", tool, l.Concurrent)
	case l.Wait < 0:
		return fmt.Errorf("executor: Limits[%.64q].Wait %v is below zero; give 0 to fail at once", tool, l.Wait)
	}
	return nil
}

// bulkhead is the places of one Limit. A nil bulkhead has room for everybody.
type bulkhead struct {
	places *semaphore.Weighted
	wait   time.Duration
}

func bulkheads(limits map[string]Limit) map[string]*bulkhead {
	made := map[string]*bulkhead{}
	for tool, l := range limits {
		made[tool] = nil // the zero Limit of a tool is one, against that of its parent
		if l.Concurrent > 0 {
			made[tool] = &bulkhead{places: semaphore.NewWeighted(int64(l.Concurrent)), wait: l.Wait}
		}
	}
	return made
}

// try takes a place if there is one.
func (b *bulkhead) try() bool { return b == nil || b.places.TryAcquire(1) }

// await takes a place within the bulkhead's wait, or says ErrSaturated, or why
// ctx ended.
func (b *bulkhead) await(ctx context.Context) error {
	if b.wait == 0 {
		return ErrSaturated
	}
	mine, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	if b.places.Acquire(mine, 1) == nil {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return ErrSaturated
}

// leave gives a place back.
func (b *bulkhead) leave() {
	if b != nil {
		b.places.Release(1)
	}
}

// abandon keeps a place for a call that may never end, until back is called or
// Hold has passed.
func (b *bulkhead) abandon() (back func()) {
	if b == nil {
		return func() {}
	}
	leave := sync.OnceFunc(b.leave)
	timer := time.AfterFunc(Hold, leave)
	return func() {
		timer.Stop()
		leave()
	}
}
