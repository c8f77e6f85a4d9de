package session

import (
	"fmt"
	"slices"
)

// Todos is what an agent wrote to its to-do list in one call.
type Todos struct {
	Replace bool   // Items is the whole list; else items are added or, by ID, changed
	Items   []Todo // in the agent's order
}

// Todo is one item. Its texts come from the agent: hostile.
type Todo struct {
	ID        string // empty: its text names it
	Text      string // empty in a change of the state alone
	State     TodoState
	DependsOn []string // ids of items that come first
}

// TodoState is how far an item is; JSON has its word.
type TodoState uint8

const (
	TodoUnknown TodoState = iota // not told; in a change: as before
	TodoPending                  // not begun
	TodoActive                   // being worked on
	TodoDone
	TodoDropped // the agent took it off the list
)

var todoWords = [...]string{TodoUnknown: "unknown", TodoPending: "pending", TodoActive: "active", TodoDone: "done", TodoDropped: "dropped"}

// String returns unknown, pending, active, done or dropped.
func (s TodoState) String() string {
	if int(s) < len(todoWords) {
		return todoWords[s]
	}
	return fmt.Sprintf("todo(%d)", uint8(s))
}

// MarshalText writes the word.
func (s TodoState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word.
func (s *TodoState) UnmarshalText(text []byte) error {
	i := slices.Index(todoWords[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown state %.40q of a to-do item; use one of %q", text, todoWords)
	}
	*s = TodoState(i)
	return nil
}
