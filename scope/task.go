package scope

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Errors of a task. They work with errors.Is.
var (
	// ErrDuplicate: two sub-tasks have the same id.
	ErrDuplicate = errors.New("duplicate sub-task id")
	// ErrUnknownDependency: a sub-task comes after one that does not exist.
	ErrUnknownDependency = errors.New("unknown dependency")
	// ErrCycle: sub-tasks wait for each other.
	ErrCycle = errors.New("dependency cycle")
)

// Task is a list of sub-tasks. The zero Task has nothing to do.
type Task struct {
	Name     string    `json:"name,omitempty"`
	Subtasks []Subtask `json:"subtasks"`
}

// Subtask is one piece of work.
type Subtask struct {
	ID     string   `json:"id,omitempty"` // unique; empty: its number, counted from 1
	Title  string   `json:"title,omitempty"`
	Tools  []string `json:"tools,omitempty"`  // all of them are required
	After  []string `json:"after,omitempty"`  // ids of the sub-tasks it needs
	Done   bool     `json:"done,omitempty"`   // needs no tool any more
	Failed bool     `json:"failed,omitempty"` // was tried, and is not tried again; before Done
}

// Validate reports every duplicate id and unknown dependency, and one cycle if
// there is any.
func (t Task) Validate() error {
	index, errs := t.index()
	after, unknown := t.edges(index)
	errs = append(errs, unknown...)
	if _, ring := order(after); ring != nil {
		errs = append(errs, t.cycle(ring))
	}
	return errors.Join(errs...)
}

// ids returns the id of each sub-task, given or by number.
func (t Task) ids() []string {
	ids := make([]string, len(t.Subtasks))
	for i, s := range t.Subtasks {
		if ids[i] = s.ID; s.ID == "" {
			ids[i] = strconv.Itoa(i + 1)
		}
	}
	return ids
}

func (t Task) index() (map[string]int, []error) {
	index := make(map[string]int, len(t.Subtasks))
	var errs []error
	for i, id := range t.ids() {
		if first, taken := index[id]; taken {
			errs = append(errs, fmt.Errorf("%w: %q names sub-tasks %d and %d; rename one of them", ErrDuplicate, id, first+1, i+1))
			continue
		}
		index[id] = i
	}
	return index, errs
}

// edges gives the dependencies of each sub-task by position.
func (t Task) edges(index map[string]int) ([][]int, []error) {
	after := make([][]int, len(t.Subtasks))
	var errs []error
	for i, s := range t.Subtasks {
		for _, id := range s.After {
			j, known := index[id]
			if !known {
				errs = append(errs, fmt.Errorf("%w: sub-task %d comes after %q, which is no sub-task; name an existing id", ErrUnknownDependency, i+1, id))
				continue
			}
			after[i] = append(after[i], j)
		}
	}
	return after, errs
}

func (t Task) cycle(ring []int) error {
	ids := t.ids()
	names := make([]string, 0, len(ring)+1)
	for _, i := range append(slices.Clone(ring), ring[0]) {
		names = append(names, ids[i])
	}
	return fmt.Errorf("%w: %s; remove one of these dependencies", ErrCycle, strings.Join(names, " after "))
}

// order sorts positions so that each comes behind all it depends on, or
// returns one ring of positions that wait for each other.
func order(after [][]int) (sorted, ring []int) {
	const entered, left = 1, 2
	mark := make([]uint8, len(after))
	next := make([]int, len(after)) // the edge to follow next
	for root := range after {
		path := []int{root}
		for len(path) > 0 {
			i := path[len(path)-1]
			if mark[i] == left || next[i] == len(after[i]) {
				if mark[i] != left {
					mark[i] = left
					sorted = append(sorted, i)
				}
				path = path[:len(path)-1]
				continue
			}
			mark[i] = entered
			j := after[i][next[i]]
			next[i]++
			if mark[j] == entered {
				return nil, path[slices.Index(path, j):]
			}
			path = append(path, j)
		}
	}
	return sorted, nil
}
