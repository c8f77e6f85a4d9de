package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/integration/hook"
	"github.com/expediter-go/expediter/internal/task"
)

func mapCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "map",
		Short: "Check, draw or start a capability map",
		Long: `A capability map says what each tool provides, what may stand in for it, and
what the user is asked to do when nothing can. FILE is a map (YAML or JSON), a
task file that holds one, or - for standard input.`,
		Example: `  expediter map init claude-code --output .expediter.yaml
  expediter map check .expediter.yaml
  expediter map graph map.yaml --format dot | dot -Tsvg > map.svg`,
	}
	cmd.AddCommand(mapCheckCommand(), mapGraphCommand(), mapInitCommand())
	return cmd
}

func mapCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Report everything that is wrong with a map, each with its place",
		Long: `check prints one line FILE:LINE:COLUMN: what is wrong; what to do, for every
problem, and exits 1 if one of them is more than a warning; warnings are printed
once nothing worse is left. Of a good map it prints the number of tools, and
those that nothing can stand in for. docs/map.md lists the keys.`,
		Example: `  expediter map check map.yaml
  expediter map check task.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := loadMap(cmd, args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), summary(m))
			return err
		},
	}
}

func mapGraphCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw which tool may stand in for which",
		Long: `graph writes the map as a Mermaid flow chart or a Graphviz graph. An arrow
leads to what may stand in: solid when little is lost, dashed when much is,
dotted when nobody knows. Tools without an alternative are marked critical.`,
		Example: `  expediter map graph map.yaml
  expediter map graph map.yaml --format dot | dot -Tsvg > map.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			draw := map[string]func(capability.Map, io.Writer) error{"mermaid": capability.Map.Mermaid, "dot": capability.Map.DOT}[format]
			if draw == nil {
				return usagef("unknown --format %.40q; use mermaid or dot", format)
			}
			m, err := loadMap(cmd, args[0])
			if err != nil {
				return err
			}
			return draw(m, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid or dot")
	return cmd
}

func mapInitCommand() *cobra.Command {
	var output string
	var force bool
	cmd := &cobra.Command{
		Use:   "init AGENT|SKILL.md",
		Short: "Start a map for a coding agent, or from the tools that a skill allows",
		Long: `init AGENT prints the map of a coding agent's built-in tools that expediter hook
uses when there is no other: what may stand in for each, with comments on what to
change. AGENT is one of ` + strings.Join(hook.Agents(), ", ") + `.

init SKILL.md reads allowed-tools from the front matter of a skill file and prints
a map to start from. The alternatives in it are guesses among those tools, marked
unknown until somebody has tested them.

A file that is called like an agent is read as a skill.`,
		Example: `  expediter map init claude-code --output .expediter.yaml
  expediter map init SKILL.md --output map.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := startingMap(cmd, args[0], output)
			if err != nil {
				return err
			}
			if output == "" {
				_, err = cmd.OutOrStdout().Write(data)
				return err
			}
			return createFile(output, data, force)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `file` instead of standard output")
	cmd.Flags().BoolVar(&force, "force", false, "replace the output file if it exists")
	return cmd
}

// startingMap is the built-in map of an agent, or one made of a skill, which
// output must not overwrite.
func startingMap(cmd *cobra.Command, name, output string) ([]byte, error) {
	if info, err := os.Stat(name); err != nil || info.IsDir() {
		if _, data, ok := hook.DefaultMap(classify.AgentName(name)); ok {
			return data, nil
		}
		if name != "-" && !strings.ContainsAny(name, `./\`) {
			return nil, fmt.Errorf("%.200q is neither a skill file nor an agent with a map; the agents are %s", name, strings.Join(hook.Agents(), ", "))
		}
	}
	if sameFile(name, output) {
		return nil, usagef("--output %.200q is the skill itself; give the map a file of its own", output)
	}
	data, err := readInput(cmd, name)
	if err != nil {
		return nil, err
	}
	m, err := capability.FromSkill(name, data)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = m.WriteYAML(&b)
	return b.Bytes(), err
}

// loadMap reads and checks the map of a file, and prints its warnings.
func loadMap(cmd *cobra.Command, name string) (capability.Map, error) {
	data, err := readInput(cmd, name)
	if err != nil {
		return nil, err
	}
	m, warnings, err := checkMap(name, data)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), w)
	}
	return m, nil
}

func checkMap(name string, data []byte) (capability.Map, document.Problems, error) {
	root, err := document.Parse(name, data)
	if err != nil {
		return nil, nil, err
	}
	if root.Key("subtasks") != nil {
		file, err := task.Read(name, data)
		if err != nil {
			return nil, nil, err
		}
		return file.Map, file.Warnings, nil
	}
	file, err := capability.Read(name, data)
	if err != nil {
		return nil, nil, err
	}
	_, _, problems := task.ReadPolicy(file.Expediter, root.Key("capability_map"), file.Map)
	return file.Map, file.Warnings, problems.Err()
}

// summary is the one line that a good map deserves.
func summary(m capability.Map) string {
	critical := m.Critical()
	line := fmt.Sprintf("ok: %s, %d with an entry; ", count(len(m.Mentioned()), "tool"), len(m))
	if len(critical) == 0 {
		return line + "each of those has an alternative"
	}
	const most = 20
	more := ""
	if len(critical) > most {
		more = fmt.Sprintf(" and %d more", len(critical)-most)
		critical = critical[:most]
	}
	for i, name := range critical {
		if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			critical[i] = document.Quote(name)
		}
	}
	return line + "critical (no alternative): " + strings.Join(critical, ", ") + more
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// readInput reads a file, or standard input for -, up to just beyond what a
// document may hold.
func readInput(cmd *cobra.Command, name string) ([]byte, error) {
	in := cmd.InOrStdin()
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	return io.ReadAll(io.LimitReader(in, document.MaxBytes+1))
}
