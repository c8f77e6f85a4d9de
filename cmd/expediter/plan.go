package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/task"
)

func planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Tell a session its sub-tasks, where the agent shows no to-do list",
		Long: `plan keeps the sub-tasks of a session, so that reports can say what is done, what
is deferred and why, and what can still be done. You may use it, and so may the
agent. Where hooks show the agent's own to-do list, that list counts, and plan only
shows it.

A sub-task has a number, counted from 1, which it keeps; what is dropped stays in
the list. Tools that are asked for while a sub-task is started count as needed by
it, beside those that it was given.

` + aboutSessions,
		Example: `  expediter plan set plan.md
  expediter plan add "Run the tests" --tool Bash/go --after 2
  expediter plan start 3
  expediter plan done 3
  expediter plan show`,
	}
	var f sessionFlags
	cmd.AddCommand(planSetCommand(&f), planAddCommand(&f),
		planMarkCommand(&f, "start", "Say that sub-tasks are being worked on", session.TodoActive),
		planMarkCommand(&f, "done", "Say that sub-tasks are done", session.TodoDone),
		planMarkCommand(&f, "drop", "Say that sub-tasks will not be done", session.TodoDropped),
		planShowCommand(&f))
	for _, sub := range cmd.Commands() {
		f.register(sub.Flags())
	}
	return cmd
}

func planSetCommand(f *sessionFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "set [FILE|-]",
		Short: "Replace the plan by the sub-tasks of a file or of standard input",
		Long: `set reads one sub-task from each line:

  Read the code
  - [x] Read the issue                       done
  - [>] Change the code                      being worked on
  - [-] Ask the author                       dropped
  4. [ ] Run the tests [tools: Bash/go, Bash/make] [after: 3]

The bullet or number, the mark and the brackets at the end may be left out. after
names sub-tasks by their numbers. Blank lines and lines that begin with # say
nothing. 'plan show' prints the same form. At most ` + strconv.Itoa(session.MaxItems) + ` sub-tasks.

A task file (docs/task.md), that is one that ends in .yaml, .yml or .json or has a
line that begins with subtasks:, gives its sub-tasks with their ids.`,
		Example: `  expediter plan set plan.md
  printf '%s\n' 'Read the code' 'Change it' | expediter plan set -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "-"
			if len(args) > 0 {
				name = args[0]
			}
			p, err := readPlan(cmd, name)
			if err != nil {
				return err
			}
			return f.plan(cmd, func(s *session.Session) error {
				p.apply(s, true)
				return nil
			})
		},
	}
}

// readPlan reads a list of sub-tasks, or the ones of a task file.
func readPlan(cmd *cobra.Command, name string) (plan, error) {
	data, err := readInput(cmd, name)
	if err != nil {
		return nil, fmt.Errorf("%w; give a file with one sub-task on each line, or - for standard input", err)
	}
	shown := name
	if name == "-" {
		shown = "standard input"
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return planOfTask(shown, data)
	}
	if isTask(data) {
		return planOfTask(shown, data)
	}
	return parsePlan(shown, data)
}

func planOfTask(name string, data []byte) (plan, error) {
	file, err := task.Read(name, data)
	if err != nil {
		return nil, err
	}
	var p plan
	for _, t := range file.Subtasks {
		p = append(p, session.Subtask{Todo: session.Todo{ID: t.ID, Text: t.Title, State: session.TodoPending, DependsOn: t.After}, Tools: t.Tools()})
	}
	return p, p.check(name)
}

func planAddCommand(f *sessionFlags) *cobra.Command {
	var tools, after []string
	cmd := &cobra.Command{
		Use:     "add TEXT",
		Short:   "Add a sub-task at the end of the plan",
		Example: `  expediter plan add "Run the tests" --tool Bash/go --after 2`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := redact.Text(args[0], session.MaxItemText)
			if text == "" {
				return usagef("the sub-task has no text; say what is to be done")
			}
			return f.plan(cmd, func(s *session.Session) error {
				p := planOf(s)
				var ids []string
				for _, typed := range after {
					i, err := p.place(typed)
					if err != nil {
						return fmt.Errorf("--after: %w", err)
					}
					ids = append(ids, p[i].ID)
				}
				added := plan{{Todo: session.Todo{ID: p.free(), Text: text, State: session.TodoPending, DependsOn: ids}, Tools: cleanAll(tools)}}
				if err := append(p, added...).check("plan"); err != nil {
					return err
				}
				added.apply(s, false)
				return nil
			})
		},
	}
	cmd.Flags().StringArrayVar(&tools, "tool", nil, "a `tool` that it needs, such as Bash/go; may be repeated")
	cmd.Flags().StringArrayVar(&after, "after", nil, "the `number` of a sub-task that comes first; may be repeated")
	return cmd
}

// planMarkCommand is a command that gives sub-tasks a state.
func planMarkCommand(f *sessionFlags, name, short string, state session.TodoState) *cobra.Command {
	return &cobra.Command{
		Use:     name + " N...",
		Short:   short,
		Example: "  expediter plan " + name + " 2",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.plan(cmd, func(s *session.Session) error {
				p := planOf(s)
				var marked plan
				var errs []error
				for _, typed := range args {
					i, err := p.place(typed)
					if err != nil {
						errs = append(errs, err)
						continue
					}
					marked = append(marked, session.Subtask{Todo: session.Todo{ID: p[i].ID, State: state}})
				}
				if err := errors.Join(errs...); err != nil {
					return err
				}
				marked.apply(s, false)
				return nil
			})
		},
	}
}

func planShowCommand(f *sessionFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Print the sub-tasks that count",
		Long: `show prints the sub-tasks that count, in the form that 'plan set' reads: the agent's
own to-do list, if hooks have shown one, else the plan.`,
		Example: `  expediter plan show > plan.md`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.find(cmd)
			if err != nil {
				return err
			}
			c.warn(cmd)
			var text string
			err = c.view(cmd, time.Now(), func(s *session.Session) error {
				text = shownPlan(s)
				return nil
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			return err
		},
	}
}

// errOwnList: the agent shows a to-do list, which counts.
var errOwnList = errors.New("the agent keeps a to-do list of its own, which counts; it is changed there, 'expediter plan show' prints it")

// plan changes the plan, and prints it.
func (f *sessionFlags) plan(cmd *cobra.Command, change func(*session.Session) error) error {
	c, err := f.find(cmd)
	if err != nil {
		return err
	}
	c.warn(cmd)
	var text string
	err = c.update(cmd, time.Now(), func(s *session.Session) error {
		if _, own := s.Plan(); own {
			return errOwnList
		}
		err := change(s)
		text = shownPlan(s)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	return err
}
