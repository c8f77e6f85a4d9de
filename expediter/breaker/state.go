package breaker

import "fmt"

// State is where a breaker stands. The zero value is Open: a forgotten state
// never lets a call through.
type State uint8

const (
	Open     State = iota // calls are rejected until a trial is due
	HalfOpen              // trial calls decide
	Closed                // calls go through
)

var stateNames = [...]string{Open: "OPEN", HalfOpen: "HALF_OPEN", Closed: "CLOSED"}

// String returns CLOSED, OPEN or HALF_OPEN.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("STATE(%d)", uint8(s))
}

// MarshalText writes the name; an invalid state is an error.
func (s State) MarshalText() ([]byte, error) {
	if int(s) >= len(stateNames) {
		return nil, fmt.Errorf("breaker: invalid state %d", uint8(s))
	}
	return []byte(stateNames[s]), nil
}

// UnmarshalText reads CLOSED, OPEN or HALF_OPEN.
func (s *State) UnmarshalText(text []byte) error {
	for i, name := range stateNames {
		if string(text) == name {
			*s = State(i)
			return nil
		}
	}
	return fmt.Errorf("unknown state %q; use CLOSED, OPEN or HALF_OPEN", text)
}
