package simulate

import (
	"fmt"
	"strings"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// Model is how tools fail. The zero value is NoFault.
type Model uint8

// The models. A rate is the long-run share of calls, or of time, in which a
// tool that the model touches is down.
const (
	NoFault    Model = iota // every call succeeds
	Transient               // each call fails by itself
	Permanent               // some tools die at a moment and stay dead
	Slow                    // spells in which a tool answers after its deadline
	Correlated              // episodes in which every tool of the network group fails
	Flapping                // each tool goes off and on again
	Silent                  // calls return wrong data and no error
)

var modelNames = [...]string{NoFault: "none", Transient: "transient", Permanent: "permanent", Slow: "slow",
	Correlated: "correlated", Flapping: "flapping", Silent: "silent"}

// Models returns every model that has faults, in the order of tables.
func Models() []Model {
	return []Model{Transient, Permanent, Slow, Correlated, Flapping, Silent}
}

// String returns the word that flags and tables use.
func (m Model) String() string {
	if int(m) < len(modelNames) {
		return modelNames[m]
	}
	return fmt.Sprintf("model(%d)", uint8(m))
}

// MarshalText writes the word.
func (m Model) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads a word of modelNames.
func (m *Model) UnmarshalText(text []byte) error {
	for i, name := range modelNames {
		if name == string(text) {
			*m = Model(i)
			return nil
		}
	}
	return fmt.Errorf("unknown model %.40q; use %s", text, strings.Join(modelNames[1:], ", "))
}

// fault is how a tool that is down fails: what it says, and what is true of it.
type fault struct {
	text  string           // what the tool says
	cause cascade.Category // the truth, which a report has to name
	took  int64            // ms until the error is there; 0: as long as an answer
	late  bool             // the caller's deadline ends the call
}

// Times of a call, in ms.
const (
	refusedMS  = 1_000  // until a dead tool's error is there
	deadlineMS = 30_000 // the caller's patience
)

var faults = map[Model]fault{
	Transient:  {text: "503 Service Unavailable", cause: cascade.Upstream},
	Permanent:  {text: "dial tcp 192.0.2.10:443: connect: connection refused", cause: cascade.Network, took: refusedMS},
	Slow:       {text: "context deadline exceeded", cause: cascade.Timeout, took: deadlineMS, late: true},
	Correlated: {text: "dial tcp: lookup api.example.com: no such host", cause: cascade.Network, took: refusedMS},
	Flapping:   {text: "read tcp 192.0.2.7:443: connection reset by peer", cause: cascade.Network, took: refusedMS},
}

// outcome is what the engine is told of a failure: what package classify makes
// of its text.
func outcome(text string, late bool) expediter.Outcome {
	v := classify.Observe(classify.Observation{Result: text, Failed: true, DeadlineHit: late})
	return expediter.Outcome{Result: v.Outcome, Category: v.Category, Signature: v.Signature, Text: text, RetryAfter: v.RetryAfter}
}
