package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/runner"
	"github.com/expediter-go/expediter/internal/task"
	"github.com/expediter-go/expediter/report"
)

// Exit statuses of run --exit-code.
const (
	exitDeferred = 3
	exitPaused   = 4
)

type runOptions struct {
	format   string
	file     string
	journal  string
	policy   string
	fleet    fleetFlag
	noUser   bool
	dryRun   bool
	exitCode bool
}

func runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run TASK.yaml",
		Short: "Work a task off with tools that may break, and report honestly",
		Long: `run works the sub-tasks of a task file off (docs/task.md). Before every call
it decides whether to CALL, SKIP, PROBE or PAUSE; it takes declared routes
around broken tools, defers what cannot be done, and prints a report of all of
it. A task of "-" is read from standard input.

With --fleet it shares what it finds out with other processes through Redis, and
skips what others have found broken (docs/fleet.md). A Redis that is away stops
nothing: the run goes on by itself, and its report says so.

On a terminal a table shows the tools while it works (NO_COLOR is honoured);
elsewhere there is a line for each event. Ctrl-C ends the running command and
still prints the report; a second one ends the program at once.

Exit status: 0 once the report is complete, 1 after an error or Ctrl-C, 2 for
wrong usage; with --exit-code 4 when the run paused, 3 when it deferred
something.`,
		Example: `  expediter run examples/audit/task.yaml
  expediter run --dry-run task.yaml
  expediter run --journal run.jsonl --exit-code task.yaml
  expediter run --report html --report-file report.html task.yaml
  expediter run --fleet 'redis://localhost/0?scope=team/audit' task.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.format, "report", "text", "format of the report: text, md, json or html")
	flags.StringVar(&o.file, "report-file", "", "write the report to this `file`")
	flags.StringVar(&o.journal, "journal", "", "write every event to this `file`, as JSON lines; what it held is replaced")
	flags.StringVar(&o.policy, "policy", "", "faithful or interactive, instead of the task's own choice")
	o.fleet.register(flags)
	flags.BoolVar(&o.noUser, "user-unavailable", false, "nobody can do a manual fallback")
	flags.BoolVar(&o.dryRun, "dry-run", false, "check everything and print what would be decided; call nothing")
	flags.BoolVar(&o.exitCode, "exit-code", false, "exit 3 when something was deferred, 4 when the run paused")
	return cmd
}

// check reports what cannot be meant.
func (o runOptions) check() error {
	if !slices.Contains(reportFormats, o.format) {
		return usagef("--report %.40q: use %s", o.format, strings.Join(reportFormats, ", "))
	}
	if o.policy != "" {
		if _, err := expediter.PolicyNamed(o.policy); err != nil {
			return usagef("--policy: %v", err)
		}
	}
	if err := o.fleet.check(); err != nil {
		return err
	}
	if o.dryRun && (o.journal != "" || o.file != "" || o.exitCode) {
		return usagef("--dry-run writes no journal and no report; leave --journal, --report-file and --exit-code out")
	}
	return nil
}

func (o runOptions) run(cmd *cobra.Command, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	file, err := readTask(cmd, path)
	if err != nil {
		return err
	}
	for _, w := range file.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), w)
	}
	cfg := runner.Config{Task: file, UserUnavailable: o.noUser}
	if path != "-" {
		cfg.Base = filepath.Dir(path)
	}
	if cfg.Policy, err = file.Effective(o.policy); err != nil {
		return err
	}
	if o.dryRun {
		return printPlan(cmd, cfg)
	}
	if err := o.outputs(path); err != nil {
		return err
	}
	return o.work(cmd, cfg)
}

// work makes the run and prints its report.
func (o runOptions) work(cmd *cobra.Command, cfg runner.Config) error {
	journal := newJournal(o.journal)
	defer journal.Close()
	cfg.Journal = journal.observer()
	var show display
	cfg.Progress = func(p runner.Progress) { show.progress(p) }
	run, err := runner.New(cfg)
	if err := errors.Join(err, journal.failure()); err != nil {
		return err
	}
	progress := cmd.OutOrStdout()
	if o.format != "text" && o.file == "" {
		progress = cmd.ErrOrStderr()
	}
	ctx, stop := interruptible(cmd.Context(), run.Kill)
	fleet, err := o.fleet.join(ctx, run.Engine())
	if err != nil {
		stop()
		return err
	}
	show = newDisplay(progress, cfg.Task, run.Status, fleet.line)
	account, err := run.Do(ctx)
	stop()
	show.end()
	in := account.Input()
	in.Notes = fleet.leave()
	if err := errors.Join(err, journal.Close(), o.report(cmd, progress, report.New(in))); err != nil {
		return err
	}
	return o.status(account, in)
}

// report prints the report, or writes it to its file.
func (o runOptions) report(cmd *cobra.Command, progress io.Writer, r report.Report) error {
	if o.file == "" {
		if o.format == "text" {
			fmt.Fprintln(progress)
		}
		return printReport(cmd.OutOrStdout(), o.format, r)
	}
	if err := saveReport(o.file, o.format, r); err != nil {
		return errors.Join(err, printReport(cmd.OutOrStdout(), o.format, r))
	}
	_, err := fmt.Fprintf(progress, "%s\nreport: %s\n", r.Summary, redact.Text(o.file, maxPath))
	return err
}

// maxPath bounds a file's name in a message, in runes.
const maxPath = 1000

// status is the exit status of a run whose report is complete.
func (o runOptions) status(a runner.Account, in report.Input) error {
	switch {
	case a.Interrupted:
		return statusError(exitError)
	case o.exitCode && a.Status.Paused != expediter.NoReason:
		return statusError(exitPaused)
	case o.exitCode && slices.ContainsFunc(in.Work, func(w report.Work) bool { return w.State == report.Deferred }):
		return statusError(exitDeferred)
	}
	return nil
}

// readTask reads a task file.
func readTask(cmd *cobra.Command, path string) (*task.File, error) {
	data, err := readInput(cmd, path)
	if err != nil {
		return nil, fmt.Errorf("%w; give the path of a task file (docs/task.md)", err)
	}
	name := path
	if path == "-" {
		name = "standard input"
	}
	return task.Read(name, data)
}

// interruptible returns a context that the first interrupt ends. A second one
// calls kill and exits.
func interruptible(parent context.Context, kill func()) (context.Context, func()) {
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithCancel(parent)
	signals := listen()
	done := make(chan struct{})
	go func() {
		for first := true; ; first = false {
			select {
			case <-done:
				return
			case <-signals:
			}
			if !first {
				kill()
				os.Exit(exitError)
			}
			cancel()
		}
	}()
	return ctx, func() { close(done); ignore(signals); cancel() }
}
