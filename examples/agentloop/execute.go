package main

import (
	"context"
	"errors"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/executor"
)

// execute is the loop of an agent that lets an executor make its calls: with
// deadlines, and with an outcome recorded even when a tool panics or hangs.
func execute(ctx context.Context, agent *agent, tools map[string]tool) error {
	x, err := expediter.New(expediter.Config{Tools: capability.Map{
		{Tool: "Grep", Provides: "content search", Fallback: "ask the user which files to examine",
			Alternatives: []capability.Alternative{{Tool: "Bash", Method: "rg or grep", Degradation: "loses output formatting"}}},
	}})
	if err != nil {
		return err
	}
	step := int64(0)
	e, err := executor.New(executor.Config{Engine: x, Deadline: 30 * time.Second, Step: func() int64 { return step }})
	if err != nil {
		return err
	}
	for agent.next() {
		step++
		call, input := tools[agent.tool], agent.input
		answer, _, err := executor.Do(ctx, e, agent.tool, func(ctx context.Context) (string, error) {
			return call(ctx, input)
		})
		refused := (*executor.Refused)(nil)
		switch {
		case errors.Is(err, executor.ErrPaused):
			return agent.report(x)
		case errors.As(err, &refused):
			agent.reroute(refused.Decision.Route)
		default:
			agent.hear(answer, err)
		}
	}
	return nil
}
