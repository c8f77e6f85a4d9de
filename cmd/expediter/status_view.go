package main

import (
	"fmt"
	"slices"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/internal/pattern"
	"github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/report"
)

// statusFormat is the version of a standing's JSON. Fields may be added within
// one version; they are never renamed or given another meaning.
const statusFormat = 1

// standing is how a session stands at a moment, with all texts cleaned. Times
// are milliseconds since 1970.
type standing struct {
	Format       int               `json:"format"`
	Now          int64             `json:"now_ms"`
	Session      sessionView       `json:"session"`
	Map          mapView           `json:"map"`
	Paused       string            `json:"paused"` // systemic, budget or empty
	HumanMustAct bool              `json:"human_must_act"`
	HumanActions []string          `json:"human_actions"`
	ObserveOnly  bool              `json:"observe_only,omitempty"`
	Fleet        string            `json:"fleet,omitempty"` // leased or alone; empty: belongs to none
	Budget       budgetView        `json:"budget"`
	Policy       *report.Policy    `json:"policy"` // in words
	Tools        []toolView        `json:"tools"`  // in table order
	Incidents    []incidentView    `json:"incidents"`
	Suspicion    *report.Suspicion `json:"suspicion,omitempty"`
	Unverified   []unverifiedView  `json:"unverified"`
	Aside        []asideView       `json:"set_aside"`
	Trouble      []troubleView     `json:"hook_trouble"`
	Unreadable   []string          `json:"unreadable"`
}

type sessionView struct {
	Agent   string `json:"agent"`
	ID      string `json:"id"`
	Project string `json:"project"`
	Began   int64  `json:"began_ms"`
	Seen    int64  `json:"seen_ms"`
	Prompts int    `json:"prompts"`
	Ended   bool   `json:"ended"`
	Client  string `json:"client,omitempty"` // what a proxy's client calls itself
}

type mapView struct {
	Source  string `json:"source"`
	Problem string `json:"problem,omitempty"` // why another source is not used
}

type budgetView struct {
	Cycle    int `json:"cycle"`
	Consumed int `json:"consumed"`
	Limit    int `json:"limit"` // -1: none
}

type incidentView struct {
	Cause   string   `json:"cause"`
	Line    string   `json:"line"`
	Members []string `json:"members"`
	Active  bool     `json:"active"` // pausing; else recovering
	At      int64    `json:"at_ms"`
}

// unverifiedView is a failed call that may have taken effect.
type unverifiedView struct {
	Tool   string `json:"tool"`
	Verify string `json:"verify"`
	Text   string `json:"text"`
	At     int64  `json:"at_ms"`
}

// toolView is one tool of a session.
type toolView struct {
	Tool         string       `json:"tool"`
	State        string       `json:"state"` // CLOSED, OPEN or HALF-OPEN
	Health       string       `json:"health"`
	Fails        int          `json:"consecutive_fails"` // of a tool that is not closed: the run that opened it
	FailedProbes int          `json:"failed_probes,omitempty"`
	Opened       int64        `json:"opened_at_ms,omitempty"`
	Next         *trialView   `json:"next_trial"`   // null: closed
	LastFailure  *failureView `json:"last_failure"` // null: never
	LastSuccess  int64        `json:"last_success_ms,omitempty"`
	Route        *routeView   `json:"route"` // null: closed
	Forced       bool         `json:"forced,omitempty"`
	Disabled     bool         `json:"disabled,omitempty"`
	Unverified   int          `json:"unverified,omitempty"`
	HumanMustAct bool         `json:"human_must_act"`
	HumanAction  string       `json:"human_action,omitempty"`
	idle         bool         // the map mentions it, and that is all: see session.Idle
}

// trialView says when an open tool is tried. Attempts, steps and the time are
// ways to it, of which the first that comes counts.
type trialView struct {
	Due       bool   `json:"due"`                     // the next request is the trial
	InFlight  bool   `json:"in_flight,omitempty"`     // it is under way
	WaitsFor  string `json:"waits_for,omitempty"`     // confirm, resume or reset: a command; another_breaker
	Attempts  int64  `json:"attempts_left,omitempty"` // requests for the tool, the trial included
	Steps     int64  `json:"steps_left,omitempty"`
	At        int64  `json:"at_ms,omitempty"`         // from then on any request is the trial
	NotBefore int64  `json:"not_before_ms,omitempty"` // and none before this time
}

