package redisfleet

import "context"

// Settle waits until what the engine came to is told, and until the leases that it
// wants are given or denied, or ctx is done. It is for a process that has one thing to
// do, see Options.Brief; it does not wait while Redis is away.
func (f *Fleet) Settle(ctx context.Context) {
	f.mu.Lock()
	connected := f.status.Connected
	f.mu.Unlock()
	if !connected {
		return
	}
	settled := make(chan struct{})
	select {
	case f.settles <- settled:
	case <-ctx.Done():
		return
	case <-f.done:
		return
	}
	select {
	case <-settled:
	case <-ctx.Done():
	case <-f.done:
	}
}
