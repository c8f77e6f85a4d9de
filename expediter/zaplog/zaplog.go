// Package zaplog is the observer that tells a zap logger what an engine does:
// each transition, route, incident and pause, and each failed call that may
// have taken effect.
package zaplog

import (
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// New returns observers that log to l. A nil l gives none at all. Openings,
// new incidents, pauses and calls to be verified are warnings, the routes of
// skipped calls are debug lines, all else is information. Messages are one
// bounded line without control characters; every value is also a field of its
// own.
//
// Only the observers named here are set: others, such as Journal, can be added
// to what New returns. They may be called concurrently.
func New(l *zap.Logger) expediter.Events {
	if l == nil {
		return expediter.Events{}
	}
	s := sink{l}
	return expediter.Events{Transition: s.transition, Routed: s.routed, Incident: s.incident, Paused: s.paused, Unverified: s.unverified}
}

// sink is where the lines go.
type sink struct{ log *zap.Logger }

func (s sink) transition(t expediter.Transition) {
	level, verb := zapcore.InfoLevel, t.To.String()
	switch t.To {
	case breaker.Open:
		level, verb = zapcore.WarnLevel, "OPENED"
	case breaker.HalfOpen:
		verb = "HALF-OPEN"
	}
	fields := []zap.Field{zap.String("tool", plain(t.Tool)), zap.Stringer("from", t.From), zap.Stringer("to", t.To),
		zap.String("why", plain(t.Why)), zap.Int("failures", t.Failures)}
	s.log.Log(level, fmt.Sprintf("Circuit %s for %s: %s", verb, plain(t.Tool), plain(t.Why)), when(fields, t.Step, t.At)...)
}

func (s sink) routed(r expediter.Routing) {
	if !s.log.Core().Enabled(zapcore.DebugLevel) {
		return
	}
	route := r.Route
	if route == nil {
		route = capability.Reduced()
	}
	fields := []zap.Field{zap.String("tool", plain(r.Tool)), zap.Stringer("reason", r.Reason),
		zap.Stringer("route", route.Kind), zap.Stringer("label", route.Label)}
	text := func(key, value string) {
		if value != "" {
			fields = append(fields, zap.String(key, plain(value)))
		}
	}
	text("alternative", route.Tool)
	text("method", route.Method)
	text("degradation", route.Degradation)
	text("ask", route.Ask)
	var passed []string
	for _, p := range r.PassedOver {
		passed = append(passed, plain(p.Tool)+": "+p.Why)
	}
	if passed != nil {
		fields = append(fields, zap.Strings("passed_over", passed))
	}
	s.log.Debug(fmt.Sprintf("Skipped %s (%s): %s", plain(r.Tool), r.Reason, target(route)), when(fields, r.Step, r.At)...)
}

// target names where a route leads.
func target(r *capability.Route) string {
	switch r.Kind {
	case capability.UseAlternative:
		return r.Label.String() + " " + plain(r.Tool)
	case capability.UseFallback:
		return "ask the user"
	}
	return "scope reduced"
}

func (s sink) incident(i expediter.IncidentEvent) {
	level := zapcore.InfoLevel
	switch i.Kind {
	case expediter.IncidentFlagged, expediter.IncidentDeclared, expediter.IncidentSuspected:
		level = zapcore.WarnLevel
	}
	members := make([]string, len(i.Members))
	for n, m := range i.Members {
		members[n] = plain(m)
	}
	fields := []zap.Field{zap.String("kind", string(i.Kind)), zap.String("cause", plain(i.Cause)), zap.Strings("members", members)}
	s.log.Log(level, fmt.Sprintf("Incident %s: %s (%s)", i.Kind, plain(i.Cause), list(members)), when(fields, i.Step, i.At)...)
}

// list shows the first names and counts the rest.
func list(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func (s sink) paused(p expediter.PauseEvent) {
	fields := []zap.Field{zap.Stringer("reason", p.Reason), zap.Int("consumed", p.Consumed)}
	spent := fmt.Sprintf("%d failures", p.Consumed)
	if p.Limit != budget.Unlimited {
		fields = append(fields, zap.Int("limit", p.Limit))
		spent = fmt.Sprintf("%d of %d failures", p.Consumed, p.Limit)
	}
	fields = when(fields, p.Step, p.At)
	switch p.Reason {
	case expediter.NoReason:
		s.log.Info("Resumed: "+spent, fields...)
	case expediter.Systemic:
		s.log.Warn("Paused: several tools fail together, until recovery is confirmed", fields...)
	default:
		s.log.Warn("Paused: the failure budget is spent, "+spent, fields...)
	}
}

func (s sink) unverified(u expediter.Unverified) {
	fields := []zap.Field{zap.String("tool", plain(u.Tool)), zap.Stringer("category", u.Category), zap.String("text", plain(u.Text))}
	s.log.Warn(plain(u.Tool)+" failed and may have taken effect: verify before it is repeated", when(fields, u.Step, u.At)...)
}

// when adds the step, and the time if one was given.
func when(fields []zap.Field, step, at int64) []zap.Field {
	fields = append(fields, zap.Int64("step", step))
	if at != 0 {
		fields = append(fields, zap.Time("at", time.UnixMilli(at).UTC()))
	}
	return fields
}

// maxText bounds a text from outside, in characters.
const maxText = 200

// plain makes a text from outside one bounded line without secrets.
func plain(s string) string { return redact.Text(s, maxText) }
