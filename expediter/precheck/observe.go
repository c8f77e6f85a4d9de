package precheck

import "github.com/expediter-go/expediter/expediter"

// Observe returns events with the checker listening in, before what was there:
// a change of a tool's breaker drops its score, an incident that is flagged or
// confirmed drops all. Give the result to the engine's Config.
func (c *Checker) Observe(events expediter.Events) expediter.Events {
	moved, incident := events.Transition, events.Incident
	events.Transition = func(t expediter.Transition) {
		c.Forget(t.Tool)
		if moved != nil {
			moved(t)
		}
	}
	events.Incident = func(e expediter.IncidentEvent) {
		if e.Kind == expediter.IncidentFlagged || e.Kind == expediter.IncidentConfirmed {
			c.forgetAll()
		}
		if incident != nil {
			incident(e)
		}
	}
	return events
}

// forgetAll drops every score, and what the engine was told, since the engine
// has dropped it as well.
func (c *Checker) forgetAll() {
	c.Forget()
	c.mu.Lock()
	clear(c.told)
	c.mu.Unlock()
}
