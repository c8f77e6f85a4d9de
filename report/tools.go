package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// stateName is a state as reports print it.
func stateName(s breaker.State) string { return strings.ReplaceAll(s.String(), "_", "-") }

func toolOf(st *expediter.Status, t *expediter.ToolStatus) Tool {
	row := Tool{Tool: redact.Text(t.Tool, maxName), State: stateName(t.State), Fails: t.Consecutive, Causes: causes(t),
		LastFailure: moment(t.LastFailure), LastSuccess: moment(t.LastSuccess), KnownIssues: redact.Text(t.Entry.KnownIssues, maxText)}
	if t.State != breaker.Closed {
		row.Fails, row.FailedProbes = t.Run, t.FailedProbes
		row.Opened = &Moment{Step: t.OpenedStep, At: t.OpenedAt}
	}
	row.Forced, row.Unverified = t.Forced, t.Unverified
	if t.External != nil {
		row.External = stateName(t.External.State)
	}
	if t.Score != capability.Available {
		row.Score = t.Score.String()
	}
	if !usable(t) {
		row.Unblock = cleanAll(unblock(st, t), maxText)
	}
	row.Health = health(t)
	return row
}

func moment(m *expediter.Moment) *Moment {
	if m == nil {
		return nil
	}
	out := &Moment{Step: m.Step, At: m.At, Text: redact.Text(m.Text, maxText)}
	if m.Text != "" || m.Category != cascade.Unknown {
		out.Category = m.Category.String()
	}
	return out
}

// causes are the categories of the run of failures that opened a tool, each
// once, in order. The charges of the cycle tell the category of an error; the
// last one is known without them.
func causes(t *expediter.ToolStatus) []string {
	if t.State == breaker.Closed {
		return nil
	}
	var list []string
	add := func(category string) {
		if !slices.Contains(list, category) {
			list = append(list, category)
		}
	}
	for _, f := range t.RunFailures {
		add(f.Category.String())
	}
	if len(t.RunFailures) < max(t.Run, 1) {
		add(t.Trip.Category.String())
	}
	return list
}

// health says in words how a tool stands.
func health(t *expediter.ToolStatus) string {
	why := redact.Text(t.Reason, maxText)
	switch {
	case t.Disabled:
		return because("breaker disabled", why)
	case t.Forced:
		return because("opened by an operator", why)
	case t.External != nil:
		return because(stateName(t.External.State)+" by another breaker", redact.Text(t.External.Why, maxText))
	case t.State != breaker.Closed:
		return failures(t.Run, runText(t))
	case t.Score != capability.Available:
		return t.Score.String() + " by its pre-call check"
	case t.Consecutive > 0 && t.LastFailure != nil:
		return failures(t.Consecutive, redact.Text(t.LastFailure.Text, maxText))
	case t.Consecutive > 0:
		return failures(t.Consecutive, "")
	}
	return "healthy"
}

func because(what, why string) string {
	if why == "" {
		return what
	}
	return what + " — " + why
}

func failures(n int, text string) string {
	switch n {
	case 0:
		return because("opened with others", text)
	case 1:
		return because("1 failure", text)
	}
	return because(strconv.Itoa(n)+" consecutive failures", text)
}

// runText is the error of a run of equal failures, else their categories in
// short words.
func runText(t *expediter.ToolStatus) string {
	var texts []string
	for _, f := range t.RunFailures {
		if c := redact.Text(f.Text, maxText); !slices.Contains(texts, c) {
			texts = append(texts, c)
		}
	}
	if len(texts) == 1 && texts[0] != "" && len(t.RunFailures) == t.Run {
		return texts[0]
	}
	return words(causes(t))
}

func policyOf(st *expediter.Status, p expediter.Policy) *Policy {
	out := &Policy{Threshold: threshold(p.Policy), Pacing: pacing(p.Policy)}
	switch {
	case p.Budget == budget.Unlimited:
		out.Budget = "unlimited"
	default:
		out.Budget = count(p.Budget, "failure") + " per cycle"
	}
	if p.ChargePerTool > 0 {
		out.Budget += fmt.Sprintf(", at most %d charged to one tool", p.ChargePerTool)
	}
	for _, t := range st.Tools {
		own := t.Policy.Over(p.Policy)
		if own != p.Policy {
			out.Own = append(out.Own, OwnPolicy{Tool: redact.Text(t.Tool, maxName), Threshold: threshold(own), Pacing: pacing(own)})
		}
	}
	return out
}

// threshold says when a circuit opens.
func threshold(p breaker.Policy) string {
	s := count(p.FailureThreshold, "consecutive failure")
	if p.Trip.Policy == breaker.Rate {
		s = fmt.Sprintf("more than %s%% failures in the last %d outcomes, from %d on",
			strconv.FormatFloat(p.Trip.Rate*100, 'f', -1, 64), p.Trip.Window, p.Trip.MinCalls)
	}
	if p.SlowCallMS > 0 {
		s += "; a call slower than " + span(p.SlowCallMS) + " is one"
	}
	if p.Batch == breaker.On {
		s += "; parallel calls that fail alike are one"
	}
	return s
}

// pacing says when an open tool is tried, and how it closes.
func pacing(p breaker.Policy) string {
	var s string
	switch p.Probe.Unit {
	case breaker.Steps:
		s = "probe " + count(int(p.Probe.Every), "step") + " after opening"
	case breaker.Time:
		s = "probe " + span(p.Probe.Every) + " after opening"
	default:
		s = "probe on the " + ordinal(p.Probe.Every) + " request after opening"
		if p.Probe.AfterMS > 0 {
			s += ", or after " + span(p.Probe.AfterMS)
		}
		if p.Probe.NotBeforeMS > 0 {
			s += ", not before " + span(p.Probe.NotBeforeMS)
		}
	}
	if p.Probe.Backoff == breaker.On {
		s += "; doubles after a failed probe, up to " + distance(p.Probe.Max, p.Probe.Unit)
	}
	if p.HalfOpenSuccesses > 1 {
		s += fmt.Sprintf("; closes after %d good probes", p.HalfOpenSuccesses)
	}
	return s
}

func distance(n int64, unit breaker.Unit) string {
	switch unit {
	case breaker.Steps:
		return count(int(n), "step")
	case breaker.Time:
		return span(n)
	}
	return count(int(n), "request")
}

func span(ms int64) string {
	if ms > 1_000_000_000_000 {
		return strconv.FormatInt(ms, 10) + "ms"
	}
	s := (time.Duration(ms) * time.Millisecond).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func ordinal(n int64) string {
	suffix := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.FormatInt(n, 10) + suffix
}
