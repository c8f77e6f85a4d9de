package view

import (
	"slices"
	"strings"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

// Bounds of what a view takes over, in runes and lines.
const (
	maxName   = 120
	maxFile   = 300
	maxNote   = 200
	maxSay    = 600
	maxYAML   = 200
	maxColumn = 200
)

// cleaner makes texts fit to print, each different one once.
type cleaner map[dirty]string

type dirty struct {
	text string
	max  int
}

func (c cleaner) text(s string, max int) string {
	key := dirty{s, max}
	clean, ok := c[key]
	if !ok {
		clean = redact.Text(s, max)
		c[key] = clean
	}
	return clean
}

func (c cleaner) texts(list []string, max int) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, c.text(s, max))
	}
	return out
}

// cleaned is a copy of a result that is fit to print. Lists that its JSON
// always has are never nil.
func cleaned(r *analysis.Result) *analysis.Result {
	c := cleaner{}
	out := *r
	out.Row = c.row(r.Row)
	out.Files = each(r.Files, c.stats)
	out.Policies = each(r.Policies, c.row)
	out.Frontier = each(r.Frontier, c.point)
	out.Timelines = each(r.Timelines, c.timeline)
	out.Notes = c.texts(r.Notes, maxSay)
	if s := r.Suggested; s != nil {
		out.Suggested = &analysis.Suggestion{Point: c.point(s.Point), Why: c.texts(s.Why, maxSay)}
	}
	if s := r.Spliced; s != nil {
		out.Spliced = c.splice(*s)
	}
	return &out
}

func each[T any](list []T, clean func(T) T) []T {
	out := make([]T, 0, len(list))
	for _, v := range list {
		out = append(out, clean(v))
	}
	return out
}

func (c cleaner) stats(s trace.Stats) trace.Stats {
	s.File, s.Format, s.Problem = c.text(s.File, maxFile), c.text(s.Format, maxName), c.text(s.Problem, maxNote)
	return s
}

func (c cleaner) row(r analysis.Row) analysis.Row {
	r.Policy = c.text(r.Policy, maxName)
	r.ByTool, r.ByCategory, r.ByFile = c.parts(r.ByTool, maxName), c.parts(r.ByCategory, maxName), c.parts(r.ByFile, maxFile)
	return r
}

func (c cleaner) parts(list []analysis.Part, max int) []analysis.Part {
	return each(list, func(p analysis.Part) analysis.Part {
		p.Name = c.text(p.Name, max)
		return p
	})
}

func (c cleaner) point(p analysis.Point) analysis.Point {
	p.Policy = c.text(p.Policy, maxName)
	if lines := redact.Lines(p.PolicyYAML, maxYAML, maxColumn); lines != nil {
		p.PolicyYAML = strings.Join(lines, "\n") + "\n"
	}
	return p
}

func (c cleaner) splice(s analysis.Splice) *analysis.Splice {
	kinds := make(map[string]int, len(s.ByKind))
	for kind, n := range s.ByKind {
		kinds[c.text(kind, maxName)] += n
	}
	s.ByKind = kinds
	s.Rows = each(s.Rows, func(r analysis.SpliceRow) analysis.SpliceRow {
		r.Policy = c.text(r.Policy, maxName)
		kinds := make(map[string]analysis.Avoidance, len(r.ByKind))
		for kind, a := range r.ByKind {
			kinds[c.text(kind, maxName)] = a
		}
		r.ByKind = kinds
		return r
	})
	return &s
}

func (c cleaner) timeline(t analysis.Timeline) analysis.Timeline {
	t.Session, t.File, t.Format = c.text(t.Session, maxName), c.text(t.File, maxFile), c.text(t.Format, maxName)
	t.Lanes = each(t.Lanes, c.lane)
	t.Budget = slices.Clone(t.Budget)
	t.Incidents, t.Pauses = each(t.Incidents, c.band), each(t.Pauses, c.band)
	return t
}

func (c cleaner) lane(l analysis.Lane) analysis.Lane {
	l.Tool = c.text(l.Tool, maxName)
	l.Ticks = each(l.Ticks, func(t analysis.Tick) analysis.Tick {
		t.Note = c.text(t.Note, maxNote)
		return t
	})
	return l
}

func (c cleaner) band(b analysis.Band) analysis.Band {
	b.Cause, b.Members = c.text(b.Cause, maxName), c.texts(b.Members, maxName)
	return b
}
