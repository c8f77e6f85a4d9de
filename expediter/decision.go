package expediter

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// NoStep is the step of a caller that has none: windows then go by time alone.
const NoStep int64 = -1

// Verb is a decision. The zero value is Pause, the most restrictive.
type Verb uint8

const (
	Pause Verb = iota // make no call at all; something needs a human
	Skip              // do not make this call; see Route
	Probe             // make this one call: it is a trial
	Call              // make the call
)

var verbNames = [...]string{Pause: "PAUSE", Skip: "SKIP", Probe: "PROBE", Call: "CALL"}

// String returns CALL, SKIP, PROBE or PAUSE.
func (v Verb) String() string { return name(verbNames[:], v, "VERB") }

// MarshalText writes the word.
func (v Verb) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the word.
func (v *Verb) UnmarshalText(text []byte) error { return unname(verbNames[:], v, "decision", text) }

// Go reports whether the call may be made: CALL or PROBE.
func (v Verb) Go() bool { return v >= Probe }

// Reason is why a decision is SKIP or PAUSE.
type Reason uint8

const (
	NoReason      Reason = iota // CALL and PROBE
	Systemic                    // PAUSE: an incident is active
	Budget                      // PAUSE: the failure budget is exhausted
	UnknownTool                 // SKIP: strict, and nobody declared the tool
	Unavailable                 // SKIP: its pre-call check says so
	OpenCircuit                 // SKIP: open, and no trial is due
	ProbeInFlight               // SKIP: a trial is under way
	ForcedOpen                  // SKIP: an operator opened it, until Reset
	Refused                     // SKIP: a guard of the caller's refused the call; see Engine.Refuse
)

var reasonNames = [...]string{NoReason: "", Systemic: "systemic", Budget: "budget", UnknownTool: "unknown_tool",
	Unavailable: "unavailable", OpenCircuit: "open", ProbeInFlight: "probe_in_flight", ForcedOpen: "forced_open", Refused: "refused"}

// String returns the word that journals and reports use.
func (r Reason) String() string { return name(reasonNames[:], r, "reason") }

// MarshalText writes the word.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the word.
func (r *Reason) UnmarshalText(text []byte) error { return unname(reasonNames[:], r, "reason", text) }

// Caution is a set of reasons to be careful with a call that may be made.
type Caution uint8

const (
	CautionBudget   Caution = 1 << iota // exactly one failure is left
	CautionDegraded                     // its pre-call check says degraded
)

// Words lists the set: "budget", "degraded".
func (c Caution) Words() []string {
	words := []string{}
	if c&CautionBudget != 0 {
		words = append(words, "budget")
	}
	if c&CautionDegraded != 0 {
		words = append(words, "degraded")
	}
	return words
}

// MarshalJSON writes the words as a list.
func (c Caution) MarshalJSON() ([]byte, error) { return json.Marshal(c.Words()) }

// UnmarshalJSON reads a list of words.
func (c *Caution) UnmarshalJSON(data []byte) error {
	var words []string
	if err := json.Unmarshal(data, &words); err != nil {
		return err
	}
	*c = 0
	for _, w := range words {
		switch w {
		case "budget":
			*c |= CautionBudget
		case "degraded":
			*c |= CautionDegraded
		default:
			return fmt.Errorf("unknown caution %q; use budget or degraded", w)
		}
	}
	return nil
}

// CallID names one call that the engine allowed. Ids increase, are never
// reused, and stay valid after a restore. The zero CallID is no call. As text
// it is the call's number and a check, as in 17.b3f21.
type CallID uint64

// String returns the id's text.
func (id CallID) String() string { return string(id.appendText(nil)) }

func (id CallID) appendText(b []byte) []byte {
	return fmt.Appendf(b, "%d.%05x", id.seq(), uint64(id)&idxMask)
}

// MarshalText writes the id's text.
func (id CallID) MarshalText() ([]byte, error) { return id.appendText(nil), nil }

// UnmarshalText reads what MarshalText writes.
func (id *CallID) UnmarshalText(text []byte) error {
	number, check, ok := strings.Cut(string(text), ".")
	seq, err := strconv.ParseUint(number, 10, 64-idxBits)
	low, err2 := strconv.ParseUint(check, 16, idxBits)
	if !ok || err != nil || err2 != nil {
		return fmt.Errorf("call id %.32q is not of the form 17.b3f21", text)
	}
	*id = CallID(seq<<idxBits | low)
	return nil
}

// Decision is the answer to one request. It is 32 bytes and holds no memory of
// its own.
type Decision struct {
	Verb    Verb
	Reason  Reason       // of SKIP and PAUSE; in ObserveOnly of Would
	Caution Caution      // of CALL and PROBE
	Would   Verb         // ObserveOnly: what Verb would have been; else equal to Verb
	Unit    breaker.Unit // of Next
	// External: CALL leaves the word to another breaker in front of the tool, which
	// is not CLOSED, so that the call may be its trial (see Engine.External).
	External bool
	// Unverified: a call of the skipped tool may have taken effect, and nobody has
	// looked (see Engine.Verified). Nothing may stand in for it until then.
	Unverified bool
	// Call is recorded once when Verb is CALL or PROBE; zero otherwise.
	Call CallID
	// Route is where a SKIP may go instead; nil for every other verb (in ObserveOnly: of Would). Shared:
	// do not change it.
	Route *capability.Route
	// Next is the distance to the next trial of a skipped tool, in Unit: the
	// attempts, steps or milliseconds that are left. Zero: unknown or none.
	Next int64
}

func name[T ~uint8](names []string, v T, kind string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(v))
}

func unname[T ~uint8](names []string, into *T, kind string, text []byte) error {
	for i, n := range names {
		if n == string(text) {
			*into = T(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q; use one of %q", kind, text, names)
}
