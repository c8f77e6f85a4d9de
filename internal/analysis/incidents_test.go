package analysis_test

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

// unattended tells a prompt at the beginning of each session, as of an agent
// that a user set going once. A pause then lasts to the end.
func unattended(s analysis.Stream) analysis.Stream {
	return func(ctx context.Context, yield func(*trace.Event) error) error {
		begun := map[[2]string]bool{}
		return s(ctx, func(e *trace.Event) error {
			if id := [2]string{e.File, e.Session}; !begun[id] {
				begun[id] = true
				p := trace.Event{Kind: trace.Prompt, File: e.File, Session: e.Session, Format: e.Format, At: e.At}
				if err := yield(&p); err != nil {
					return err
				}
			}
			return yield(e)
		})
	}
}

// sessionCounts is one session under one policy.
type sessionCounts struct {
	Session string
	analysis.Counts
}

// bySession lays a policy over recordings of at most a thousand sessions and
// gives the figures of each, in order of their names.
func bySession(t *testing.T, s analysis.Stream, p analysis.Policy) []sessionCounts {
	t.Helper()
	r := analyse(t, s, analysis.Options{Policies: []analysis.Policy{p}, Timelines: 1000})
	list := make([]sessionCounts, len(r.Timelines))
	for i, line := range r.Timelines {
		list[i] = sessionCounts{line.Session, *line.Counts}
	}
	slices.SortFunc(list, func(a, b sessionCounts) int {
		return cmp.Or(cmp.Compare(len(a.Session), len(b.Session)), cmp.Compare(a.Session, b.Session))
	})
	return list
}
