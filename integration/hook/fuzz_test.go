package hook

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/internal/session"
)

// FuzzDecode holds what must be so of any input: no panic, bounded names, no
// control characters in them, and the same event for the same input.
func FuzzDecode(f *testing.F) {
	for _, tt := range documented() {
		f.Add(string(tt.want.Agent), []byte(tt.input))
	}
	f.Fuzz(func(t *testing.T, agent string, input []byte) {
		for _, name := range []string{agent, Auto} {
			e, err := Decode(name, input, nil)
			again, _ := Decode(name, input, nil)
			if diff := cmp.Diff(e, again, cmpopts.IgnoreUnexported(classify.Rules{})); diff != "" {
				t.Fatalf("decoded again: %s", diff)
			}
			if err == nil && e.Kind != Other && e.Session == "" {
				t.Errorf("%s of no session", e.Kind)
			}
			checkEvent(t, e)
			checkOutput(t, e, Encode(e, Answer{Deny: true, Reason: string(input), Context: string(input), Notice: string(input)}))
		}
	})
}

func checkEvent(t *testing.T, e Event) {
	t.Helper()
	calls := append([]Call{e.Call}, e.Batch...)
	texts := []string{e.Name, e.Subagent, e.Source}
	for _, c := range calls {
		texts = append(texts, c.ID, c.Observation.Tool, c.Observation.Server)
		classify.Observe(c.Observation)
		if c.Todos != nil && len(c.Todos.Items) > 2*session.MaxItems {
			t.Errorf("%d items of a to-do list", len(c.Todos.Items))
		}
	}
	for _, text := range texts {
		if len(text) > maxName+len(inVSCode) || !utf8.ValidString(text) || text != strip(text, "") {
			t.Errorf("%q is not fit for a name", text)
		}
	}
}

func checkOutput(t *testing.T, e Event, out Output) {
	t.Helper()
	if len(out.Stdout) > 0 && (!json.Valid(out.Stdout) || !utf8.Valid(out.Stdout) || strings.Count(string(out.Stdout), "\n") != 1) {
		t.Errorf("%s of %s: %q is no line of JSON", e.Name, e.Agent, out.Stdout)
	}
	if out.Exit != 0 && (e.Agent != classify.Windsurf || e.Kind != Before) {
		t.Errorf("%s of %s exits with %d", e.Name, e.Agent, out.Exit)
	}
}

func FuzzChecklist(f *testing.F) {
	f.Add("- [x] a\n1. [ ] b\n* [-] \x00c")
	f.Fuzz(func(t *testing.T, text string) {
		todos := checklist(text)
		if todos == nil {
			return
		}
		if len(todos.Items) == 0 || len(todos.Items) > session.MaxItems {
			t.Errorf("%d items", len(todos.Items))
		}
		for _, item := range todos.Items {
			if item.Text == "" || item.Text != strings.TrimSpace(item.Text) || strings.Contains(item.Text, "\n") {
				t.Errorf("%q", item.Text)
			}
		}
	})
}
