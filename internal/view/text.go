package view

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/internal/analysis"
)

// Bounds of the summary on a terminal.
const (
	defaultWidth = 80
	minWidth     = 40
	topParts     = 10
	topPoints    = 8
	topOdd       = 10
	maxHead      = 24 // columns of a policy's name above its figures
)

// Text writes a summary for a terminal of width columns (0: 80; under 40 is
// read as 40), in one write. With colour it contains ANSI escapes.
func Text(w io.Writer, r *analysis.Result, width int, colour bool) error {
	if width == 0 {
		width = defaultWidth
	}
	r = cleaned(r)
	s := &sheet{width: max(width, minWidth), colour: colour}
	s.read(r, below(r))
	s.policies(r)
	s.parts("Tools", r.ByTool)
	s.parts("Categories", r.ByCategory)
	if len(r.ByFile) > 1 {
		s.parts("Files", r.ByFile)
	}
	if r.Spliced != nil {
		s.splice(r.Spliced)
	}
	s.frontier(r.Frontier)
	if r.Suggested != nil {
		s.suggestion(r.Suggested)
	}
	s.notes(r.Notes)
	_, err := io.WriteString(w, s.String())
	return err
}

func (s *sheet) read(r *analysis.Result, folder string) {
	s.title(sources(r, folder))
	for _, text := range verdict(r) {
		s.para("", text, plain)
	}
	if text := judged(r.Files); text != "" {
		s.para("", text, soft)
	}
	lines := oddFiles(r.Files)
	if len(lines) == 0 {
		return
	}
	s.title("Passed over")
	for _, line := range lines[:min(len(lines), topOdd)] {
		s.para("- ", line, plain)
	}
	if n := len(lines) - topOdd; n > 0 {
		s.para("- ", "and "+plural(n, "more source")+" with something odd", soft)
	}
}

func (s *sheet) policies(r *analysis.Result) {
	names, values := compared(r)
	s.title("What each policy would have done")
	s.table(across(names, shown(counts, values), values))
}

// across is a table with a column for each policy and a row for each figure.
func across[T any](names []string, figures []figure[T], values []T) [][]cell {
	head := []cell{{}}
	for _, name := range names {
		head = append(head, cell{text: shorten(named(name), maxHead)})
	}
	table := [][]cell{head}
	for _, f := range figures {
		row := []cell{{text: f.title}}
		for i := range values {
			row = append(row, cell{f.say(&values[i]), f.tone(&values[i])})
		}
		table = append(table, row)
	}
	return table
}

// tone marks the figures that decide.
func (f figure[T]) tone(of *T) tone {
	switch {
	case f.of(of) == 0:
		return soft
	case f.name == "saved" || f.name == "avoided":
		return good
	case f.name == "lost" || f.name == "sessions_paused":
		return bad
	}
	return plain
}

// textFigures are those that the table of parts has on a terminal.
var textFigures = []string{"calls", "failures", "answered", "skipped", "saved", "lost"}

func (s *sheet) parts(title string, parts []analysis.Part) {
	if len(parts) == 0 {
		return
	}
	s.title(title)
	head := []cell{{}}
	var figures []figure[analysis.Counts]
	for _, f := range counts {
		if slices.Contains(textFigures, f.name) {
			figures, head = append(figures, f), append(head, cell{text: f.title})
		}
	}
	table := [][]cell{head}
	for _, p := range parts[:min(len(parts), topParts)] {
		row := []cell{{text: named(p.Name)}}
		for _, f := range figures {
			row = append(row, cell{f.say(&p.Counts), f.tone(&p.Counts)})
		}
		table = append(table, row)
	}
	s.table(table)
	if n := len(parts) - topParts; n > 0 {
		s.para("", "and "+grouped(n)+" more", soft)
	}
}

func (s *sheet) splice(sp *analysis.Splice) {
	s.title("Outages spliced in")
	s.para("", outages(sp), plain)
	if len(sp.Rows) == 0 {
		return
	}
	s.table(across(splicedNames(sp), shown(spliced, sp.Rows), sp.Rows))
}

// tested reports whether points were tried on spliced outages.
func tested(points []analysis.Point) bool {
	return slices.ContainsFunc(points, func(p analysis.Point) bool { return p.Made+p.Avoided > 0 })
}

// best are the points of the frontier, most saved first.
func best(points []analysis.Point) []analysis.Point {
	list := slices.DeleteFunc(slices.Clone(points), func(p analysis.Point) bool { return !p.Frontier })
	slices.SortStableFunc(list, func(a, b analysis.Point) int {
		return cmp.Or(cmp.Compare(b.Saved, a.Saved), cmp.Compare(a.Lost, b.Lost), cmp.Compare(b.Avoided, a.Avoided))
	})
	return list
}

func (s *sheet) frontier(points []analysis.Point) {
	if len(points) == 0 {
		return
	}
	list := best(points)
	s.title("Frontier: " + grouped(len(list)) + " of " + plural(len(points), "policy") + " tried, of which no other saves more without losing more")
	table := [][]cell{{{text: "Policy"}, {text: "Saved"}, {text: "Lost"}, {text: "Paused"}}}
	outages := tested(list)
	if outages {
		table[0] = append(table[0], cell{text: "Outages avoided"})
	}
	for _, p := range spread(list, topPoints) {
		row := []cell{{text: named(p.Policy)}, {text: grouped(p.Saved), tone: good}, {text: grouped(p.Lost)}, {text: grouped(p.Paused)}}
		if outages {
			row = append(row, cell{text: grouped(p.Avoided) + " of " + grouped(p.Made+p.Avoided)})
		}
		table = append(table, row)
	}
	s.table(table)
	if n := len(list) - topPoints; n > 0 {
		s.para("", "and "+grouped(n)+" more between them", soft)
	}
}

// spread picks n of a list, the first and the last among them.
func spread[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	var picked []T
	for i := range n {
		picked = append(picked, list[i*(len(list)-1)/(n-1)])
	}
	return picked
}

func (s *sheet) suggestion(sug *analysis.Suggestion) {
	s.title("Suggested: " + named(sug.Policy))
	for _, why := range sug.Why {
		s.para("- ", why, plain)
	}
	s.WriteString("\n")
	for line := range strings.Lines(sug.PolicyYAML) {
		s.WriteString("  " + line)
	}
}

func (s *sheet) notes(notes []string) {
	if len(notes) == 0 {
		return
	}
	s.title("What these figures cannot tell")
	for _, n := range notes {
		s.para("- ", n, plain)
	}
}
