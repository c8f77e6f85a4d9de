package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/scope"
)

// Bounds of what a report takes over from outside, in runes, lines and items.
const (
	maxName    = 80
	maxText    = 200
	maxAsk     = 1000
	maxLines   = 20
	maxLine    = 200
	maxCharges = 100
)

// New makes a Report. It keeps nothing of the input and cleans every text.
func New(in Input) Report {
	r := Report{Format: Format, Task: redact.Text(in.Task, maxText)}
	if r.Task == "" && in.Scope != nil {
		r.Task = redact.Text(in.Scope.Task, maxText)
	}
	for i, w := range in.Work {
		r.Work = append(r.Work, cleanWork(w, i+1))
	}
	if in.Scope != nil {
		r.Scope = cleanScope(*in.Scope)
	}
	for _, h := range in.History {
		r.History = append(r.History, Turn{Kind: redact.Text(string(h.Kind), maxName), Cause: redact.Text(h.Cause, maxName),
			Members: cleanAll(h.Members, maxName), Moment: Moment{Step: h.Step, At: h.At}})
	}
	r.Substitutes = substitutesOf(in.Substitutes)
	if in.Status != nil {
		r.fill(in.Status)
	}
	r.Notes = append(r.Notes, cleanAll(in.Notes, maxText)...)
	if in.Idle > 0 {
		r.Notes = append(r.Notes, count(in.Idle, "tool")+" left out: closed, nothing known yet")
	}
	r.Missing = missing(in)
	r.Outcome = outcome(r, in.Interrupted)
	r.Summary = summary(r)
	r.Recommendations = recommendations(r)
	return r
}

// fill takes over the engine's side.
func (r *Report) fill(st *expediter.Status) {
	policy := st.Policy.Over(expediter.Faithful())
	r.Paused = st.Paused.String()
	r.Until = &Moment{Step: st.Step, At: st.At}
	r.Policy = policyOf(st, policy)
	r.Budget = budgetOf(st)
	r.Decisions = &Decisions{Calls: st.Counts.Calls, Probes: st.Counts.Probes, Skips: st.Counts.Skips, Pauses: st.Counts.Pauses, Refused: st.Counts.Refused}
	for i := range st.Tools {
		r.Tools = append(r.Tools, toolOf(st, &st.Tools[i]))
	}
	for i := range st.Incidents {
		r.Incidents = append(r.Incidents, incidentOf(&st.Incidents[i]))
	}
	if s := st.Suspected; s != nil {
		members := cleanAll(s.Members, maxName)
		r.Suspicion = &Suspicion{Cause: redact.Text(s.Cause, maxName), Members: members,
			Line: enumerate(members) + " worked before and now fail alike (" + redact.Text(s.Cause, maxName) + "); a common cause is suspected, nothing is paused for it"}
	}
	r.Routes = routesOf(st.Routes)
	r.Unverified = unverifiedOf(st)
	if st.ObserveOnly {
		note := "Observe only: every call was let through"
		if why := redact.Text(st.ObserveReason, maxText); why != "" {
			note += " (" + why + ")"
		}
		r.Notes = append(r.Notes, note)
	}
	if !st.User {
		r.Notes = append(r.Notes, "The user is unavailable: manual fallbacks were not offered")
	}
}

func missing(in Input) []string {
	var list []string
	if in.Status == nil {
		list = append(list, "the engine's status: tool health, budget and policy are unknown")
	}
	if in.Work == nil {
		list = append(list, "the work list: what was completed is unknown")
	}
	if in.Scope == nil {
		list = append(list, "the scope reduction: what is still achievable is unknown")
	}
	return list
}

func budgetOf(st *expediter.Status) *Budget {
	b := &Budget{Cycle: st.Cycle, Consumed: st.Consumed, Limit: st.Limit}
	charges := st.Charges
	if n := len(charges) - maxCharges; n > 0 {
		charges, b.Omitted = charges[n:], n
	}
	for _, c := range charges {
		b.Charges = append(b.Charges, Charge{Tool: redact.Text(c.Tool, maxName), Counts: c.Counts,
			Moment: Moment{Step: c.Step, At: c.At, Text: redact.Text(c.Text, maxText), Category: c.Category.String()}})
	}
	return b
}

func incidentOf(i *expediter.Incident) Incident {
	return Incident{
		Cause: redact.Text(i.Cause, maxName), Line: systemicLine(redact.Text(i.Cause, maxName), redact.Text(i.Pattern, maxText)),
		Members: cleanAll(i.Members, maxName), Flagged: cleanAll(i.Flagged, maxName), Active: i.Active,
		Moment: Moment{Step: i.Step, At: i.At, Text: redact.Text(i.Pattern, maxText)},
	}
}

// routesOf folds advice that was repeated in a row.
func routesOf(taken []expediter.RouteTaken) []Route {
	var list []Route
	for _, t := range taken {
		if t.Route == nil {
			continue
		}
		r := Route{Tool: redact.Text(t.Tool, maxName), Kind: t.Route.Kind.String(), Label: t.Route.Label.String(),
			To: redact.Text(t.Route.Tool, maxName), Method: redact.Text(t.Route.Method, maxText),
			Degradation: redact.Text(t.Route.Degradation, maxText), Ask: redact.Text(t.Route.Ask, maxText), Times: 1}
		i := slices.IndexFunc(list, func(old Route) bool {
			old.Times, old.Moment = 1, Moment{}
			return old == r
		})
		r.Moment, r.Times = Moment{Step: t.Step, At: t.At}, max(t.Times, 1)
		if i >= 0 {
			r.Times += list[i].Times
			list = slices.Delete(list, i, i+1)
		}
		list = append(list, r)
	}
	return list
}

