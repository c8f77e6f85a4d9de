package hook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/internal/session"
)

func TestToDoListsAreBounded(t *testing.T) {
	const most = session.MaxItems
	var items, lines []string
	for i := range 3 * most {
		items = append(items, fmt.Sprintf(`{"content":"%d","status":"pending"}`, i))
		lines = append(lines, fmt.Sprintf("- [ ] %d", i))
	}
	for name, todos := range map[string]*session.Todos{
		"a list":      todoList([]byte("["+strings.Join(items, ",")+"]"), false),
		"a checklist": checklist(strings.Join(lines, "\n")),
	} {
		if todos == nil || len(todos.Items) != most {
			t.Errorf("%s: got %v items, want %d", name, todos, most)
		}
	}
	const ids = session.MaxItemTools
	if got := todoIDs([]byte("[" + strings.Repeat(`"1",7,"",`, 3*ids) + `"2"]`)); len(got) != ids {
		t.Errorf("got %d ids, want %d", len(got), ids)
	}
}

func TestChecklist(t *testing.T) {
	tests := []struct {
		name, text string
		want       []session.Todo
	}{
		{"all marks", "- [ ] a\n* [x] b\n+ [X] c\n- [-] d\n- [~] e\n[] f", []session.Todo{
			todo("a", session.TodoPending), todo("b", session.TodoDone), todo("c", session.TodoDone), todo("d", session.TodoActive),
			todo("e", session.TodoActive), todo("f", session.TodoPending)}},
		{"numbers, indents and line ends", "1. [x] a\r\n\t  12) [ ] b\r\n", []session.Todo{todo("a", session.TodoDone), todo("b", session.TodoPending)}},
		{"a box in a box", "- [x] [ ] a", []session.Todo{todo("[ ] a", session.TodoDone)}},
		{"other lines", "# Plan\n- plain\n- [?] what\n- [x]\n- x] a\n- [x a", nil},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []session.Todo
			if todos := checklist(tt.text); todos != nil {
				got = todos.Items
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A list of which nothing can be read must not take the place of the one that
// is known.
func TestAnUnreadableListIsNone(t *testing.T) {
	for _, raw := range []string{``, `null`, `7`, `"x"`, `{}`, `[7]`, `[{"note":"x"}]`, `[{"id":"1","status":"completed"}]`} {
		if got := todoList([]byte(raw), false); got != nil {
			t.Errorf("%s: got %+v", raw, got)
		}
	}
	if got := todoList([]byte(`[]`), false); got == nil || !got.Replace || len(got.Items) > 0 {
		t.Errorf("an empty list: got %+v", got)
	}
}
