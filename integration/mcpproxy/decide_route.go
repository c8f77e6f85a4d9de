package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
)

// skip answers a call that is not made: with the result of a declared alternative
// that takes the same arguments, else with what is open and what may stand in.
func (c *client) skip(ctx context.Context, t target, params json.RawMessage, forward forwardFunc, d expediter.Decision) json.RawMessage {
	if gone(d) {
		c.showLogin(t.up)
	}
	alt, ok := c.passthrough(t, d)
	if !ok {
		return c.skipAnswer(t, d, "")
	}
	instead := c.decide(alt)
	if instead.Verb != expediter.Call {
		c.giveUp(instead)
		return c.skipAnswer(t, d, "")
	}
	e := c.try(ctx, alt, params, forward, instead.Call)
	if e.err != nil || e.refused || e.answer.Error != nil {
		return c.skipAnswer(t, d, fmt.Sprintf("The proxy has called %s instead, as declared; that failed too.", c.name(alt.key)))
	}
	c.stoodIn(t, d, e)
	return c.degraded(t, d, c.labelled(alt, params, e))
}

// giveUp records a call that was allowed and is not made.
func (c *client) giveUp(d expediter.Decision) {
	if d.Call != 0 {
		c.record(d.Call, expediter.Ignored(), c.now())
	}
}

// passthrough is the declared alternative of a skipped call that the proxy may
// call with the same arguments. Tools with side effects are never rerouted, and
// where a client would check a result against the skipped tool's schema, both
// must have the same.
func (c *client) passthrough(t target, d expediter.Decision) (target, bool) {
	if d.Unverified || d.Route == nil || d.Route.Kind != capability.UseAlternative || d.Reason == expediter.UnknownTool {
		return target{}, false
	}
	entry := c.factsOf(t.key).Entry
	declared := func(a capability.Alternative) bool { return a.Tool == d.Route.Tool && a.Passthrough }
	if !slices.ContainsFunc(entry.Alternatives, declared) || hasEffects(entry, t.tool) {
		return target{}, false
	}
	alt, ok := c.p.findKey(d.Route.Tool)
	if !ok || alt.up == nil || alt.key == t.key || hasEffects(c.factsOf(alt.key).Entry, alt.tool) {
		return target{}, false
	}
	schema := outputSchema(t.tool)
	return alt, len(schema) == 0 || bytes.Equal(schema, outputSchema(alt.tool))
}

func outputSchema(t rawTool) json.RawMessage {
	var tool struct {
		OutputSchema json.RawMessage `json:"outputSchema"`
	}
	if json.Unmarshal(t.Raw, &tool) != nil {
		return nil
	}
	return tool.OutputSchema
}

// hasEffects reports whether a tool is known to have side effects: its map entry
// says so, or its server does. A server's word that a tool has none counts for
// nothing.
func hasEffects(e capability.Entry, t rawTool) bool {
	if e.SideEffects >= capability.Idempotent {
		return true
	}
	a, err := t.hints()
	if err != nil {
		return len(t.Raw) > 0
	}
	return a.ReadOnly != nil && !*a.ReadOnly || a.Destructive != nil && *a.Destructive && a.ReadOnly == nil
}

// stoodIn notes in journal and report that an alternative's result was given.
func (c *client) stoodIn(t target, d expediter.Decision, e ending) {
	note := map[string]any{"tool": t.key, "route": d.Route.Tool, "label": d.Route.Label.String(), "degradation": d.Route.Degradation}
	if err := c.engine.Note(expediter.OpRouteTaken, note, expediter.NoStep, e.ended); err != nil {
		c.log().Warn("a route could not be noted", zap.Error(err))
	}
	if e.outcome.Result != cascade.Succeeded {
		return
	}
	c.told.substitute(expediter.Substitute{Tool: t.key, Used: "alternative", Label: d.Route.Label.String(), Lost: d.Route.Degradation,
		Step: expediter.NoStep, At: e.ended.UnixMilli(), Times: 1})
}

// degraded is an alternative's result with a note of what it is.
func (c *client) degraded(t target, d expediter.Decision, result json.RawMessage) json.RawMessage {
	text := fmt.Sprintf("expediter: this result is from %s, the declared alternative of %s (%s", c.name(d.Route.Tool), c.name(t.key), d.Route.Label)
	if lost := redact.Text(d.Route.Degradation, maxText); lost != "" {
		text += ": " + lost
	}
	told := c.row(t.key, d, c.now())
	return appendText(result, text+"). "+c.why(t, d, told), "route")
}

// maxHistory bounds what a client remembers for its report, of each kind.
const maxHistory = 100

// history is what reports tell beside the engine's status.
type history struct {
	mu          sync.Mutex // no other is taken within it
	incidents   []expediter.IncidentEvent
	substitutes []expediter.Substitute
}

func (h *history) incident(e expediter.IncidentEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.incidents = append(h.incidents[max(len(h.incidents)-maxHistory+1, 0):], e)
}

func (h *history) substitute(s expediter.Substitute) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.substitutes, func(old expediter.Substitute) bool { return old.Tool == s.Tool && old.Lost == s.Lost })
	if i >= 0 {
		s.Times += h.substitutes[i].Times
		h.substitutes = slices.Delete(h.substitutes, i, i+1)
	}
	h.substitutes = append(h.substitutes[max(len(h.substitutes)-maxHistory+1, 0):], s)
}

func (h *history) all() ([]expediter.IncidentEvent, []expediter.Substitute) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.incidents), slices.Clone(h.substitutes)
}
