package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/control"
	"github.com/expediter-go/expediter/internal/session"
)

func confirmCommand() *cobra.Command {
	var f sessionFlags
	var why string
	var fleet fleetFlag
	cmd := &cobra.Command{
		Use:   "confirm",
		Short: "Say that the common cause of several failures is gone",
		Long: `confirm ends the pause of an incident, where several tools failed for one cause.
Its tools stay open and are tried one after the other; a first success makes the
others due at once. Look into the cause first.

` + aboutSessions + `

` + forHumans,
		Example: `  expediter confirm --why "the VPN is up again"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if fleet != "" {
				return fleet.control(cmd, expediter.Change{Kind: expediter.ChangeConfirmed, Why: why})
			}
			return f.control(cmd, order{op: control.Confirm, why: why, do: func(s *session.Session, _ string, _ bool, _ io.Writer) error {
				_, err := s.Engine().ConfirmRecovery(why, s.Step(), s.At())
				if errors.Is(err, expediter.ErrNoSystemicFailure) {
					return nothingToConfirm(s)
				}
				return err
			}})
		},
	}
	f.register(cmd.Flags())
	fleet.registerControl(cmd.Flags())
	cmd.Flags().StringVar(&why, "why", "", "a `text` on what was done about it, for the journal")
	return cmd
}

// errNothing: there is nothing for the command to do.
var errNothing = errors.New("nothing was changed")

func nothingToConfirm(s *session.Session) error {
	st := s.Status()
	switch {
	case st.Paused == expediter.Budget && s.Mirrored():
		return fmt.Errorf("no incident is active, %w; it is the failure budget that pauses: run 'expediter resume'", errNothing)
	case st.Paused == expediter.Budget:
		return fmt.Errorf("no incident is active, %w; it is the failure budget that pauses: run 'expediter resume', or send the agent a message", errNothing)
	case len(st.Incidents) > 0:
		return fmt.Errorf("the recovery was confirmed already, %w; 'expediter status' tells when the tools are tried", errNothing)
	}
	return fmt.Errorf("no incident is active, %w", errNothing)
}
