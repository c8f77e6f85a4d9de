package mcpproxy

import (
	"context"
	"sync"
)

// outbox sends to a client in order, beside whoever has something to send, so
// that a slow client holds up nobody but itself. What comes when outboxSize
// wait is dropped. The zero outbox is not begun.
type outbox struct {
	mu     sync.Mutex
	queue  chan func(context.Context)
	done   chan struct{}
	closed bool
	ctx    context.Context
}

const outboxSize = 256

func (o *outbox) begin(ctx context.Context) { o.ctx = ctx }

func (o *outbox) send(f func(context.Context)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.ctx == nil {
		return
	}
	if o.queue == nil {
		o.queue, o.done = make(chan func(context.Context), outboxSize), make(chan struct{})
		go o.run()
	}
	select {
	case o.queue <- f:
	default:
	}
}

func (o *outbox) run() {
	defer close(o.done)
	for f := range o.queue {
		f(o.ctx)
	}
}

// close waits until what was sent is out, or the context of the outbox ends.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	queue := o.queue
	o.mu.Unlock()
	if queue == nil {
		return
	}
	close(queue)
	select {
	case <-o.done:
	case <-o.ctx.Done():
	}
}
