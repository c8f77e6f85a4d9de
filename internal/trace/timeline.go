package trace

import (
	"slices"
	"time"
)

// happening is one thing that happened in a session: the model speaks, or what
// the kind says.
type happening struct {
	at     time.Time // zero: with the one before it
	kind   Kind
	tokens int64 // of the model's answer
	issue  issued
	result resulted
}

// tellInOrder tells happenings in the order of their times. Those of one time
// keep their order.
func tellInOrder(s *session, moments []happening) {
	var last time.Time
	for i := range moments {
		if moments[i].at.IsZero() {
			moments[i].at = last
		}
		last = moments[i].at
	}
	slices.SortStableFunc(moments, func(a, b happening) int { return a.at.Compare(b.at) })
	for i := range moments {
		moments[i].tell(s)
	}
}

func (m *happening) tell(s *session) {
	switch m.kind {
	case Prompt:
		s.prompt(m.at)
	case Issue:
		s.issue(m.issue)
	case Result:
		s.result(m.result)
	default:
		s.turn()
		s.spent(m.tokens)
	}
}
