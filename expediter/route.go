package expediter

import (
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// route chooses where a skipped call may go (SPEC section 8). t is nil for a
// tool that is not in the table.
func (x *Engine) route(t *tool, name string) *capability.Route {
	s := x.servedBy(t, name)
	if t != nil && t.unverified > 0 { // what stood in might do it a second time
		return s.plan.Choose(func(int) bool { return false }, false, !x.cfg.UserUnavailable)
	}
	return s.plan.Choose(func(i int) bool { return s.alts[i] != t && s.alts[i].viable() && !x.pausesAlt(s.alts[i]) }, t != nil && t.denied(), !x.cfg.UserUnavailable)
}

func (x *Engine) servedBy(t *tool, name string) *spec {
	if t != nil {
		return t.spec
	}
	return x.specOf(name)
}

// pausesAlt reports whether the active incident would pause a stand-in, where
// it does not pause everything.
func (x *Engine) pausesAlt(alt *tool) bool {
	return x.active != nil && x.cfg.Policy.Cascade.PauseScope == PauseShares && x.pauses(alt, alt.name)
}

// viable reports whether the tool may stand in for another.
func (t *tool) viable() bool {
	return (t.m.State() == breaker.Closed || t.off) && t.score != capability.Unavailable
}

// denied reports whether a denial opened the tool.
func (t *tool) denied() bool {
	return t.m.State() != breaker.Closed && t.tripped &&
		(t.trip.Category == cascade.Permission || t.trip.Category == cascade.Auth)
}

// routed puts a SKIP's route into the ring and tells the observer.
func (x *Engine) routed(d Decision, name string, t *tool) {
	x.routes.add(name, d.Route, x.cur.step, x.cur.at)
	if x.events.Routed != nil {
		x.queue.add(notice{route: &Routing{Tool: name, Reason: d.Reason, Route: d.Route,
			PassedOver: x.passedOver(d, name, t), Step: x.cur.step, At: x.cur.at}})
	}
}

// passedOver says why the alternatives before the route were not taken.
func (x *Engine) passedOver(d Decision, name string, t *tool) []PassedOver {
	s := x.servedBy(t, name)
	if s.plan == nil || s.plan.NoSubstitute() {
		return nil
	}
	var passed []PassedOver
	for i, a := range s.plan.Alternatives {
		switch alt := s.alts[i]; {
		case t != nil && t.unverified > 0:
			passed = append(passed, PassedOver{a.Tool, "may have taken effect"})
		case t != nil && t.denied() && !a.SameAuthority:
			passed = append(passed, PassedOver{a.Tool, "not of the same authority"})
		case alt == t:
			passed = append(passed, PassedOver{a.Tool, "the tool itself"})
		case alt.viable() && x.pausesAlt(alt):
			passed = append(passed, PassedOver{a.Tool, "paused"})
		case alt.viable():
			return passed
		case alt.score == capability.Unavailable:
			passed = append(passed, PassedOver{a.Tool, "unavailable"})
		default:
			passed = append(passed, PassedOver{a.Tool, alt.m.State().String()})
		}
	}
	return passed
}

// routeRing holds the latest routes. A route that repeats is one entry.
type routeRing struct {
	taken [64]RouteTaken
	next  int
}

func (r *routeRing) add(tool string, route *capability.Route, step, at int64) {
	if r.next > 0 {
		last := &r.taken[(r.next-1)%len(r.taken)]
		if last.Route == route && last.Tool == tool {
			last.Times++
			last.Step, last.At = step, at
			return
		}
	}
	r.taken[r.next%len(r.taken)] = RouteTaken{Tool: tool, Route: route, Step: step, At: at, Times: 1}
	r.next++
}

func (r *routeRing) list() []RouteTaken {
	n := min(r.next, len(r.taken))
	out := make([]RouteTaken, 0, n)
	for i := r.next - n; i < r.next; i++ {
		out = append(out, r.taken[i%len(r.taken)])
	}
	return out
}
