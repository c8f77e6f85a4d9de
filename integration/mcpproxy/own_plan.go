package mcpproxy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	sessions "github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/report"
)

// maxPlan bounds what an agent may declare, in bytes of JSON.
const maxPlan = 1 << 20

// plan is what the agent declared that it works on.
type plan struct {
	mu   sync.Mutex // no other is taken within it
	task string
	list []sessions.Subtask // never changed once it is here
}

func (p *plan) get() (string, []sessions.Subtask) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.task, p.list
}

func (p *plan) set(task string, list []sessions.Subtask) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.task, p.list = task, list
}

// declared is the arguments of expediter_plan.
type declared struct {
	Task     string
	Subtasks []struct {
		ID, Title    string
		Tools, After []string
		State        string
	}
}

// planResult takes in a plan and says what can be done now.
func (c *client) planResult(args json.RawMessage) json.RawMessage {
	if len(args) > maxPlan {
		return errorText(fmt.Sprintf("expediter: a plan of %d bytes; at most %d are taken", len(args), maxPlan))
	}
	var in declared
	if err := json.Unmarshal(args, &in); err != nil {
		return errorText("expediter: the plan cannot be read: " + redact.Text(err.Error(), maxText))
	}
	if len(in.Subtasks) == 0 || len(in.Subtasks) > sessions.MaxItems {
		return errorText(fmt.Sprintf("expediter: a plan has 1 to %d sub-tasks; this one has %d", sessions.MaxItems, len(in.Subtasks)))
	}
	task, list, unknown := c.planOf(in)
	c.plan.set(task, list)
	c.notePlan(list)
	st := c.engine.Status()
	reduced, _ := sessions.Assess(task, list, &st)
	var b strings.Builder
	if len(unknown) > 0 {
		fmt.Fprintf(&b, "Not known here, and taken for usable: %s.\n\n", report.Listed(unknown))
	}
	if err := report.ScopeReduction(&b, reduced, &st); err != nil {
		return errorText("expediter: the plan cannot be printed: " + err.Error())
	}
	return textResult(b.String())
}

// planOf is a plan whose texts are clean and whose tools have the engine's names.
func (c *client) planOf(in declared) (task string, list []sessions.Subtask, unknown []string) {
	if task = redact.Text(in.Task, sessions.MaxItemText); task == "" {
		task = "the agent's plan"
	}
	for _, s := range in.Subtasks {
		it := sessions.Subtask{Todo: sessions.Todo{ID: redact.Text(s.ID, maxText), Text: redact.Text(s.Title, sessions.MaxItemText)}}
		if it.State.UnmarshalText([]byte(s.State)) != nil {
			it.State = sessions.TodoPending
		}
		for _, after := range s.After[:min(len(s.After), sessions.MaxItemTools)] {
			it.DependsOn = append(it.DependsOn, redact.Text(after, maxText))
		}
		for _, name := range s.Tools[:min(len(s.Tools), sessions.MaxItemTools)] {
			key, ok := c.keyOf(name)
			if !ok && !slices.Contains(unknown, key) {
				unknown = append(unknown, key)
			}
			it.Tools = append(it.Tools, key)
		}
		list = append(list, it)
	}
	return task, list, unknown
}

// keyOf is the engine's name of a tool that an agent names, as it is shown or as
// the map has it.
func (c *client) keyOf(name string) (key string, ok bool) {
	if t, ok := c.p.find(name); ok {
		return t.key, true
	}
	if t, ok := c.p.findKey(name); ok {
		return t.key, true
	}
	return redact.Text(name, maxText), isOwn(name)
}

func (c *client) notePlan(list []sessions.Subtask) {
	for i, it := range list {
		note := map[string]any{"id": it.ID, "number": i + 1, "title": it.Text, "state": it.State.String()}
		_ = c.engine.Note(expediter.OpSubtask, note, expediter.NoStep, c.now()) // no other op is an error
	}
}
