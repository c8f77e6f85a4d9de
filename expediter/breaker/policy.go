package breaker

import (
	"errors"
	"fmt"
)

// Off turns a limit off where zero already means its default.
const Off = -1

// Defaults of a Policy (SPEC sections 2, 3 and 14).
const (
	DefaultFailureThreshold  = 3
	DefaultHalfOpenSuccesses = 1
	DefaultEvery             = 3
	DefaultMax               = 20
	DefaultEveryMS           = 30_000  // configuration default of Every in unit time
	DefaultMaxMS             = 200_000 // configuration default of Max in unit time
	DefaultAfterMS           = 30_000
	DefaultWindow            = 20
	DefaultMinCalls          = 10
	DefaultRate              = 0.5
	DefaultProbeTTLMS        = 600_000
	DefaultProbeTTLSteps     = 20

	// MaxWindow bounds the memory of a rate policy, one bit per outcome.
	MaxWindow = 100_000

	// MaxInterval bounds Every and Max in every unit, so that no sum of them
	// overflows.
	MaxInterval = 1_000_000_000_000
)

// Unit is what the distance to a probe is counted in.
type Unit uint8

const (
	Attempts Unit = iota // requests for the tool (default)
	Steps                // steps of the agent
	Time                 // milliseconds
)

var unitNames = [...]string{Attempts: "attempts", Steps: "steps", Time: "time"}

// String returns attempts, steps or time.
func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return fmt.Sprintf("unit(%d)", uint8(u))
}

