package main

import (
	"bytes"
	"fmt"
	"time"
)

// The chart's measures, in units of its view box: a row for each run, with two
// panels.
const (
	chartWidth  = 960
	chartTop    = 96
	rowHeight   = 74
	panelHeight = 54
	panelWidth  = 356
	answersLeft = 186
	slotsLeft   = answersLeft + panelWidth + 44
)

const (
	healthyColor    = "#4c78a8"
	summarizerColor = "#59a14f"
	standInColor    = "#f1a340"
	slotsColor      = "#c0392b"
	outageColor     = "#eceff1"
)

// draw makes the chart: a self-contained SVG.
func draw(p plan, runs []figures) []byte {
	var b bytes.Buffer
	height := chartTop + rowHeight*len(runs) + 28
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title" font-family="system-ui, sans-serif" font-size="12" fill="#222">
<title id="title">A slow peer: answers per second and slots held, by what stands between the orchestrator and its peers</title>
<rect width="100%%" height="100%%" fill="#fff"/>
<text x="16" y="26" font-size="17" font-weight="600">One of %d peers takes %v instead of %v, from second %.0f to %.0f</text>
`, chartWidth, height, p.peers, p.slow, p.quick, p.begin.Seconds(), p.end.Seconds())
	legendOf(&b)
	top := answersTop(runs)
	fmt.Fprintf(&b, `<text x="%d" y="84" font-weight="600">Answers per second</text><text x="%d" y="84" font-weight="600">Of %d slots, held by calls of the summarizer</text>`+"\n",
		answersLeft, slotsLeft, p.slots)
	for i, f := range runs {
		f.row(&b, p, chartTop+rowHeight*i, top)
	}
	for _, left := range []int{answersLeft, slotsLeft} {
		times(&b, p, left, chartTop+rowHeight*len(runs)-4)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// row draws a run at a height; top is the scale of its answers.
func (f figures) row(b *bytes.Buffer, p plan, y int, top float64) {
	fmt.Fprintf(b, `<text x="16" y="%d" font-weight="600">%s</text><text x="16" y="%d" fill="#666">healthy peers: %.0f %%</text>`+"\n",
		y+24, f.name, y+41, 100*f.share)
	answers := panel{b, p, answersLeft, y, top}
	answers.frame()
	answers.area(standInColor, f.bins, func(b bin) float64 { return float64(b.healthy + b.summarizer + b.standIn) })
	answers.area(summarizerColor, f.bins, func(b bin) float64 { return float64(b.healthy + b.summarizer) })
	answers.area(healthyColor, f.bins, func(b bin) float64 { return float64(b.healthy) })
	slots := panel{b, p, slotsLeft, y, float64(p.slots)}
	slots.frame()
	slots.area(slotsColor, f.bins, func(b bin) float64 { return b.held })
}

func legendOf(b *bytes.Buffer) {
	x := 16
	for _, k := range []struct{ color, text string }{
		{healthyColor, "healthy peers"}, {summarizerColor, "the summarizer itself"},
		{standInColor, "something instead"}, {outageColor, "outage"}} {
		fmt.Fprintf(b, `<rect x="%d" y="45" width="12" height="12" fill="%s"/><text x="%d" y="55">%s</text>`+"\n", x, k.color, x+18, k.text)
		x += 40 + 7*len(k.text)
	}
}

// answersTop is the scale of the answers: the most of a second in the run
// without an outage, and some room. What is above it is cut.
func answersTop(runs []figures) float64 {
	most := 1
	for _, b := range runs[0].bins {
		most = max(most, b.healthy+b.summarizer+b.standIn)
	}
	return 1.1 * float64(most)
}

// panel is one small picture over the time of a run.
type panel struct {
	b         *bytes.Buffer
	p         plan
	left, top int
	max       float64
}

func (a panel) x(at time.Duration) float64 {
	return float64(a.left) + float64(panelWidth)*float64(at)/float64(a.p.length)
}

func (a panel) frame() {
	from, to := a.x(a.p.begin), a.x(a.p.end)
	fmt.Fprintf(a.b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="`+outageColor+`"/><path d="M%d %dh%d" stroke="#999"/><text x="%d" y="%d" font-size="10" fill="#666" text-anchor="end">%.0f</text>`+"\n",
		from, a.top, to-from, panelHeight, a.left, a.top+panelHeight, panelWidth, a.left-4, a.top+8, a.max)
}

// area fills the picture up to a value of each second.
func (a panel) area(color string, bins []bin, value func(bin) float64) {
	fmt.Fprintf(a.b, `<path fill="%s" d="M%d %d`, color, a.left, a.top+panelHeight)
	for i, bin := range bins {
		y := float64(a.top) + panelHeight*(1-min(value(bin)/a.max, 1))
		fmt.Fprintf(a.b, "L%.1f %.1fH%.1f", a.x(time.Duration(i)*binWidth), y, a.x(time.Duration(i+1)*binWidth))
	}
	fmt.Fprintf(a.b, "V%dz\"/>\n", a.top+panelHeight)
}

// times labels the axis below the last row.
func times(b *bytes.Buffer, p plan, left, y int) {
	for _, at := range []time.Duration{0, p.begin, p.end, p.length} {
		x := panel{p: p, left: left}.x(at)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" font-size="10" fill="#666" text-anchor="middle">%.0f s</text>`+"\n", x, y, at.Seconds())
	}
}
