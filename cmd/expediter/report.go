package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/report"
)

func reportCommand() *cobra.Command {
	var f sessionFlags
	var format, output string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Report what a coding agent's session did, what it could not, and why",
		Long: `report prints what is known of a session: the sub-tasks of the agent's to-do list
or of 'expediter plan', and which of them are deferred, the tools, the failure
budget, incidents, the routes that were advised, calls to verify, and what to do.

` + aboutSessions,
		Example: `  expediter report
  expediter report --format html --output report.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(reportFormats, format) {
				return usagef("--format %.40q: use %s", format, strings.Join(reportFormats, ", "))
			}
			c, err := f.find(cmd)
			if err != nil {
				return err
			}
			c.warn(cmd)
			r, err := c.report(cmd)
			if err != nil {
				return err
			}
			return putReport(cmd, format, output, r)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", "text", "text, md, json or html")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `file` instead of standard output")
	return cmd
}

// report is that of the session; how a pause ends is the first thing to do.
func (c chosen) report(cmd *cobra.Command) (r report.Report, err error) {
	err = c.view(cmd, time.Now(), func(s *session.Session) error {
		in := s.Report()
		r = report.New(in)
		if todo := pauseAction(s, in.Status); todo != "" {
			r.Recommendations = slices.Insert(r.Recommendations, 0, todo)
		}
		return nil
	})
	return r, err
}

func putReport(cmd *cobra.Command, format, output string, r report.Report) error {
	if output == "" {
		return printReport(cmd.OutOrStdout(), format, r)
	}
	text, err := renderReport(format, r)
	if err == nil {
		err = createFile(output, text, true)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s\nreport: %s\n", r.Summary, redact.Text(output, maxPath))
	return err
}
