package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/control"
	sessions "github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

// How the store is written: what changed how tools stand at once, the rest each
// keepEach, or when many events wait.
const (
	keepEach    = time.Second
	keepWaiting = 1024                 // events of one client
	keepBehind  = 5 * time.Millisecond // until what a snapshot has was told
	keepWithin  = 5 * time.Second      // one client, and the last of all at the end
	keepTries   = 10                   // of one that has ended, then it is given up
	pruneWithin = 500 * time.Millisecond
)

// maxName bounds what a client calls itself, in characters.
const maxName = 128

// keeper writes the clients' sessions into the store, one after the other, off the
// way of their calls, and hears the human's commands. The nil keeper keeps nothing.
type keeper struct {
	p       *Proxy
	store   *store.Store
	project string // see projectIn
	socket  *control.Server

	kick  chan struct{} // has room for one
	ended chan struct{}
	stop  context.CancelFunc

	writing sync.Mutex // held while a round is written; locked before mu
	warned  bool       // of the store, since it was last written

	mu  sync.Mutex
	all map[string]*mirrored // by the client's id
}

// mirrored is one client in the store.
type mirrored struct {
	c      *client
	k      *keeper
	mirror *sessions.Mirror
	dirty  atomic.Bool // there is something to write
	urgent atomic.Bool // at once
	ended  atomic.Bool

	// Of who writes.
	began  bool // it is in the store
	failed int  // so often in a row it could not be written
}

// newKeeper is the keeper of a proxy. Without a socket sessions are kept all the
// same, and no command reaches them.
func newKeeper(p *Proxy) *keeper {
	if p.env.Store == nil {
		return nil
	}
	folder, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	k := &keeper{p: p, store: p.env.Store, project: projectIn(folder, home), kick: make(chan struct{}, 1), ended: make(chan struct{}), all: map[string]*mirrored{}}
	var err error
	if k.socket, err = control.Listen(k.store, control.Handler{Write: k.writeAll, Tool: k.toolOf, Do: k.do}); err != nil {
		p.log.Warn("'expediter resume' and the like cannot reach this proxy", zap.Error(err))
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	go k.run(ctx)
	return k
}

// projectIn is the project of the clients of a proxy that works in a folder; empty:
// unknown. The root and the user's home are nobody's project: desktop programs start
// there.
func projectIn(folder, home string) string {
	if folder == "" || folder == filepath.Dir(folder) || folder == home {
		return ""
	}
	return folder
}

// keep is the session of a client whose engine is to be made.
func (k *keeper) keep(c *client, name string, cfg expediter.Config) *mirrored {
	if k == nil {
		return nil
	}
	meta := sessions.Meta{Agent: sessions.AgentProxy, Session: c.id, Project: k.project, Began: c.now().UnixMilli(), Client: redact.Text(name, maxName)}
	meta.Seen = meta.Began
	if k.socket != nil {
		meta.Socket = k.socket.Name()
	}
	setup := sessions.Setup{Policy: cfg.Policy, Map: cfg.Tools, Source: k.p.env.Source, Stamp: "1", Strict: cfg.Strict,
		Stepless: cfg.Stepless, MaxTools: expediter.DefaultMaxTools}
	return &mirrored{c: c, k: k, mirror: sessions.NewMirror(k.store, meta, setup)}
}

// begin lets a session be written, now that its client is there: from its first
// event on, or when a command asks.
func (e *mirrored) begin() {
	if e == nil {
		return
	}
	e.k.mu.Lock()
	defer e.k.mu.Unlock()
	e.k.all[e.c.id] = e
}

// event is of the client's engine. It must not wait.
func (e *mirrored) event(ev *expediter.Event) {
	waiting := e.mirror.Event(ev)
	if ev.Op == expediter.OpStart {
		return
	}
	e.dirty.Store(true)
	switch ev.Op {
	case expediter.OpDecide, expediter.OpRecord, expediter.OpRefuse, expediter.OpNote, expediter.OpSubtask:
		if len(ev.Transitions) == 0 && ev.Systemic == nil && ev.Suspected == nil && ev.Paused == expediter.NoReason && waiting < keepWaiting {
			return
		}
	}
	e.hurry()
}

func (e *mirrored) hurry() {
	if !e.urgent.Swap(true) {
		signal(e.k.kick)
	}
}

// close says that the client is gone.
func (e *mirrored) close() {
	if e == nil {
		return
	}
	e.mirror.End()
	e.ended.Store(true)
	e.hurry()
}

// run writes until ctx ends.
func (k *keeper) run(ctx context.Context) {
	defer close(k.ended)
	ticks := time.NewTicker(keepEach)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.kick:
			k.round(ctx, func(e *mirrored) bool { return e.urgent.Load() })
		case <-ticks.C:
			k.round(ctx, func(e *mirrored) bool { return e.dirty.Load() || e.ended.Load() })
		}
	}
}

