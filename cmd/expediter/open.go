package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/control"
	"github.com/expediter-go/expediter/internal/session"
)

func openCommand() *cobra.Command {
	var f sessionFlags
	var reason string
	var fleet fleetFlag
	cmd := &cobra.Command{
		Use:   "open TOOL --reason TEXT",
		Short: "Open a tool's circuit until it is reset",
		Long: `open makes every request for a tool a SKIP, without trials, until 'expediter reset
TOOL' or the end of the session. The agent is told the reason, and what the map
declares for that case.

TOOL is a name as 'expediter status --all' prints it, or one below such a name
that was not called yet: Bash/gh, where Bash is known. Each name has a circuit
of its own: opening Bash leaves Bash/gh as it is. In a session of 'expediter
proxy' it is any tool of its servers, SERVER/TOOL or as the client shows it.

` + aboutSessions + `

` + forHumans,
		Example: `  expediter open Bash/terraform --reason "the state is being migrated"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(reason) == "" {
				return usagef("--reason is missing; say in a few words why, the agent and the reports will")
			}
			if fleet != "" {
				return fleet.control(cmd, expediter.Change{Kind: expediter.ChangeForcedOpen, Tool: args[0], Why: reason})
			}
			return f.control(cmd, order{op: control.Open, tool: args[0], why: reason, do: func(s *session.Session, tool string, known bool, said io.Writer) error {
				return open(s, tool, known, reason, said)
			}})
		},
	}
	f.register(cmd.Flags())
	fleet.registerControl(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "why, in a `text` for the agent and the reports; required")
	return cmd
}

func open(s *session.Session, tool string, known bool, reason string, said io.Writer) (err error) {
	st := s.Status()
	if known {
		return s.Engine().ForceOpen(tool, reason, s.Step(), s.At())
	}
	if tool, err = toolToOpen(st, tool); err != nil {
		return err
	}
	if below := toolsBelow(st, tool); below != "" {
		fmt.Fprintf(said, "not opened, since each has a circuit of its own: %s\n", below)
	} else if i := slices.IndexFunc(st.Tools, func(t expediter.ToolStatus) bool { return t.Tool == tool }); i < 0 || s.Idle(st.Tools[i]) {
		name := redact.Text(tool, maxTool)
		fmt.Fprintf(said, "%s itself was not called yet; what is below it, as in %s/…, has circuits of its own\n", name, name)
	}
	return s.Engine().ForceOpen(tool, reason, s.Step(), s.At())
}

// toolsBelow are the tools whose names begin with that of another, of which five
// are named.
func toolsBelow(st expediter.Status, tool string) string {
	const most = 5
	var below []string
	for _, t := range st.Tools {
		if strings.HasPrefix(t.Tool, tool+"/") && t.State != breaker.Open {
			below = append(below, redact.Text(t.Tool, maxTool))
		}
	}
	if more := len(below) - most; more > 0 {
		below = append(below[:most], fmt.Sprintf("%d more", more))
	}
	return strings.Join(below, ", ")
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