// routeView is where a request for an open tool may go instead.
type routeView struct {
	Kind        string `json:"kind"`         // alternative, fallback or reduce
	Label       string `json:"label"`        // ACCEPTABLE, PARTIAL, UNVERIFIED, FALLBACK or SKIPPED
	To          string `json:"to,omitempty"` // the alternative
	Method      string `json:"method,omitempty"`
	Degradation string `json:"degradation,omitempty"`
	Ask         string `json:"ask,omitempty"` // of the user
}

type failureView struct {
	Class string `json:"class"` // the category
	Text  string `json:"text"`
	At    int64  `json:"at_ms"`
	Step  int64  `json:"step"`
}

type asideView struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	At   int64  `json:"at_ms"`
}

// look makes the standing of a session as it is now, by the time of the session:
// where the clock was put back, it goes on from where it was. What is of the
// store, not of the session, is left empty.
func look(s *session.Session) standing {
	st := s.Status()
	rep := report.New(report.Input{Status: &st})
	v := standing{Format: statusFormat, Now: s.At().UnixMilli(), Session: viewOf(s.Meta),
		Map:    mapView{Source: redact.Text(s.Setup().Source, maxPath), Problem: redact.Text(s.Setup().Problem, maxPath)},
		Paused: st.Paused.String(), ObserveOnly: st.ObserveOnly, HumanActions: []string{},
		Budget: budgetView{rep.Budget.Cycle, rep.Budget.Consumed, rep.Budget.Limit}, Policy: rep.Policy, Suspicion: rep.Suspicion,
		Tools: []toolView{}, Incidents: []incidentView{}, Unverified: []unverifiedView{},
		Aside: []asideView{}, Trouble: []troubleView{}, Unreadable: []string{}}
	if st.Fleet != expediter.FleetNone {
		v.Fleet = st.Fleet.String()
	}
	for _, i := range rep.Incidents {
		v.Incidents = append(v.Incidents, incidentView{Cause: i.Cause, Line: i.Line, Members: i.Members, Active: i.Active, At: i.At})
	}
	for _, u := range rep.Unverified {
		v.Unverified = append(v.Unverified, unverifiedView{Tool: u.Tool, Verify: u.Verify, Text: u.Text, At: u.At})
	}
	if todo := pauseAction(s, &st); todo != "" {
		v.HumanActions = append(v.HumanActions, todo)
	}
	for i := range st.Tools {
		t := lookAt(&st, &st.Tools[i], rep.Tools[i], v.Now)
		t.idle = s.Idle(st.Tools[i])
		if t.HumanMustAct && !slices.Contains(v.HumanActions, t.HumanAction) {
			v.HumanActions = append(v.HumanActions, t.HumanAction)
		}
		v.Tools = append(v.Tools, t)
	}
	v.HumanMustAct = len(v.HumanActions) > 0
	return v
}

func viewOf(m session.Meta) sessionView {
	return sessionView{Agent: redact.Text(m.Agent, maxToolName), ID: m.Name(), Project: redact.Text(m.Project, maxPath),
		Began: m.Began, Seen: m.Seen, Prompts: m.Prompts, Ended: m.Ended,
		Client: redact.Text(m.Client, maxToolName)}
}

const confirmAction = "Look into the common cause, then run 'expediter confirm'"

// pauseAction is what the user must do about a pause.
func pauseAction(s *session.Session, st *expediter.Status) string {
	switch {
	case st.Paused == expediter.Systemic:
		return confirmAction
	case st.Paused == expediter.Budget && s.Mirrored():
		return fmt.Sprintf("%d of %d failures are spent: run 'expediter resume'", st.Consumed, st.Limit)
	case st.Paused == expediter.Budget:
		return fmt.Sprintf("%d of %d failures are spent: send the agent a message, or run 'expediter resume'", st.Consumed, st.Limit)
	}
	return ""
}

