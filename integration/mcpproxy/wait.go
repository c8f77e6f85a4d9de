package mcpproxy

import (
	"context"
	"time"
)

// signal puts one into a channel that takes one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// within waits until c is closed, and reports whether it is: at most for d, and
// until ctx ends.
func within(ctx context.Context, c <-chan struct{}, d time.Duration) bool {
	if isClosed(c) {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
	case <-t.C:
	case <-ctx.Done():
	}
	return isClosed(c)
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) { within(ctx, nil, d) }

// both is a context with the values of a that ends with either.
func both(a, b context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(a)
	stop := context.AfterFunc(b, cancel)
	return ctx, func() { stop(); cancel() }
}
