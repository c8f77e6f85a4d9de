package scope

import (
	"fmt"
	"slices"
)

// Tool is what a caller says of one tool as it stands now. The zero Tool is
// not usable and has no alternative.
type Tool struct {
	State       string   // as reports print it: CLOSED, OPEN, HALF-OPEN, unavailable
	Usable      bool     // its circuit is closed and it is not unavailable
	Reason      string   // why it is not usable: "circuit OPEN"
	Alternative string   // a viable alternative; empty: none
	Method      string   // how to use the alternative
	Degradation string   // what the alternative loses
	Unblock     []string // what would make the tool usable again, nearest first
}

// View gives the tools as they stand now. Reduce asks once for each tool.
type View func(tool string) Tool

// Verdict is what becomes of a sub-task. The zero value is Deferred.
type Verdict uint8

// The verdicts.
const (
	Deferred Verdict = iota // not attempted: see Need and WaitsFor
	Degraded                // achievable, through an alternative
	Keep                    // achievable
	Done                    // needs nothing any more
	Failed                  // was tried, and is not tried again
)

var verdictNames = [...]string{Deferred: "deferred", Degraded: "degraded", Keep: "keep", Done: "done", Failed: "failed"}

// String returns deferred, degraded, keep, done or failed.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// MarshalText writes the word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the word.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if name == string(text) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q; use one of %q", text, verdictNames)
}

// Need is one tool that a sub-task requires, and how it stands.
type Need struct {
	Tool        string   `json:"tool"`
	State       string   `json:"state"`
	Usable      bool     `json:"usable,omitempty"`
	Reason      string   `json:"reason,omitempty"`
	Alternative string   `json:"alternative,omitempty"`
	Method      string   `json:"method,omitempty"`
	Degradation string   `json:"degradation,omitempty"`
	Unblock     []string `json:"unblocked_by,omitempty"`
}

// Blocked reports whether the tool keeps its sub-task from being attempted.
func (n Need) Blocked() bool { return !n.Usable && n.Alternative == "" }

// Item is one sub-task with its verdict.
type Item struct {
	Number   int     `json:"number"` // position in the task, from 1
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	Verdict  Verdict `json:"verdict"`
	Needs    []Need  `json:"needs,omitempty"`     // in the order of Subtask.Tools
	WaitsFor []int   `json:"waits_for,omitempty"` // numbers of the deferred and failed sub-tasks it depends on
}

// Result is a reduced task: every sub-task, in the order of the task.
type Result struct {
	Task  string `json:"task,omitempty"`
	Items []Item `json:"items"`
}

// AllDeferred reports whether nothing is left to do or to keep: the next step
// is then the pause report. A task without sub-tasks is not deferred.
func (r Result) AllDeferred() bool {
	return len(r.Items) > 0 && len(r.Numbers(Deferred)) == len(r.Items)
}

// Numbers returns the numbers of the sub-tasks with one of the verdicts, in
// order.
func (r Result) Numbers(verdicts ...Verdict) []int {
	numbers := []int{}
	for _, it := range r.Items {
		for _, v := range verdicts {
			if it.Verdict == v {
				numbers = append(numbers, it.Number)
				break
			}
		}
	}
	return numbers
}

// Reduce gives each sub-task its verdict. A sub-task is kept when every tool
// it needs is usable, degraded when each of the others has a viable
// alternative, and deferred otherwise, or when it depends on one that is
// deferred or has failed.
// The error is that of Task.Validate.
func Reduce(t Task, view View) (Result, error) {
	if err := t.Validate(); err != nil {
		return Result{}, err
	}
	index, _ := t.index()
	after, _ := t.edges(index)
	sorted, _ := order(after)
	ids, known := t.ids(), map[string]Tool{}
	items := make([]Item, len(t.Subtasks))
	for _, i := range sorted {
		s := t.Subtasks[i]
		it := Item{Number: i + 1, ID: ids[i], Title: s.Title, Verdict: Done}
		switch {
		case s.Failed:
			it.Verdict = Failed
		case !s.Done:
			it.Needs = needs(s.Tools, view, known)
			it.WaitsFor = waits(after[i], items)
			it.Verdict = judge(it)
		}
		items[i] = it
	}
	return Result{Task: t.Name, Items: items}, nil
}

func needs(tools []string, view View, known map[string]Tool) []Need {
	var list []Need
	for _, name := range tools {
		tool, asked := known[name]
		if !asked {
			tool = view(name)
			known[name] = tool
		}
		n := Need{Tool: name, State: tool.State, Usable: tool.Usable}
		if !tool.Usable {
			n.Reason, n.Unblock = tool.Reason, slices.Clone(tool.Unblock)
			n.Alternative, n.Method, n.Degradation = tool.Alternative, tool.Method, tool.Degradation
		}
		list = append(list, n)
	}
	return list
}

// waits lists the deferred and failed sub-tasks among the dependencies, each once.
func waits(after []int, items []Item) []int {
	var list []int
	seen := map[int]bool{}
	for _, j := range after {
		if v := items[j].Verdict; (v == Deferred || v == Failed) && !seen[j] {
			seen[j] = true
			list = append(list, j+1)
		}
	}
	return list
}

func judge(it Item) Verdict {
	verdict := Keep
	if len(it.WaitsFor) > 0 {
		verdict = Deferred
	}
	for _, n := range it.Needs {
		switch {
		case n.Usable:
		case n.Alternative != "":
			verdict = min(verdict, Degraded)
		default:
			verdict = Deferred
		}
	}
	return verdict
}
