package capability

import (
	"fmt"
	"slices"
)

// RouteKind is what a route asks for.
type RouteKind uint8

const (
	Reduce         RouteKind = iota // nothing stands in: reduce the scope
	UseAlternative                  // call another tool
	UseFallback                     // ask the user
)

var kindNames = [...]string{Reduce: "reduce", UseAlternative: "alternative", UseFallback: "fallback"}

// String returns alternative, fallback or reduce.
func (k RouteKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("route(%d)", uint8(k))
}

// MarshalText writes the name.
func (k RouteKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads alternative, fallback or reduce.
func (k *RouteKind) UnmarshalText(text []byte) error {
	return unmarshalName(k, kindNames[:], "route", "alternative, fallback or reduce", text)
}

// Label is the decision word of a route, as reports print it.
type Label uint8

const (
	Skipped    Label = iota // scope reduction
	Acceptable              // alternative, low degradation
	Partial                 // alternative, high degradation
	Unverified              // alternative, degradation unknown
	Fallback                // the user provides it
)

var labelNames = [...]string{Skipped: "SKIPPED", Acceptable: "ACCEPTABLE", Partial: "PARTIAL", Unverified: "UNVERIFIED", Fallback: "FALLBACK"}

// String returns the word in capitals.
func (l Label) String() string {
	if int(l) < len(labelNames) {
		return labelNames[l]
	}
	return fmt.Sprintf("LABEL(%d)", uint8(l))
}

// MarshalText writes the word.
func (l Label) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the word.
func (l *Label) UnmarshalText(text []byte) error {
	return unmarshalName(l, labelNames[:], "route label", "ACCEPTABLE, PARTIAL, UNVERIFIED, FALLBACK or SKIPPED", text)
}

// Route is where a skipped call may go instead. It is advice: nothing here
// executes it. Routes are shared and must not be changed.
type Route struct {
	Kind        RouteKind `json:"kind"`
	Label       Label     `json:"label"`
	Tool        string    `json:"tool,omitempty"`        // the alternative
	Method      string    `json:"method,omitempty"`      // how to use it
	Degradation string    `json:"degradation,omitempty"` // what is lost
	Ask         string    `json:"ask,omitempty"`         // the manual fallback
}

// Plan is one entry made ready for routing: its alternatives in order of
// preference, and each route built once. It is immutable.
type Plan struct {
	Alternatives []Alternative // by level, then as declared
	routes       []Route       // one for each alternative
	fallback     *Route        // nil: none
	none         bool          // no_substitute
}

var reduced = &Route{Kind: Reduce, Label: Skipped}

// Reduced is the route of last resort: take the work out of scope.
func Reduced() *Route { return reduced }

// NewPlan makes an entry ready for routing. The plan may keep the entry's
// alternatives: do not change them afterwards.
func NewPlan(e Entry) *Plan {
	p := &Plan{Alternatives: e.Alternatives, none: e.NoSubstitute}
	byLevel := func(a, b Alternative) int { return int(a.Effective()) - int(b.Effective()) }
	if !slices.IsSortedFunc(p.Alternatives, byLevel) {
		p.Alternatives = slices.Clone(p.Alternatives)
		slices.SortStableFunc(p.Alternatives, byLevel)
	}
	p.routes = make([]Route, 0, len(p.Alternatives))
	for _, a := range p.Alternatives {
		label := Acceptable
		switch a.Effective() {
		case High:
			label = Partial
		case Unknown:
			label = Unverified
		}
		p.routes = append(p.routes, Route{Kind: UseAlternative, Label: label, Tool: a.Tool, Method: a.Method, Degradation: a.Degradation})
	}
	if e.Fallback != "" {
		p.fallback = &Route{Kind: UseFallback, Label: Fallback, Ask: e.Fallback}
	}
	return p
}

// Choose gives the first route that holds (SPEC section 8). viable answers for
// the i-th of Alternatives: its circuit is CLOSED and it is not unavailable.
// denied says that the tool was opened by a denial (permission or auth), after
// which only alternatives of the same authority may stand in. A nil plan (a
// tool nobody declared) has only scope reduction.
func (p *Plan) Choose(viable func(i int) bool, denied, userAvailable bool) *Route {
	if p == nil || p.none {
		return reduced
	}
	for i := range p.Alternatives {
		if denied && !p.Alternatives[i].SameAuthority {
			continue
		}
		if viable(i) {
			return &p.routes[i]
		}
	}
	if p.fallback != nil && userAvailable {
		return p.fallback
	}
	return reduced
}

// NoSubstitute reports whether nothing may stand in.
func (p *Plan) NoSubstitute() bool { return p != nil && p.none }
