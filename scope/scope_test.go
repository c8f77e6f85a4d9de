package scope_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/scope"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func view(tools map[string]scope.Tool) scope.View {
	return func(name string) scope.Tool { return tools[name] }
}

var (
	closed = scope.Tool{State: "CLOSED", Usable: true}
	open   = scope.Tool{State: "OPEN", Reason: "circuit OPEN", Unblock: []string{"will probe on next cycle"}}
	routed = scope.Tool{State: "OPEN", Reason: "circuit OPEN", Alternative: "Bash", Method: "rg", Degradation: "no formatting"}
)

func verdicts(r scope.Result) string {
	words := make([]string, len(r.Items))
	for i, it := range r.Items {
		words[i] = it.Verdict.String()
	}
	return strings.Join(words, " ")
}

func TestReduceVerdicts(t *testing.T) {
	tools := map[string]scope.Tool{"Read": closed, "Grep": routed, "Bash": closed, "Deploy": open}
	sub := func(after []string, tools ...string) scope.Subtask { return scope.Subtask{Tools: tools, After: after} }
	tests := []struct {
		name     string
		subtasks []scope.Subtask
		want     string
	}{
		{"no tool at all", []scope.Subtask{sub(nil)}, "keep"},
		{"closed", []scope.Subtask{sub(nil, "Read")}, "keep"},
		{"open with an alternative", []scope.Subtask{sub(nil, "Grep")}, "degraded"},
		{"open without one", []scope.Subtask{sub(nil, "Deploy")}, "deferred"},
		{"closed and degraded", []scope.Subtask{sub(nil, "Read", "Grep")}, "degraded"},
		{"degraded and open", []scope.Subtask{sub(nil, "Grep", "Deploy")}, "deferred"},
		{"open and degraded", []scope.Subtask{sub(nil, "Deploy", "Grep")}, "deferred"},
		{"a tool the view does not know", []scope.Subtask{sub(nil, "Nothing")}, "deferred"},
		{"after a deferred one", []scope.Subtask{sub(nil, "Deploy"), sub([]string{"1"}, "Read")}, "deferred deferred"},
		{"transitively, declared backwards", []scope.Subtask{sub([]string{"2"}), sub([]string{"3"}), sub(nil, "Deploy")}, "deferred deferred deferred"},
		{"after a degraded one", []scope.Subtask{sub(nil, "Grep"), sub([]string{"1"}, "Read")}, "degraded keep"},
		{"done needs no tool", []scope.Subtask{{Tools: []string{"Deploy"}, Done: true}, sub([]string{"1"}, "Read")}, "done keep"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := scope.Reduce(scope.Task{Subtasks: tt.subtasks}, view(tools))
			if err != nil {
				t.Fatal(err)
			}
			if verdicts(got) != tt.want {
				t.Errorf("verdicts: got %s, want %s", verdicts(got), tt.want)
			}
		})
	}
}

