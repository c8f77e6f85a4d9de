package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/simulate"
)

type simulateOptions struct {
	cfg      simulate.Config
	models   []string
	policies []string
	json     bool
	csv      bool
}

func simulateCommand() *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate",
		Short: "Compare retries, gobreaker and expediter on tools that fail by stated models",
		Long: `simulate lets agents work with tools that fail, in virtual time: by retrying at
once, retrying with backoff, with gobreaker alone, and with the engine of
expediter under the policies faithful and interactive. All meet the same faults,
and the same seed gives the same figures. docs/simulate.md tells the models, the
figures and what they assume.

A policy file is a map or task file; its section expediter is one more way of
working. Rates are from 0 to 0.5, the share of calls or of time in which a tool
is down. Ctrl-C ends the simulation without a result.`,
		Example: `  expediter simulate
  expediter simulate --models permanent,correlated --rates 0.1,0.3
  expediter simulate --policy task.yaml --csv > figures.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	flags := cmd.Flags()
	flags.Uint64Var(&o.cfg.Seed, "seed", 1, "where all random numbers come from")
	flags.IntVar(&o.cfg.Seeds, "seeds", 30, "worlds for each model and rate, drawn from --seed")
	flags.IntVar(&o.cfg.Agents, "agents", 5, "agents in each world")
	flags.IntVar(&o.cfg.Subtasks, "subtasks", 40, "sub-tasks of each agent")
	flags.IntVar(&o.cfg.Retries, "retries", 3, "how often an agent without expediter repeats a failed call")
	flags.IntVar(&o.cfg.Answers, "answers", 3, "how many pauses the user of an agent answers")
	flags.BoolVar(&o.cfg.OwnWords, "own-words", false, "the error of each tool names it; else all fail with the same words")
	flags.Float64SliceVar(&o.cfg.Rates, "rates", []float64{0, 0.05, 0.1, 0.2, 0.3}, "how much fails")
	flags.StringSliceVar(&o.models, "models", nil, "how tools fail: "+modelNames()+" (default all)")
	flags.StringArrayVar(&o.policies, "policy", nil, "also compare the policy in the section expediter of this `file`; may be repeated")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.csv, "csv", false, "print comma-separated values, a line for each way")
	return cmd
}

func modelNames() string {
	var names []string
	for _, m := range simulate.Models() {
		names = append(names, m.String())
	}
	return strings.Join(names, ", ")
}

func (o simulateOptions) run(cmd *cobra.Command) error {
	cfg, err := o.config(cmd)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context(), func() {})
	defer stop()
	bar := newProgress(cmd.ErrOrStderr(), "worlds", progressbar.OptionShowCount())
	cfg.Progress = func(finished, all int) { bar.show(int64(finished), int64(all)) }
	res, err := simulate.Run(ctx, cfg)
	bar.end()
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted; the simulation has no result")
	case err != nil:
		return err
	}
	return o.print(cmd.OutOrStdout(), res)
}

// config is what the flags ask for.
func (o simulateOptions) config(cmd *cobra.Command) (simulate.Config, error) {
	if err := oneOutput(o.json, o.csv); err != nil {
		return o.cfg, err
	}
	if err := o.counts(); err != nil {
		return o.cfg, err
	}
	for _, name := range o.models {
		var m simulate.Model
		if err := m.UnmarshalText([]byte(name)); err != nil {
			return o.cfg, usagef("--models: %v", err)
		}
		o.cfg.Models = append(o.cfg.Models, m)
	}
	for _, file := range o.policies {
		p, err := readSimulatedPolicy(cmd, file)
		if err != nil {
			return o.cfg, err
		}
		o.cfg.Policies = append(o.cfg.Policies, p)
	}
	return o.cfg, nil
}

// counts checks the numbers. A zero is meant as one: it is not the default.
func (o *simulateOptions) counts() error {
	for _, c := range []struct {
		flag  string
		n     *int
		least int
	}{{"seeds", &o.cfg.Seeds, 1}, {"agents", &o.cfg.Agents, 1}, {"subtasks", &o.cfg.Subtasks, 1},
		{"retries", &o.cfg.Retries, 0}, {"answers", &o.cfg.Answers, 0}} {
		if *c.n < c.least {
			return usagef("--%s %d: give %d or more", c.flag, *c.n, c.least)
		}
		if *c.n == 0 {
			*c.n = simulate.None
		}
	}
	return nil
}

// readSimulatedPolicy reads the engine's policy of a file; the simulation has
// tools of its own.
func readSimulatedPolicy(cmd *cobra.Command, name string) (simulate.Policy, error) {
	file, err := readPolicyFile(cmd, name, "the path of a map or task file; faithful and interactive are compared without being named")
	return simulate.Policy{Name: redact.Text(filepath.Base(name), maxPolicyName), Policy: file.policy}, err
}

// maxPolicyName bounds a policy's name in a table, in runes.
const maxPolicyName = 40

func (o simulateOptions) print(w io.Writer, res simulate.Result) error {
	switch {
	case o.json:
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(res)
	case o.csv:
		return simulate.CSV(w, res)
	}
	return simulate.Text(w, res)
}
