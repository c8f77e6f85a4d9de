package trace

import (
	"time"

	"github.com/expediter-go/expediter/cascade/classify"
)

// Kind is what an Event says. The zero Kind is none.
type Kind uint8

const (
	Prompt Kind = iota + 1 // the user speaks: a new cycle begins
	Issue                  // the agent asks for a call
	Result                 // the call's result is there
	End                    // the session has no more events
)

// How tells where the outcome of a result comes from.
type How uint8

const (
	Unresolved How = iota // there is no result
	Flagged               // the recording marks success or failure
	Judged                // there is no mark: judged from the text
)

// Event is one event of a recorded session. Those of one session come in the
// order of the recording; of sessions that interleave, one may run ahead of
// another by as much as a turn.
type Event struct {
	Kind    Kind
	File    string // the source, as it was named
	Format  string // of the source, such as claude-code
	Session string // unique within its file; one that is told again after its End is new
	Step    int64  // the turn of the model, from 1; the calls of one batch share it
	At      int64  // milliseconds since 1970; 0: not recorded

	// Of Issue and Result.
	Call int    // number of the call in its session, from 0; calls told before leave gaps
	Tool string // as the agent called it
	Key  string // the breaker's name, by classify; a Result may name the whole tool where its Issue named a part

	// Of Result.
	How      How
	Verdict  classify.Verdict
	Text     string        // of a result that is an error; bounded and clean
	Duration time.Duration // zero: not recorded
	Tokens   int64         // input, cached or not, and output of the turn that asked for it, divided among its calls; zero: not recorded
}

// Stats count what one source held.
type Stats struct {
	File     string `json:"file"`
	Format   string `json:"format"` // empty: not recognised
	Bytes    int64  `json:"bytes"`  // read, unpacked
	Records  int64  `json:"records"`
	Sessions int    `json:"sessions"`
	Prompts  int    `json:"prompts"`
	Calls    int    `json:"calls"`
	Failures int    `json:"failures"` // of outcome failure
	Answered int    `json:"answered"` // flagged as errors, yet answers of a working tool
	Ignored  int    `json:"ignored"`
	Judged   int    `json:"judged"` // results without a mark of their own

	// What was odd, and was passed over.
	Foreign  int    `json:"foreign"`           // records of no known kind
	Broken   int    `json:"broken"`            // records that are not JSON, or too long
	Open     int    `json:"open"`              // calls without a result
	Orphans  int    `json:"orphans"`           // results without a call
	Repeated int    `json:"repeated"`          // calls told before, here or in an earlier source
	Torn     bool   `json:"torn,omitempty"`    // the source ends within a record
	Problem  string `json:"problem,omitempty"` // why reading stopped early
}