func TestReduceResult(t *testing.T) {
	task := scope.Task{Name: "release", Subtasks: []scope.Subtask{
		{ID: "deploy", Title: "Deploy", Tools: []string{"Deploy", "Read"}},
		{ID: "announce", Title: "Announce", Tools: []string{"Grep"}, After: []string{"deploy", "deploy"}},
	}}
	got, err := scope.Reduce(task, view(map[string]scope.Tool{"Read": closed, "Grep": routed, "Deploy": open}))
	if err != nil {
		t.Fatal(err)
	}
	want := scope.Result{Task: "release", Items: []scope.Item{
		{Number: 1, ID: "deploy", Title: "Deploy", Needs: []scope.Need{
			{Tool: "Deploy", State: "OPEN", Reason: "circuit OPEN", Unblock: []string{"will probe on next cycle"}},
			{Tool: "Read", State: "CLOSED", Usable: true},
		}},
		{Number: 2, ID: "announce", Title: "Announce", WaitsFor: []int{1}, Needs: []scope.Need{
			{Tool: "Grep", State: "OPEN", Reason: "circuit OPEN", Alternative: "Bash", Method: "rg", Degradation: "no formatting"},
		}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if !got.AllDeferred() {
		t.Error("every sub-task is deferred, and AllDeferred says it is not")
	}
}

func TestAllDeferred(t *testing.T) {
	tests := []struct {
		name string
		give []scope.Verdict
		want bool
	}{
		{"nothing to do", nil, false},
		{"one kept", []scope.Verdict{scope.Deferred, scope.Keep}, false},
		{"one done", []scope.Verdict{scope.Done, scope.Deferred}, false},
		{"all", []scope.Verdict{scope.Deferred, scope.Deferred}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r scope.Result
			for i, v := range tt.give {
				r.Items = append(r.Items, scope.Item{Number: i + 1, Verdict: v})
			}
			if got := r.AllDeferred(); got != tt.want {
				t.Errorf("AllDeferred: got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestTaskErrors(t *testing.T) {
	sub := func(id string, after ...string) scope.Subtask { return scope.Subtask{ID: id, After: after} }
	tests := []struct {
		name     string
		subtasks []scope.Subtask
		want     []error
		text     string
	}{
		{"itself", []scope.Subtask{sub("a", "a")}, []error{scope.ErrCycle}, "a after a"},
		{"ring of three", []scope.Subtask{sub("x", "a"), sub("a", "b"), sub("b", "c"), sub("c", "a")}, []error{scope.ErrCycle}, "a after b after c after a"},
		{"unknown", []scope.Subtask{sub("a", "nowhere")}, []error{scope.ErrUnknownDependency}, `"nowhere"`},
		{"duplicate", []scope.Subtask{sub("a"), sub("b"), sub("a")}, []error{scope.ErrDuplicate}, "1 and 3"},
		{"a given id that is another's number", []scope.Subtask{sub("2"), sub("")}, []error{scope.ErrDuplicate}, "1 and 2"},
		{"all at once", []scope.Subtask{sub("a", "a", "b"), sub("a")}, []error{scope.ErrCycle, scope.ErrUnknownDependency, scope.ErrDuplicate}, "rename"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := scope.Reduce(scope.Task{Subtasks: tt.subtasks}, view(nil))
			for _, want := range tt.want {
				if !errors.Is(err, want) {
					t.Errorf("error: got %v, want %v", err, want)
				}
			}
			if err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %q does not say %q", err, tt.text)
			}
		})
	}
}

func TestVerdictText(t *testing.T) {
	for _, v := range []scope.Verdict{scope.Deferred, scope.Degraded, scope.Keep, scope.Done} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		back := scope.Verdict(9)
		if err := json.Unmarshal(text, &back); err != nil || back != v {
			t.Errorf("round trip of %s: got %s, error %v", text, back, err)
		}
	}
	var v scope.Verdict
	if err := v.UnmarshalText([]byte("dropped")); err == nil {
		t.Error("an unknown verdict was accepted")
	}
}

// drawTask draws a task without cycles, its sub-tasks in any order.
func drawTask(t *rapid.T, tools []string) scope.Task {
	n := rapid.IntRange(0, 12).Draw(t, "subtasks")
	place := rapid.Permutation(upTo(n)).Draw(t, "place")
	task := scope.Task{Subtasks: make([]scope.Subtask, n)}
	for rank, i := range place {
		s := scope.Subtask{ID: fmt.Sprint("s", i), Done: rapid.IntRange(0, 5).Draw(t, "done") == 0}
		s.Tools = rapid.SliceOfNDistinct(rapid.SampledFrom(tools), 0, 3, rapid.ID).Draw(t, "tools")
		for _, j := range place[:rank] {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				s.After = append(s.After, fmt.Sprint("s", j))
			}
		}
		task.Subtasks[i] = s
	}
	return task
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// Nothing is dropped, and every verdict is the one that the definition gives
// by plain recursion.
func TestPitfall_SilentScopeReduction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"A", "B", "C", "D", "E"}
		tools := map[string]scope.Tool{}
		for _, name := range names {
			tools[name] = rapid.SampledFrom([]scope.Tool{closed, routed, open}).Draw(t, name)
		}
		task := drawTask(t, names)
		got, err := scope.Reduce(task, view(tools))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Items) != len(task.Subtasks) {
			t.Fatalf("%d sub-tasks went in, %d came out", len(task.Subtasks), len(got.Items))
		}
		for i, it := range got.Items {
			if it.Number != i+1 || it.ID != task.Subtasks[i].ID {
				t.Fatalf("place %d holds sub-task %d %q", i, it.Number, it.ID)
			}
			if want := modelVerdict(task, tools, it.ID); it.Verdict != want {
				t.Fatalf("sub-task %s: got %s, want %s", it.ID, it.Verdict, want)
			}
			if it.Verdict == scope.Deferred && !explained(it) {
				t.Fatalf("sub-task %s is deferred without a reason: %+v", it.ID, it)
			}
		}
	})
}