// MarshalText writes the name.
func (u Unit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads attempts, steps or time.
func (u *Unit) UnmarshalText(text []byte) error {
	for i, name := range unitNames {
		if string(text) == name {
			*u = Unit(i)
			return nil
		}
	}
	return fmt.Errorf("unknown unit %q; use attempts, steps or time", text)
}

// Rule is how a closed breaker decides to open.
type Rule uint8

const (
	Consecutive Rule = iota // FailureThreshold failures in a row (default)
	Rate                    // more than a share of the last outcomes failed
)

var ruleNames = [...]string{Consecutive: "consecutive", Rate: "rate"}

// String returns consecutive or rate.
func (r Rule) String() string {
	if int(r) < len(ruleNames) {
		return ruleNames[r]
	}
	return fmt.Sprintf("rule(%d)", uint8(r))
}

// MarshalText writes the name.
func (r Rule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads consecutive or rate.
func (r *Rule) UnmarshalText(text []byte) error {
	for i, name := range ruleNames {
		if string(text) == name {
			*r = Rule(i)
			return nil
		}
	}
	return fmt.Errorf("unknown trip policy %q; use consecutive or rate", text)
}

// Switch is a yes or no with a default. The zero value is the default.
type Switch uint8

const (
	Default Switch = iota // what the field documents
	On                    // yes
	No                    // no
)

// Or returns the switch's value, or def when it was left at Default.
func (s Switch) Or(def bool) bool {
	if s == Default {
		return def
	}
	return s == On
}

// MarshalJSON writes true, false, or null for Default.
func (s Switch) MarshalJSON() ([]byte, error) {
	switch s {
	case On:
		return []byte("true"), nil
	case No:
		return []byte("false"), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Switch) UnmarshalJSON(text []byte) error { return s.UnmarshalText(text) }

// UnmarshalText reads true or false (null: Default).
func (s *Switch) UnmarshalText(text []byte) error {
	switch string(text) {
	case "true":
		*s = On
	case "false":
		*s = No
	case "null":
		*s = Default
	default:
		return fmt.Errorf("%q is neither true nor false", text)
	}
	return nil
}

// Policy is everything that one live breaker is tuned by. In a Policy that a
// user writes, the zero value of a field means its default (or, in the policy
// of one tool, the engine's value); Off turns a limit off. The json tags are
// the names used in files; zero:"-1" says that a file's explicit 0 is Off.
type Policy struct {
	FailureThreshold  int    `json:"failure_threshold,omitempty"`   // failures in a row; default 3
	HalfOpenSuccesses int    `json:"half_open_successes,omitempty"` // good probes to close; default 1
	Trip              Trip   `json:"trip,omitzero"`
	SlowCallMS        int64  `json:"slow_call_ms,omitempty" zero:"-1"` // a longer success fails for the breaker; default off
	Batch             Switch `json:"batch,omitzero"`                   // parallel calls that fail alike at one moment count once; default false
	Probe             Pacing `json:"probe,omitzero"`
	ProbeTTLMS        int64  `json:"probe_ttl_ms,omitempty"`    // default 600,000
	ProbeTTLSteps     int64  `json:"probe_ttl_steps,omitempty"` // default 20; used where no time is given
}

// Trip is the rule by which a closed breaker opens (SPEC section 2).
type Trip struct {
	Policy   Rule    `json:"policy,omitzero"`
	Window   int     `json:"window,omitempty"`    // outcomes looked at; default 20, at most MaxWindow
	MinCalls int     `json:"min_calls,omitempty"` // outcomes needed before it may open; default 10
	Rate     float64 `json:"rate,omitempty"`      // opens above this share of failures; default 0.5
}

// Pacing is when an open tool gets its trial (SPEC section 3).
type Pacing struct {
	Unit        Unit   `json:"unit,omitzero"`
	Every       int64  `json:"every,omitempty"`                   // default 3 (30,000 in unit time)
	Max         int64  `json:"max,omitempty"`                     // cap of a lengthened interval; default 20 (200,000 in unit time)
	AfterMS     int64  `json:"after_ms,omitempty" zero:"-1"`      // unit attempts: also due after this long; default 30,000
	NotBeforeMS int64  `json:"not_before_ms,omitempty" zero:"-1"` // unit attempts: never due before; default off
	Backoff     Switch `json:"backoff,omitzero"`                  // lengthen after each failed probe; default false
}

// Defaults returns the policy of SPEC section 14, every field set. Unit time
// is given the same Every and Max as the others, as replay wants them.
func Defaults() Policy {
	return Policy{
		FailureThreshold:  DefaultFailureThreshold,
		HalfOpenSuccesses: DefaultHalfOpenSuccesses,
		Trip:              Trip{Window: DefaultWindow, MinCalls: DefaultMinCalls, Rate: DefaultRate},
		SlowCallMS:        Off,
		Batch:             No,
		Probe:             Pacing{Every: DefaultEvery, Max: DefaultMax, AfterMS: DefaultAfterMS, NotBeforeMS: Off, Backoff: No},
		ProbeTTLMS:        DefaultProbeTTLMS,
		ProbeTTLSteps:     DefaultProbeTTLSteps,
	}
}

// Over returns p with each zero field taken from base. An Every or Max that p
// leaves open while it changes the unit to or from time gets the unit's own
// default, since the base's number counts something else.
func (p Policy) Over(base Policy) Policy {
	if p.Probe.Unit != base.Probe.Unit && p.Probe.Unit == Time {
		base.Probe.Every, base.Probe.Max = DefaultEveryMS, DefaultMaxMS
	}
	pick(&p.FailureThreshold, base.FailureThreshold)
	pick(&p.HalfOpenSuccesses, base.HalfOpenSuccesses)
	pick(&p.Trip.Policy, base.Trip.Policy)
	pick(&p.Trip.Window, base.Trip.Window)
	pick(&p.Trip.MinCalls, base.Trip.MinCalls)
	pick(&p.Trip.Rate, base.Trip.Rate)
	pick(&p.SlowCallMS, base.SlowCallMS)
	pick(&p.Batch, base.Batch)
	pick(&p.Probe.Unit, base.Probe.Unit)
	pick(&p.Probe.Every, base.Probe.Every)
	pick(&p.Probe.Max, base.Probe.Max)
	pick(&p.Probe.AfterMS, base.Probe.AfterMS)
	pick(&p.Probe.NotBeforeMS, base.Probe.NotBeforeMS)
	pick(&p.Probe.Backoff, base.Probe.Backoff)
	pick(&p.ProbeTTLMS, base.ProbeTTLMS)
	pick(&p.ProbeTTLSteps, base.ProbeTTLSteps)
	return p
}

func pick[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}

// Validate reports every bad value of a policy whose fields are all set, each
// error led by the field's name. Without strictMax a Max below Every passes,
// as replay asks (SPEC section 14).
func (p Policy) Validate(strictMax bool) error {
	var errs []error
	least := func(name string, value, min int64) {
		if value < min {
			errs = append(errs, fmt.Errorf("%s: %d is below %d; give %d or more", name, value, min, min))
		}
	}
	between := func(name string, value, min, max int64) {
		least(name, value, min)
		if value > max {
			errs = append(errs, fmt.Errorf("%s: %d is above %d; give less", name, value, max))
		}
	}
	limit := func(name string, value int64) {
		if value < 1 && value != Off {
			errs = append(errs, fmt.Errorf("%s: %d; give a positive number, or 0 (in Go: breaker.Off) to turn it off", name, value))
		}
	}
	least("failure_threshold", int64(p.FailureThreshold), 1)
	least("half_open_successes", int64(p.HalfOpenSuccesses), 1)
	if p.Trip.Policy > Rate {
		errs = append(errs, fmt.Errorf("trip.policy: %s; use consecutive or rate", p.Trip.Policy))
	}
	between("trip.window", int64(p.Trip.Window), 1, MaxWindow)
	least("trip.min_calls", int64(p.Trip.MinCalls), 1)
	if p.Trip.Policy == Rate && p.Trip.MinCalls > p.Trip.Window && strictMax {
		errs = append(errs, fmt.Errorf("trip.min_calls: %d is above trip.window %d, so it could never open; lower it", p.Trip.MinCalls, p.Trip.Window))
	}
	if !(p.Trip.Rate > 0 && p.Trip.Rate < 1) {
		errs = append(errs, fmt.Errorf("trip.rate: %v; give a share between 0 and 1", p.Trip.Rate))
	}
	limit("slow_call_ms", p.SlowCallMS)
	if p.Probe.Unit > Time {
		errs = append(errs, fmt.Errorf("probe.unit: %s; use attempts, steps or time", p.Probe.Unit))
	}
	between("probe.every", p.Probe.Every, 1, MaxInterval)
	between("probe.max", p.Probe.Max, 1, MaxInterval)
	if strictMax && p.Probe.Max < p.Probe.Every {
		errs = append(errs, fmt.Errorf("probe.max: %d is below probe.every %d; raise max or lower every", p.Probe.Max, p.Probe.Every))
	}
	limit("probe.after_ms", p.Probe.AfterMS)
	limit("probe.not_before_ms", p.Probe.NotBeforeMS)
	least("probe_ttl_ms", p.ProbeTTLMS, 1)
	least("probe_ttl_steps", p.ProbeTTLSteps, 1)
	return errors.Join(errs...)
}
