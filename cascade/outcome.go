package cascade

import "fmt"

// Outcome says what a finished call tells about its tool (SPEC section 1).
// The zero value is Failed, so that a forgotten outcome never looks healthy.
type Outcome uint8

const (
	// Failed: the tool, or the way to it, is broken.
	Failed Outcome = iota
	// Succeeded: the tool worked, however unwelcome its answer.
	Succeeded
	// Ignored: the call says nothing either way (cancelled, refused by the
	// user or a guard, denied by the expediter itself).
	Ignored
)

var outcomeNames = [...]string{Failed: "failure", Succeeded: "success", Ignored: "ignored"}

// String returns the word of SPEC section 1.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome(%d)", uint8(o))
}

// MarshalText writes the word; an invalid outcome is an error.
func (o Outcome) MarshalText() ([]byte, error) {
	if int(o) >= len(outcomeNames) {
		return nil, fmt.Errorf("cascade: invalid outcome %d", uint8(o))
	}
	return []byte(outcomeNames[o]), nil
}

// UnmarshalText reads one of success, failure, ignored.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, name := range outcomeNames {
		if string(text) == name {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("unknown result %q; use success, failure or ignored", text)
}