func cleanWork(w Work, place int) Work {
	if w.Number == 0 {
		w.Number = place
	}
	if w.ID == "" {
		w.ID = strconv.Itoa(w.Number)
	}
	w.ID, w.Title, w.Reason = redact.Text(w.ID, maxName), redact.Text(w.Title, maxText), redact.Text(w.Reason, maxText)
	w.Unblock = cleanAll(w.Unblock, maxText)
	w.Degraded = slices.Clone(w.Degraded)
	for i, d := range w.Degraded {
		w.Degraded[i] = Degradation{Tool: redact.Text(d.Tool, maxName), Through: redact.Text(d.Through, maxName), Label: d.Label, Lost: redact.Text(d.Lost, maxText)}
	}
	w.Data = slices.Clone(w.Data)
	for i, d := range w.Data {
		w.Data[i] = Datum{Tool: redact.Text(d.Tool, maxName), Label: redact.Text(d.Label, 2*maxText), Lines: redact.Lines(d.Text, maxLines, maxLine)}
	}
	return w
}

func cleanScope(s scope.Result) *scope.Result {
	s.Task = redact.Text(s.Task, maxText)
	s.Items = slices.Clone(s.Items)
	for i, it := range s.Items {
		it.ID, it.Title = redact.Text(it.ID, maxName), redact.Text(it.Title, maxText)
		it.WaitsFor = slices.Clone(it.WaitsFor)
		it.Needs = slices.Clone(it.Needs)
		for j, n := range it.Needs {
			it.Needs[j] = scope.Need{Tool: redact.Text(n.Tool, maxName), State: redact.Text(n.State, maxName), Usable: n.Usable,
				Reason: redact.Text(n.Reason, maxText), Alternative: redact.Text(n.Alternative, maxName), Method: redact.Text(n.Method, maxText),
				Degradation: redact.Text(n.Degradation, maxText), Unblock: cleanAll(n.Unblock, maxText)}
		}
		s.Items[i] = it
	}
	return &s
}

func cleanAll(list []string, max int) []string {
	var out []string
	for _, s := range list {
		out = append(out, redact.Text(s, max))
	}
	return out
}

func outcome(r Report, interrupted bool) Outcome {
	n := tally(r.Work)
	switch left := len(r.Work) - n[Succeeded]; {
	case len(r.Work) == 0 || left > 0:
		switch {
		case interrupted:
			return Interrupted
		case r.Paused != "":
			return Paused
		case len(r.Work) == 0:
			return Unclear
		case n[Deferred] > 0:
			return Reduced
		}
		return Incomplete
	}
	for _, w := range r.Work {
		if len(w.Degraded) > 0 {
			return Degraded
		}
	}
	return Complete
}

func tally(work []Work) map[WorkState]int {
	n := map[WorkState]int{}
	for _, w := range work {
		n[w.State]++
	}
	return n
}

func summary(r Report) string {
	if len(r.Work) == 0 {
		return "no work list was given"
	}
	n := tally(r.Work)
	s := fmt.Sprintf("%d of %s done", n[Succeeded], count(len(r.Work), "sub-task"))
	degraded := 0
	for _, w := range r.Work {
		if w.State == Succeeded && len(w.Degraded) > 0 {
			degraded++
		}
	}
	if degraded > 0 {
		s += fmt.Sprintf(" (%d degraded)", degraded)
	}
	for _, state := range []WorkState{Deferred, Failed, Started, NotAttempted} {
		if n[state] > 0 {
			s += fmt.Sprintf(", %d %s", n[state], strings.ToLower(state.String()))
		}
	}
	return s
}

// count says "1 failure", "2 failures".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// recommendations are the numbered advice: one for each cause that keeps tools
// from working, then where to go on.
func recommendations(r Report) []string {
	var list []string
	covered := map[string]bool{}
	for _, inc := range r.Incidents {
		list = append(list, recommend(inc.Members, incidentCauses(inc.Cause)))
		for _, m := range inc.Members {
			covered[m] = true
		}
		if inc.Active {
			list = append(list, "Confirm the recovery once the cause is gone; probes resume only then")
		}
	}
	for _, t := range r.Tools {
		if len(t.Unblock) > 0 && !covered[t.Tool] {
			list = append(list, t.Advice())
		}
	}
	if tools := r.doubtful(); len(tools) > 0 {
		list = append(list, "Verify what the failed calls of "+enumerate(tools)+" did before they are repeated")
	}
	switch n := resumeAt(r.Work); {
	case n > 0 && len(list) > 0:
		list = append(list, fmt.Sprintf("Resume from sub-task %d after resolution", n))
	case n > 0:
		list = append(list, fmt.Sprintf("Resume from sub-task %d", n))
	}
	return list
}

// Advice says what to do about a tool that cannot be used.
func (t *Tool) Advice() string {
	switch {
	case t.Forced:
		return "Reset " + t.Tool + " when its operator agrees"
	case t.State == "CLOSED":
		return "Make " + t.Tool + " available: its pre-call check fails"
	}
	return recommend([]string{t.Tool}, t.Causes)
}

func incidentCauses(cause string) []string {
	if _, known := advice[cause]; known {
		return []string{cause}
	}
	return nil
}

// resumeAt is the first sub-task that was not finished or not attempted, else the
// first that is not done; 0: all are done.
func resumeAt(work []Work) int {
	first := 0
	for _, w := range work {
		if w.State == NotAttempted || w.State == Started {
			return w.Number
		}
		if w.State != Succeeded && first == 0 {
			first = w.Number
		}
	}
	return first
}
