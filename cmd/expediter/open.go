package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/session"
)

func openCommand() *cobra.Command {
	var f sessionFlags
	var reason string
	cmd := &cobra.Command{
		Use:   "open TOOL --reason TEXT",
		Short: "Open a tool's circuit until it is reset",
		Long: `open makes every request for a tool a SKIP, without trials, until 'expediter reset
TOOL'. The agent is told the reason, and what the map declares for that case.

TOOL is a name as 'expediter status --all' prints it, or one below such a name
that was not asked for yet: Bash/gh, where Bash is known. Each name has a circuit
of its own: opening Bash leaves Bash/gh as it is.

` + aboutSessions + `

` + forHumans,
		Example: `  expediter open Bash/terraform --reason "the state is being migrated"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(reason) == "" {
				return usagef("--reason is missing; say in a few words why, the agent and the reports will")
			}
			return f.control(cmd, func(s *session.Session, _ io.Writer) error {
				tool, err := toolToOpen(s.Status(), args[0])
				if err != nil {
					return err
				}
				return s.Engine().ForceOpen(tool, reason, s.Step(), s.At())
			})
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the agent and the reports; required")
	return cmd
}

// toolToOpen is toolNamed, and takes a name below a known one as well.
func toolToOpen(st expediter.Status, typed string) (string, error) {
	tool, err := toolNamed(st, typed)
	if err == nil {
		return tool, nil
	}
	for parent := typed; ; {
		i := strings.LastIndexByte(parent, '/')
		if i <= 0 || parent[i:] == "/" {
			return "", err
		}
		parent = parent[:i]
		if _, unknown := toolNamed(st, parent); unknown == nil {
			return typed, nil
		}
	}
}

// requireHuman stands until the package operator has its own.
func requireHuman(command string, env func(string) string) error {
	if env("EXPEDITER_OPERATOR") == "1" {
		return nil
	}
	return fmt.Errorf("%s is for a human", command)
}
