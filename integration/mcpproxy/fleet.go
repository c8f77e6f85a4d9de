package mcpproxy

import (
	"context"

	"github.com/expediter-go/expediter/expediter"
)

// Membership is a client's place in a fleet. The zero Membership is none.
type Membership struct {
	Stands func() string // how the engine stands to its fleet, in a line; clean
	Leave  func()        // ends it
}

// place is a client's place in a fleet, which it is about to have. The nil place is
// none.
type place struct {
	ready chan struct{}
	m     Membership // once ready
}

// joinFleet makes an engine a member, off the way of whoever made the client.
func (p *Proxy) joinFleet(engine *expediter.Engine) *place {
	if p.env.Fleet == nil {
		return nil
	}
	f := &place{ready: make(chan struct{})}
	go func() {
		defer close(f.ready)
		f.m = p.env.Fleet(engine)
	}()
	return f
}

// await waits until the engine is a member, or goes on alone: the first decision
// knows what the others do.
func (f *place) await(ctx context.Context) {
	if f == nil {
		return
	}
	select {
	case <-f.ready:
	case <-ctx.Done():
	}
}

// stands says how it is; empty: there is none.
func (f *place) stands() string {
	if f == nil {
		return ""
	}
	<-f.ready
	if f.m.Stands == nil {
		return ""
	}
	return f.m.Stands()
}

// leaveFleet ends a place, off the way of whoever ends the client.
func (p *Proxy) leaveFleet(f *place) {
	if f == nil {
		return
	}
	p.leaving.Go(func() {
		<-f.ready
		if f.m.Leave != nil {
			f.m.Leave()
		}
	})
}
