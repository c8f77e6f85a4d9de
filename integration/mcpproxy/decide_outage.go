package mcpproxy

import (
	"cmp"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// outage is what a client knows of one server's connection. It is told to the
// engine when the client meets it: a server that nobody uses costs nobody's
// budget.
//
// To the engine the connection is a tool of its own, and another breaker is in
// front of it: the upstream, which connects anew with its backoff. Its loss is
// declared together with the server's tools; its return closes it, which makes
// them due at once. Their trial is then the client's own next call.
type outage struct {
	met atomic.Bool // the engine, or this, was told that the connection is lost

	mu    sync.Mutex // no other is taken within it but the engine's
	why   string     // clean
	cause cascade.Category
	since time.Time
	last  time.Time // when it was last met
	told  bool      // the engine knows it
	cycle int
	times int // in that cycle
}

// connectionKey is the engine's name of the connection to a server. No tool has
// it: theirs have a slash after the server.
func connectionKey(server string) string {
	return strings.ReplaceAll(redact.Text(server, 128), "/", "_") + " connection"
}

func (c *client) outageOf(u *upstream) *outage {
	if o, ok := c.outages.Load(u); ok {
		return o.(*outage)
	}
	o, _ := c.outages.LoadOrStore(u, &outage{})
	return o.(*outage)
}

// serverDown notes that a server is lost, and why.
func (c *client) serverDown(u *upstream, err error) {
	c.showLogin(u)
	o := c.outageOf(u)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note(u, err, c.now())
}

// noteDown is serverDown for who meets it before it was told.
func (c *client) noteDown(u *upstream, err error) {
	o := c.outageOf(u)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.why == "" && !o.met.Load() && !u.isUp() {
		o.note(u, err, c.now())
	}
}

// note is for who holds mu. What is known of an outage that goes on stays but
// for the reason.
func (o *outage) note(u *upstream, err error, at time.Time) {
	if o.since.IsZero() {
		o.since = at
	}
	o.why, o.cause = reasonOf(err), outageCause(u.server, err)
}

// serverUp says that a server is there. Nobody was asked for it: what was open
// for its loss alone is due.
func (c *client) serverUp(u *upstream) {
	if c.meet(u) {
		return
	}
	o := c.outageOf(u)
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.met.Load() { // gone and back, and nobody has met it
		o.why, o.since = "", time.Time{}
	}
}

// meet tells the engine what has become of a server since, and reports whether it
// is down.
func (c *client) meet(u *upstream) (down bool) {
	o := c.outageOf(u)
	if down = !u.isUp(); o.met.Load() == down {
		return down
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if down = !u.isUp(); o.met.Load() == down {
		return down
	}
	if down {
		c.declare(u, o)
	} else {
		c.recovered(u, o)
	}
	return down
}

// lost is the end of a call that was under way when its connection went. For a
// server over HTTP that need not be the server's loss: other calls have
// connections of their own.
func (c *client) lost(u *upstream, err error, began time.Time) {
	o := c.outageOf(u)
	o.mu.Lock()
	defer o.mu.Unlock()
	up := u.isUp()
	if o.met.Load() || up && u.server.Command == "" || !began.After(o.last) {
		return
	}
	if o.why == "" {
		o.note(u, err, c.now())
	}
	c.declare(u, o)
	if up { // it is back already
		c.recovered(u, o)
	}
}

// declare is for who holds o.mu. A server that is lost again and again stops to
// be charged, as a tool would.
func (c *client) declare(u *upstream, o *outage) {
	at := c.now()
	o.met.Store(true)
	c.changed.Add(1)
	if o.since.IsZero() {
		o.since, o.cause = at, outageCause(u.server, nil)
	}
	o.last = at
	if cycle := c.engine.Status().Cycle; cycle != o.cycle {
		o.cycle, o.times = cycle, 0
	}
	if limit := c.policy.ChargePerTool; limit > 0 && o.times >= limit {
		return
	}
	o.times++
	connection := connectionKey(u.name())
	keys := []string{connection}
	for _, t := range u.tools() {
		keys = append(keys, toolKey(u, t.Name))
	}
	_, err := c.engine.DeclareOutage(o.cause, keys, expediter.NoStep, at)
	err = errors.Join(err, c.engine.External(connection, breaker.Open, cmp.Or(o.why, "lost"), expediter.NoStep, at))
	if o.told = err == nil; err != nil {
		c.log().Error("an outage could not be declared", zap.String("server", u.name()), zap.Error(err))
	}
}

// recovered is for who holds o.mu.
func (c *client) recovered(u *upstream, o *outage) {
	at := c.now()
	o.met.Store(false)
	c.changed.Add(1)
	if o.told {
		connection := connectionKey(u.name())
		err := errors.Join(c.engine.External(connection, breaker.HalfOpen, "connected again", expediter.NoStep, at),
			c.engine.External(connection, breaker.Closed, "connected again", expediter.NoStep, at))
		if err != nil {
			c.log().Error("a recovery could not be told", zap.String("server", u.name()), zap.Error(err))
		}
	}
	o.told, o.why, o.since = false, "", time.Time{}
}

// words are why and since when a server is not connected.
func (o *outage) words() (why string, since time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.why, o.since
}

// category is the cause of an outage; empty: there is none.
func (o *outage) category() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return ""
	}
	return o.cause.String()
}

// toolKey is the engine's name of a server's tool, as target has it.
func toolKey(u *upstream, tool string) string { return u.name() + "/" + tool }

// outageCause is why a server is lost; a nil err: nobody knows.
func outageCause(s Server, err error) cascade.Category {
	if errors.Is(err, errAuth) {
		return cascade.Auth
	}
	o := classify.Observation{Protocol: classify.MCP, Server: s.Name, Err: err}
	if err != nil {
		o.Result = err.Error()
	}
	return classify.Outage(o, s.Command != "")
}

// reasonOf is the words of an error, without ours.
func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	for _, ours := range []error{errDown, errLost} {
		text = strings.TrimPrefix(strings.TrimPrefix(text, ours.Error()), ": ")
	}
	return redact.Text(text, maxText)
}
