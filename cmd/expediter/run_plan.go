package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/runner"
)

// printPlan is --dry-run: what the first pass would meet, and no call.
func printPlan(cmd *cobra.Command, cfg runner.Config) error {
	w := cmd.OutOrStdout()
	run, err := runner.New(cfg)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), func() {})
	defer stop()
	plan := run.Plan(ctx)
	fmt.Fprintf(w, "Dry run of %q: %d sub-tasks, nothing is called.\n", redact.Text(cfg.Task.Name, maxTitle), len(cfg.Task.Subtasks))
	number := 0
	for _, p := range plan {
		if p.Work.Number != number {
			number = p.Work.Number
			fmt.Fprintf(w, "\n%d. %s\n", number, redact.Text(p.Work.Subtask.Title, maxTitle))
			if after := p.Work.Subtask.After; len(after) > 0 {
				fmt.Fprintf(w, "   after %s\n", redact.Text(strings.Join(after, ", "), maxWhy))
			}
		}
		printPlanned(w, p)
	}
	return ctx.Err()
}

func printPlanned(w io.Writer, p runner.Planned) {
	tool := redact.Text(p.Tool, maxToolName)
	if p.Decision.Verb.Go() {
		fmt.Fprintf(w, "   %-5s %s: %s\n", p.Decision.Verb, tool, commandLine(p.Argv))
		return
	}
	fmt.Fprintf(w, "   %-5s %s: %s\n", p.Decision.Verb, tool, refusal(p.Decision))
	if p.Instead != nil {
		printPlanned(w, *p.Instead)
	}
}

// commandLine prints an argument vector so that its elements can be told
// apart. It is for reading, not for a shell.
func commandLine(argv []string) string {
	shown := make([]string, len(argv))
	for i, a := range argv {
		clean := redact.Text(a, maxWhy)
		if clean == a && a != "" && !strings.ContainsAny(a, " \t'\"\\$`*?[]{}()<>|&;#~!") {
			shown[i] = a
		} else {
			shown[i] = fmt.Sprintf("%q", clean)
		}
	}
	return strings.Join(shown, " ")
}
