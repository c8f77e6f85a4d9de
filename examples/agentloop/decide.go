package main

import (
	"context"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// decideAndRecord is the loop of an agent that makes its calls itself.
func decideAndRecord(ctx context.Context, agent *agent, tools map[string]tool) error {
	x, err := expediter.New(expediter.Config{Tools: capability.Map{
		{Tool: "Grep", Provides: "content search", Fallback: "ask the user which files to examine",
			Alternatives: []capability.Alternative{{Tool: "Bash", Method: "rg or grep", Degradation: "loses output formatting"}}},
	}})
	if err != nil {
		return err
	}
	for step := int64(1); agent.next(); step++ {
		d := x.Decide(agent.tool, step, time.Now())
		switch d.Verb {
		case expediter.Call, expediter.Probe: // make the call; a probe is a trial
			answer, err := tools[agent.tool](ctx, agent.input)
			x.Record(d.Call, outcome(err, ctx.Err()), step, time.Now())
			agent.hear(answer, err)
		case expediter.Skip: // it is broken: tell the model what may stand in for it
			agent.reroute(d.Route)
		case expediter.Pause: // go no further without the user
			return agent.report(x)
		}
	}
	return nil
}

// outcome says what a returned error means for the tool.
func outcome(err, ctxErr error) expediter.Outcome {
	if err == nil {
		return expediter.Success()
	}
	v := classify.FromError(err, ctxErr)
	return expediter.Outcome{Result: v.Outcome, Category: v.Category, Signature: v.Signature,
		Text: err.Error(), RetryAfter: v.RetryAfter}
}
