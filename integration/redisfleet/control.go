package redisfleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/expediter"
)

// What stands in the way of a Control.
var (
	ErrNoFleet = errors.New("nobody has joined this scope yet")
	ErrRefused = errors.New("the fleet has nothing that this would change")
)

// Control lets an operator's control happen to all members of a fleet, without an
// engine: the kinds are expediter.ChangeForcedOpen, ChangeDisabled, ChangeReset and
// ChangeConfirmed. Names of tools are as engines have them; of one that is not known
// to the fleet nobody can say whether it is a tool. Errors: ErrNoFleet; ErrRefused, for
// a reset of a tool that the fleet does not know to be open, and for a confirmation
// without an active incident; and those of Redis.
func Control(ctx context.Context, client redis.UniversalClient, o Options, c expediter.Change) error {
	o, err := o.filled()
	if err = errors.Join(err, c.Validate()); err != nil {
		return fmt.Errorf("redisfleet: %w", err)
	}
	if err := control(ctx, newWire(client, o), o, c); err != nil {
		return fmt.Errorf("redisfleet: scope %s: %w", o.Scope, err)
	}
	return nil
}

func control(ctx context.Context, w *wire, o Options, c expediter.Change) error {
	found, err := w.join(ctx, "", "")
	if err != nil {
		return err
	}
	if found.epoch == "" {
		return ErrNoFleet
	}
	v := read(found, o, func(string, error) {})
	f := offer{serial: newEpoch(), change: c, base: v.at(c.Tool).gen}
	switch c.Kind {
	case expediter.ChangeForcedOpen, expediter.ChangeDisabled:
	case expediter.ChangeReset:
		if v.at(c.Tool).plain() {
			return ErrRefused
		}
	case expediter.ChangeConfirmed:
		if v.incident.kind != expediter.ChangeIncident {
			return ErrRefused
		}
		f.base = v.incident.gen
	default:
		return fmt.Errorf("%s is no control", c.Kind)
	}
	if f.json, err = writeChange(c); err != nil {
		return err
	}
	verdicts, err := w.publish(ctx, found.epoch, []offer{f})
	switch {
	case err != nil:
		return err
	case verdicts[0].full:
		return errFull
	case !verdicts[0].accepted:
		return ErrRefused
	}
	return nil
}
