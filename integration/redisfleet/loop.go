package redisfleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
)

// What ends a session though Redis is there: the view is read anew.
var (
	errBehind = errors.New("the log went on without this member")
	errForgot = errors.New("the log is shorter than it was")
	errEpoch  = errors.New("the fleet's state in Redis began anew")
	errFlood  = errors.New("more changes at once than the outbox holds")
)

// run is the loop: one session after the other, until the fleet is left.
func (f *Fleet) run(ctx context.Context) {
	defer close(f.done)
	pause := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(50*time.Millisecond), backoff.WithMaxInterval(5*time.Second), backoff.WithMaxElapsedTime(0))
	for {
		began := time.Now()
		err := f.session(ctx)
		if ctx.Err() != nil {
			break
		}
		f.lost(err)
		f.logComments()
		if time.Since(began) > 10*time.Second {
			pause.Reset()
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.NextBackOff()):
		}
	}
	f.leave()
}

// lost notes why a session ended. A member that has only missed something keeps
// its leases and what it has to offer; without Redis the engine goes on alone.
func (f *Fleet) lost(err error) {
	why := redact.Text(err.Error(), 200)
	behind := errors.Is(err, errBehind)
	again := behind || errors.Is(err, errForgot) || errors.Is(err, errEpoch) || errors.Is(err, errFlood)
	f.mu.Lock()
	if !behind {
		f.live, f.flood = false, false
		f.outbox = onlyBudget(f.outbox)
		f.trimLocked()
		clear(f.unsettled)
	}
	away := f.status.Connected && !again
	if again {
		f.status.Counts.Resyncs++
	} else {
		f.status.Why = why
	}
	if away {
		f.status.Connected, f.status.Since = false, f.o.Now()
	}
	f.mu.Unlock()
	if away {
		f.o.Log.Warn("fleet: Redis is away; going on alone", zap.String("scope", f.o.Scope), zap.String("why", why))
		f.share(expediter.FleetAlone)
		f.dropLeases()
	}
}

// onlyBudget keeps the changes of the shared budget. What became of tools is read
// from the engine when the fleet is there again.
func onlyBudget(waiting []offer) []offer {
	var kept []offer
	for _, o := range waiting {
		if o.budget() {
			kept = append(kept, o)
		}
	}
	return kept
}

// session is one time with Redis: read the view, meet it, then follow the log
// until something fails.
func (f *Fleet) session(ctx context.Context) error {
	found, err := f.wire.join(ctx, f.o.Member, newEpoch())
	if err != nil {
		return err
	}
	f.meet(found)
	if err := f.publish(ctx); err != nil {
		return err
	}
	f.connected()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return f.follow(ctx, f.listen(ctx, f.view.last))
}

// connected says that the fleet is reached.
func (f *Fleet) connected() {
	f.mu.Lock()
	was := f.status.Connected
	f.status.Connected, f.status.Why = true, ""
	if !was {
		f.status.Since = f.o.Now()
		f.status.Counts.Sessions++
		clear(f.wanted) // such a lease would count a trial that began without one
	}
	f.mu.Unlock()
	if was {
		return
	}
	f.share(expediter.FleetLeased)
	f.o.Log.Info("fleet: connected", zap.String("scope", f.o.Scope), zap.String("member", f.o.Member))
	select {
	case <-f.joined:
	default:
		close(f.joined)
	}
}

// batch is what one reading of the log brought.
type batch struct {
	entries []redis.XMessage
	err     error
}

// listen reads the log from a place on, until ctx is done or something fails.
func (f *Fleet) listen(ctx context.Context, from place) <-chan batch {
	if f.o.Brief {
		return nil // it has read the view, and ends before there is news
	}
	if f.o.Reader != nil {
		return f.o.Reader.listen(ctx, f.wire, from)
	}
	batches := make(chan batch)
	go func() {
		for {
			entries, err := f.wire.read(ctx, from)
			if err == nil && len(entries) == 0 {
				continue
			}
			if err == nil {
				from, err = parsePlace(entries[len(entries)-1].ID)
			}
			select {
			case batches <- batch{entries, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return batches
}

// follow does the work of a session as it comes.
func (f *Fleet) follow(ctx context.Context, log <-chan batch) error {
	beat := time.NewTimer(f.wire.every(f.view.members))
	defer beat.Stop()
	renew := time.NewTicker(f.o.LeaseTTL / 8)
	defer renew.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case b := <-log:
			err = f.heard(b)
		case <-f.wake:
			err = f.serve(ctx)
		case settled := <-f.settles:
			err = f.serve(ctx)
			close(settled)
		case <-renew.C:
			err = f.keepLeases(ctx)
		case <-beat.C:
			err = f.beat(ctx)
			beat.Reset(f.wire.every(f.view.members))
		}
		if err != nil {
			return err
		}
		f.logComments()
	}
}

// serve offers what is waiting, and asks for the leases that are wanted.
func (f *Fleet) serve(ctx context.Context) error {
	if err := f.publish(ctx); err != nil {
		return err
	}
	return f.askLeases(ctx)
}

// heard applies entries of the log.
func (f *Fleet) heard(b batch) error {
	if b.err != nil {
		return b.err
	}
	for _, m := range b.entries {
		if err := f.apply(m); err != nil {
			return err
		}
	}
	return nil
}

// beat says that the member is there, and compares where the log ends: a Redis
// that was restarted empty, or that has lost the end of its log, is another one, and
// what is in the log is read soon, unless somebody has cut it.
func (f *Fleet) beat(ctx context.Context) error {
	epoch, last, members, err := f.wire.beat(ctx)
	switch {
	case err != nil:
		return err
	case epoch != f.view.epoch:
		return errEpoch
	case last.before(f.seen):
		return fmt.Errorf("%w: it ends at %v, and %v was there", errForgot, last, f.seen)
	case f.view.last.before(f.unread) && !f.o.Brief && time.Since(f.unreadAt) > readFor+f.o.Timeout:
		return fmt.Errorf("%w: %v was there a while ago, and was not read", errBehind, f.unread)
	case !f.view.last.before(f.unread):
		f.unread, f.unreadAt = last, time.Now()
	}
	f.mu.Lock()
	f.view.members = members
	f.mu.Unlock()
	return nil
}

// leave is the end: what is waiting is offered, idle leases are given back.
func (f *Fleet) leave() {
	ctx := context.Background()
	f.mu.Lock()
	connected := f.status.Connected
	f.mu.Unlock()
	if connected {
		err := f.publish(ctx)
		if err == nil {
			err = f.wire.leave(ctx, f.idleLeases())
		}
		if err != nil {
			f.comment("leaving", err)
		}
	}
	f.mu.Lock()
	f.live, f.status.Connected, f.status.Why, f.status.Since = false, false, "left", f.o.Now()
	f.outbox = nil
	f.mu.Unlock()
	f.logComments()
	if !f.o.Brief {
		f.share(expediter.FleetNone)
	}
}
