package mcpproxy

import (
	"context"
	"sync"
	"time"
)

// deadline ends a call whose server has had its time. The time in which a human
// or a model answers the server is not the server's.
type deadline struct {
	within time.Duration
	end    context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer // nil: stopped
	until time.Time   // a hit before it is an old one
	on    *link       // that the call is under way on; nil: none yet
}

func newDeadline(within time.Duration, end context.CancelCauseFunc) *deadline {
	d := &deadline{within: within, end: end, until: time.Now().Add(within)}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer = time.AfterFunc(within, d.hit)
	return d
}

func (d *deadline) hit() {
	d.mu.Lock()
	on, early := d.on, time.Now().Before(d.until)
	d.mu.Unlock()
	switch {
	case early:
	case on != nil && on.isAsking():
		d.later()
	default:
		d.end(errDeadline)
	}
}

func (d *deadline) begin(on *link) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.on = on
}

// later lets the time begin anew.
func (d *deadline) later() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.until = time.Now().Add(d.within)
		d.timer.Reset(d.within)
	}
}

func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer.Stop()
	d.timer = nil
}
