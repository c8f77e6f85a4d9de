package analysis

import (
	"fmt"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

// Policy is one row of an analysis: an engine's configuration, how calls are
// keyed, and which results it hears of.
type Policy struct {
	Name   string
	Config expediter.Config
	Keys   Keys
	Filter Filter
}

// Keys is what a breaker is kept for. The zero Keys is FullKeys.
type Keys uint8

const (
	FullKeys Keys = iota // as classify gives it: Bash/go, WebFetch/example.org
	ToolKeys             // the tool as the agent calls it
)

var keysNames = [...]string{FullKeys: "full", ToolKeys: "tool"}

// String returns full or tool.
func (k Keys) String() string { return word(keysNames[:], k, "keys") }

// Filter is which results count as failures to a policy. The zero Filter is
// Judged. What is saved and lost is always told by the judged outcome, so that
// rows compare.
type Filter uint8

const (
	Judged  Filter = iota // the tool, or the way to it, was broken
	Flagged               // every result that is marked as an error, answers included; not what a user or guard refused
	Remote                // judged, and of a category that a remote service has: the others say nothing
	Nothing               // none: the breaker never opens
)

var filterNames = [...]string{Judged: "judged", Flagged: "flagged", Remote: "remote", Nothing: "nothing"}

// String returns judged, flagged, remote or nothing.
func (f Filter) String() string { return word(filterNames[:], f, "filter") }

// hears turns a judged outcome into what the policy takes it for.
func (f Filter) hears(o expediter.Outcome, answered bool) expediter.Outcome {
	switch {
	case f == Flagged && answered:
		o.Result, o.Category = cascade.Failed, cascade.Unknown
	case f == Nothing && o.Result == cascade.Failed, f == Remote && o.Result == cascade.Failed && !remote(o.Category):
		return expediter.Ignored()
	}
	return o
}

// remote are the categories of services that are reached over a network.
func remote(c cascade.Category) bool {
	switch c {
	case cascade.Network, cascade.Timeout, cascade.RateLimit, cascade.Auth, cascade.Upstream:
		return true
	}
	return false
}

// Names of the Baselines.
const (
	NeverOpens  = "never opens"
	AllFailures = "all failures per tool"
	Faithful    = "faithful"
	Interactive = "interactive"
)

// Baselines are what a breaker has to be better than, and our two policies.
func Baselines() []Policy {
	return []Policy{
		{Name: NeverOpens, Filter: Nothing},
		{Name: AllFailures, Keys: ToolKeys, Filter: Flagged},
		{Name: Faithful, Config: expediter.Config{Policy: expediter.Faithful()}},
		{Name: Interactive, Config: expediter.Config{Policy: expediter.Interactive()}},
	}
}

func word[T ~uint8](names []string, v T, kind string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(v))
}
