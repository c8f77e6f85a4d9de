package expediter

import (
	"strconv"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// Events are the observers of an engine; nil ones cost nothing. They are
// called in the order of the events, one at a time, outside every lock, on the
// goroutine of some caller; they may call the engine. A panicking observer
// panics in that caller, and later events are delivered all the same.
//
// Journal, Decided and Recorded see every call, so with one of them set each
// Decide and Record takes the engine's lock.
type Events struct {
	// Journal receives every event complete, with its inputs and outputs, in
	// the order in which they were applied. It must not keep or change what
	// the event points to.
	Journal    func(*Event)
	Decided    func(*Event)        // each decide
	Recorded   func(*Event)        // each record, and each call that a guard refused
	Transition func(Transition)    // each change of a breaker's state
	Routed     func(Routing)       // each SKIP: its route, and what was passed over
	Incident   func(IncidentEvent) // flagged, joined, confirmed, ended, suspected, declared
	Paused     func(PauseEvent)    // the engine begins to pause, or resumes
	Unverified func(Unverified)    // each failed call that may have taken effect
}

// Transition is one change of a breaker's state.
type Transition struct {
	Tool     string
	From, To breaker.State
	Step     int64
	At       int64  // milliseconds since 1970; 0: no time was given
	Failures int    // of an opening: the run of failures that led to it
	Why      string // one line: "3 consecutive failures"
}

// String is the form of SPEC section 14: Tool:FROM->TO@step.
func (t Transition) String() string {
	return t.Tool + ":" + t.From.String() + "->" + t.To.String() + "@" + strconv.FormatInt(t.Step, 10)
}

// Routing is one SKIP with its route.
type Routing struct {
	Tool       string
	Reason     Reason
	Route      *capability.Route
	PassedOver []PassedOver // alternatives before the route, in order
	Step, At   int64
}

// PassedOver says why an alternative was not taken.
type PassedOver struct {
	Tool string `json:"tool"`
	Why  string `json:"why"` // "OPEN", "HALF_OPEN", "unavailable", "not of the same authority", "may have taken effect"
}

// IncidentKind is what happened to an incident.
type IncidentKind string

// The kinds of IncidentEvent.
const (
	IncidentFlagged   IncidentKind = "flagged"
	IncidentDeclared  IncidentKind = "declared"
	IncidentJoined    IncidentKind = "joined"
	IncidentConfirmed IncidentKind = "confirmed"
	IncidentEnded     IncidentKind = "ended"
	IncidentSuspected IncidentKind = "suspected"
)

// IncidentEvent is one step in an incident's life.
type IncidentEvent struct {
	Kind     IncidentKind
	Cause    string   // a category, "signature" or "mixed"
	Members  []string // sorted
	Step, At int64
}

// PauseEvent says that the engine begins to answer PAUSE, or stops to.
type PauseEvent struct {
	Reason   Reason // NoReason: resumed
	Consumed int
	Limit    int
	Step, At int64
}

// Op is the kind of an Event.
type Op string

// The events of a journal (docs/journal.md).
const (
	OpStart           Op = "start"
	OpDecide          Op = "decide"
	OpRecord          Op = "record"
	OpBeginCycle      Op = "begin_cycle"
	OpConfirmRecovery Op = "confirm_recovery"
	OpAvailability    Op = "availability"
	OpDeclareOutage   Op = "declare_outage"
	OpForceOpen       Op = "force_open"
	OpReset           Op = "reset"
	OpDisable         Op = "disable"
	OpRefuse          Op = "refuse"
	OpExternal        Op = "external"
	OpVerified        Op = "verified"
	OpObserveOnly     Op = "observe_only"
	OpShare           Op = "share"
	OpLease           Op = "lease"
	OpAdopt           Op = "adopt"
	OpTask            Op = "task"
	OpSubtask         Op = "subtask"
	OpRouteTaken      Op = "route_taken"
	OpNote            Op = "note"
)

// Event is one line of a journal: the inputs of one event and the outputs that
// the engine gave. Fields that do not belong to its Op are zero.
type Event struct {
	Seq  uint64 `json:"seq"`
	Op   Op     `json:"op"`
	Step int64  `json:"step"`
	At   int64  `json:"at"` // milliseconds since 1970, as given; 0: none

	// Inputs.
	Start      *Start            `json:"start,omitempty"`
	Tool       string            `json:"tool,omitempty"`
	Tools      []string          `json:"tools,omitempty"`  // declare_outage
	Scored     bool              `json:"scored,omitempty"` // decide: Score is for this call alone
	Score      capability.Score  `json:"score,omitzero"`   // availability; decide when Scored
	Call       CallID            `json:"call,omitzero"`    // record, refuse: input; decide: output
	Result     *cascade.Outcome  `json:"result,omitempty"` // record
	Category   cascade.Category  `json:"category,omitzero"`
	Signature  string            `json:"signature,omitempty"`
	Text       string            `json:"text,omitempty"` // bounded and cleaned
	DurationMS int64             `json:"duration_ms,omitempty"`
	RetryMS    int64             `json:"retry_after_ms,omitempty"`
	Effect     bool              `json:"may_have_taken_effect,omitempty"`
	Cause      *cascade.Category `json:"cause,omitempty"`  // declare_outage
	State      *breaker.State    `json:"state,omitempty"`  // external
	Reason     string            `json:"why,omitempty"`    // of a control, refuse, external: the words of whoever gave it
	On         *bool             `json:"on,omitempty"`     // observe_only; share: the budget too
	Fleet      FleetMode         `json:"fleet,omitzero"`   // share
	Until      int64             `json:"until,omitempty"`  // lease, in milliseconds; 0: taken back
	Change     *Change           `json:"change,omitempty"` // adopt
	Note       map[string]any    `json:"note,omitempty"`   // task, subtask, route_taken, note

	// Outputs.
	Decided     *Decided        `json:"decided,omitempty"` // decide, refuse
	Stale       bool            `json:"stale,omitempty"`
	Batched     bool            `json:"batched,omitempty"` // record
	Transitions []string        `json:"transitions,omitempty"`
	Budget      string          `json:"budget,omitempty"` // consumed/limit
	Paused      Reason          `json:"paused,omitzero"`
	Systemic    *SystemicOutput `json:"systemic,omitempty"`
	Suspected   *SystemicOutput `json:"suspected,omitempty"`
	Error       string          `json:"error,omitempty"`
}

// Decided is the output of a decide event.
type Decided struct {
	Decision Verb              `json:"decision"`
	Reason   Reason            `json:"reason,omitzero"`
	Caution  Caution           `json:"caution,omitzero"`
	Would    Verb              `json:"would,omitzero"` // only where it differs
	Route    *capability.Route `json:"route,omitempty"`
	Passed   []PassedOver      `json:"passed_over,omitempty"`
	Next     int64             `json:"next,omitempty"`
	Unit     breaker.Unit      `json:"unit,omitzero"`
}

// SystemicOutput names an incident's cause and members.
type SystemicOutput struct {
	Cause   string   `json:"cause"`
	Members []string `json:"members"` // sorted
}

// Start is the first event of a journal.
type Start struct {
	Format   int            `json:"format"` // 1
	Policy   Policy         `json:"policy"` // effective
	Strict   bool           `json:"strict,omitempty"`
	NoUser   bool           `json:"user_unavailable,omitempty"`
	Stepless bool           `json:"stepless,omitempty"`
	MaxTools int            `json:"max_tools,omitempty"`
	Replay   bool           `json:"replay,omitempty"`
	Map      capability.Map `json:"map"`
	Snapshot *Snapshot      `json:"snapshot,omitempty"` // of a resumed run
}
