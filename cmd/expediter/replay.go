package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter/replay"
	"github.com/expediter-go/expediter/report"
)

func replayCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Run recorded events again: of a breaker, an engine or a whole run",
		Long: `replay gives recorded events to the real breaker or engine and prints what
comes of them. It reads no clock and calls no tool. FILE is - or left out for
standard input.`,
		Example: `  echo '[{"t":1,"result":"failure"}]' | expediter replay breaker --failure-threshold 1 --cooldown 10 --half-open-successes 1
  expediter replay breaker --jsonl cases.jsonl
  expediter replay engine --jsonl scenarios.jsonl
  expediter replay journal run.jsonl`,
	}
	cmd.AddCommand(replayBreakerCommand(), replayEngineCommand(), replayJournalCommand())
	return cmd
}

// breakerFlags are the parameters of one breaker, none of which has a default.
var breakerFlags = [...]string{"failure-threshold", "cooldown", "half-open-successes"}

func replayBreakerCommand() *cobra.Command {
	var p replay.Params
	var jsonl bool
	cmd := &cobra.Command{
		Use:   "breaker [FILE]",
		Short: "Run a list of events through one breaker",
		Long: `breaker reads a JSON list of events, {"t": integer, "result": "success" or
"failure"} in the order of time, and prints the final state, the t of the events
that were rejected, and the transitions. All three parameters must be given.

With --jsonl each line is a case with its own parameters,
{"events":[…],"failure_threshold":…,"cooldown":…,"half_open_successes":…}, and
each line of output its result; a bad case gives {"error":"…"} on its line, and
the exit status is 1 at the end.`,
		Example: `  expediter replay breaker --failure-threshold 2 --cooldown 10 --half-open-successes 1 events.json
  expediter replay breaker --jsonl cases.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkBreakerFlags(cmd, p, jsonl); err != nil {
				return err
			}
			return withInput(cmd, args, func(in io.Reader) error {
				if jsonl {
					return linesDone(replay.BreakerLines(cmd.OutOrStdout(), in))
				}
				return replayBreaker(cmd.OutOrStdout(), in, p)
			})
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&p.FailureThreshold, breakerFlags[0], 0, "failures in a row that open the breaker, 1 or more")
	flags.Int64Var(&p.Cooldown, breakerFlags[1], 0, "time from opening to the first trial, 0 or more, in the unit of t")
	flags.Int64Var(&p.HalfOpenSuccesses, breakerFlags[2], 0, "good trials that close it, 1 or more")
	flags.BoolVar(&jsonl, "jsonl", false, "read one case from each line")
	return cmd
}

// checkBreakerFlags requires all parameters, or none with --jsonl.
func checkBreakerFlags(cmd *cobra.Command, p replay.Params, jsonl bool) error {
	for _, name := range breakerFlags {
		switch given := cmd.Flags().Changed(name); {
		case given && jsonl:
			return usagef("--%s does not go with --jsonl; each case has its own parameters", name)
		case !given && !jsonl:
			return usagef("--%s is missing; it has no default, give it a number", name)
		}
	}
	if jsonl {
		return nil
	}
	if _, err := replay.Breaker(nil, p); err != nil {
		return usagef("%v", err)
	}
	return nil
}

func replayBreaker(w io.Writer, in io.Reader, p replay.Params) error {
	events, err := replay.ReadEvents(in)
	if err != nil {
		return err
	}
	r, err := replay.Breaker(events, p)
	if err != nil {
		return err
	}
	line, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

func replayEngineCommand() *cobra.Command {
	var jsonl bool
	cmd := &cobra.Command{
		Use:   "engine --jsonl [FILE]",
		Short: "Run scenarios through engines",
		Long: `engine reads a scenario from each line, {"config":{…},"capability_map":[…],
"events":[…]}, runs it through a new engine, and prints one line for each:
{"results":[…],"final":{…}}, a result for every event. A bad scenario gives
{"error":"…"} on its line, and the exit status is 1 at the end.

config has the keys of the section expediter of a task file (docs/task.md) but
policy, and also strict and user_available. Every event has op and step, and may
have at, in milliseconds; the id of a decide is a name of yours, for its record.
The ops and their members:

  decide           tool, id; score
  record           id, result; category, signature, duration_ms, retry_after_ms
  availability     tool, score
  declare_outage   cause, tools
  begin_cycle, confirm_recovery`,
		Example: `  expediter replay engine --jsonl scenarios.jsonl
  echo '{"events":[{"op":"decide","tool":"Grep","id":"a","step":1},{"op":"record","id":"a","result":"failure","step":1}]}' | expediter replay engine --jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !jsonl {
				return usagef("--jsonl is missing; scenarios are read one from each line")
			}
			return withInput(cmd, args, func(in io.Reader) error {
				return linesDone(replay.EngineLines(cmd.OutOrStdout(), in))
			})
		},
	}
	cmd.Flags().BoolVar(&jsonl, "jsonl", false, "read one scenario from each line")
	return cmd
}

func replayJournalCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "journal [FILE]",
		Short: "Run a journal again and compare every output",
		Long: `journal gives every event of a journal (docs/journal.md) to a new engine and
compares what the engine answers with what was written down. It prints the
final state, or the first line whose outputs differ; then it exits 1. A last
line that was cut short is left out and said.`,
		Example: `  expediter run --journal run.jsonl task.yaml
  expediter replay journal run.jsonl
  expediter journal | expediter replay journal`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			return withInput(cmd, args, func(in io.Reader) error { return replayJournal(cmd, name, in) })
		},
	}
}

func replayJournal(cmd *cobra.Command, name string, in io.Reader) error {
	s, err := replay.Journal(in)
	name = redact.Text(name, maxPath)
	var diff *replay.Difference
	var line *replay.LineError
	switch {
	case errors.As(err, &diff):
		return printDifference(cmd.OutOrStdout(), name, diff)
	case errors.As(err, &line):
		return fmt.Errorf("%s:%d: %w", name, line.Line, line.Err)
	case err != nil:
		return err
	}
	if s.Torn != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "expediter: %s: %s\n", name, s.Torn)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: all outputs are as recorded\n", count(s.Events, "event"))
	if paused := s.Status.Paused.String(); paused != "" {
		fmt.Fprintf(&b, "paused: %s\n", paused)
	}
	b.WriteByte('\n')
	if err := report.StateTable(&b, s.Status); err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(b.Bytes())
	return err
}

// maxOutput bounds each side of a difference, in runes.
const maxOutput = 2000

func printDifference(w io.Writer, name string, d *replay.Difference) error {
	event := string(d.Op)
	if d.Tool != "" {
		event += " " + redact.Text(d.Tool, maxPath)
	}
	_, err := fmt.Fprintf(w, "%s:%d: event %d, %s: the replay differs from the journal in %s\n  recorded: %s\n  replayed: %s\n",
		name, d.Line, d.Seq, event, d.Field, redact.Text(d.Recorded, maxOutput), redact.Text(d.Replayed, maxOutput))
	if err != nil {
		return err
	}
	return statusError(exitError)
}

// linesDone is the end of a replay line by line: the bad ones were said in
// their places.
func linesDone(bad int, err error) error {
	if err == nil && bad > 0 {
		return statusError(exitError)
	}
	return err
}

// withInput opens the file that args name; none or - is standard input.
func withInput(cmd *cobra.Command, args []string, use func(io.Reader) error) error {
	if len(args) == 0 || args[0] == "-" {
		return use(cmd.InOrStdin())
	}
	f, err := os.Open(args[0])
	if err != nil {
		return fmt.Errorf("%w; give the path of a file, or - for standard input", err)
	}
	defer f.Close()
	return use(f)
}
