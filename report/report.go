package report

import (
	"fmt"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/scope"
)

// Format is the version of a Report's JSON. Fields may be added within one
// version; they are never renamed or given another meaning.
const Format = 1

// Input is what New makes a Report of. Every part may be missing: the report
// then prints the others and says what it lacks.
type Input struct {
	Task        string                    // its name
	Status      *expediter.Status         // of the engine, as the run ended
	Idle        int                       // tools that Status leaves out since they were never called
	Scope       *scope.Result             // what the reduction gave
	Work        []Work                    // the sub-tasks and what became of them
	History     []expediter.IncidentEvent // incidents as they came and went
	Substitutes []expediter.Substitute    // values that stood in for a tool's own; none is no gap
	Interrupted bool                      // somebody stopped the run
	Notes       []string                  // what else changes the meaning of the rest, such as a fleet that the engine belongs to
}

// Report is all that is known about a run: cleaned text and numbers, free of
// anything that a format must still look up. It marshals to JSON under the
// names below and reads back.
type Report struct {
	Format          int           `json:"format"` // see Format
	Task            string        `json:"task,omitempty"`
	Outcome         Outcome       `json:"outcome"`
	Summary         string        `json:"summary"`          // how many sub-tasks came to what
	Paused          string        `json:"paused,omitempty"` // "systemic" or "budget"
	Until           *Moment       `json:"until,omitempty"`  // the latest that the engine saw
	Policy          *Policy       `json:"policy,omitempty"` // effective
	Budget          *Budget       `json:"budget,omitempty"`
	Tools           []Tool        `json:"tools,omitempty"` // in table order
	Work            []Work        `json:"work,omitempty"`
	Scope           *scope.Result `json:"scope,omitempty"`
	Incidents       []Incident    `json:"incidents,omitempty"` // not ended
	History         []Turn        `json:"history,omitempty"`   // of incidents, oldest first
	Suspicion       *Suspicion    `json:"suspicion,omitempty"`
	Decisions       *Decisions    `json:"decisions,omitempty"`
	Routes          []Route       `json:"routes,omitempty"`     // that the engine advised, oldest first
	Unverified      []Unverified  `json:"unverified,omitempty"` // calls to verify before they are repeated, oldest first
	Substitutes     []Substitute  `json:"substitutes,omitempty"`
	Recommendations []string      `json:"recommendations,omitempty"`
	Notes           []string      `json:"notes,omitempty"`   // what changes the meaning of the rest: modes, tools that are left out
	Missing         []string      `json:"missing,omitempty"` // parts of the input that were not given
}

// Moment is a point of a run.
type Moment struct {
	Step     int64  `json:"step"`               // expediter.NoStep: none
	At       int64  `json:"at,omitempty"`       // milliseconds since 1970; 0: none
	Text     string `json:"text,omitempty"`     // what was said there
	Category string `json:"category,omitempty"` // of a failure
}

// Policy is the effective policy in words.
type Policy struct {
	Threshold string      `json:"threshold"` // when a circuit opens
	Budget    string      `json:"budget"`
	Pacing    string      `json:"pacing"`        // when an open tool is tried
	Own       []OwnPolicy `json:"own,omitempty"` // tools that have their own
}

// OwnPolicy is a tool's own threshold and pacing.
type OwnPolicy struct {
	Tool      string `json:"tool"`
	Threshold string `json:"threshold"`
	Pacing    string `json:"pacing"`
}

// Budget is the failure budget of the present cycle.
type Budget struct {
	Cycle    int      `json:"cycle"`                     // the first is 1
	Consumed int      `json:"consumed"`                  // failures
	Limit    int      `json:"limit"`                     // failures; -1: none
	Charges  []Charge `json:"charges,omitempty"`         // oldest first
	Omitted  int      `json:"charges_omitted,omitempty"` // older ones that are not listed
}

// Charge is one failure of the cycle.
type Charge struct {
	Tool   string `json:"tool"`
	Counts bool   `json:"counts"` // false: folded into one that counts for its incident
	Moment
}

// Tool is one row of the state table.
type Tool struct {
	Tool         string   `json:"tool"`
	State        string   `json:"state"`             // CLOSED, OPEN or HALF-OPEN
	Health       string   `json:"health"`            // in words
	Fails        int      `json:"consecutive_fails"` // of a tool that is not closed: the run that opened it
	LastFailure  *Moment  `json:"last_failure,omitempty"`
	LastSuccess  *Moment  `json:"last_success,omitempty"`
	Causes       []string `json:"causes,omitempty"`        // categories of that run, each once
	Opened       *Moment  `json:"opened,omitempty"`        // when a tool that is not closed opened
	FailedProbes int      `json:"failed_probes,omitempty"` // since then
	Unblock      []string `json:"unblocked_by,omitempty"`  // what would make it usable, nearest first
	Score        string   `json:"score,omitempty"`         // of its pre-call check, where it is not available
	Forced       bool     `json:"forced,omitempty"`        // opened by an operator
	External     string   `json:"external,omitempty"`      // OPEN or HALF-OPEN, as another breaker in front of it says
	Unverified   int      `json:"unverified,omitempty"`    // its calls to verify, listed in Report.Unverified but for the oldest of many
	KnownIssues  string   `json:"known_issues,omitempty"`
}

// Incident is one common cause and the tools it took down.
type Incident struct {
	Cause   string   `json:"cause"` // a category, "signature" or "mixed"
	Line    string   `json:"line"`  // the systemic failure in one sentence
	Members []string `json:"members"`
	Flagged []string `json:"flagged,omitempty"`
	Active  bool     `json:"active"` // pausing; else recovering
	Moment
}

