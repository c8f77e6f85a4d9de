package analysis

import "github.com/expediter-go/expediter/internal/trace"

// Counts are the figures of one policy over some calls.
type Counts struct {
	Sessions       int     `json:"sessions"`
	Calls          int     `json:"calls"`
	Failures       int     `json:"failures"` // the tool, or the way to it, was broken
	Answered       int     `json:"answered"` // marked as errors, yet answers of a working tool
	Ignored        int     `json:"ignored"`  // says nothing about the tool
	Openings       int     `json:"openings"` // CLOSED to OPEN
	Skipped        int     `json:"skipped"`  // calls that it would have denied: saved + lost + those that say nothing
	Saved          int     `json:"saved"`    // skipped, and failed in the recording
	Lost           int     `json:"lost"`     // skipped, and succeeded in the recording, answers included
	LostAnswers    int     `json:"lost_answers"`
	Paused         int     `json:"paused"`    // calls after a PAUSE, up to the user's next prompt
	Precision      float64 `json:"precision"` // saved / (saved + lost); 1 when nothing was saved or lost
	Probes         int     `json:"probes"`
	Pauses         int     `json:"pauses"` // times that it began to pause
	SessionsPaused int     `json:"sessions_paused"`
	Incidents      int     `json:"incidents"`
	SavedMS        int64   `json:"saved_ms,omitempty"` // time of the saved calls, where recorded
	LostMS         int64   `json:"lost_ms,omitempty"`
	SavedTokens    int64   `json:"saved_tokens,omitempty"`
	LostTokens     int64   `json:"lost_tokens,omitempty"`
}

// Part is the share of one tool, category or file.
type Part struct {
	Name string `json:"name"`
	Counts
}

// Row is what one policy would have done.
type Row struct {
	Policy string `json:"policy"`
	Counts
	ByTool     []Part `json:"by_tool"` // most calls first, then by name
	ByCategory []Part `json:"by_category"`
	ByFile     []Part `json:"by_file"`
}

// Result is one analysis. Its JSON has the figures of the first policy at the
// top; docs/analyze.md says what the figures mean.
type Result struct {
	Row
	Format    int           `json:"format"`             // version of this JSON: ResultFormat
	Files     []trace.Stats `json:"files"`              // what each source held
	Policies  []Row         `json:"policies,omitempty"` // all rows, the first included, when there are several
	Frontier  []Point       `json:"frontier,omitempty"` // of a sweep
	Suggested *Suggestion   `json:"suggested,omitempty"`
	Spliced   *Splice       `json:"spliced,omitempty"`
	Timelines []Timeline    `json:"timelines,omitempty"`         // those with the most denials first
	Omitted   int           `json:"timelines_omitted,omitempty"` // sessions without a timeline
	Notes     []string      `json:"notes"`                       // what the figures cannot tell
}

// ResultFormat is the version of Result's JSON.
const ResultFormat = 1

// Point is one policy of a sweep.
type Point struct {
	Policy     string  `json:"policy"` // what it sets, in words
	Saved      int     `json:"saved"`
	Lost       int     `json:"lost"`
	Paused     int     `json:"paused"`
	Precision  float64 `json:"precision"`
	Made       int     `json:"made,omitempty"`    // with splices: doomed requests made after the threshold
	Avoided    int     `json:"avoided,omitempty"` // with splices: doomed requests not made
	Frontier   bool    `json:"frontier"`          // no other point beats it: saves more without losing more, or as much at less cost
	PolicyYAML string  `json:"policy_yaml"`       // as the section expediter of a map or task file
}

// Suggestion is the policy that the sweep would choose, and why.
type Suggestion struct {
	Point
	Why []string `json:"why"` // the figures behind it, one sentence each
}

// Splice is how policies fare when seeded outages are laid over the sessions.
type Splice struct {
	Seed    uint64         `json:"seed"`
	Outages int            `json:"outages"`
	ByKind  map[string]int `json:"by_kind"` // one_tool, common_cause, flapping
	Rows    []SpliceRow    `json:"rows"`
}

// SpliceRow is one policy over spliced sessions.
type SpliceRow struct {
	Counts
	Avoidance
	Policy string               `json:"policy"`
	ByKind map[string]Avoidance `json:"by_kind"` // one_tool, common_cause, flapping
}

// Avoidance is how many requests a policy kept from an outage, and how soon it
// found out that the outage was over. Recovery is counted once for each tool of
// an outage.
type Avoidance struct {
	Doomed     int     `json:"doomed"`       // requests that hit an outage
	After      int     `json:"after"`        // of them, those after the threshold: what a breaker could know
	Made       int     `json:"made"`         // of those, made; probes included
	MadeProbes int     `json:"made_probes"`  // of those made, probes
	Avoided    int     `json:"avoided"`      // of those, not made
	AvoidedPct float64 `json:"avoided_rate"` // avoided / after; 1 when there is nothing to avoid
	Recovered  int     `json:"recovered"`    // tools that were tried again after an outage's end
	WithinOne  int     `json:"within_one"`   // of them, within one probe interval
	MaxWait    int     `json:"max_wait"`     // requests denied after an outage's end, at most; those of a PAUSE included
	Unresolved int     `json:"unresolved"`   // the recording ended, or nobody asked again
	Overdue    int     `json:"overdue"`      // of the unresolved, those denied after one probe interval
}

// Timeline is one session under the first policy, ready to be drawn. X is a
// position: the n-th event of the session.
type Timeline struct {
	Session   string  `json:"session"`
	File      string  `json:"file"`
	Format    string  `json:"format"`
	Start     int64   `json:"start,omitempty"` // milliseconds since 1970
	End       int64   `json:"end,omitempty"`
	Calls     int     `json:"calls"` // drawn or not
	Width     int     `json:"width"` // positions run from 0 to Width-1
	Limit     int     `json:"limit"` // of the budget; 0: unlimited
	Lanes     []Lane  `json:"lanes"` // in order of first call
	Budget    []Mark  `json:"budget"`
	Prompts   []int   `json:"prompts,omitempty"`
	Incidents []Band  `json:"incidents,omitempty"`
	Pauses    []Band  `json:"pauses,omitempty"`
	Counts    *Counts `json:"counts"` // never nil
}

// Lane is one tool's part of a timeline.
type Lane struct {
	Tool  string `json:"tool"`
	Spans []Span `json:"spans"` // states other than CLOSED
	Ticks []Tick `json:"ticks"`
}

// Span is a stretch in one state: OPEN or HALF_OPEN.
type Span struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	State string `json:"state"`
}

// Tick is one call.
type Tick struct {
	X       int    `json:"x"`
	Verb    string `json:"verb"`           // CALL, SKIP, PROBE, PAUSE
	Outcome string `json:"outcome"`        // ok, answered, failure, ignored, open
	Note    string `json:"note,omitempty"` // category and the start of the error text
	At      int64  `json:"at,omitempty"`
}

// Mark is the budget consumed from X on.
type Mark struct {
	X        int `json:"x"`
	Consumed int `json:"consumed"`
}

// Band is a stretch over all lanes.
type Band struct {
	From    int      `json:"from"`
	To      int      `json:"to"`
	Cause   string   `json:"cause"`
	Members []string `json:"members,omitempty"`
}
