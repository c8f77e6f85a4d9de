package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/integration/hook"
	"github.com/expediter-go/expediter/internal/store"
)

const (
	// hookWait bounds how long a hook waits for others, and hookLimit how long it
	// takes at all: agents give it five seconds.
	hookWait  = 3 * time.Second
	hookLimit = 4 * time.Second

	maxHookLog = 1 << 20 // bytes of the log file and of the one before it
)

// hookFlags are what a hook is called with beside its agent.
type hookFlags struct {
	store, mapFile string
}

func (f *hookFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.store, "store", "", "folder of the sessions (default: EXPEDITER_STORE, or expediter below XDG_STATE_HOME)")
	flags.StringVar(&f.mapFile, "map", "", "capability map (default: EXPEDITER_MAP, "+hook.ProjectMap+" of the project, your own, or the built-in one)")
}

func hookCommand() *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use:   "hook AGENT",
		Short: "Answer one hook call of a coding agent (see install)",
		Long: `hook reads one event of a coding agent on standard input, decides before a tool
runs, learns after it, and answers in the agent's own format. Agents run it; you
set it up with 'expediter install AGENT'.

AGENT is one of ` + strings.Join(hook.Agents(), ", ") + `, or auto.

It never breaks the agent: whatever goes wrong, the tool runs, the exit status is
0, and the error stands in hook.log in the store. Only Windsurf, which has no
other way, is told of a skipped call by exit status 2.`,
		Example: `  echo '{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}' | expediter hook claude-code`,
		RunE:    func(cmd *cobra.Command, args []string) error { return nil }, // see main
	}
	f.register(cmd.Flags())
	return cmd
}

// isHook reports whether a command line is a hook call. Those are answered
// before anything of the other commands is set up.
func isHook(args []string) bool {
	return len(args) > 0 && args[0] == "hook" && !slices.ContainsFunc(args, func(a string) bool { return a == "--help" || a == "-h" })
}

// answerHook answers one hook call and returns the exit status, which is never
// one that a wrong command line could give: agents take many for a denial.
func answerHook(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	debug.SetGCPercent(-1) // it ends before there is anything to collect
	debug.SetMemoryLimit(512 << 20)
	done := make(chan hook.Output, 1)
	var f hookFlags
	agent, err := f.parse(args)
	dir, dirErr := store.Dir(f.store, os.Getenv)
	if err = errors.Join(err, dirErr); err == nil {
		go func() { done <- f.serve(agent, dir, stdin) }()
	} else {
		hookTrouble(dir, agent, err, stderr)
		return exitDone
	}
	select {
	case out := <-done:
		// One write each: an agent reads all of it or, if we are killed, nothing.
		_, outErr := stdout.Write(out.Stdout)
		_, errErr := stderr.Write(out.Stderr)
		if err := errors.Join(outErr, errErr); err != nil {
			hookTrouble(dir, agent, err, stderr)
		}
		return out.Exit
	case <-time.After(hookLimit):
		hookTrouble(dir, agent, fmt.Errorf("no answer within %v; the tool was let run", hookLimit), stderr)
		return exitDone
	}
}

func (f *hookFlags) parse(args []string) (agent string, err error) {
	flags := pflag.NewFlagSet("hook", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	f.register(flags)
	if err := flags.Parse(args); err != nil {
		return "", fmt.Errorf("%w; see 'expediter hook --help'", err)
	}
	if flags.NArg() != 1 {
		return "", fmt.Errorf("hook takes one agent, such as claude-code; see 'expediter hook --help'")
	}
	return flags.Arg(0), nil
}

// serve answers the call. A panic, even of a file that was cut short under it,
// lets the tool run.
func (f *hookFlags) serve(agent, dir string, stdin io.Reader) (out hook.Output) {
	debug.SetPanicOnFault(true)
	defer func() {
		if p := recover(); p != nil {
			out = hook.Output{}
			hookTrouble(dir, agent, fmt.Errorf("panic: %v\n%s", p, debug.Stack()), io.Discard)
		}
	}()
	input, err := io.ReadAll(io.LimitReader(stdin, hook.MaxInput+1))
	if err != nil {
		hookTrouble(dir, agent, err, io.Discard)
		return hook.Output{}
	}
	ctx, cancel := context.WithTimeout(context.Background(), hookWait)
	defer cancel()
	out, err = hook.Serve(ctx, store.Open(dir), input, hook.Options{Agent: agent, Map: f.mapFile, Env: os.Getenv}, time.Now())
	if err != nil {
		hookTrouble(dir, agent, err, io.Discard)
	}
	return out
}

// hookTrouble tells what went wrong, in a file: the output belongs to the agent.
func hookTrouble(dir, agent string, err error, stderr io.Writer) {
	text := redact.Text(err.Error(), 8<<10)
	fmt.Fprintln(stderr, "expediter:", text)
	if dir == "" {
		return
	}
	path := filepath.Join(dir, "hook.log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxHookLog {
		_ = os.Rename(path, path+".1")
	}
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.RFC3339TimeEncoder
	log := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(encoding), file, zap.InfoLevel))
	log.Error("hook", zap.String("agent", agent), zap.String("error", text))
}
