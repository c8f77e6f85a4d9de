package executor

import (
	"slices"
	"sync"
	"time"

	"github.com/expediter-go/expediter/expediter"
)

// maxSubstitutes is how many an Executor remembers.
const maxSubstitutes = 100

// substitutes remembers the latest substitutes. It is safe for concurrent use.
type substitutes struct {
	mu   sync.Mutex
	list []expediter.Substitute // oldest first; one for each tool and kind
}

func (s *substitutes) add(tool string, r Receipt, step int64, at time.Time) {
	now := expediter.Substitute{Tool: tool, Used: r.Used.String(), Label: r.Label, Lost: r.Lost, Cause: plain(text(r.Cause)),
		Step: step, At: at.UnixMilli(), Times: 1}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.list, func(old expediter.Substitute) bool { return old.Tool == tool && old.Used == now.Used })
	switch {
	case i >= 0:
		now.Times += s.list[i].Times
		s.list = slices.Delete(s.list, i, i+1)
	case len(s.list) == maxSubstitutes:
		s.list = slices.Delete(s.list, 0, 1)
	}
	s.list = append(s.list, now)
}

// Substitutes lists the values that callers got instead of a tool's own, by tool
// and kind, the latest last; at most 100. They are for report.Input.
func (e *Executor) Substitutes() []expediter.Substitute {
	e.substitutes.mu.Lock()
	defer e.substitutes.mu.Unlock()
	return slices.Clone(e.substitutes.list)
}
