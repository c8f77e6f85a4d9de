package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/report"
)

// tool is anything that an agent calls by name.
type tool func(ctx context.Context, input string) (string, error)

// newTools gives a Grep whose server is down for its first three calls, a Bash
// that works, and a Deploy whose program is missing.
func newTools() map[string]tool {
	calls := 0
	return map[string]tool{
		"Grep": func(_ context.Context, input string) (string, error) {
			if calls++; calls <= 3 {
				return "", errors.New("dial tcp 10.0.0.7:7700: connect: connection refused")
			}
			return "2 matches of " + input, nil
		},
		"Bash": func(_ context.Context, input string) (string, error) {
			return "2 lines with " + input, nil
		},
		"Deploy": func(context.Context, string) (string, error) {
			return "", errors.New(`exec: "rsync": executable file not found in $PATH`)
		},
	}
}

// request is one call that the model wants.
type request struct{ tool, input string }

// agent stands in for a model: it asks for what its script says, and follows a
// route to an alternative.
type agent struct {
	request // the present one
	script  []request
	out     io.Writer
}

func newAgent(out io.Writer) *agent {
	grep, deploy := request{"Grep", "TODO"}, request{"Deploy", "docs/"}
	return &agent{out: out, script: []request{grep, grep, grep, grep, grep, grep, grep, deploy, deploy, deploy}}
}

// next moves on to the next request. It is false when the work is done.
func (a *agent) next() bool {
	if len(a.script) == 0 {
		return false
	}
	a.request, a.script = a.script[0], a.script[1:]
	return true
}

// hear is what the model reads after a call.
func (a *agent) hear(answer string, err error) {
	if err != nil {
		answer = "error: " + err.Error()
	}
	fmt.Fprintf(a.out, "%-6s %s\n", a.tool, answer)
}

// reroute is what the model reads instead of an answer when a tool is skipped.
// This one takes the alternative, and does without where there is none.
func (a *agent) reroute(r *capability.Route) {
	if r.Kind != capability.UseAlternative {
		fmt.Fprintf(a.out, "%-6s skipped, %s %s\n", a.tool, r.Label, r.Ask)
		return
	}
	fmt.Fprintf(a.out, "%-6s skipped, use %s: %s, %s\n", a.tool, r.Tool, r.Label, r.Degradation)
	a.script = append([]request{{r.Tool, a.input}}, a.script...)
}

// report tells the user how things stand.
func (a *agent) report(x *expediter.Engine) error {
	fmt.Fprintf(a.out, "%-6s paused\n\n", a.tool)
	return report.StateTable(a.out, x.Status())
}
