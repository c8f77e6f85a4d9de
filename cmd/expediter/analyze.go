package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
	"github.com/expediter-go/expediter/internal/view"
)

type analyzeOptions struct {
	policies  []string
	rules     string
	sweep     bool
	suggest   bool
	splice    string
	html      string
	json, csv bool
	timelines int
	quiet     bool
}

func analyzeCommand() *cobra.Command {
	var o analyzeOptions
	cmd := &cobra.Command{
		Use:   "analyze [PATH...]",
		Short: "Show what policies would have done to recorded sessions",
		Long: `analyze reads what agents have recorded (docs/analyze.md lists the formats),
lays policies over it, and counts the calls that they would have denied: saved
if the call failed in the recording because its tool was broken, lost if it
succeeded. A static replay cannot know what the agent would have done instead.

PATH is a file, a folder, a pattern or - for standard input, which may be left
out behind a pipe; packed files are unpacked. A format is found by content. What
a recording holds that cannot be read is counted and said.

--policy takes faithful, interactive, never (opens nothing), all-failures (counts
whatever is marked as an error), or a file: a capability map with a section
expediter, or that section alone. The first one is drawn by --html and stands at
the top of --json. Without it the four names are compared.

--rules judges the results with the classify rules of a map's entries first
(docs/map.md); the map may stand in a task file.

Ctrl-C ends it early and prints what was found until then.

Exit status: 0 done, 1 error or Ctrl-C, 2 wrong usage.`,
		Example: `  expediter analyze ~/.claude/projects
  expediter analyze --policy interactive --policy mine.yaml sessions/*.jsonl.gz
  expediter analyze --suggest --splice seed=1 sessions/
  expediter analyze --html page.html --json sessions/ > figures.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.policies, "policy", nil, "a policy to lay over the sessions, a name or a `file`; may be repeated")
	flags.StringVar(&o.rules, "rules", "", "judge results first by the classify rules of the map in this `file`")
	flags.BoolVar(&o.sweep, "sweep", false, "try many policies and show the frontier")
	flags.BoolVar(&o.suggest, "suggest", false, "choose a policy and say why; implies --sweep and, without a seed of its own, --splice seed=0")
	flags.StringVar(&o.splice, "splice", "", "lay outages over the sessions; `seed=N` makes them again")
	flags.StringVar(&o.html, "html", "", "write a page with timelines to this `file`")
	flags.BoolVar(&o.json, "json", false, "print the figures as JSON")
	flags.BoolVar(&o.csv, "csv", false, "print the figures as CSV")
	flags.IntVar(&o.timelines, "timelines", defaultTimelines, "sessions that the page or the JSON draws at most")
	flags.BoolVar(&o.quiet, "quiet", false, "show no progress")
	return cmd
}

// defaultTimelines keeps a page small enough to open at once.
const defaultTimelines = 200

// check reports what cannot be meant, and reads the seed.
func (o analyzeOptions) check(cmd *cobra.Command) (seed uint64, err error) {
	if err := oneOutput(o.json, o.csv); err != nil {
		return 0, err
	}
	if o.timelines < 0 {
		return 0, usagef("--timelines %d: use 0 or more", o.timelines)
	}
	if !cmd.Flags().Changed("splice") {
		return 0, nil
	}
	digits, ok := strings.CutPrefix(o.splice, "seed=")
	seed, err = strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return 0, usagef("--splice %.40q: write seed=N, N a whole number from 0 to %d", o.splice, uint64(math.MaxUint64))
	}
	return seed, nil
}

func (o analyzeOptions) run(cmd *cobra.Command, paths []string) error {
	opts, err := o.options(cmd)
	if err != nil {
		return err
	}
	judge, err := readRules(cmd, o.rules)
	if err != nil {
		return err
	}
	sources, err := recordings(cmd, paths)
	if err != nil {
		return err
	}
	if err := o.outputs(sources); err != nil {
		return err
	}
	r, err := o.analyze(cmd, sources, trace.Options{Judge: judge}, opts)
	if r == nil || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		return errors.Join(o.print(cmd, r), errEnded)
	}
	if err := recognised(r.Files); err != nil {
		return err
	}
	return o.print(cmd, r)
}

// options is what the flags ask to find out.
func (o analyzeOptions) options(cmd *cobra.Command) (analysis.Options, error) {
	seed, err := o.check(cmd)
	if err != nil {
		return analysis.Options{}, err
	}
	policies, err := readPolicies(cmd, o.policies)
	return analysis.Options{Policies: policies, Sweep: o.sweep, Suggest: o.suggest,
		Splice: cmd.Flags().Changed("splice"), Seed: seed, Timelines: o.drawn()}, err
}

// recordings finds what the paths name; without one it is standard input.
func recordings(cmd *cobra.Command, paths []string) ([]trace.Source, error) {
	if len(paths) == 0 {
		if terminal(cmd.InOrStdin()) != nil {
			return nil, usagef("no PATH; name the folder of the recordings, such as ~/.claude/projects, or - for standard input")
		}
		paths = []string{trace.Stdin}
	}
	return trace.Sources(paths, cmd.InOrStdin())
}

// errEnded is the end of an analysis that was broken off.
var errEnded = errors.New("ended early; the figures are of what was read until then")

// drawn is how many sessions are drawn: none where nothing shows them.
func (o analyzeOptions) drawn() int {
	if o.html == "" && !o.json {
		return 0
	}
	return o.timelines
}

// outputs looks at the file that will be written, before the work.
func (o analyzeOptions) outputs(sources []trace.Source) error {
	if o.html == "" {
		return nil
	}
	for _, s := range sources {
		if sameFile(o.html, s.Name) {
			return usagef("--html %.200q is one of the recordings; give the page a file of its own", o.html)
		}
	}
	return creatable(o.html, "--html")
}

// gcPercent keeps the memory of a long reading near what it really holds; the
// collector's default lets it grow to twice that.
const gcPercent = 40

func (o analyzeOptions) analyze(cmd *cobra.Command, sources []trace.Source, reading trace.Options, opts analysis.Options) (*analysis.Result, error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := interruptible(cmd.Context(), func() {})
	defer stop()
	said := cmd.ErrOrStderr()
	if o.quiet {
		said = io.Discard
	}
	bar := newProgress(said, "reading", progressbar.OptionShowBytes(true))
	defer bar.end()
	reading.Progress = bar.show
	var files []trace.Stats
	r, err := analysis.Run(ctx, func(ctx context.Context, yield func(*trace.Event) error) error {
		var err error
		files, err = trace.ReadAll(ctx, sources, reading, yield)
		return err
	}, opts)
	if r != nil {
		r.Files = files
	}
	return r, err
}

// print writes the page, then prints the figures.
func (o analyzeOptions) print(cmd *cobra.Command, r *analysis.Result) error {
	if o.html != "" {
		var page bytes.Buffer
		if err := view.HTML(&page, r); err != nil {
			return err
		}
		if err := createFile(o.html, page.Bytes(), true); err != nil {
			return err
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "page:", redact.Text(o.html, maxPath))
	}
	out := cmd.OutOrStdout()
	switch {
	case o.json:
		return view.JSON(out, r)
	case o.csv:
		return view.CSV(out, r)
	}
	width, colour := sheetOf(out)
	return view.Text(out, r, width, colour)
}

// recognised says that nothing was found where recordings were expected.
func recognised(files []trace.Stats) error {
	if slices.ContainsFunc(files, func(f trace.Stats) bool { return f.Format != "" }) {
		return nil
	}
	err := fmt.Errorf("no recording of a known format in %s; docs/analyze.md lists the formats", count(len(files), "file"))
	return errors.Join(append([]error{err}, unread(files)...)...)
}

// maxUnread bounds the sources of which it is said why they were not read.
const maxUnread = 3

// unread says what kept sources from being read, other than their format.
func unread(files []trace.Stats) (problems []error) {
	for _, f := range files {
		if len(problems) < maxUnread && f.Problem != trace.NotRecognised {
			problems = append(problems, fmt.Errorf("%s was not read: %s", redact.Text(f.File, maxProblem), redact.Text(f.Problem, maxProblem)))
		}
	}
	return problems
}

// maxProblem bounds a name or a problem in an error, in runes.
const maxProblem = 300
