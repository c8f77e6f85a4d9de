// Command expediter-hook is `expediter hook` and nothing else, for agents that
// wait for it at every tool call: it starts faster than a program with all the
// other commands. It is called in the same way:
//
//	expediter-hook hook AGENT [--store DIR] [--map FILE]
//
// It belongs to no fleet (--fleet): that would make its start half as long again.
//
// The word hook stays, so that what looks for hooks in an agent's settings, and
// what keeps agents from running them in a shell, finds it at the same place.
// `expediter install AGENT --command expediter-hook` sets it up. The exit status
// is 0 whatever goes wrong: agents take many others for a denial.
package main

import (
	"os"

	"github.com/expediter-go/expediter/internal/hookproc"
)

func main() {
	args := os.Args[1:]
	if len(args) == 0 || args[0] != "hook" {
		os.Stderr.WriteString("expediter-hook: usage: expediter-hook hook AGENT [--store DIR] [--map FILE]; expediter has all other commands\n")
		return
	}
	os.Exit(hookproc.Main(args[1:], os.Stdin, os.Stdout, os.Stderr, nil))
}
