package hook

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/report"
)

// What agents are told is fact, never an order: what is open, since when, why,
// what was declared for that case, and when it is tried again. Agents take
// orders in such a place for an attack. Only declared routes are named (SPEC
// section 8).

// Bounds within an answer.
const (
	maxQuote  = 200 // characters of a text from outside
	maxListed = 8   // tools of a list
)

// skipped says why a tool is not called.
func skipped(s *session.Session, r session.Ruling) string {
	return "expediter: SKIP. " + report.Tell(s.Status(), r.Key).Skip(r.Decision)
}

// probing says that a call is a trial.
func probing(s *session.Session, r session.Ruling) string {
	t := report.Tell(s.Status(), r.Key)
	return fmt.Sprintf("expediter: PROBE. This call of %s is a trial: it has been open since %s. If it works, its circuit closes.",
		t.Name(), report.Clock(t.Tool.OpenedAt))
}

// opened says that a tool has just opened.
func opened(s *session.Session, key string) string {
	t := report.Tell(s.Status(), key)
	if t.Tool.State == breaker.Closed {
		return ""
	}
	return strings.TrimSpace("expediter: " + t.Open() + " " + t.Route(nil) + " " + t.Trial())
}

// paused says why no tool is called, and what the user must do.
func paused(s *session.Session, r session.Ruling) string {
	return "expediter: PAUSE. " + pauseWords(s.Status(), r.Reason)
}

// pauseBegins says that a pause has begun with the end of a call.
func pauseBegins(s *session.Session, reason expediter.Reason) string {
	return "expediter: PAUSE begins. " + pauseWords(s.Status(), reason)
}

func pauseWords(st expediter.Status, reason expediter.Reason) string {
	cause := report.PauseCause(st, reason)
	if reason == expediter.Systemic && slices.ContainsFunc(st.Incidents, func(i expediter.Incident) bool { return i.Active }) {
		return cause + ". No tool is called until the user has looked into it and has run `expediter confirm` in a terminal of their own."
	}
	return "The failure budget of this prompt is spent: " + cause + ". No tool is called until the user's next message, " +
		"or until the user runs `expediter resume`. The user is to hear what was done, what was not, and why."
}
