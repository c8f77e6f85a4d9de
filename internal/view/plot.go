package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/expediter-go/expediter/internal/analysis"
)

// The plot's size and its margins, in units of its view box.
const (
	plotWidth  = 640
	plotHeight = 420
	plotLeft   = 80
	plotRight  = 24
	plotTop    = 20
	plotBottom = 52
	maxPoints  = 1000
)

// dot is a policy in the plot and in the table beside it.
type dot struct {
	analysis.Point
	number    int // of the frontier, from 1; 0: not on it
	suggested bool
}

// numbered puts the frontier first, most saved first, and numbers it.
func numbered(r *analysis.Result) []dot {
	list := make([]dot, 0, len(r.Frontier))
	for _, p := range r.Frontier {
		list = append(list, dot{Point: p, suggested: r.Suggested != nil && p.Policy == r.Suggested.Policy})
	}
	slices.SortStableFunc(list, func(a, b dot) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(b.Saved, a.Saved), cmp.Compare(a.Lost, b.Lost), cmp.Compare(b.Avoided, a.Avoided))
	})
	for i := range list {
		if list[i].Frontier {
			list[i].number = i + 1
		}
	}
	return list[:min(len(list), maxPoints)]
}

func rank(d dot) int {
	if d.Frontier {
		return 0
	}
	return 1
}

// pointGrid has the columns of spliced outages where there are any.
func pointGrid(dots []dot, outages bool) *grid {
	g := &grid{ID: "points", Caption: "Policies tried", First: "Policy", Head: []column{
		{"Saved", "skipped, and failed in the recording"}, {"Lost", "skipped, and worked in the recording"}}}
	if outages {
		g.Head = append(g.Head, column{"Avoided", "doomed requests of spliced outages that were not made"}, column{"Made", "those that were, after the threshold"})
	}
	g.Head = append(g.Head, column{"Paused", "calls after a pause, up to the user's next prompt"}, column{"Precision", "saved / (saved + lost)"})
	for _, d := range dots[:min(len(dots), pageRows)] {
		precision := gridCell{percent(d.Precision), strconv.FormatFloat(d.Precision, 'f', -1, 64), ""}
		if d.Saved+d.Lost == 0 {
			precision.Text = "—"
		}
		row := gridRow{Name: named(d.Policy), Number: d.number, Cells: []gridCell{number(d.Saved), number(d.Lost)}}
		if outages {
			row.Cells = append(row.Cells, number(d.Avoided), number(d.Made))
		}
		row.Cells = append(row.Cells, number(d.Paused), precision)
		if d.suggested {
			row.Class = "suggested"
		}
		g.Rows = append(g.Rows, row)
	}
	if n := len(dots) - pageRows; n > 0 {
		g.More = grouped(n) + " more are in the JSON."
	}
	return g
}

func number(n int) gridCell { return gridCell{grouped(n), strconv.Itoa(n), ""} }

// plot is the frontier as a picture: saved over lost.
type plot struct {
	Width, Height            int
	Left, Right, Top, Bottom int // of the area
	MiddleX, MiddleY         int
	Label, Name              string // of the picture, of its upward axis
	Remark                   string // empty: none
	Log                      bool   // the axis of the lost
	Dots                     []mark
	Line                     string // through the frontier
	X, Y                     []tick
}

// mark is a point of the plot.
type mark struct {
	X, Y, Size   float64
	Class, Title string
	Number       int // 0: no room for its number, or none
	TX, TY       float64
}

// tick is a labelled place on an axis.
type tick struct {
	At    float64
	Label string
}

// axis maps values onto a stretch of the picture.
type axis struct {
	max      float64
	from, to float64
	log      bool
}

func (a axis) at(v float64) float64 {
	share := v / a.max
	if a.log {
		share = math.Log1p(v) / math.Log1p(a.max)
	}
	return math.Round((a.from+share*(a.to-a.from))*10) / 10
}

// ticks are round values from zero to the axis' end.
func (a axis) ticks() []tick {
	list := []tick{{a.at(0), "0"}}
	if !a.log {
		for v, step := 0.0, niceStep(a.max/5); v+step <= a.max*1.001; {
			v += step
			list = append(list, tick{a.at(v), grouped(int64(math.Round(v)))})
		}
		return list
	}
	for _, v := range []float64{1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6, 1e7} {
		if v <= a.max {
			list = append(list, tick{a.at(v), grouped(int64(v))})
		}
	}
	return list
}

// niceStep is the next of 1, 2, 5, 10, 20, ….
func niceStep(rough float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(rough, 1))))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= rough {
			return m * power
		}
	}
	return 10 * power
}

// logFrom is how many lost calls make the axis logarithmic: what matters lies
// near zero.
const logFrom = 30