// writeAll writes what is known of every client, and of those that did nothing yet.
func (k *keeper) writeAll(ctx context.Context) error {
	return k.round(ctx, func(e *mirrored) bool { return e.dirty.Load() || !e.began })
}

// round writes the clients that are due. What could not be written is due again.
func (k *keeper) round(ctx context.Context, due func(*mirrored) bool) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	list := make([]*mirrored, 0, len(k.all))
	for _, e := range k.all {
		list = append(list, e)
	}
	k.mu.Unlock()
	var errs []error
	for _, e := range list {
		if ctx.Err() == nil && due(e) {
			errs = append(errs, k.write(ctx, e))
		}
	}
	err := errors.Join(append(errs, ctx.Err())...)
	if len(errs) > 0 {
		k.warn(err)
	}
	return err
}

// warn says once that the store cannot be written, until it can.
func (k *keeper) warn(err error) {
	if err != nil && !k.warned && !errors.Is(err, context.Canceled) {
		k.p.log.Warn("sessions cannot be kept in the store; trying on", zap.Error(err))
	}
	k.warned = err != nil
}

// write puts one client into the store. One that is gone leaves with it, whether it
// could be written or not when the proxy ends.
func (k *keeper) write(ctx context.Context, e *mirrored) error {
	ctx, cancel := context.WithTimeout(ctx, keepWithin)
	defer cancel()
	ended := e.ended.Load()
	if ended && !e.began && !e.dirty.Load() { // it only looked, so nobody misses it
		k.forget(e)
		return nil
	}
	e.dirty.Store(false)
	e.urgent.Store(false)
	err := e.write(ctx)
	if err != nil {
		e.dirty.Store(true)
		if e.failed++; ended && e.failed >= keepTries {
			k.forget(e)
		}
		return fmt.Errorf("session %s: %w", e.c.id, err)
	}
	if e.failed = 0; !e.began {
		e.began = true
		k.prune(ctx)
	}
	if ended {
		k.forget(e)
	}
	return nil
}

func (k *keeper) forget(e *mirrored) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, e.c.id)
}

// write writes what the client's engine has come to by now.
func (e *mirrored) write(ctx context.Context) error {
	for {
		_, plan := e.c.plan.get()
		err := e.mirror.Write(ctx, e.c.engine.Snapshot(), plan)
		if !errors.Is(err, sessions.ErrBehind) {
			return err
		}
		select {
		case <-time.After(keepBehind):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// prune removes old sessions, as hooks do when one begins.
func (k *keeper) prune(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pruneWithin)
	defer cancel()
	if _, err := k.store.Prune(ctx, store.Limits{}, k.p.env.Now()); err != nil && ctx.Err() == nil {
		k.p.log.Warn("old sessions stay in the store", zap.Error(err))
	}
}

// close writes what is left, and ends. The clients have ended.
func (k *keeper) close() error {
	if k == nil {
		return nil
	}
	k.stop()
	<-k.ended
	ctx, cancel := context.WithTimeout(context.Background(), keepWithin)
	defer cancel()
	_ = k.round(ctx, func(*mirrored) bool { return true }) // it has warned
	if k.socket == nil {
		return nil
	}
	return k.socket.Close()
}
