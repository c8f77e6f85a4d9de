package session

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/store"
)

// inSession runs f in a session of a store of its own.
func inSession(t *testing.T, f func(*Session)) {
	t.Helper()
	choose := func(Setup) (Setup, error) { return Setup{Policy: expediter.Interactive(), Stamp: "x"}, nil }
	err := Update(t.Context(), store.Open(t.TempDir()), store.ID{Agent: "codex", Session: "s"}, time.UnixMilli(1_700_000_000_000), choose,
		func(s *Session) error { f(s); return nil })
	if err != nil {
		t.Fatal(err)
	}
}

func steps(texts ...string) Todos {
	todos := Todos{Replace: true}
	for i, text := range texts {
		todos.Items = append(todos.Items, Todo{ID: string(rune('1' + i)), Text: text, State: TodoPending})
	}
	return todos
}

func TestPlan(t *testing.T) {
	item := func(id, text string, state TodoState, tools ...string) Subtask {
		return Subtask{Todo: Todo{ID: id, Text: text, State: state}, Tools: tools}
	}
	tests := []struct {
		name   string
		do     func(*Session)
		want   []Subtask
		agents bool
	}{
		{"none", func(s *Session) {}, nil, false},
		{"a plan with tools", func(s *Session) { s.SetPlan(steps("a", "b"), [][]string{nil, {"Grep"}}) },
			[]Subtask{item("1", "a", TodoPending), item("2", "b", TodoPending, "Grep")}, false},
		{"a change of the state alone", func(s *Session) {
			s.SetPlan(steps("a", "b"), [][]string{nil, {"Grep"}})
			s.SetPlan(Todos{Items: []Todo{{ID: "2", State: TodoDone}}}, nil)
		}, []Subtask{item("1", "a", TodoPending), item("2", "b", TodoDone, "Grep")}, false},
		{"another text under a number is another sub-task", func(s *Session) {
			s.SetPlan(steps("a", "b"), [][]string{{"Read"}, {"Grep"}})
			s.SetPlan(steps("a", "c"), nil)
		}, []Subtask{item("1", "a", TodoPending, "Read"), item("2", "c", TodoPending)}, false},
		{"a started one learns its tools", func(s *Session) {
			s.SetPlan(steps("a", "b"), nil)
			s.SetPlan(Todos{Items: []Todo{{ID: "2", State: TodoActive}}}, nil)
			s.Before(Call{ID: "1", Observation: classify.Observation{Protocol: classify.Agent, Agent: classify.Codex, Tool: "Grep"}})
		}, []Subtask{item("1", "a", TodoPending), item("2", "b", TodoActive, "Grep")}, false},
		{"the agent's own list counts", func(s *Session) {
			s.SetPlan(steps("a"), nil)
			s.todos(Todos{Replace: true, Items: []Todo{{Text: "mine", State: TodoActive}}})
		}, []Subtask{item("", "mine", TodoActive)}, true},
		{"of hostile texts", func(s *Session) {
			s.todos(Todos{Replace: true, Items: []Todo{{Text: "\x00\x1b[2J \n", State: TodoActive}, {Text: "a\n\x00\tb \x1b[31mc"},
				{ID: "\x00", Text: "token=abcdefghij0123456789", DependsOn: []string{"a\x00"}}, {Text: strings.Repeat("é", 2*MaxItemText)}}})
		}, []Subtask{item("", "a b c", TodoUnknown),
			{Todo: Todo{Text: "token=[masked]", DependsOn: []string{"a"}}},
			item("", strings.Repeat("é", MaxItemText-1)+"…", TodoUnknown)}, true},
		{"until it is empty", func(s *Session) {
			s.SetPlan(steps("a"), nil)
			s.todos(Todos{Replace: true, Items: []Todo{{Text: "mine"}}})
			s.todos(Todos{Replace: true})
		}, []Subtask{item("1", "a", TodoPending)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inSession(t, func(s *Session) {
				tt.do(s)
				got, agents := s.Plan()
				if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" || agents != tt.agents {
					t.Errorf("the agent's: %v, want %v; -want +got\n%s", agents, tt.agents, diff)
				}
			})
		})
	}
}

// A store has the words for states, not their numbers.
func TestTodoStatesAsText(t *testing.T) {
	for state, word := range map[TodoState]string{
		TodoUnknown: `"unknown"`, TodoPending: `"pending"`, TodoActive: `"active"`, TodoDone: `"done"`, TodoDropped: `"dropped"`,
	} {
		text, err := json.Marshal(state)
		if err != nil || string(text) != word {
			t.Errorf("%v: got %s, %v, want %s", state, text, err, word)
		}
		back := TodoState(200)
		if err := json.Unmarshal(text, &back); err != nil || back != state {
			t.Errorf("%s: got %v, %v, want %v", word, back, err, state)
		}
	}
	if got := TodoState(200).String(); got != "todo(200)" {
		t.Errorf("beyond the last: got %s", got)
	}
	for _, text := range []string{`"todo(200)"`, `""`, `3`} {
		var state TodoState
		if err := json.Unmarshal([]byte(text), &state); err == nil {
			t.Errorf("%s: got %v, want an error", text, state)
		}
	}
}
