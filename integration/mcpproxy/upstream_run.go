package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/zap"

	"github.com/expediter-go/expediter/cascade/classify"
)

const (
	connectFor    = time.Minute // a server may be installed by its first start
	firstWait     = 500 * time.Millisecond
	longestWait   = 30 * time.Second // between two attempts to connect
	longestAsked  = 5 * time.Minute  // of a Retry-After
	steady        = 10 * time.Second // a connection that lasted counts as a success
	answersWithin = 30 * time.Second // a suspect server's answer to the free check
	settle        = 20 * time.Millisecond
)

// newBackoff is the schedule of new attempts.
func newBackoff() *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(backoff.WithInitialInterval(firstWait),
		backoff.WithMaxInterval(longestWait), backoff.WithMaxElapsedTime(0))
}

// run keeps the server connected until ctx ends; its processes and connections
// have ended when it returns.
func (u *upstream) run(ctx context.Context) {
	heard := make(chan struct{})
	go func() { defer close(heard); u.queue.run() }()
	defer func() { u.queue.close(); <-heard }()
	defer u.auth.wait()
	wait := newBackoff()
	var old []*link
	renewed := false // the last link took the place of one whose session was lost
	defer func() {
		for _, l := range old {
			l.cancel(context.Canceled)
			<-l.ended
		}
	}()
	for ctx.Err() == nil {
		l, err := u.connect(ctx)
		if err != nil {
			u.wentDown(ctx, err)
			u.auth.rest(ctx, max(wait.NextBackOff(), asked(err)))
			continue
		}
		began := time.Now()
		err = u.watch(ctx, l)
		old = append(slices.DeleteFunc(old, (*link).hasEnded), l)
		if time.Since(began) > steady {
			wait.Reset()
		}
		if errors.Is(err, errRetired) && (!renewed || time.Since(began) > firstWait) {
			renewed = true
			continue // at once: calls wait for it
		}
		renewed = false
		u.wentDown(ctx, err)
		u.auth.rest(ctx, wait.NextBackOff())
	}
	u.wentDown(ctx, context.Cause(ctx))
}

func (l *link) hasEnded() bool { return isClosed(l.ended) }

// connect makes a connection, learns what the server has, and puts it in place.
func (u *upstream) connect(ctx context.Context) (*link, error) {
	l, err := u.dial(ctx)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, connectFor)
	defer cancel()
	err = l.shakeHands(limited, u.abilities(limited))
	var tools []rawTool
	if err == nil {
		tools, err = l.listTools(limited)
	}
	if err != nil {
		if cause := l.err(); cause != nil { // what ended the link says more than what ended the call
			err = cause
		}
		err = u.auth.advice(err)
		l.cancel(err)
		<-l.ended
		return nil, err
	}
	l.subscribe()
	u.mu.Lock()
	u.link, u.listed, u.caps, u.guide, u.revision, u.downErr = l, tools, l.capabilities, l.guide, l.version, nil
	u.renewedLocked()
	u.mu.Unlock()
	u.log.Info("connected", zap.String("revision", l.version), zap.Int("tools", len(tools)))
	u.tellUp()
	return l, nil
}

// dial opens the connection, without a word said on it.
func (u *upstream) dial(ctx context.Context) (*link, error) {
	events := u.linkEvents()
	if u.server.URL == "" {
		p, err := startProcess(u.server, u.opts.MaxResult, u.log, u.mask)
		if err != nil {
			return nil, fmt.Errorf("the server cannot be started: %w", err)
		}
		return newLink(ctx, p, nil, u.log, events), nil
	}
	w, err := newWeb(u.server, u.opts.MaxResult, u.mask)
	if err != nil {
		return nil, err
	}
	w.auth = u.auth
	w.auth.begin(ctx)
	conn, err := w.connect(ctx)
	if err != nil {
		return nil, err
	}
	return newLink(ctx, conn, w, u.log, events), nil
}

func (u *upstream) linkEvents() linkEvents {
	in := linkEvents{notify: func(method string, params json.RawMessage) {
		switch {
		case method == "notifications/tools/list_changed":
			signal(u.relist)
		case u.events.notify != nil:
			u.queue.offer(func() { u.events.notify(u, method, params) })
		}
	}}
	if u.events.request != nil {
		in.request = func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
			return u.events.request(ctx, u, method, params)
		}
	}
	return in
}

// watch follows what the link's server says about itself until no new call may
// begin on it. The error is why.
func (u *upstream) watch(ctx context.Context, l *link) error {
	checked := make(chan error, 1)
	checking := false
	for {
		select {
		case <-l.ctx.Done():
			return l.err()
		case <-l.stale:
			return l.retiredErr()
		case <-u.relist:
			u.reread(ctx, l)
		case <-u.suspect:
			if !checking {
				checking = true
				go func() { checked <- l.examine(ctx) }()
			}
		case err := <-checked:
			if checking = false; err != nil {
				l.failed(err)
			}
		}
	}
}

// examine asks a suspect server for a sign of life.
func (l *link) examine(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	if err := l.check(ctx); err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	return nil
}

// failed ends a link whose server is not there: a process with all its calls; of
// HTTP the calls under way may yet be answered.
func (l *link) failed(err error) {
	if l.web == nil {
		l.cancel(err)
		return
	}
	l.retire(err)
}

// reread reads the list of tools again.
func (u *upstream) reread(ctx context.Context, l *link) {
	pause(l.ctx, settle) // changes come in swarms
	select {
	case <-u.relist:
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, connectFor)
	defer cancel()
	tools, err := l.listTools(ctx)
	if err != nil {
		u.log.Warn("the tools cannot be listed again", zap.String("error", u.clean(err)))
		return
	}
	u.mu.Lock()
	same := slices.EqualFunc(u.listed, tools, func(a, b rawTool) bool { return string(a.Raw) == string(b.Raw) })
	if !same && u.link == l {
		u.listed = tools
	}
	u.mu.Unlock()
	if !same {
		u.tellUp()
	}
}

func (u *upstream) tellUp() {
	if u.events.up != nil {
		u.queue.put(func() { u.events.up(u) })
	}
}

// wentDown says that the server is down, once for each time.
func (u *upstream) wentDown(ctx context.Context, err error) {
	err = u.masked(err)
	u.mu.Lock()
	first := u.downErr == nil
	news := first || u.downErr.Error() != err.Error()
	u.link, u.downErr = nil, err
	u.renewedLocked()
	u.mu.Unlock()
	if ctx.Err() != nil {
		return // the proxy ends, not the server
	}
	if news {
		u.log.Warn("the server is down", zap.String("error", u.clean(err)))
	}
	if first && u.events.down != nil {
		u.queue.put(func() { u.events.down(u, err) })
	}
}

// renewedLocked lets the calls go on that wait for a new session.
func (u *upstream) renewedLocked() {
	if u.renewing != nil {
		close(u.renewing)
		u.renewing = nil
	}
}

// refusalError is an answer that kept a connection from being made.
type refusalError struct {
	doing string
	answer
}

func (e *refusalError) Error() string { return e.doing + ": " + e.answer.Error.Message }
func (e *refusalError) Unwrap() error { return e.answer.Error }

// asked is how long a refusal asks to be left alone; 0: it does not say.
func asked(err error) time.Duration {
	var e *refusalError
	if !errors.As(err, &e) {
		return 0
	}
	v := classify.Observe(classify.Observation{Protocol: classify.MCP, HTTPStatus: e.Status, Header: e.Header, At: time.Now()})
	return min(v.RetryAfter, longestAsked)
}
