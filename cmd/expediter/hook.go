package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/integration/hook"
	"github.com/expediter-go/expediter/internal/hookproc"
)

func hookCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook AGENT",
		Short: "Answer one hook call of a coding agent (see install)",
		Long: `hook reads one event of a coding agent on standard input, decides before a tool
runs, learns after it, and answers in the agent's own format. Agents run it; you
set it up with 'expediter install AGENT'.

AGENT is one of ` + strings.Join(hook.Agents(), ", ") + `, or auto.

With --fleet, or EXPEDITER_FLEET in the environment, the sessions share how their
tools stand with each other, and with other machines. A hook waits a tenth of a
second for that at most, and no more than once in 30 seconds while Redis is away.
expediter-hook cannot do it.

It never breaks the agent: whatever goes wrong, the tool runs, the exit status is
0, and the error stands in hook.log in the store. Only Windsurf, which has no
other way, is told of a skipped call by exit status 2.`,
		Example: `  echo '{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}' | expediter hook claude-code`,
		RunE:    func(cmd *cobra.Command, args []string) error { return nil }, // see main
	}
	cmd.Flags().String("store", "", hookproc.StoreUsage)
	cmd.Flags().String("map", "", hookproc.MapUsage)
	cmd.Flags().String("fleet", "", hookproc.FleetUsage)
	return cmd
}

// isHook reports whether a command line is a hook call. Those are answered
// before anything of the other commands is set up.
func isHook(args []string) bool {
	return len(args) > 0 && args[0] == "hook" && !slices.ContainsFunc(args, func(a string) bool { return a == "--help" || a == "-h" })
}
