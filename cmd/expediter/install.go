package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/operator"
	"github.com/expediter-go/expediter/internal/settings"
	"github.com/expediter-go/expediter/internal/store"
)

// installFlags are those of install and uninstall.
type installFlags struct {
	scope, project, plugin     string
	command, mapFile, storeDir string // of install alone
	dryRun, yes                bool
}

func (f *installFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.scope, "scope", "project", "whose settings: project or user")
	flags.StringVar(&f.project, "project", "", "the project's `folder` (default: the top of the repository, or the current one)")
	flags.StringVar(&f.plugin, "plugin", "", "claude-code: a plugin in this `folder` instead of the settings")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
}

func installCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install AGENT",
		Short: "Write the hooks into a coding agent's settings",
		Long: `install makes a coding agent ask expediter before each tool call and tell it
what came of it. It shows the change of the agent's settings, asks, and writes.
Everything else in them stays as it is, comments and layout included; a copy of
a file that is changed is kept beside it. A second install changes nothing, one
with another --command, --map or --store replaces our own entries.

AGENT is one of ` + strings.Join(settings.Agents(), ", ") + `.

The agent will run expediter-hook if that lies beside this program, else
expediter: by its name where the PATH leads to it, else by its whole path.

` + forHumans,
		Example: `  expediter install claude-code --dry-run
  expediter install codex --scope user
  expediter install gemini --map tools.yaml --yes
  expediter install claude-code --plugin ./expediter-plugin`,
		Args: cobra.ExactArgs(1), ValidArgs: settings.Agents(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd, args[0], func(r settings.Request) (settings.Plan, error) {
				if err := f.hooks(&r); err != nil {
					return settings.Plan{}, err
				}
				return settings.Install(r)
			})
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.command, "command", "", "the `program` that the agent is to run, as a shell would read it")
	cmd.Flags().StringVar(&f.mapFile, "map", "", "the capability map `file` of the hooks (default: see 'expediter hook --help')")
	cmd.Flags().StringVar(&f.storeDir, "store", "", "the `folder` of the hooks' sessions (default: see 'expediter hook --help')")
	return cmd
}

func uninstallCommand() *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "uninstall AGENT",
		Short: "Take the hooks out of a coding agent's settings again",
		Long: `uninstall gives the agent's settings back as install found them, byte for byte,
and removes files and folders that install made. Where they have been changed
since, our entries alone are taken out.

AGENT is one of ` + strings.Join(settings.Agents(), ", ") + `.

Say --scope, --project and --plugin as at the install. The store of the sessions
stays.

` + forHumans,
		Example: `  expediter uninstall claude-code --dry-run
  expediter uninstall codex --scope user`,
		Args: cobra.ExactArgs(1), ValidArgs: settings.Agents(),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0], settings.Uninstall) },
	}
	f.register(cmd)
	return cmd
}

// run plans, shows, asks and applies.
func (f *installFlags) run(cmd *cobra.Command, agent string, planned func(settings.Request) (settings.Plan, error)) error {
	if !f.dryRun {
		if err := operator.Require(cmd.Name(), os.Getenv); err != nil {
			return err
		}
	}
	r, err := f.request(agent)
	if err != nil {
		return err
	}
	plan, err := planned(r)
	if errors.Is(err, settings.ErrAgent) || errors.Is(err, settings.ErrCommand) {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if len(plan.Changes) == 0 {
		say(out, "", plan.Settled+"; nothing was changed")
		say(out, "note: ", plan.Notes...)
		return nil
	}
	for _, line := range redact.Lines(strings.ReplaceAll(plan.Diff(), "\t", "    "), maxDiffLines, maxDiffWidth) {
		fmt.Fprintln(out, line)
	}
	if f.dryRun {
		say(out, "note: ", plan.Notes...)
		say(out, "", "nothing was changed (--dry-run)")
		return nil
	}
	if err := f.confirm(cmd); err != nil {
		return err
	}
	did, err := plan.Apply()
	say(out, "", did...)
	if err != nil {
		return err
	}
	say(out, "note: ", plan.Notes...)
	if plan.Next != "" {
		say(out, "next: ", plan.Next)
	}
	return nil
}

// Bounds of a diff on the terminal.
const (
	maxDiffLines = 5_000
	maxDiffWidth = 1_000
)

// say prints texts that may hold names from outside, a line for each.
func say(w io.Writer, before string, texts ...string) {
	for _, text := range texts {
		fmt.Fprintln(w, before+redact.Text(text, maxDiffWidth))
	}
}

// confirm asks whether to write, unless --yes says so.
func (f *installFlags) confirm(cmd *cobra.Command) error {
	if f.yes {
		return nil
	}
	fmt.Fprint(cmd.OutOrStdout(), "Apply this? [y/N] ")
	answer, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 100)).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	fmt.Fprintln(cmd.OutOrStdout())
	if answer == "" && err != nil {
		return errors.New("nobody answered, and nothing was changed; use --yes to write without a question")
	}
	return errors.New("nothing was changed")
}

// request is what is to be planned, as far as both commands say it.
func (f *installFlags) request(agent string) (r settings.Request, err error) {
	r = settings.Request{Agent: agent, Env: os.Getenv, Windows: runtime.GOOS == "windows"}
	switch f.scope {
	case "project":
	case "user":
		r.Scope = settings.User
	default:
		return r, usagef("unknown --scope %.40q; use project or user", f.scope)
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		r.Home = home
	}
	if dir, err := store.Dir("", withoutStore); err == nil {
		r.State = filepath.Join(dir, "installed")
	}
	if r.Project, err = projectFolder(f.project); err != nil {
		return r, err
	}
	r.Plugin, err = absolute(f.plugin)
	return r, err
}

// hooks says what the agent is to run.
func (f *installFlags) hooks(r *settings.Request) (err error) {
	if r.Map, err = absolute(f.mapFile); err != nil {
		return err
	}
	if r.Store, err = absolute(f.storeDir); err != nil {
		return err
	}
	if r.Map != "" {
		if _, err := os.Stat(r.Map); err != nil {
			return fmt.Errorf("--map: %w; give the path of a file that is there", err)
		}
	}
	if f.command != "" {
		r.Program = settings.Words(f.command)
		return nil
	}
	r.Program, err = thisProgram()
	return err
}

// absolute is a path from the root; none stays none.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// withoutStore is the environment without a store of one's own: what was
// installed is remembered in one place.
func withoutStore(name string) string {
	if name == "EXPEDITER_STORE" {
		return ""
	}
	return os.Getenv(name)
}

// projectFolder is the folder given, else the top of the repository around the
// current one, else that one.
func projectFolder(given string) (string, error) {
	dir, err := filepath.Abs(given)
	if err != nil {
		return "", err
	}
	if given != "" {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			err = errors.New("it is no folder")
		}
		if err != nil {
			return "", fmt.Errorf("--project %.200q: %w; give the folder of a project", given, err)
		}
		return dir, nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at, nil
		}
		if filepath.Dir(at) == at {
			return dir, nil
		}
	}
}
