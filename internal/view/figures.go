package view

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expediter-go/expediter/internal/analysis"
)

// unit is how a figure is written.
type unit uint8

const (
	count unit = iota + 1
	share      // 0 to 1
	millis
)

// figure is one member of T, the same in every view.
type figure[T any] struct {
	name     string // as in JSON and CSV
	title    string // for people
	help     string
	unit     unit
	optional bool // left out for people where it is zero everywhere
	of       func(*T) float64
}

// counts are the figures of a policy, in order.
var counts = []figure[analysis.Counts]{
	{"sessions", "Sessions", "recorded sessions", count, false, func(c *analysis.Counts) float64 { return float64(c.Sessions) }},
	{"calls", "Calls", "recorded calls", count, false, func(c *analysis.Counts) float64 { return float64(c.Calls) }},
	{"failures", "Failures", "the tool, or the way to it, was broken", count, false, func(c *analysis.Counts) float64 { return float64(c.Failures) }},
	{"answered", "Answered", "marked as errors, yet answers of a working tool", count, false, func(c *analysis.Counts) float64 { return float64(c.Answered) }},
	{"ignored", "Ignored", "says nothing about the tool: cancelled, refused by the user", count, false, func(c *analysis.Counts) float64 { return float64(c.Ignored) }},
	{"skipped", "Skipped", "calls that the policy would have denied", count, false, func(c *analysis.Counts) float64 { return float64(c.Skipped) }},
	{"saved", "Saved", "skipped, and failed in the recording", count, false, func(c *analysis.Counts) float64 { return float64(c.Saved) }},
	{"lost", "Lost", "skipped, and worked in the recording", count, false, func(c *analysis.Counts) float64 { return float64(c.Lost) }},
	{"lost_answers", "Lost answers", "of the lost: answers that were marked as errors", count, true, func(c *analysis.Counts) float64 { return float64(c.LostAnswers) }},
	{"paused", "Paused", "calls after a pause, up to the user's next prompt", count, false, func(c *analysis.Counts) float64 { return float64(c.Paused) }},
	{"precision", "Precision", "saved / (saved + lost)", share, false, func(c *analysis.Counts) float64 { return c.Precision }},
	{"probes", "Probes", "calls let through to see whether the tool is back", count, false, func(c *analysis.Counts) float64 { return float64(c.Probes) }},
	{"openings", "Openings", "times that a breaker opened", count, false, func(c *analysis.Counts) float64 { return float64(c.Openings) }},
	{"pauses", "Pauses", "times that it began to pause", count, false, func(c *analysis.Counts) float64 { return float64(c.Pauses) }},
	{"sessions_paused", "Sessions paused", "sessions with at least one pause", count, false, func(c *analysis.Counts) float64 { return float64(c.SessionsPaused) }},
	{"incidents", "Incidents", "common causes that took down several tools", count, false, func(c *analysis.Counts) float64 { return float64(c.Incidents) }},
	{"saved_ms", "Time saved", "that the saved calls took, where recorded", millis, true, func(c *analysis.Counts) float64 { return float64(c.SavedMS) }},
	{"lost_ms", "Time of lost", "that the lost calls took, where recorded", millis, true, func(c *analysis.Counts) float64 { return float64(c.LostMS) }},
	{"saved_tokens", "Tokens saved", "of the turns that asked for the saved calls, where recorded", count, true, func(c *analysis.Counts) float64 { return float64(c.SavedTokens) }},
	{"lost_tokens", "Tokens of lost", "of the turns that asked for the lost calls, where recorded", count, true, func(c *analysis.Counts) float64 { return float64(c.LostTokens) }},
}

// avoidances are the figures of a policy under spliced outages.
var avoidances = []figure[analysis.Avoidance]{
	{"doomed", "Doomed", "requests that hit an outage", count, false, func(r *analysis.Avoidance) float64 { return float64(r.Doomed) }},
	{"after", "After threshold", "of the doomed, those that a breaker could know about", count, false, func(r *analysis.Avoidance) float64 { return float64(r.After) }},
	{"made", "Made", "of those, made all the same, probes included", count, false, func(r *analysis.Avoidance) float64 { return float64(r.Made) }},
	{"made_probes", "As probes", "of those made, probes", count, false, func(r *analysis.Avoidance) float64 { return float64(r.MadeProbes) }},
	{"avoided", "Avoided", "of those, not made", count, false, func(r *analysis.Avoidance) float64 { return float64(r.Avoided) }},
	{"avoided_rate", "Avoided, share", "avoided / after threshold", share, false, func(r *analysis.Avoidance) float64 { return r.AvoidedPct }},
	{"recovered", "Recovered", "tools that were tried again after an outage's end", count, false, func(r *analysis.Avoidance) float64 { return float64(r.Recovered) }},
	{"within_one", "Within one probe", "of the recovered, within one probe interval", count, false, func(r *analysis.Avoidance) float64 { return float64(r.WithinOne) }},
	{"max_wait", "Longest wait", "requests denied after an outage's end, at most", count, false, func(r *analysis.Avoidance) float64 { return float64(r.MaxWait) }},
	{"unresolved", "Unresolved", "the recording ended, or nobody asked again", count, false, func(r *analysis.Avoidance) float64 { return float64(r.Unresolved) }},
	{"overdue", "Overdue", "of the unresolved, those denied after one probe interval", count, true, func(r *analysis.Avoidance) float64 { return float64(r.Overdue) }},
}

