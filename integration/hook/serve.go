package hook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/operator"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

// Options are what a hook process is called with.
type Options struct {
	Agent string              // one of Agents, or Auto
	Map   string              // file with the capability map; empty: see docs/hooks.md for the order
	Env   func(string) string // looks up environment variables; nil: there are none
	Fleet Fleet
}

func (o Options) env(name string) string {
	if o.Env == nil {
		return ""
	}
	return o.Env(name)
}

// Serve answers one hook call: it reads the event, lets the session of the store
// decide or learn, and says it in the agent's format. It waits for other
// processes until ctx is done. The error is for a log alone. What could not be
// kept is not said: then the Output lets the tool run.
func Serve(ctx context.Context, st *store.Store, input []byte, o Options, at time.Time) (Output, error) {
	e, err := Decode(o.Agent, input, o.Env)
	switch {
	case err != nil:
		return Silence(o.Agent), err
	case e.Foreign != "":
		return Encode(e, Answer{}), errors.New(e.Foreign)
	case e.Kind == Other:
		return Encode(e, Answer{}), nil
	}
	if a, denied := forHumans(e); denied {
		return Encode(e, a), nil
	}
	var a Answer
	var first bool // the session begins: some agents do not tell, and some tell it with every prompt
	err = session.Update(ctx, st, store.ID{Agent: string(e.Agent), Session: e.Session}, at, o.choose(e.Agent, e.Project),
		func(s *session.Session) error {
			if s.Project == "" {
				s.Project = e.Project
			}
			v, err := o.Fleet.meet(s, e)
			if err != nil {
				return err
			}
			defer v.abandon()
			a, first = answer(s, e, v), s.New()
			return v.part()
		})
	if err != nil {
		return Encode(e, Answer{}), fmt.Errorf("%s of %s: %w", e.Name, e.Agent, err)
	}
	if first && e.Kind == SessionStart {
		a.Context = join(a.Context, elsewhere(ctx, st, e, at))
	}
	if first {
		err = tidy(ctx, st, at)
	}
	return Encode(e, a), err
}

// tidying is how long an agent waits for old sessions to go. Where it is not
// enough, the next session goes on with it.
const tidying = 500 * time.Millisecond

func tidy(ctx context.Context, st *store.Store, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, tidying)
	defer cancel()
	_, err := st.Prune(ctx, store.Limits{}, at)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// forHumans denies a shell call that would do what only a human may: an agent
// must not confirm its own recovery.
func forHumans(e Event) (Answer, bool) {
	if e.Kind != Before || e.Call.Shell == "" {
		return Answer{}, false
	}
	found := operator.Controls(e.Call.Shell)
	if found == "" {
		return Answer{}, false
	}
	return Answer{Deny: true, Reason: "expediter: SKIP. This is for the user alone: " + found +
		". Only the user can do that, in a terminal of their own."}, true
}

// answer lets the event happen to the session.
func answer(s *session.Session, e Event, v *visitor) Answer {
	switch e.Kind {
	case Before:
		return decide(s, e, v)
	case After:
		return learnt(s, s.After(e.call(e.Call)))
	case BatchEnd:
		calls := make([]session.Call, len(e.Batch))
		for i, c := range e.Batch {
			calls[i] = e.call(c)
		}
		s.BatchEnd(e.Subagent, calls)
	case Prompt:
		s.Prompt()
		return Answer{Context: standing(s)}
	case SessionStart:
		if e.Source == "startup" || e.Source == "resume" {
			s.Start()
		}
		if s.New() || e.Source == "clear" {
			return Answer{Notice: trouble(s)}
		}
		return Answer{Context: standing(s), Notice: trouble(s)}
	case Stop:
		s.Stop("")
		return Answer{Notice: summary(s)}
	case SubagentStop:
		s.Stop(e.Subagent)
	case SessionEnd:
		s.End()
	}
	return Answer{}
}

func (e Event) call(c Call) session.Call {
	return session.Call{ID: c.ID, Subagent: e.Subagent, Observation: c.Observation, Todos: c.Todos}
}

func decide(s *session.Session, e Event, v *visitor) Answer {
	r := s.Before(e.call(e.Call))
	if v.leased(r) {
		r = s.Anew(e.call(e.Call))
	}
	switch r.Verb {
	case expediter.Skip:
		return Answer{Deny: true, Reason: skipped(s, r)}
	case expediter.Pause:
		return Answer{Deny: true, Reason: paused(s, r)}
	case expediter.Probe:
		return Answer{Context: probing(s, r)}
	}
	return Answer{}
}

// learnt says what changed for the agent with the end of a call.
func learnt(s *session.Session, l session.Learnt) Answer {
	switch {
	case l.Result.Paused != expediter.NoReason && (l.Result.Opened || l.Verdict.Outcome == cascade.Failed):
		return Answer{Context: pauseBegins(s, l.Result.Paused)}
	case l.Result.Opened:
		return Answer{Context: opened(s, l.Key)}
	case l.Result.Closed:
		return Answer{Context: "expediter: " + l.Key + " works again; its circuit is closed."}
	}
	return Answer{}
}