func explained(it scope.Item) bool {
	for _, n := range it.Needs {
		if n.Blocked() && n.Tool != "" && n.State != "" && n.Reason != "" && len(n.Unblock) > 0 {
			return true
		}
	}
	return len(it.WaitsFor) > 0
}

func modelVerdict(task scope.Task, tools map[string]scope.Tool, id string) scope.Verdict {
	for _, s := range task.Subtasks {
		if s.ID != id {
			continue
		}
		if s.Done {
			return scope.Done
		}
		verdict := scope.Keep
		for _, name := range s.Tools {
			if !tools[name].Usable && tools[name].Alternative == "" {
				return scope.Deferred
			}
			if !tools[name].Usable {
				verdict = scope.Degraded
			}
		}
		for _, dep := range s.After {
			if modelVerdict(task, tools, dep) == scope.Deferred {
				return scope.Deferred
			}
		}
		return verdict
	}
	panic("no sub-task " + id)
}

func ExampleReduce() {
	task := scope.Task{Subtasks: []scope.Subtask{
		{Title: "Read configuration files", Tools: []string{"Read"}},
		{Title: "Run test suite", Tools: []string{"Bash"}},
		{Title: "Publish the results", Tools: []string{"Read"}, After: []string{"2"}},
	}}
	r, err := scope.Reduce(task, func(tool string) scope.Tool {
		if tool == "Bash" {
			return scope.Tool{State: "OPEN", Reason: "circuit OPEN", Unblock: []string{"will probe on next cycle"}}
		}
		return scope.Tool{State: "CLOSED", Usable: true}
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, it := range r.Items {
		fmt.Println(it.Number, it.Title+":", it.Verdict, it.WaitsFor)
	}
	// Output:
	// 1 Read configuration files: keep []
	// 2 Run test suite: deferred []
	// 3 Publish the results: deferred [2]
}

// What was tried and failed is not achievable, whatever its tools can do now,
// and what comes after it waits.
func TestReduceFailed(t *testing.T) {
	usable := func(string) scope.Tool { return scope.Tool{State: "CLOSED", Usable: true} }
	got, err := scope.Reduce(scope.Task{Subtasks: []scope.Subtask{
		{ID: "test", Tools: []string{"Bash"}, Failed: true}, {ID: "ship", Tools: []string{"Bash"}, After: []string{"test"}}, {ID: "docs", Tools: []string{"Bash"}}}}, usable)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []scope.Verdict{scope.Failed, scope.Deferred, scope.Keep} {
		if got.Items[i].Verdict != want {
			t.Errorf("%s: got %v, want %v", got.Items[i].ID, got.Items[i].Verdict, want)
		}
	}
}
