package view

import (
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/internal/analysis"
)

// Bounds of the page, in rows.
const (
	pageRows = 300
	pageOdd  = 100
)

// pageModel is what the template of the page prints.
type pageModel struct {
	Security string
	Style    template.CSS
	Script   template.JS

	Policy      string
	Sources     string
	Cards       []card
	Verdict     []string
	Odd         []string
	OddTitle    string
	OddMore     string
	Policies    *grid
	Timelines   template.JS // JSON; empty: none
	Omitted     string
	Frontier    *plot
	Points      *grid
	Parts       []*grid
	Outages     string
	Spliced     *grid
	Kinds       *grid // nil: not told
	Suggestion  *analysis.Suggestion
	Notes       []string
	Definitions []definition
}

// card is one headline figure.
type card struct{ Title, Value, Remark, Class string }

type definition struct{ Word, Meaning string }

// grid is a table of the page. Its first column names the row.
type grid struct {
	ID, Caption, First string
	Head               []column
	Rows               []gridRow
	More               string // what was left out
}

type column struct{ Title, Help string }

type gridRow struct {
	Name, Class string
	Number      int // shown before the name; 0: none
	Cells       []gridCell
}

// gridCell has the text that people see and the number that it sorts by.
type gridCell struct{ Text, Raw, Class string }

func model(r *analysis.Result) (*pageModel, error) {
	m := &pageModel{Policy: named(r.Policy), Sources: sources(r, below(r)), Cards: cards(r), Verdict: verdict(r), Notes: r.Notes, Suggestion: r.Suggested}
	if text := judged(r.Files); text != "" {
		m.Verdict = append(m.Verdict, text)
	}
	m.Odd = oddFiles(r.Files)
	m.OddTitle = plural(len(m.Odd), "source")
	if n := len(m.Odd) - pageOdd; n > 0 {
		m.Odd, m.OddMore = m.Odd[:pageOdd], "and "+plural(n, "more source")
	}
	m.Policies = policyGrid(r)
	m.Parts = []*grid{partGrid("tools", "Tools", "Tool", r.ByTool), partGrid("categories", "Categories", "Category", r.ByCategory),
		partGrid("files", "Files", "File", r.ByFile)}
	if s := r.Spliced; s != nil {
		m.Outages, m.Spliced, m.Kinds = outages(s), spliceGrid(s), kindGrid(s)
	}
	if len(r.Frontier) > 0 {
		points := numbered(r)
		m.Frontier, m.Points = draw(points), pointGrid(points, tested(r.Frontier))
	}
	for _, f := range counts {
		m.Definitions = append(m.Definitions, definition{f.title, f.help})
	}
	data, omitted, err := timelines(r.Timelines)
	if err != nil {
		return nil, err
	}
	m.Timelines = template.JS(data)
	if omitted += r.Omitted; omitted > 0 {
		m.Omitted = plural(omitted, "more session") + " without a timeline here, to keep the page small."
	}
	return m, nil
}

func cards(r *analysis.Result) []card {
	c := &r.Counts
	part := func(n, of int, what string) string {
		if of == 0 {
			return ""
		}
		return percent(float64(n)/float64(of)) + " " + what
	}
	precision := card{"Precision", "—", "nothing was skipped", ""}
	if c.Saved+c.Lost > 0 {
		precision = card{"Precision", percent(c.Precision), "of the skipped calls were doomed", ""}
	}
	return []card{
		{"Calls", grouped(c.Calls), "in " + plural(c.Sessions, "session"), ""},
		{"Failures", grouped(c.Failures), part(c.Failures, c.Calls, "of the calls"), "failure"},
		{"Saved", grouped(c.Saved), orWord(part(c.Saved, c.Failures, "of the failures"), "there was no failure"), "saved"},
		{"Lost", grouped(c.Lost), part(c.Lost, c.Calls, "of the calls"), "lost"},
		precision,
		{"Sessions paused", grouped(c.SessionsPaused), part(c.SessionsPaused, c.Sessions, "of the sessions"), "paused"},
	}
}

func policyGrid(r *analysis.Result) *grid {
	names, values := compared(r)
	return gridOf("policies", "What each policy would have done", "Policy", counts, names, values)
}

func spliceGrid(s *analysis.Splice) *grid {
	return gridOf("spliced", "Policies under spliced outages", "Policy", spliced, splicedNames(s), s.Rows)
}

// kindGrid has a row for each policy and kind of outage.
func kindGrid(s *analysis.Splice) *grid {
	var names []string
	var values []analysis.Avoidance
	for i := range s.Rows {
		for _, kind := range slices.Sorted(maps.Keys(s.Rows[i].ByKind)) {
			names = append(names, named(s.Rows[i].Policy)+", "+strings.ReplaceAll(kind, "_", " "))
			values = append(values, s.Rows[i].ByKind[kind])
		}
	}
	if len(values) == 0 {
		return nil
	}
	return gridOf("kinds", "By kind of outage", "Policy, kind of outage", avoidances, names, values)
}

func partGrid(id, caption, first string, parts []analysis.Part) *grid {
	kept := parts[:min(len(parts), pageRows)]
	names, values := make([]string, len(kept)), make([]analysis.Counts, len(kept))
	for i := range kept {
		names[i], values[i] = kept[i].Name, kept[i].Counts
	}
	g := gridOf(id, caption, first, partFigures(), names, values)
	if n := len(parts) - len(kept); n > 0 {
		g.More = grouped(n) + " more are in the JSON and the CSV."
	}
	return g
}

// gridOf is a table with a row for each name and a column for each figure.
func gridOf[T any](id, caption, first string, all []figure[T], names []string, values []T) *grid {
	g := &grid{ID: id, Caption: caption, First: first}
	figures := shown(all, values)
	for _, f := range figures {
		g.Head = append(g.Head, column{f.title, f.help})
	}
	for i := range values {
		row := gridRow{Name: named(names[i])}
		for _, f := range figures {
			row.Cells = append(row.Cells, gridCell{f.say(&values[i]), f.raw(&values[i]), f.class(&values[i])})
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// class names what a figure means, for its colour.
func (f figure[T]) class(of *T) string {
	switch f.tone(of) {
	case soft:
		return "zero"
	case good:
		return "saved"
	case bad:
		return "lost"
	}
	return ""
}
