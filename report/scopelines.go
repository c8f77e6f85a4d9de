package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/expediter-go/expediter/scope"
)

// scopeLine is one sub-task of a reduced scope.
type scopeLine struct {
	achievable bool
	number     int
	title      string
	tools      string   // "Bash: OPEN — no alternative"
	Sub        []string // what a route costs
}

func scopeLines(s *scope.Result) []scopeLine {
	var list []scopeLine
	for _, it := range s.Items {
		l := scopeLine{achievable: it.Verdict != scope.Deferred && it.Verdict != scope.Failed, number: it.Number, title: it.Title}
		var tools []string
		for _, n := range it.Needs {
			tools = append(tools, needText(n))
			if !n.Usable && !n.Blocked() {
				l.Sub = append(l.Sub, withText(n.Tool+" through "+n.Alternative, strings.Trim(n.Method+"; "+n.Degradation, "; ")))
			}
		}
		if len(it.WaitsFor) > 0 {
			tools = append(tools, "waits for "+subtasks(it.WaitsFor))
		}
		switch {
		case it.Verdict == scope.Done:
			l.tools = "done"
		case it.Verdict == scope.Failed:
			l.tools = "failed — not tried again"
		case tools == nil:
			l.tools = "no tool named"
		default:
			l.tools = strings.Join(tools, ", ")
		}
		list = append(list, l)
	}
	return list
}

func needText(n scope.Need) string {
	switch {
	case n.Usable:
		return n.Tool + ": " + n.State
	case n.Blocked():
		return n.Tool + ": " + n.State + " — no alternative"
	}
	return n.Tool + ": " + n.State + " — through " + n.Alternative
}

// deferral is the sub-tasks that wait for the same things.
type deferral struct {
	numbers []int
	needs   []scope.Need // the tools that block them
	waits   []int        // the deferred sub-tasks they depend on
}

func deferrals(s *scope.Result) []deferral {
	var groups []deferral
	index := map[string]int{}
	for _, it := range s.Items {
		if it.Verdict != scope.Deferred {
			continue
		}
		d := deferral{waits: it.WaitsFor}
		key := fmt.Sprint(it.WaitsFor)
		for _, n := range it.Needs {
			if n.Blocked() {
				d.needs = append(d.needs, n)
				key += "\n" + n.Tool
			}
		}
		i, known := index[key]
		if !known {
			i = len(groups)
			index[key] = i
			groups = append(groups, d)
		}
		groups[i].numbers = append(groups[i].numbers, it.Number)
	}
	return groups
}

// deferredLines say how many sub-tasks wait for what.
func deferredLines(s *scope.Result) []string {
	var list []string
	for _, d := range deferrals(s) {
		n := len(d.numbers)
		list = append(list, count(n, "sub-task")+" "+d.wants(n == 1, func(n scope.Need) string { return n.Tool + " (" + n.Reason + ")" }))
	}
	if list == nil {
		return []string{"none"}
	}
	return list
}

// wants says what a group requires and waits for.
func (d deferral) wants(one bool, name func(scope.Need) string) string {
	requires, waits := "require ", "wait for "
	if one {
		requires, waits = "requires ", "waits for "
	}
	var parts []string
	if len(d.needs) > 0 {
		var names []string
		for _, n := range d.needs {
			names = append(names, name(n))
		}
		parts = append(parts, requires+enumerate(names))
	}
	if len(d.waits) > 0 {
		parts = append(parts, waits+subtasks(d.waits))
	}
	return strings.Join(parts, " and ")
}

// scopeAdvice says what to do now, and what each deferred group waits for. Each
// further way to unblock a group begins a new line.
func scopeAdvice(s *scope.Result) []string {
	list := []string{"Nothing is achievable now: pause and report."}
	switch now := s.Numbers(scope.Keep, scope.Degraded); {
	case len(now) > 0:
		list[0] = "Complete " + subtaskWord(len(now)) + " " + numbers(now) + " now."
	case len(s.Numbers(scope.Done, scope.Failed)) > 0:
		list[0] = "Nothing more is achievable now."
	}
	for _, d := range deferrals(s) {
		head := "Sub" + strings.TrimPrefix(subtasks(d.numbers), "sub") + " " +
			d.wants(len(d.numbers) == 1, func(n scope.Need) string { return n.Tool })
		list = append(list, d.unblocked(head))
	}
	return list
}

// unblocked ends the sentence of a group with what would unblock its tools.
func (d deferral) unblocked(head string) string {
	for _, n := range d.needs {
		for i, u := range n.Unblock {
			switch {
			case i > 0:
				head += "\nor " + u
			case len(d.needs) == 1:
				head += " — " + u
			default:
				head += "\n" + n.Tool + ": " + u
			}
		}
	}
	return head + "."
}

func subtaskWord(n int) string {
	if n == 1 {
		return "sub-task"
	}
	return "sub-tasks"
}

// subtasks names sub-tasks: "sub-tasks 3 and 5".
func subtasks(list []int) string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = strconv.Itoa(n)
	}
	return subtaskWord(len(list)) + " " + enumerate(names)
}

func numbers(list []int) string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = strconv.Itoa(n)
	}
	return strings.Join(names, ", ")
}
