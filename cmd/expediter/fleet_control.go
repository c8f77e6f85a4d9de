package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/redisfleet"
	"github.com/expediter-go/expediter/internal/operator"
)

// registerControl is the flag of the commands that change something.
func (f *fleetFlag) registerControl(flags *pflag.FlagSet) {
	flags.StringVar((*string)(f), "fleet", "", "do it to all members of the fleet at this `URL` instead of to a session (docs/fleet.md)")
}

// with reports flags that mean a session, where a fleet is meant.
func (f fleetFlag) with(cmd *cobra.Command) error {
	for _, name := range []string{"session", "agent", "project", "all-projects", "store", "watch", "all"} {
		if flag := cmd.Flags().Lookup(name); flag != nil && flag.Changed {
			return usagef("--fleet and --%s do not go together: a fleet is no session", name)
		}
	}
	return nil
}

// control lets a human's command happen to a fleet.
func (f fleetFlag) control(cmd *cobra.Command, c expediter.Change) error {
	if err := operator.Require(cmd.Name(), os.Getenv); err != nil {
		return err
	}
	if err := f.with(cmd); err != nil {
		return err
	}
	client, o, err := redisfleet.Parse(string(f))
	if err != nil {
		return usagef("--fleet: %v", err)
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(contextOf(cmd), fleetWait)
	defer cancel()
	c.Why = redact.Text(c.Why, maxPath)
	if err := redisfleet.Control(ctx, client, o, c); err != nil {
		if errors.Is(err, redisfleet.ErrRefused) {
			err = fmt.Errorf("%w, %w; 'expediter status --fleet' shows what there is", err, errNothing)
		}
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "fleet %s: %s, for all members, and those that join\n", fleetName(o), done(c))
	return err
}

func fleetName(o redisfleet.Options) string {
	if o.Scope == "" {
		return "of scope default"
	}
	return "of scope " + redact.Text(o.Scope, maxTool)
}

// done says what a control has done.
func done(c expediter.Change) string {
	name := redact.Text(c.Tool, maxTool)
	switch c.Kind {
	case expediter.ChangeForcedOpen:
		return name + " is open until it is reset"
	case expediter.ChangeReset:
		return name + " is closed"
	}
	return "the recovery is confirmed, and the pause is over"
}
