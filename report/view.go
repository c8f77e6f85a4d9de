package report

import (
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/scope"
)

// ScopeView tells scope.Reduce how the tools of an engine stand. A tool that
// the engine does not know is usable, unless the engine is strict.
func ScopeView(st *expediter.Status) scope.View {
	rows := make(map[string]*expediter.ToolStatus, len(st.Tools))
	for i := range st.Tools {
		rows[st.Tools[i].Tool] = &st.Tools[i]
	}
	return func(tool string) scope.Tool {
		t := rows[tool]
		if t == nil {
			return unseen(st.Strict)
		}
		s := scope.Tool{State: stateName(t.State), Usable: usable(t)}
		if !s.Usable {
			s.Reason, s.Unblock = "circuit "+s.State, unblock(st, t)
		}
		if !s.Usable && t.State == breaker.Closed {
			s.State, s.Reason = t.Score.String(), t.Score.String()
		}
		if s.Usable && t.Unverified > 0 {
			s.Reason, s.Unblock = "a failed call may have taken effect", []string{"find out what it did, before it is repeated"}
		}
		if r := t.ViableRoute; r != nil && r.Kind == capability.UseAlternative {
			s.Alternative, s.Method, s.Degradation = r.Tool, r.Method, r.Degradation
		}
		return s
	}
}

func unseen(strict bool) scope.Tool {
	if !strict {
		return scope.Tool{State: stateName(breaker.Closed), Usable: true}
	}
	return scope.Tool{State: "unknown tool", Reason: "unknown tool", Unblock: []string{"declare it in the capability map"}}
}

func usable(t *expediter.ToolStatus) bool {
	return t.Disabled || t.State == breaker.Closed && t.Score != capability.Unavailable
}

// unblock lists what would make a tool usable again: the next probe or what
// must happen before it, then what the user can do by hand.
func unblock(st *expediter.Status, t *expediter.ToolStatus) []string {
	list := []string{nextProbe(st, t)}
	if t.Entry.Fallback != "" && !t.Entry.NoSubstitute && st.User {
		list = append(list, t.Entry.Fallback)
	}
	return list
}

func nextProbe(st *expediter.Status, t *expediter.ToolStatus) string {
	switch {
	case t.Forced:
		return "an operator must reset it"
	case t.State == breaker.Closed || t.Score == capability.Unavailable:
		return "its pre-call check must pass"
	case st.Paused == expediter.Systemic:
		return "will probe once recovery is confirmed"
	case t.External != nil:
		return "another breaker decides when it is tried"
	case t.ProbeInFlight:
		return "its probe is in flight"
	case st.Paused == expediter.Budget:
		return "will probe on next cycle"
	case t.State == breaker.HalfOpen || t.Next <= 1 && t.Unit == breaker.Attempts:
		return "will probe on the next request"
	case t.Unit == breaker.Attempts:
		return "will probe on the " + ordinal(t.Next) + " request from now"
	}
	return "will probe in " + distance(max(t.Next, 1), t.Unit)
}
