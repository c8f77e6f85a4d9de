package a2apeer

import (
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// maxTasks is how many ends of tasks are remembered, the newest.
const maxTasks = 1024

// tasks remembers which ends of tasks were recorded, so that who asks for a task
// again and again counts its failure once. The zero value is ready.
type tasks struct {
	mu    sync.Mutex
	known map[ending]struct{}
	ring  [maxTasks]ending
	next  int
}

type ending struct {
	task  a2a.TaskID
	state a2a.TaskState
}

// seen reports whether the end is known, and remembers it. A task without an id
// never is.
func (t *tasks) seen(task a2a.TaskID, state a2a.TaskState) bool {
	if task == "" || len(task) > 256 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e := ending{task, state}
	if _, ok := t.known[e]; ok {
		return true
	}
	if t.known == nil {
		t.known = map[ending]struct{}{}
	}
	delete(t.known, t.ring[t.next])
	t.known[e], t.ring[t.next] = struct{}{}, e
	t.next = (t.next + 1) % maxTasks
	return false
}
