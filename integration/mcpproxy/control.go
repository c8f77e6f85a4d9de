package mcpproxy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/control"
)

// hint is how the user does it who is not asked through the client, or nothing
// where no command reaches the proxy.
func (e *mirrored) hint(command string) string {
	if e == nil || e.k.socket == nil {
		return ""
	}
	id := e.c.id[:min(len(e.c.id), 8)]
	return fmt.Sprintf(", with 'expediter %s --session %s' in a terminal of their own", command, id)
}

// find is the client of a session.
func (k *keeper) find(session string) (*mirrored, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.all[session]
	if e == nil || e.ended.Load() {
		return nil, control.ErrNoSession
	}
	return e, nil
}

// toolOf is the engine's name of a tool that a human has typed: as clients see it,
// as the map has it, or as it stands in the status.
func (k *keeper) toolOf(session, typed string) (string, error) {
	e, err := k.find(session)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(k.p.ups, func(u *upstream) bool { return connectionKey(u.name()) == typed }) {
		return "", fmt.Errorf("%w: %.80q is a connection, which the proxy itself opens and closes; name its tools", control.ErrNoTool, typed)
	}
	if key, ok := e.c.keyOf(typed); ok && !isOwn(typed) {
		return key, nil
	}
	known := func(t expediter.ToolStatus) bool { return t.Tool == typed }
	if typed != "" && slices.ContainsFunc(e.c.engine.Status().Tools, known) {
		return typed, nil
	}
	near := ""
	for _, t := range k.p.tools.all() {
		if len(near) < 200 && strings.Contains(strings.ToLower(t.id), strings.ToLower(typed)) {
			near += ", " + t.id
		}
	}
	if typed == "" || near == "" {
		return "", fmt.Errorf("%w: %.80q", control.ErrNoTool, typed)
	}
	return "", fmt.Errorf("%w: %.80q; did you mean %s?", control.ErrNoTool, typed, near[2:])
}

// do does what a human has asked for, for the client's next call.
func (k *keeper) do(ctx context.Context, req control.Request) error {
	e, err := k.find(req.Session)
	if err != nil {
		return err
	}
	if req.Op == control.Reset || req.Op == control.Open {
		if req.Tool, err = k.toolOf(req.Session, req.Tool); err != nil {
			return err
		}
	}
	if err := e.c.control(req); err != nil {
		return err
	}
	return k.round(ctx, func(other *mirrored) bool { return other == e })
}

// control does what the human has asked for by a command, as the answer to a
// question would.
func (c *client) control(req control.Request) error {
	now := c.now()
	switch req.Op {
	case control.Confirm:
		if _, err := c.engine.ConfirmRecovery(req.Why, expediter.NoStep, now); err != nil {
			return fmt.Errorf("no incident is active, %w", control.ErrNothing)
		}
	case control.Resume:
		c.engine.BeginCycle(expediter.NoStep, now)
	case control.Reset:
		if err := c.reset(req); err != nil {
			return err
		}
	case control.Open:
		if err := c.engine.ForceOpen(req.Tool, req.Why, expediter.NoStep, now); err != nil {
			return err
		}
	default:
		return fmt.Errorf("unknown control %s, %w", req.Op, control.ErrNothing)
	}
	c.changed.Add(1)
	c.asked.stopWaiting()
	log := c.log().With(zap.Stringer("control", req.Op))
	if req.Tool != "" {
		log = log.With(zap.String("tool", req.Tool))
	}
	log.Info("the user's command")
	return nil
}

// reset closes a tool's circuit. Calls of it that may have taken effect count as
// looked into.
func (c *client) reset(req control.Request) error {
	now := c.now()
	if err := c.engine.Reset(req.Tool, req.Why, expediter.NoStep, now); err != nil {
		return err
	}
	for _, t := range c.engine.Status().Tools {
		if t.Tool == req.Tool && t.Unverified > 0 {
			return c.engine.Verified(req.Tool, req.Why, expediter.NoStep, now)
		}
	}
	return nil
}

// stopWaiting ends the wait for an answer: the pause may be over. The calls that
// waited look for themselves.
func (a *inquiry) stopWaiting() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.enough != nil {
		close(a.enough)
		a.enough = nil
	}
}
