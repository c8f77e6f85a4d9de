package hook

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
	"github.com/expediter-go/expediter/report"
)

// standing is what an agent should know at a prompt: which tools are not closed,
// and whether everything waits. Empty: all is well.
func standing(s *session.Session) string {
	st := s.Status()
	if st.Paused != expediter.NoReason {
		return "expediter: PAUSE. " + pauseWords(st, st.Paused)
	}
	if lines := openTools(st); lines != "" {
		return "expediter: " + lines
	}
	return ""
}

// openTools tells of each tool that is not closed, on a line of its own.
func openTools(st expediter.Status) string {
	var lines []string
	for _, t := range st.Tools {
		if t.State == breaker.Closed {
			continue
		}
		told := report.Told{Tool: t, At: st.At}
		lines = append(lines, told.Open()+" "+told.Route(nil))
	}
	if more := len(lines) - maxListed; more > 0 {
		lines = append(lines[:maxListed], fmt.Sprintf("%d more are open.", more))
	}
	return strings.Join(lines, "\n")
}

// summary is what the user is told when the agent's turn is over and not all of
// it went as it should.
func summary(s *session.Session) string {
	skips, pauses := s.Cycle()
	if skips+pauses == 0 {
		return ""
	}
	var open []string
	st := s.Status()
	for _, t := range st.Tools {
		if t.State != breaker.Closed {
			open = append(open, redact.Text(t.Tool, maxQuote))
		}
	}
	text := "expediter: " + denied(int(skips), int(pauses)) + " since the prompt"
	if len(open) > 0 {
		text += "; open: " + report.Listed(open)
	}
	if st.Paused == expediter.Systemic {
		text += "; it waits for `expediter confirm`"
	}
	return text + ". `expediter report` has what was done and what was not."
}

// denied says how many calls were skipped and how many paused, of which there is
// at least one.
func denied(skips, pauses int) string {
	switch {
	case pauses == 0:
		return report.Count(skips, "call") + " skipped"
	case skips == 0:
		return report.Count(pauses, "call") + " paused"
	}
	return fmt.Sprintf("%s skipped and %d paused", report.Count(skips, "call"), pauses)
}

// trouble is what the user is told of the session's own set-up.
func trouble(s *session.Session) string {
	if p := s.Setup().Problem; p != "" {
		return "expediter: the capability map is not used: " + redact.Text(p, 4*maxQuote)
	}
	return ""
}

// recent is how long what another session found is worth telling.
const recent = time.Hour

// elsewhere is what another session of the agent in the project found open
// lately. It is told
// and has no effect: this session finds out for itself, and no pause of the other
// holds here.
func elsewhere(ctx context.Context, st *store.Store, e Event, at time.Time) string {
	if e.Source != "startup" && e.Source != "clear" || e.Project == "" {
		return ""
	}
	all, _ := session.List(ctx, st) // those that cannot be read are told by status
	for _, other := range all {
		if other.Session == e.Session || other.Agent != string(e.Agent) || other.Project != e.Project || at.UnixMilli()-other.Seen > recent.Milliseconds() {
			continue
		}
		var text string
		_ = session.View(ctx, st, other.ID, at, func(s *session.Session) error {
			text = openTools(s.Status())
			return nil
		})
		if text != "" {
			return "expediter: In another session of this project" + report.Ago(at.UnixMilli()-other.Seen) + ", not checked since: " + text
		}
	}
	return ""
}

// join puts two texts on lines of their own.
func join(a, b string) string { return strings.Trim(a+"\n"+b, "\n") }
