package view_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

const staticReplay = "A static replay cannot know what the agent would have done instead: a skipped call is compared with what the recording says, not with what the agent would have tried next."

// result makes what an analysis of these sessions would say of one policy.
func result(policy string, list ...analysis.Timeline) *analysis.Result {
	r := &analysis.Result{Row: analysis.Row{Policy: policy, Counts: analysis.Counts{Precision: 1}}, Format: analysis.ResultFormat, Timelines: list, Notes: []string{staticReplay}}
	tools, categories := map[string]*analysis.Counts{}, map[string]*analysis.Counts{}
	for _, tl := range list {
		add(&r.Counts, tl.Counts)
		r.Files = append(r.Files, trace.Stats{File: tl.File, Format: tl.Format, Bytes: int64(tl.Calls) * 2100, Records: int64(tl.Width) + 3,
			Sessions: 1, Prompts: len(tl.Prompts), Calls: tl.Calls, Failures: tl.Counts.Failures, Answered: tl.Counts.Answered, Judged: tl.Calls / 9})
		r.ByFile = append(r.ByFile, analysis.Part{Name: tl.File, Counts: *tl.Counts})
		for _, l := range tl.Lanes {
			part := newSession("", "", 0)
			for _, t := range l.Ticks {
				part.count(t.Verb, t.Outcome)
				if category, _, ok := cutCategory(t); ok {
					one := newSession("", "", 0)
					one.count(t.Verb, t.Outcome)
					add(at(categories, category), one.tl.Counts)
				}
			}
			add(at(tools, l.Tool), part.tl.Counts)
		}
	}
	r.ByTool, r.ByCategory = parts(tools), parts(categories)
	return r
}

func cutCategory(t analysis.Tick) (string, string, bool) {
	if t.Outcome != "failure" {
		return "", "", false
	}
	for i, c := range t.Note {
		if c == ':' {
			return t.Note[:i], t.Note[i:], true
		}
	}
	return "unknown", "", true
}

func at(m map[string]*analysis.Counts, name string) *analysis.Counts {
	if m[name] == nil {
		m[name] = &analysis.Counts{Precision: 1}
	}
	return m[name]
}

func add(to, c *analysis.Counts) {
	to.Sessions += c.Sessions
	to.Calls += c.Calls
	to.Failures += c.Failures
	to.Answered += c.Answered
	to.Ignored += c.Ignored
	to.Openings += c.Openings
	to.Skipped += c.Skipped
	to.Saved += c.Saved
	to.Lost += c.Lost
	to.Paused += c.Paused
	to.Probes += c.Probes
	to.Pauses += c.Pauses
	to.SessionsPaused += c.SessionsPaused
	to.Incidents += c.Incidents
	if to.Saved+to.Lost > 0 {
		to.Precision = float64(to.Saved) / float64(to.Saved+to.Lost)
	}
}

func parts(m map[string]*analysis.Counts) []analysis.Part {
	var list []analysis.Part
	for name, c := range m {
		list = append(list, analysis.Part{Name: name, Counts: *c})
	}
	slices.SortFunc(list, func(a, b analysis.Part) int { return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Name, b.Name)) })
	return list
}

// full is the cascade with everything that a result can hold.
func full() *analysis.Result {
	r := cascade()
	r.SavedMS, r.SavedTokens, r.LostMS = 31_000, 18_400, 900
	r.Files = append(r.Files,
		trace.Stats{File: "work/torn.jsonl", Format: "codex", Bytes: 812, Records: 9, Foreign: 2, Broken: 1, Open: 1, Torn: true},
		trace.Stats{File: "work/photo.jpg", Bytes: 5_312_000})
	r.Policies = []analysis.Row{r.Row, other(r.Row, "interactive", 4, 0, 1), other(r.Row, "all failures per tool", 9, 14, 7), other(r.Row, "never opens", 0, 0, 0)}
	sweep(r)
	r.Spliced = &analysis.Splice{Seed: 7, Outages: 120, ByKind: map[string]int{"one_tool": 60, "common_cause": 40, "flapping": 20}, Rows: []analysis.SpliceRow{
		{Policy: "faithful", Counts: analysis.Counts{Lost: 3, SessionsPaused: 11},
			Avoidance: analysis.Avoidance{Doomed: 2210, After: 1850, Made: 61, MadeProbes: 58, Avoided: 1789, AvoidedPct: 0.967, Recovered: 113, WithinOne: 113, MaxWait: 2, Unresolved: 7, Overdue: 1},
			ByKind: map[string]analysis.Avoidance{"one_tool": {Doomed: 1400, After: 1220, Made: 30, Avoided: 1190, AvoidedPct: 0.975, Recovered: 58, WithinOne: 58, MaxWait: 2},
				"flapping": {Doomed: 810, After: 630, Made: 31, Avoided: 599, AvoidedPct: 0.951, Recovered: 55, WithinOne: 55, MaxWait: 1, Unresolved: 7, Overdue: 1}}},
		{Policy: "never opens", Avoidance: analysis.Avoidance{Doomed: 2210, After: 1850, Made: 1850, Recovered: 113, WithinOne: 113, Unresolved: 7}},
	}}
	r.Omitted = 3
	return r
}

func other(r analysis.Row, name string, saved, lost, paused int) analysis.Row {
	r.Policy = name
	r.Saved, r.Lost, r.Skipped, r.Paused, r.SavedMS, r.LostMS, r.SavedTokens = saved, lost, saved+lost, paused, 0, 0, 0
	r.Precision = 1
	if saved+lost > 0 {
		r.Precision = float64(saved) / float64(saved+lost)
	}
	r.Pauses, r.SessionsPaused = min(paused, 1), min(paused, 1)
	return r
}

// sweep gives a result a frontier and a suggestion.
func sweep(r *analysis.Result) {
	for threshold := 1; threshold <= 6; threshold++ {
		for _, window := range []int{0, 10, 20, 40} {
			saved, lost := 220-threshold*24-window/2, (7-threshold)*(7-threshold)*3-window/2+threshold%2*9
			p := analysis.Point{Policy: fmt.Sprintf("threshold %d, window %d", threshold, window), Saved: saved, Lost: max(lost, 0), Paused: 40 / threshold,
				PolicyYAML: fmt.Sprintf("expediter:\n  failure_threshold: %d\n", threshold)}
			p.Precision = float64(p.Saved) / float64(p.Saved+p.Lost)
			r.Frontier = append(r.Frontier, p)
		}
	}
	for i := range r.Frontier {
		p := &r.Frontier[i]
		p.Frontier = !slices.ContainsFunc(r.Frontier, func(q analysis.Point) bool {
			return q.Saved >= p.Saved && q.Lost <= p.Lost && (q.Saved > p.Saved || q.Lost < p.Lost)
		})
	}
	r.Suggested = &analysis.Suggestion{Point: r.Frontier[9], Why: []string{
		"It saves 143 of 220 doomed calls and loses 52.", "Of the policies that lose fewer, none saves more than 97."}}
}
