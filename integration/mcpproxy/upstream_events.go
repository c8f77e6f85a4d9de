package mcpproxy

import (
	"fmt"
	"sync"

	"github.com/expediter-go/expediter/cascade/redact"
)

// maxQueued is how many notifications of one server wait for a slow hearer.
const maxQueued = 1024

// eventQueue calls functions one at a time, in order.
type eventQueue struct {
	mu     sync.Mutex
	wake   sync.Cond
	list   []func()
	closed bool
}

func newEventQueue() *eventQueue {
	q := &eventQueue{}
	q.wake.L = &q.mu
	return q
}

// put adds a function that must be called.
func (q *eventQueue) put(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append(q.list, f)
	q.wake.Signal()
}

// offer adds a function, unless too many wait.
func (q *eventQueue) offer(f func()) {
	q.mu.Lock()
	full := len(q.list) >= maxQueued
	q.mu.Unlock()
	if !full {
		q.put(f)
	}
}

func (q *eventQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake.Signal()
}

// run calls what is added until the queue is closed and empty.
func (q *eventQueue) run() {
	for {
		q.mu.Lock()
		for len(q.list) == 0 && !q.closed {
			q.wake.Wait()
		}
		list := q.list
		q.list = nil
		q.mu.Unlock()
		if len(list) == 0 {
			return
		}
		for _, f := range list {
			f()
		}
	}
}

// down is errDown with what is known of why.
func (u *upstream) down(cause error) error {
	if cause == nil {
		return fmt.Errorf("%w: it is being connected", errDown)
	}
	return fmt.Errorf("%w: %w", errDown, cause)
}

// clean is an error's text, fit for the log.
func (u *upstream) clean(err error) string { return redact.Text(u.mask(err.Error()), maxLine) }