func draw(dots []dot) *plot {
	p := &plot{Width: plotWidth, Height: plotHeight, Left: plotLeft, Right: plotWidth - plotRight, Top: plotTop, Bottom: plotHeight - plotBottom}
	p.MiddleX, p.MiddleY = (p.Left+p.Right)/2, (p.Top+p.Bottom)/2
	up := func(d dot) int { return d.Saved }
	p.Name = "Saved: calls that failed"
	if flat(dots) {
		up, p.Name = func(d dot) int { return d.Avoided }, "Avoided: doomed requests of outages"
		p.Remark = "In the recordings all policies save the same; the spliced outages tell them apart."
	}
	x := axis{max: 4, from: float64(p.Left), to: float64(p.Right)}
	y := axis{max: 4, from: float64(p.Bottom), to: float64(p.Top)}
	for _, d := range dots {
		x.max, y.max = max(x.max, float64(d.Lost)), max(y.max, float64(up(d)))
	}
	x.log = x.max > logFrom
	x.max, y.max = x.max*1.04, y.max*1.06
	p.Log, p.X, p.Y = x.log, x.ticks(), y.ticks()
	p.Label = p.Name + ", over lost calls, of " + plural(len(dots), "policy") + ". The table holds the same figures."
	for _, d := range slices.Backward(dots) { // the frontier on top
		p.Dots = append(p.Dots, markOf(d, x.at(float64(d.Lost)), y.at(float64(up(d)))))
	}
	if !flat(dots) {
		p.Line = line(dots, x, y)
	}
	p.label()
	return p
}

// flat reports whether all policies save the same in the recordings, and are
// told apart by the spliced outages alone.
func flat(dots []dot) bool {
	differs := func(of func(dot) int) bool {
		return slices.ContainsFunc(dots, func(d dot) bool { return of(d) != of(dots[0]) })
	}
	return !differs(func(d dot) int { return d.Saved }) && differs(func(d dot) int { return d.Avoided })
}

func markOf(d dot, x, y float64) mark {
	m := mark{X: x, Y: y, Size: 3.5, Class: "tried", Number: d.number,
		Title: named(d.Policy) + ": " + grouped(d.Saved) + " saved, " + grouped(d.Lost) + " lost"}
	if d.Made+d.Avoided > 0 {
		m.Title += ", " + grouped(d.Avoided) + " of " + grouped(d.Made+d.Avoided) + " doomed requests avoided"
	}
	if d.Frontier {
		m.Class, m.Size = "front", 5
	}
	if d.suggested {
		m.Class, m.Size, m.Title = m.Class+" suggested", 7, m.Title+" (suggested)"
	}
	return m
}

// line goes up in steps: at so many lost, so many can be saved.
func line(dots []dot, x, y axis) string {
	path, last := "", 0.0
	for _, d := range slices.Backward(dots) {
		if !d.Frontier {
			continue
		}
		px, py := x.at(float64(d.Lost)), y.at(float64(d.Saved))
		if path == "" {
			path = fmt.Sprintf("M%g %g", px, py)
		} else {
			path += fmt.Sprintf("L%g %gL%g %g", px, last, px, py)
		}
		last = py
	}
	return path
}

// label finds room for the numbers, those with the most saved first; a number
// without room is in the table alone.
func (p *plot) label() {
	var taken []box
	for _, d := range p.Dots {
		if d.Class != "tried" {
			taken = append(taken, box{d.X - d.Size, d.Y - d.Size, 2 * d.Size, 2 * d.Size})
		}
	}
	for i := range slices.Backward(p.Dots) {
		d := &p.Dots[i]
		if d.Number == 0 {
			continue
		}
		b, found := p.room(d, taken)
		if !found {
			d.Number = 0
			continue
		}
		taken = append(taken, b)
		d.TX, d.TY = b.x+b.w/2, b.y+b.h-3
	}
}

// room is the first place beside a mark where its number covers nothing.
func (p *plot) room(d *mark, taken []box) (box, bool) {
	const high = 13
	wide := float64(8 * len(strconv.Itoa(d.Number)))
	for _, off := range [][2]float64{{-d.Size - wide, -d.Size - high + 4}, {d.Size + 1, d.Size - 2}, {-wide / 2, -d.Size - high}, {-wide / 2, d.Size + 1}} {
		b := box{d.X + off[0], d.Y + off[1], wide, high}
		inside := b.x >= float64(p.Left)+1 && b.y >= 0 && b.x+b.w <= plotWidth
		if inside && !slices.ContainsFunc(taken, b.meets) {
			return b, true
		}
	}
	return box{}, false
}

// box is a stretch of the picture from its upper left corner.
type box struct{ x, y, w, h float64 }

func (b box) meets(o box) bool {
	return b.x < o.x+o.w && o.x < b.x+b.w && b.y < o.y+o.h && o.y < b.y+b.h
}