// spliced are the figures of a policy over the spliced sessions.
var spliced = func() (list []figure[analysis.SpliceRow]) {
	for _, f := range avoidances {
		list = append(list, lift(f, func(r *analysis.SpliceRow) *analysis.Avoidance { return &r.Avoidance }))
	}
	for _, f := range counts {
		if f.name == "lost" || f.name == "sessions_paused" {
			list = append(list, lift(f, func(r *analysis.SpliceRow) *analysis.Counts { return &r.Counts }))
		}
	}
	return list
}()

// lift is a figure of a part as a figure of the whole.
func lift[T, Whole any](f figure[T], part func(*Whole) *T) figure[Whole] {
	return figure[Whole]{f.name, f.title, f.help, f.unit, f.optional, func(w *Whole) float64 { return f.of(part(w)) }}
}

// partFigures are the counts of a tool, category or file: what is seldom seen
// there is optional.
func partFigures() []figure[analysis.Counts] {
	list := slices.Clone(counts)
	for i := range list {
		switch list[i].name {
		case "paused", "probes", "openings", "pauses", "sessions_paused", "incidents":
			list[i].optional = true
		}
	}
	return list
}

// rows are all policies, the first first.
func rows(r *analysis.Result) []analysis.Row {
	if len(r.Policies) == 0 {
		return []analysis.Row{r.Row}
	}
	return r.Policies
}

// compared are the names of all policies and the counts of each.
func compared(r *analysis.Result) (names []string, values []analysis.Counts) {
	for _, row := range rows(r) {
		names, values = append(names, row.Policy), append(values, row.Counts)
	}
	return names, values
}

// splicedNames are the names of the policies under spliced outages.
func splicedNames(s *analysis.Splice) (names []string) {
	for i := range s.Rows {
		names = append(names, s.Rows[i].Policy)
	}
	return names
}

// shown are the figures that people see: without the optional ones that are
// zero everywhere.
func shown[T any](all []figure[T], rows []T) []figure[T] {
	var list []figure[T]
	for _, f := range all {
		keep := !f.optional
		for i := range rows {
			keep = keep || f.of(&rows[i]) != 0
		}
		if keep {
			list = append(list, f)
		}
	}
	return list
}

// say writes a figure for people.
func (f figure[T]) say(of *T) string {
	v := f.of(of)
	switch f.unit {
	case share:
		if ofNothing(of) {
			return "—"
		}
		return percent(v)
	case millis:
		return span(time.Duration(v) * time.Millisecond)
	}
	return grouped(int64(v))
}

// ofNothing knows where a share has no whole.
func ofNothing(of any) bool {
	switch of := of.(type) {
	case *analysis.Counts:
		return of.Saved+of.Lost == 0
	case *analysis.Avoidance:
		return of.After == 0
	case *analysis.SpliceRow:
		return of.After == 0
	}
	return false
}

// raw writes a figure for programs.
func (f figure[T]) raw(of *T) string { return strconv.FormatFloat(f.of(of), 'f', -1, 64) }

// grouped writes 41816 as 41,816.
func grouped[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// percent writes 0.0912 as 9.1%, and keeps from rounding a part to all or
// nothing.
func percent(v float64) string {
	for _, digits := range []int{1, 2, 3} {
		s := strconv.FormatFloat(v*100, 'f', digits, 64)
		if rounded, _ := strconv.ParseFloat(s, 64); (rounded == 0) == (v == 0) && (rounded >= 100) == (v >= 1) {
			return strings.TrimSuffix(s, ".0") + "%"
		}
	}
	return strconv.FormatFloat(v*100, 'g', 2, 64) + "%"
}

// of is a part of a whole: "12 of 300 sessions (4%)".
func of(part, whole int, what string) string {
	if whole == 0 {
		return grouped(part) + " of " + plural(whole, what)
	}
	return grouped(part) + " of " + plural(whole, what) + " (" + percent(float64(part)/float64(whole)) + ")"
}

// plural says "1 call", "2 calls".
func plural[N int | int64](n N, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "y"):
		what = strings.TrimSuffix(what, "y") + "ie"
	}
	return grouped(n) + " " + what + "s"
}

// span writes a duration with two units at most: "1h 12m", "3.4s".
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	case d < time.Hour:
		return grouped(int64(d/time.Minute)) + "m " + strconv.Itoa(int(d%time.Minute/time.Second)) + "s"
	}
	return grouped(int64(d/time.Hour)) + "h " + strconv.Itoa(int(d%time.Hour/time.Minute)) + "m"
}
