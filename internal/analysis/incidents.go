package analysis

import (
	"cmp"
	"context"
	"slices"

	"github.com/expediter-go/expediter/internal/trace"
)

// Unattended tells a prompt at the beginning of each session that has none
// there: an agent that a user set going once. A pause then lasts to the end.
func Unattended(s Stream) Stream {
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

// maxSessions bounds the sessions that BySession tells one by one.
const maxSessions = 1000

// SessionCounts is one session under one policy.
type SessionCounts struct {
	Session string
	Counts
}

// BySession lays a policy over recordings and gives the figures of each
// session, in order of their names: of those with the most denials, where there
// are more than a thousand.
func BySession(ctx context.Context, s Stream, p Policy) ([]SessionCounts, error) {
	r, err := Run(ctx, s, Options{Policies: []Policy{p}, Timelines: maxSessions})
	if err != nil {
		return nil, err
	}
	list := make([]SessionCounts, len(r.Timelines))
	for i, t := range r.Timelines {
		list[i] = SessionCounts{t.Session, *t.Counts}
	}
	slices.SortFunc(list, func(a, b SessionCounts) int {
		return cmp.Or(cmp.Compare(len(a.Session), len(b.Session)), cmp.Compare(a.Session, b.Session))
	})
	return list, nil
}