// Turn is one step in an incident's life.
type Turn struct {
	Kind    string   `json:"kind"` // flagged, declared, joined, confirmed, ended, suspected
	Cause   string   `json:"cause,omitempty"`
	Members []string `json:"members,omitempty"`
	Moment
}

// Suspicion is a common cause that is suspected, and pauses nothing.
type Suspicion struct {
	Cause   string   `json:"cause"`
	Members []string `json:"members"`
	Line    string   `json:"line"`
}

// Decisions counts what the engine decided since it began.
type Decisions struct {
	Calls  uint64 `json:"calls"`
	Probes uint64 `json:"probes"`
	Skips  uint64 `json:"skips"`
	Pauses uint64 `json:"pauses"`
	// Refused are the calls among them that a guard of the caller's refused: each
	// is a call or a probe, and a skip.
	Refused uint64 `json:"refused,omitempty"`
}

// Route is one piece of advice for a skipped call, and how often in a row it
// was given.
type Route struct {
	Tool        string `json:"tool"`
	Kind        string `json:"kind"`             // alternative, fallback or reduce
	Label       string `json:"label"`            // ACCEPTABLE, PARTIAL, UNVERIFIED, FALLBACK or SKIPPED
	To          string `json:"to,omitempty"`     // the alternative
	Method      string `json:"method,omitempty"` // how to use it
	Degradation string `json:"degradation,omitempty"`
	Ask         string `json:"ask,omitempty"` // of the user
	Times       int    `json:"times"`
	Moment             // the latest time
}

// Unverified is a failed call that may have taken effect all the same.
type Unverified struct {
	Tool   string `json:"tool"`
	Verify string `json:"verify"` // what to find out, in one sentence
	Moment
}

// Substitute is a value that callers got instead of a tool's own: how often, and
// of the latest when, why (Text) and how far it can be trusted.
type Substitute struct {
	Tool   string `json:"tool"`
	Used   string `json:"used"` // alternative, last_good or default
	Label  string `json:"label,omitempty"`
	Lost   string `json:"lost"` // what the value lacks
	Times  int    `json:"times"`
	Moment        // the latest time
}

// Work is one sub-task and what became of it.
type Work struct {
	Number   int           `json:"number"` // from 1; 0 in an Input: its place in the list
	ID       string        `json:"id,omitempty"`
	Title    string        `json:"title"`
	State    WorkState     `json:"state"`
	Reason   string        `json:"reason,omitempty"`       // "Bash circuit OPEN"
	Degraded []Degradation `json:"degraded,omitempty"`     // routes that were taken
	Unblock  []string      `json:"unblocked_by,omitempty"` // what would let it go on
	Data     []Datum       `json:"data,omitempty"`
}

// Degradation is a route that was taken, and what it cost.
type Degradation struct {
	Tool    string           `json:"tool"`    // the tool that was needed
	Through string           `json:"through"` // the one that was used; empty: the user
	Label   capability.Label `json:"label"`
	Lost    string           `json:"lost,omitempty"`
}

// Datum is what a tool returned. Its label stands beside it, never inside.
type Datum struct {
	Tool  string   `json:"tool"`
	Label string   `json:"label,omitempty"` // of package freshness; empty: fresh
	Text  string   `json:"-"`               // in an Input: as the tool gave it
	Lines []string `json:"lines,omitempty"` // in a Report: the cleaned beginning of it
}

// WorkState is what became of a sub-task. The zero value is NotAttempted.
type WorkState uint8

// The states of a sub-task.
const (
	NotAttempted WorkState = iota
	Succeeded
	Failed   // it was tried, and did not succeed
	Deferred // it was left for later
	Started  // it is being worked on
)

var workNames = [...]string{NotAttempted: "NOT ATTEMPTED", Succeeded: "SUCCESS", Failed: "FAILED", Deferred: "DEFERRED", Started: "IN PROGRESS"}

// String returns the words that reports print.
func (s WorkState) String() string { return nameOf(workNames[:], s) }

// MarshalText writes the words.
func (s WorkState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the words.
func (s *WorkState) UnmarshalText(text []byte) error { return valueOf(workNames[:], s, text) }

// Outcome is what a run came to. The zero value is Unclear.
type Outcome uint8

// The outcomes of a run.
const (
	Unclear     Outcome = iota // no work list was given
	Complete                   // every sub-task succeeded as planned
	Degraded                   // every sub-task succeeded, some through an alternative
	Reduced                    // some were deferred
	Incomplete                 // some failed, or were not finished or not attempted
	Paused                     // the engine pauses, and work is left
	Interrupted                // somebody stopped the run, and work is left
)

var outcomeNames = [...]string{Unclear: "unclear", Complete: "complete", Degraded: "degraded", Reduced: "reduced",
	Incomplete: "incomplete", Paused: "paused", Interrupted: "interrupted"}

// String returns the word.
func (o Outcome) String() string { return nameOf(outcomeNames[:], o) }

// MarshalText writes the word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the word.
func (o *Outcome) UnmarshalText(text []byte) error { return valueOf(outcomeNames[:], o, text) }

func nameOf[T ~uint8](names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("value(%d)", uint8(v))
}

func valueOf[T ~uint8](names []string, into *T, text []byte) error {
	for i, name := range names {
		if name == string(text) {
			*into = T(i)
			return nil
		}
	}
	return fmt.Errorf("unknown word %q in a report; use one of %q", text, names)
}

// unknownCategory is the name of a failure that nobody could classify.
var unknownCategory = cascade.Unknown.String()
