package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/expediter-go/expediter/internal/session"
)

func TestParsePlan(t *testing.T) {
	item := func(id, text string, state session.TodoState, after, tools []string) session.Subtask {
		return session.Subtask{Todo: session.Todo{ID: id, Text: text, State: state, DependsOn: after}, Tools: tools}
	}
	tests := []struct {
		name, in string
		want     plan
		err      string // a part of it; empty: none
	}{
		{"nothing", "\n# only words\n\n", nil, ""},
		{"plain", "Read\nWrite\r\n", plan{item("1", "Read", session.TodoPending, nil, nil), item("2", "Write", session.TodoPending, nil, nil)}, ""},
		{"marks", "- [ ] a\n* [x] b\n+ [X] c\n[>] d\n5) [-] e", plan{item("1", "a", session.TodoPending, nil, nil), item("2", "b", session.TodoDone, nil, nil),
			item("3", "c", session.TodoDone, nil, nil), item("4", "d", session.TodoActive, nil, nil), item("5", "e", session.TodoDropped, nil, nil)}, ""},
		{"brackets", "a\nb [tools: Bash/gh, Bash/gh,, Read] [after: 1]\nc [after: 2, 1] [tools: X]", plan{item("1", "a", session.TodoPending, nil, nil),
			item("2", "b", session.TodoPending, []string{"1"}, []string{"Bash/gh", "Read"}), item("3", "c", session.TodoPending, []string{"2", "1"}, []string{"X"})}, ""},
		{"brackets that are text", "fix a[0] [later]\n[link] b [tools: X] and more", plan{item("1", "fix a[0] [later]", session.TodoPending, nil, nil),
			item("2", "[link] b [tools: X] and more", session.TodoPending, nil, nil)}, ""},
		{"byte order mark, escapes", "\ufeff- [x] a\x1b[31m b\n", plan{item("1", "a b", session.TodoDone, nil, nil)}, ""},
		{"later ones", "a [after: 2]\nb", plan{item("1", "a", session.TodoPending, []string{"2"}, nil), item("2", "b", session.TodoPending, nil, nil)}, ""},
		{"no text", "a\n\n- [x]\n", nil, "p:3: the sub-task has no text"},
		{"wrong number", "1. a\n3. b", nil, "p:2: this is sub-task 2, and the line says 3"},
		{"unknown", "a [after: 1, 4]", nil, `p:1: after: there is no sub-task "4"`},
		{"of itself", "a [after: 1]", nil, "p: "},
		{"ring", "a [after: 2]\nb [after: 1]", nil, "p: "},
		{"too many tools", "a [tools: " + strings.Join(strings.Split("abcdefghijklmnopq", ""), ",") + "]", nil, "more than 16 tools"},
		{"too many", strings.Repeat("a\n", session.MaxItems+1), nil, "201 sub-tasks; a plan has at most 200"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parsePlan("p", []byte(tt.in))
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q in it", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A plan that can be read is read again as it is printed.
func FuzzParsePlan(f *testing.F) {
	for _, seed := range []string{"a\nb", "- [x] a [tools: A, B] [after: 2]\n2. [>] b", "# x\n\n* [-] c", "[ ]", "1. [x] [x] # a [after:]", "a [tools: é\x1b[2J]",
		"- 2. a\n+ - b", "\ufeff\ufeffa", "a [after: 1] [tools:b", "[-] -"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePlan("p", []byte(text))
		if err != nil {
			return
		}
		again, err := parsePlan("p", []byte(p.text()))
		if err != nil {
			t.Fatalf("%v of\n%s", err, p.text())
		}
		if diff := cmp.Diff(p, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-first +again\n%s", diff)
		}
	})
}
