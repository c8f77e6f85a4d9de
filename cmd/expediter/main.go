// Command expediter decides for coding agents before each of their tool calls
// (hook, install, status and their kin), runs tasks whose tools may break, and
// shows what the expediter library decides: replay, map, classify, analyze and
// simulate. It exits 0 when the work is done, 1 on an error and 2 when it was
// called wrongly; run and hook have statuses of their own.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/internal/hookproc"
)

// Exit statuses. run adds two of its own with --exit-code.
const (
	exitDone  = 0
	exitError = 1
	exitUsage = 2
)

func main() {
	if isHook(os.Args[1:]) {
		os.Exit(hookproc.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr, fleetOfHooks))
	}
	os.Exit(execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// execute runs one command line and returns its exit status.
func execute(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return exitStatus(root.Execute(), stderr)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "expediter",
		Short: "Do what can be done when tools break, and say what could not",
		Long: `expediter decides, before every tool call, whether to CALL, SKIP, PROBE or
PAUSE. It stops calling what is broken, takes declared alternatives, reduces
the scope to what is achievable, and reports what it left out and why.

Exit status: 0 done, 1 error, 2 wrong usage.`,
		Example: `  expediter install claude-code
  expediter status
  expediter run examples/audit/task.yaml
  expediter run --journal run.jsonl --report html --report-file report.html task.yaml
  expediter replay journal run.jsonl
  expediter map check task.yaml
  echo 'dial tcp 10.0.0.1:443: connection refused' | expediter classify`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	group(root, "agent", "In a coding agent:", statusCommand(), reportCommand(), sessionsCommand(), journalCommand(), planCommand(), hookCommand())
	group(root, humanGroup, "The same, for you alone:", installCommand(), uninstallCommand(), confirmCommand(), resumeCommand(), resetCommand(), openCommand())
	group(root, "mcp", "Between MCP clients and their servers:", proxyCommand())
	group(root, "task", "Tasks, maps and recordings:", runCommand(), mapCommand(), replayCommand(), classifyCommand(), analyzeCommand(), simulateCommand())
	strict(root)
	return root
}

// humanGroup are the commands that operator.Require guards.
const humanGroup = "human"

// group adds commands under a title of their own.
func group(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = id
	}
	root.AddCommand(commands...)
}

// strict makes every wrong call of cmd and of its subcommands a usage error:
// bad flags, bad arguments, an unknown subcommand or none.
func strict(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%v; see '%s --help'", err, c.CommandPath())
	})
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args = cobra.ArbitraryArgs
		cmd.SuggestionsMinimumDistance = 2
		cmd.RunE = needSubcommand
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usagef("%v; write '%s', see '%s --help'", err, strings.TrimSuffix(c.UseLine(), " [flags]"), c.CommandPath())
			}
			return nil
		}
	}
	for _, sub := range cmd.Commands() {
		strict(sub)
	}
}

func needSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef("a subcommand is missing; see '%s --help'", cmd.CommandPath())
	}
	hint := ""
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean '%s %s'? ", cmd.CommandPath(), near[0])
	}
	return usagef("unknown command %.60q; %ssee '%s --help'", args[0], hint, cmd.CommandPath())
}

// usageError is a command line that cannot be carried out as written.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// usagef makes an error that ends the program with status 2.
func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// oneOutput refuses two outputs on one stream.
func oneOutput(json, csv bool) error {
	if json && csv {
		return usagef("--json and --csv both print to standard output; choose one")
	}
	return nil
}

// statusError ends the program with a status of its own and says nothing: the
// command has printed what there is to say.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// exitStatus prints err, unless it has been said already, and returns what
// the program exits with.
func exitStatus(err error, stderr io.Writer) int {
	var status statusError
	var usage *usageError
	var problems document.Problems
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &status):
		return int(status)
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "expediter:", err)
		return exitUsage
	case errors.As(err, &problems):
		fmt.Fprintln(stderr, problems) // each line begins with its place
		return exitError
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(stderr, "expediter:", strings.TrimRight(line, "\n"))
	}
	return exitError
}

// version is the module version that the program was built from, with the
// commit where the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown version)"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	v := info.Main.Version
	if rev := settings["vcs.revision"]; v == "(devel)" && len(rev) >= 12 {
		v += " " + rev[:12]
		if settings["vcs.modified"] == "true" {
			v += " modified"
		}
	}
	return v + " " + info.GoVersion
}
