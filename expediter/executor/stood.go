package executor

import (
	"sync"
	"time"

	"github.com/expediter-go/expediter/expediter"
)

// maxStood is how many substitutes an Executor remembers.
const maxStood = 100

// stood remembers the latest substitutes. It is safe for concurrent use.
type stood struct {
	mu   sync.Mutex
	list []expediter.Substitute // oldest first
}

func (s *stood) add(tool string, r Receipt, step int64, at time.Time) {
	now := expediter.Substitute{Tool: tool, Used: r.Used.String(), Label: r.Label, Lost: r.Lost, Cause: plain(text(r.Cause)),
		Step: step, At: at.UnixMilli(), Times: 1}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, old := range s.list {
		if old.Tool == tool && old.Used == now.Used {
			now.Times += old.Times
			s.list = append(s.list[:i], s.list[i+1:]...)
			break
		}
	}
	if len(s.list) == maxStood {
		s.list = s.list[1:]
	}
	s.list = append(s.list, now)
}

// Substitutes lists the values that callers got instead of a tool's own, by tool
// and kind, the latest last; at most 100. They are for report.Input.
func (e *Executor) Substitutes() []expediter.Substitute {
	e.stood.mu.Lock()
	defer e.stood.mu.Unlock()
	return append([]expediter.Substitute(nil), e.stood.list...)
}
