package session

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/report"
)

// maxRoutes bounds the routes that a report lists; the latest are kept.
const maxRoutes = 64

// recall takes from the journal what an engine that is made anew for each event
// cannot know: the routes that it advised, and the history of its incidents.
func (s *Session) recall(status *expediter.Status, in *report.Input) {
	var routes []expediter.RouteTaken
	for line := range s.Journal() {
		var ev expediter.Event
		if !tells(line) || json.Unmarshal(line, &ev) != nil {
			continue
		}
		if d := ev.Decided; d != nil && d.Route != nil {
			routes = follow(routes, ev.Tool, d.Route, ev.Step, ev.At)
		}
		switch {
		case ev.Error != "":
		case ev.Systemic != nil && ev.Op != expediter.OpStart:
			kind := expediter.IncidentFlagged
			if ev.Op == expediter.OpDeclareOutage {
				kind = expediter.IncidentDeclared
			}
			in.History = append(in.History, expediter.IncidentEvent{Kind: kind, Cause: ev.Systemic.Cause,
				Members: ev.Systemic.Members, Step: ev.Step, At: ev.At})
		case ev.Op == expediter.OpConfirmRecovery:
			in.History = append(in.History, expediter.IncidentEvent{Kind: expediter.IncidentConfirmed, Step: ev.Step, At: ev.At})
		}
	}
	status.Routes = routes
}

// tells reports whether a line may be one that recall looks for. Hooks wait while
// a journal is read, and most of its lines are calls that went well.
func tells(line []byte) bool {
	return bytes.Contains(line, []byte(`"route":{`)) || bytes.Contains(line, []byte(`"systemic":{`)) ||
		bytes.Contains(line, []byte(`"op":"`+string(expediter.OpConfirmRecovery)+`"`))
}

// follow adds a piece of advice; one that repeats the last is counted there.
func follow(routes []expediter.RouteTaken, tool string, r *capability.Route, step, at int64) []expediter.RouteTaken {
	if n := len(routes) - 1; n >= 0 && routes[n].Tool == tool && *routes[n].Route == *r {
		routes[n].Step, routes[n].At = step, at
		routes[n].Times++
		return routes
	}
	routes = append(routes, expediter.RouteTaken{Tool: tool, Route: r, Step: step, At: at, Times: 1})
	return routes[max(len(routes)-maxRoutes, 0):]
}

// Journal yields the lines of the session's journal, oldest first, valid within
// the transaction alone. It begins with a start event, and each later one has a
// snapshot; old segments may be gone.
func (s *Session) Journal() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, lines := range s.tx.Segments() {
			for line := range lines {
				if !yield(line) {
					return
				}
			}
		}
	}
}
