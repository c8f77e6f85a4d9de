package capability

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/expediter/breaker"
)

// Map is the capability map: what each tool provides and what may stand in
// for it when its circuit is open (SPEC sections 8 and 13).
type Map []Entry

// Clone copies the map, so that the copy shares nothing that can change.
func (m Map) Clone() Map {
	out := slices.Clone(m)
	for i := range out {
		out[i].Alternatives = slices.Clone(out[i].Alternatives)
		out[i].Shares = slices.Clone(out[i].Shares)
		out[i].Classify = slices.Clone(out[i].Classify)
	}
	return out
}

// Entry is one tool of the map. The json tags are the keys of files (SPEC
// section 13).
type Entry struct {
	Tool         string         `json:"tool"`                   // unique name; `a/b` also serves `a/b/c`
	Provides     string         `json:"provides,omitempty"`     // one line
	Alternatives []Alternative  `json:"alternatives,omitempty"` // as declared; routing orders them by level
	Fallback     string         `json:"fallback,omitempty"`     // what the user is asked to do; empty: none
	Shares       []string       `json:"shares,omitempty"`       // things several tools depend on: "sso", "vpn"
	Freshness    Freshness      `json:"freshness,omitzero"`     // how fresh its results are; zero: FreshnessUndeclared
	SideEffects  SideEffects    `json:"side_effects,omitzero"`  // what a repeated call does; zero: EffectsUndeclared
	NoSubstitute bool           `json:"no_substitute,omitzero"` // nothing may stand in: a validator, an approval gate
	KnownIssues  string         `json:"known_issues,omitempty"` // text for the reports
	Initial      Score          `json:"initial,omitzero"`       // pre-call score it starts with; zero: available
	Policy       breaker.Policy `json:"policy,omitzero"`        // its own thresholds and pacing; zero fields: the engine's
	Classify     []ClassifyRule `json:"classify,omitempty"`     // its own rules, asked before the built-in ones
}

// Alternative is another tool that partly covers an entry's capability.
type Alternative struct {
	Tool          string `json:"tool"`
	Method        string `json:"method,omitempty"`         // how to use it instead
	Degradation   string `json:"degradation,omitempty"`    // what is lost
	Level         Level  `json:"level,omitzero"`           // zero: unknown if Degradation starts with "unknown", else low
	SameAuthority bool   `json:"same_authority,omitempty"` // may stand in after a denial (permission, auth)
	Passthrough   bool   `json:"passthrough,omitempty"`    // takes the same input unchanged
}

// ClassifyRule is a user's own rule for what a tool returned; package classify
// applies it. Exactly one of Match and ExitCode is set.
type ClassifyRule struct {
	Match    string `json:"match,omitempty"`     // RE2 pattern, searched in the error text; at most 1,024 bytes
	ExitCode *int   `json:"exit_code,omitempty"` // 1 to 255
	Outcome  string `json:"outcome,omitempty"`   // success, failure or ignored; empty: failure
	Category string `json:"category,omitempty"`  // a category of SPEC section 1; only with failure
}

// Level is how much an alternative loses.
type Level uint8

const (
	LevelUndeclared Level = iota // derived from the degradation text
	Low
	High
	Unknown
)

var levelNames = [...]string{LevelUndeclared: "", Low: "low", High: "high", Unknown: "unknown"}

// String returns low, high, unknown, or nothing for LevelUndeclared.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// MarshalText writes the name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads low, high or unknown.
func (l *Level) UnmarshalText(text []byte) error {
	return unmarshalName(l, levelNames[:], "level", "low, high or unknown", text)
}

// Effective is the level that routing uses (SPEC section 8, rule 1).
func (a Alternative) Effective() Level {
	if a.Level != LevelUndeclared {
		return a.Level
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Degradation)), "unknown") {
		return Unknown
	}
	return Low
}

// Score is the verdict of a pre-call check (SPEC section 9). It is advice: the
// breaker stays the authority.
type Score uint8

const (
	Available Score = iota
	Degraded
	Unavailable
)

var scoreNames = [...]string{Available: "available", Degraded: "degraded", Unavailable: "unavailable"}

// String returns available, degraded or unavailable.
func (s Score) String() string {
	if int(s) < len(scoreNames) {
		return scoreNames[s]
	}
	return fmt.Sprintf("score(%d)", uint8(s))
}

// MarshalText writes the name.
func (s Score) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads available, degraded or unavailable.
func (s *Score) UnmarshalText(text []byte) error {
	return unmarshalName(s, scoreNames[:], "score", "available, degraded or unavailable", text)
}

// Freshness is what a tool declares about the age of its results (SPEC 11).
type Freshness uint8

const (
	FreshnessUndeclared Freshness = iota
	Live                          // every result is current
	Caches                        // results may come from a cache
	FreshnessUnknown              // nobody knows
)

var freshnessNames = [...]string{FreshnessUndeclared: "", Live: "live", Caches: "caches", FreshnessUnknown: "unknown"}

// String returns live, caches, unknown, or nothing.
func (f Freshness) String() string {
	if int(f) < len(freshnessNames) {
		return freshnessNames[f]
	}
	return fmt.Sprintf("freshness(%d)", uint8(f))
}

// MarshalText writes the name.
func (f Freshness) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads live, caches or unknown.
func (f *Freshness) UnmarshalText(text []byte) error {
	return unmarshalName(f, freshnessNames[:], "freshness", "live, caches or unknown", text)
}

// SideEffects is what a tool declares about repeating a call.
type SideEffects uint8

const (
	EffectsUndeclared SideEffects = iota
	EffectsNone                   // reads only
	Idempotent                    // a repeat changes nothing more
	Destructive                   // a repeat may do harm
)

var effectNames = [...]string{EffectsUndeclared: "", EffectsNone: "none", Idempotent: "idempotent", Destructive: "destructive"}

// String returns none, idempotent, destructive, or nothing.
func (e SideEffects) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return fmt.Sprintf("side_effects(%d)", uint8(e))
}

// MarshalText writes the name.
func (e SideEffects) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads none, idempotent or destructive.
func (e *SideEffects) UnmarshalText(text []byte) error {
	return unmarshalName(e, effectNames[:], "side_effects", "none, idempotent or destructive", text)
}

func unmarshalName[T ~uint8](into *T, names []string, what, use string, text []byte) error {
	for i, name := range names {
		if name == string(text) {
			*into = T(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q; use %s", what, text, use)
}
