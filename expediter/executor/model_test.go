package executor_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter/executor"
)

// held is a bulkhead and a guard in front of two tools that share them, beside
// the plain numbers of what they should hold.
type held struct {
	e       *executor.Executor
	g       *gate
	limit   int
	tickets []*executor.Ticket
	dones   int // calls that the guard has been told of
}

func TestPlacesAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &held{g: &gate{}, limit: rapid.IntRange(1, 3).Draw(t, "limit")}
		x, err := newEngineOf(capability.Map{{Tool: "api", Provides: "answers", Fallback: "ask"}})
		if err != nil {
			t.Fatal(err)
		}
		m.e, err = executor.New(executor.Config{Engine: x, Limits: map[string]executor.Limit{"api": {Concurrent: m.limit}},
			Guards: map[string]executor.Guard{"api": m.g}})
		if err != nil {
			t.Fatal(err)
		}
		t.Repeat(map[string]func(*rapid.T){
			"begin": m.begin,
			"end":   m.end,
			"guard": func(t *rapid.T) { m.g.err = rapid.SampledFrom([]error{nil, errBoom}).Draw(t, "guard says") },
			"":      m.check,
		})
	})
}

func (m *held) begin(t *rapid.T) {
	asked := m.g.asked
	ticket, err := m.e.Begin(t.Context(), rapid.SampledFrom([]string{"api/x", "api/y"}).Draw(t, "tool"))
	switch {
	case len(m.tickets) == m.limit:
		if !errors.Is(err, executor.ErrSaturated) || m.g.asked != asked {
			t.Fatalf("%d of %d places taken: got %v, the guard asked %d times", len(m.tickets), m.limit, err, m.g.asked-asked)
		}
	case m.g.err != nil:
		if !errors.Is(err, errBoom) || errors.Is(err, executor.ErrSaturated) {
			t.Fatalf("the guard refuses: got %v", err)
		}
	case err != nil:
		t.Fatalf("%d of %d places taken: got %v", len(m.tickets), m.limit, err)
	default:
		m.tickets = append(m.tickets, ticket)
	}
}

func (m *held) end(t *rapid.T) {
	if len(m.tickets) == 0 {
		t.Skip("nothing is under way")
	}
	i := rapid.IntRange(0, len(m.tickets)-1).Draw(t, "ticket")
	_, first := m.tickets[i].End(classify.Observation{})
	_, again := m.tickets[i].End(classify.Observation{})
	if !first || again {
		t.Fatalf("ended: first %v, again %v", first, again)
	}
	m.dones++
	m.tickets = append(m.tickets[:i], m.tickets[i+1:]...)
}

func (m *held) check(t *rapid.T) {
	if len(m.g.told) != m.dones {
		t.Fatalf("the guard was told of %d calls, want %d", len(m.g.told), m.dones)
	}
}
