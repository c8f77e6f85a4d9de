package session

// Todos is what an agent wrote to its to-do list in one call.
type Todos struct {
	Replace bool   // Items is the whole list; else items are added or changed
	Items   []Todo // in the agent's order
}

// Todo is one item. Its texts come from the agent: hostile.
type Todo struct {
	ID        string // empty: its text names it
	Text      string // empty in a change of the state alone
	State     TodoState
	DependsOn []string // ids of items that come first
}

// TodoState is how far an item is.
type TodoState uint8

const (
	TodoUnknown TodoState = iota // not told; in a change: as before
	TodoPending                  // not begun
	TodoActive                   // being worked on
	TodoDone
	TodoDropped // the agent took it off the list
)

// String returns unknown, pending, active, done or dropped.
func (s TodoState) String() string {
	switch s {
	case TodoPending:
		return "pending"
	case TodoActive:
		return "active"
	case TodoDone:
		return "done"
	case TodoDropped:
		return "dropped"
	}
	return "unknown"
}
