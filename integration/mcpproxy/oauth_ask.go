package mcpproxy

import (
	"context"
	"crypto/rand"

	"go.uber.org/zap"
)

// maxShown is how often a client is asked that could not be.
const maxShown = 5

// showLogin has the client's human shown the address of a login that is under
// way, once for each, if the client can do that (elicitation in the mode url).
// Nobody waits for it.
func (c *client) showLogin(u *upstream) {
	if c.human.open == nil {
		return
	}
	l := u.auth.wanted()
	if l == nil {
		return
	}
	if last, ok := c.shown.Swap(u, l); ok && last == l {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(c.p.work, askedFor)
		defer cancel()
		defer context.AfterFunc(l.over, cancel)()
		id := rand.Text()
		if err := c.show(ctx, id, u, l); err != nil && !l.ended() {
			c.log().Info("the human could not be shown a login", zap.Error(err))
			return
		}
		<-ctx.Done()
		if l.ended() {
			c.human.opened(c.p.work, id)
		}
	}()
}

// show asks until the client can be reached: over HTTP it may have no stream yet.
func (c *client) show(ctx context.Context, id string, u *upstream, l *login) (err error) {
	message := "The server " + u.shownName() + " wants a login."
	wait := newBackoff()
	for range maxShown {
		if err = c.human.open(ctx, id, message, l.url); err == nil || ctx.Err() != nil {
			return err
		}
		pause(ctx, wait.NextBackOff())
	}
	return err
}
