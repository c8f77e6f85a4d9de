package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/control"
	"github.com/expediter-go/expediter/internal/session"
)

func resetCommand() *cobra.Command {
	var f sessionFlags
	var why string
	var fleet fleetFlag
	cmd := &cobra.Command{
		Use:   "reset TOOL",
		Short: "Close a tool's circuit and forget its failures",
		Long: `reset closes the circuit of a tool, whatever opened it, and clears its counters.
Calls of it that may have taken effect, which nobody has looked into, count as
verified from then on: find out first what they did.

TOOL is a name as 'expediter status' prints it, such as Bash/gh; each name has a
circuit of its own. In a session of 'expediter proxy' it may be as the client
shows it, too.

` + aboutSessions + `

` + forHumans,
		Example: `  expediter reset Bash/gh --why "logged in again"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if fleet != "" {
				return fleet.control(cmd, expediter.Change{Kind: expediter.ChangeReset, Tool: args[0], Why: why})
			}
			return f.control(cmd, order{op: control.Reset, tool: args[0], why: why, do: func(s *session.Session, tool string, known bool, said io.Writer) error {
				return reset(s, tool, known, why, said)
			}})
		},
	}
	f.register(cmd.Flags())
	fleet.registerControl(cmd.Flags())
	cmd.Flags().StringVar(&why, "why", "", "a `text` on what was done about it, for the journal")
	return cmd
}

func reset(s *session.Session, tool string, known bool, why string, said io.Writer) (err error) {
	st := s.Status()
	if !known {
		if tool, err = toolNamed(st, tool); err != nil {
			return err
		}
	}
	if err := s.Engine().Reset(tool, why, s.Step(), s.At()); err != nil {
		return err
	}
	name := redact.Text(tool, maxTool)
	fmt.Fprintf(said, "%s is closed, and its counters are cleared\n", name)
	doubtful := unverified(st, tool)
	if doubtful == 0 {
		return nil
	}
	fmt.Fprintf(said, "%s of %s that may have taken effect: verified from now on\n", count(doubtful, "failed call"), name)
	for _, u := range st.Unverified {
		if u.Tool == tool {
			fmt.Fprintf(said, "  - %s: %s\n", standing{Now: s.At().UnixMilli()}.clock(u.At), redact.Text(u.Text, maxWhy))
		}
	}
	return s.Engine().Verified(tool, why, s.Step(), s.At())
}

// unverified is how many calls of a tool may have taken effect.
func unverified(st expediter.Status, tool string) int {
	for _, t := range st.Tools {
		if t.Tool == tool {
			return t.Unverified
		}
	}
	return 0
}
