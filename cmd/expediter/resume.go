package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/internal/control"
	"github.com/expediter-go/expediter/internal/session"
)

func resumeCommand() *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Begin a new cycle: the failure budget is whole again",
		Long: `resume begins a new cycle, as each of your messages to an agent with hooks does: the
failure budget is whole again, and a pause of the budget is over. What is open stays open,
and an incident needs 'expediter confirm'.

` + aboutSessions + `

` + forHumans,
		Example: `  expediter resume`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.control(cmd, order{op: control.Resume, do: func(s *session.Session, _ string, _ bool, _ io.Writer) error {
				s.Engine().BeginCycle(s.Step(), s.At())
				return nil
			}})
		},
	}
	f.register(cmd.Flags())
	return cmd
}