// maxTool bounds a tool's name, in runes.
const maxTool = 300

func lookAt(st *expediter.Status, t *expediter.ToolStatus, row report.Tool, now int64) toolView {
	v := toolView{Tool: redact.Text(t.Tool, maxTool), State: row.State, Health: row.Health, Fails: row.Fails, FailedProbes: row.FailedProbes,
		Forced: t.Forced, Disabled: t.Disabled, Unverified: t.Unverified, HumanAction: toolAction(st, t, &row)}
	v.HumanMustAct = v.HumanAction != ""
	if f := row.LastFailure; f != nil {
		v.LastFailure = &failureView{Class: t.LastFailure.Category.String(), Text: f.Text, At: f.At, Step: f.Step}
	}
	if ok := row.LastSuccess; ok != nil {
		v.LastSuccess = ok.At
	}
	if t.State != breaker.Closed {
		v.Opened, v.Next, v.Route = t.OpenedAt, nextTrial(st, t, now), routeOf(t.ViableRoute)
	}
	return v
}

func routeOf(r *capability.Route) *routeView {
	if r == nil {
		return nil
	}
	return &routeView{Kind: r.Kind.String(), Label: r.Label.String(), To: redact.Text(r.Tool, maxTool),
		Method: redact.Text(r.Method, maxWhy), Degradation: redact.Text(r.Degradation, maxWhy), Ask: redact.Text(r.Ask, maxPath)}
}

// nextTrial says when a tool that is not closed is tried.
func nextTrial(st *expediter.Status, t *expediter.ToolStatus, now int64) *trialView {
	v := &trialView{InFlight: t.ProbeInFlight, At: t.NextAt}
	if t.NotBefore > now {
		v.NotBefore = t.NotBefore
	}
	switch {
	case t.Forced:
		v.WaitsFor = "reset"
	case st.Paused == expediter.Systemic:
		v.WaitsFor = "confirm"
	case t.External != nil:
		v.WaitsFor = "another_breaker"
	case st.Paused == expediter.Budget:
		v.WaitsFor = "resume"
	}
	soon := t.State == breaker.HalfOpen || v.At > 0 && v.At <= now
	switch {
	case t.State == breaker.HalfOpen || t.Forced || t.External != nil:
	case t.Unit == breaker.Attempts:
		v.Attempts = max(t.Next, 1)
		soon = soon || t.Next <= 1
	case t.Unit == breaker.Steps:
		v.Steps = max(t.Next, 0)
		soon = soon || t.Next <= 0
	}
	v.Due = soon && !v.InFlight && v.WaitsFor == "" && v.NotBefore == 0
	return v
}

// toolAction is what the user must do about a tool; empty: nothing, or it may
// come back by itself.
func toolAction(st *expediter.Status, t *expediter.ToolStatus, row *report.Tool) string {
	name := redact.Text(t.Tool, maxTool)
	switch {
	case t.Forced:
		return fmt.Sprintf("Run %s when %s may be used again", resetOf(name), name)
	case slices.ContainsFunc(st.Incidents, func(i expediter.Incident) bool { return i.Active && slices.Contains(i.Members, t.Tool) }):
		return confirmAction
	case t.Unverified > 0:
		return fmt.Sprintf("Find out what the %s of %s did that may have taken effect, then run %s", count(t.Unverified, "failed call"), name, resetOf(name))
	case t.State == breaker.Closed:
		return ""
	}
	if report.Lasting(t.Trip.Category) || t.LastFailure != nil && report.Lasting(t.LastFailure.Category) {
		return row.Advice()
	}
	return ""
}

// plainWord is a name that means itself to every shell.
var plainWord = pattern.New(`^[A-Za-z0-9_][A-Za-z0-9_./:@-]*$`)

// resetOf is the command that resets a tool. A name that a shell might read as
// more than a name is not put into it: people copy commands.
func resetOf(name string) string {
	if !plainWord.RE().MatchString(name) {
		return "'expediter reset' with its name"
	}
	return "'expediter reset " + name + "'"
}
