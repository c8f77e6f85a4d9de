package redisfleet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expediter-go/expediter/expediter"
)

// Memory is what a member knew of its fleet, for the next process that goes on with
// its engine: see Options.Memory. It marshals to JSON; the zero Memory knows
// nothing. Its texts are places in the log, and names.
type Memory struct {
	Epoch    string            `json:"epoch,omitempty"`
	Last     string            `json:"last,omitempty"`
	Tools    map[string]string `json:"tools,omitempty"` // generations, each with what began it
	Incident string            `json:"incident,omitempty"`
	Cycle    string            `json:"cycle,omitempty"`
}

// Memory is what this member knows of the fleet. Take it after Close, together with
// the engine's snapshot.
func (f *Fleet) Memory() Memory {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := &f.view
	m := Memory{Epoch: v.epoch, Last: v.last.String(), Incident: v.incident.gen.String(), Cycle: v.cycle.String(), Tools: map[string]string{}}
	for tool, e := range v.tools {
		m.Tools[tool] = e.gen.String() + " " + string(e.kind)
	}
	return m
}

// view is the memory as a view, without the changes themselves.
func (m Memory) view() (view, error) {
	v := view{epoch: m.Epoch, tools: map[string]entry{}}
	var errs [3]error
	v.last, errs[0] = parsePlace(m.Last)
	v.incident.gen, errs[1] = parsePlace(m.Incident)
	v.cycle, errs[2] = parsePlace(m.Cycle)
	all := errs[:]
	for tool, text := range m.Tools {
		at, kind, _ := strings.Cut(text, " ")
		gen, err := parsePlace(at)
		all = append(all, err)
		v.tools[tool] = entry{gen: gen, kind: expediter.ChangeKind(kind)}
	}
	if err := errors.Join(all...); err != nil {
		return view{}, fmt.Errorf("memory: %w", err)
	}
	return v, nil
}
