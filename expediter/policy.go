package expediter

import (
	"errors"
	"fmt"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// Policy tunes an engine. The zero Policy is Faithful. In a Policy that a user
// writes a zero field means its default; breaker.Off turns a limit off. The
// json tags are the names used in files (SPEC section 14).
type Policy struct {
	breaker.Policy                // of every tool that has none of its own
	Budget         int            `json:"budget,omitempty"`                    // failures per cycle; default 5; budget.Unlimited: none
	ChargePerTool  int            `json:"charge_per_tool,omitempty" zero:"-1"` // charges of one tool per cycle; default off
	ChargeStale    breaker.Switch `json:"charge_stale,omitzero"`               // charge late failures; default true
	Cascade        Cascade        `json:"cascade,omitzero"`
}

// Cascade tunes the recognition of common causes (SPEC section 7).
type Cascade struct {
	WindowSteps    int64      `json:"window_steps,omitempty" zero:"-1"`     // default 3; breaker.Off: the same step only
	WindowMS       int64      `json:"window_ms,omitempty" zero:"-1"`        // default 300,000; breaker.Off: the same instant only
	MinTools       int        `json:"min_tools,omitempty"`                  // default 3
	ConfirmAfterMS int64      `json:"confirm_after_ms,omitempty" zero:"-1"` // confirm by itself; default off
	PauseScope     PauseScope `json:"pause_scope,omitzero"`                 // default: pause everything
	// OneOutage has the tools of one declared outage count as one towards min_tools:
	// a lost server with many tools is no common cause with one other failing tool.
	// Default false, as SPEC has it.
	OneOutage breaker.Switch `json:"one_outage,omitzero"`
}

// PauseScope is which tools an active incident pauses.
type PauseScope uint8

const (
	PauseAll    PauseScope = iota // every tool (default)
	PauseShares                   // the tools that declare the thing the incident's members share; everything if they share nothing
)

var scopeNames = [...]string{PauseAll: "all", PauseShares: "shares"}

// String returns all or shares.
func (s PauseScope) String() string { return name(scopeNames[:], s, "pause_scope") }

// MarshalText writes the word.
func (s PauseScope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads all or shares.
func (s *PauseScope) UnmarshalText(text []byte) error {
	return unname(scopeNames[:], s, "pause_scope", text)
}

// Faithful is the policy of the library and of `expediter run`: every rule of
// SPEC at its default. Every field is set.
func Faithful() Policy {
	return Policy{
		Policy:        breaker.Defaults(),
		Budget:        budget.Default,
		ChargePerTool: breaker.Off,
		ChargeStale:   breaker.On,
		Cascade: Cascade{WindowSteps: 3, WindowMS: 300_000, MinTools: 3,
			ConfirmAfterMS: breaker.Off, OneOutage: breaker.No},
	}
}

// Interactive is the policy of hooks and proxy, where one dead or flapping
// tool must not stop an agent whose other tools work (SPEC section 6).
func Interactive() Policy {
	p := Faithful()
	p.ChargePerTool = 3
	p.ChargeStale = breaker.No
	p.Batch = breaker.On
	p.Cascade.OneOutage = breaker.On
	p.Probe.Backoff = breaker.On
	p.Probe.NotBeforeMS = 1000
	return p
}

// PolicyNamed returns Faithful or Interactive by name.
func PolicyNamed(name string) (Policy, error) {
	switch name {
	case "faithful":
		return Faithful(), nil
	case "interactive":
		return Interactive(), nil
	}
	return Policy{}, fmt.Errorf("unknown policy %q; use faithful or interactive", name)
}

// Over returns p with each zero field taken from base.
func (p Policy) Over(base Policy) Policy {
	p.Policy = p.Policy.Over(base.Policy)
	orElse(&p.Budget, base.Budget)
	orElse(&p.ChargePerTool, base.ChargePerTool)
	orElse(&p.ChargeStale, base.ChargeStale)
	orElse(&p.Cascade.WindowSteps, base.Cascade.WindowSteps)
	orElse(&p.Cascade.WindowMS, base.Cascade.WindowMS)
	orElse(&p.Cascade.MinTools, base.Cascade.MinTools)
	orElse(&p.Cascade.ConfirmAfterMS, base.Cascade.ConfirmAfterMS)
	orElse(&p.Cascade.PauseScope, base.Cascade.PauseScope)
	orElse(&p.Cascade.OneOutage, base.Cascade.OneOutage)
	return p
}

func orElse[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}

// Validate reports every bad value of a policy whose fields are all set.
func (p Policy) Validate(strictMax bool) error {
	errs := []error{p.Policy.Validate(strictMax)}
	if p.Budget < 1 && p.Budget != budget.Unlimited {
		errs = append(errs, fmt.Errorf("budget: %d; give 1 or more, or budget.Unlimited (-1)", p.Budget))
	}
	limit := func(name string, v int64) {
		if v < 0 && v != breaker.Off {
			errs = append(errs, fmt.Errorf("%s: %d; give a positive number, or 0 (in Go: breaker.Off)", name, v))
		}
	}
	limit("charge_per_tool", int64(p.ChargePerTool))
	limit("cascade.window_steps", p.Cascade.WindowSteps)
	limit("cascade.window_ms", p.Cascade.WindowMS)
	limit("cascade.confirm_after_ms", p.Cascade.ConfirmAfterMS)
	if p.Cascade.MinTools < 2 {
		errs = append(errs, fmt.Errorf("cascade.min_tools: %d; one tool alone is no cascade, give 2 or more", p.Cascade.MinTools))
	}
	if p.Cascade.PauseScope > PauseShares {
		errs = append(errs, fmt.Errorf("cascade.pause_scope: %s; use all or shares", p.Cascade.PauseScope))
	}
	return errors.Join(errs...)
}
