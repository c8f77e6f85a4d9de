package redisfleet

import (
	"context"
	"time"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// lease is a lease that this member has, or that the next wish has to wait for.
type lease struct {
	token string // empty: another member's
	from  time.Time
	until time.Time // by this process's clock, and before it is over in Redis
	hold  time.Duration
}

// ownLease is how long the lease of a tool lasts that is this process's own affair.
const ownLease = 10 * time.Minute

// askAgain is how long a wish waits at most where another member has the lease.
const askAgain = 500 * time.Millisecond

// askLeases asks for the leases that are wanted.
func (f *Fleet) askLeases(ctx context.Context) error {
	f.mu.Lock()
	wanted := f.wanted
	f.wanted = map[string]expediter.Want{}
	f.mu.Unlock()
	for _, w := range wanted {
		if err := f.askLease(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// askLease asks for one lease, unless there is no use in asking yet.
func (f *Fleet) askLease(ctx context.Context, w expediter.Want) error {
	began := f.o.Now()
	if f.private(w.Tool) {
		f.grant(w.Tool, began.Add(ownLease))
		return nil
	}
	if l, known := f.leases[w.Tool]; known && began.Before(l.until) {
		return nil
	}
	g, err := f.wire.acquire(ctx, f.view.epoch, w.Tool, f.view.tools[w.Tool].gen, f.shared(w.With))
	if err != nil {
		return err
	}
	l := lease{token: g.token, from: began, until: began.Add(f.local()), hold: g.hold}
	switch {
	case g.token != "":
		f.keep(w.Tool, l)
		f.grant(w.Tool, l.until)
	case g.busy > 0:
		l.until = began.Add(min(g.busy, askAgain))
		f.keep(w.Tool, l)
	default:
		f.learn(w.Tool, g.current)
	}
	return nil
}

// local is how long a lease holds here: less than in Redis, so that it is over
// here first, and so that a trial that has begun late is still renewed in time.
func (f *Fleet) local() time.Duration { return f.o.LeaseTTL - f.o.LeaseTTL/4 }

// grant lets the engine make the trial of a tool until a time; the zero time takes
// that back.
func (f *Fleet) grant(tool string, until time.Time) {
	_ = f.engine.Lease(tool, until, expediter.NoStep, f.o.Now()) // of a tool that strict mode does not know nobody asks
}

// keep notes a lease.
func (f *Fleet) keep(tool string, l lease) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leases[tool] = l
	if l.token != "" {
		f.status.Counts.Leases++
	} else {
		f.status.Counts.Busy++
	}
}

// keepLeases renews the leases that are in use or may still come to be, and
// forgets those that are over.
func (f *Fleet) keepLeases(ctx context.Context) error {
	now := f.o.Now()
	var pairs, tools []string
	for tool, l := range f.leases {
		switch {
		case now.After(l.until.Add(f.o.LeaseTTL)) || l.token == "" && now.After(l.until):
			f.forget(tool)
		case l.token != "" && now.After(l.until.Add(-f.local()/2)) && f.worthKeeping(tool, l, now):
			tools, pairs = append(tools, tool), append(pairs, tool, l.token)
		}
	}
	if len(tools) == 0 {
		return nil
	}
	held, err := f.wire.renew(ctx, f.o.LeaseTTL, pairs)
	if err != nil {
		return err
	}
	for i, tool := range tools {
		l := f.leases[tool]
		if !held[i] {
			f.grant(tool, time.Time{})
			f.forget(tool)
			f.mu.Lock()
			f.status.Counts.Lost++
			f.mu.Unlock()
			continue
		}
		l.until = now.Add(f.local())
		f.mu.Lock()
		f.leases[tool] = l
		f.mu.Unlock()
		f.grant(tool, l.until)
	}
	return nil
}

// worthKeeping reports whether a trial is in flight that is not too old, or one may
// still come.
func (f *Fleet) worthKeeping(tool string, l lease, now time.Time) bool {
	s, ok := f.engine.Tool(tool)
	switch {
	case !ok || s.State == breaker.Closed || s.Leased == 0:
		return false // the trial is over
	case s.ProbeInFlight:
		return now.Sub(l.from) < time.Duration(s.Policy.ProbeTTLMS)*time.Millisecond
	}
	return now.Sub(l.from) < l.hold
}

func (f *Fleet) forget(tool string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.leases, tool)
}

// dropLeases takes every lease back: the fleet cannot be reached, or knows nothing
// of them any more.
func (f *Fleet) dropLeases() {
	f.mu.Lock()
	dropped := f.leases
	f.leases = map[string]lease{}
	f.mu.Unlock()
	for tool, l := range dropped {
		if l.token != "" {
			f.grant(tool, time.Time{})
		}
	}
}

// idleLeases takes back the leases without a trial in flight and returns them as
// tools and tokens in turn; the others end by themselves.
func (f *Fleet) idleLeases() []string {
	var pairs []string
	for tool, l := range f.leases {
		if s, _ := f.engine.Tool(tool); l.token != "" && !s.ProbeInFlight {
			f.grant(tool, time.Time{})
			pairs = append(pairs, tool, l.token)
		}
	}
	return pairs
}
