package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// write prints the tables and the chart.
func write(w io.Writer, p plan, runs []figures) {
	fmt.Fprintf(w, "%v\n\nThe %d callers who arrived in the %v of the outage:\n", p, runs[0].callers, p.end-p.begin)
	fmt.Fprintf(w, "%-21s %7s %8s %7s %7s  %9s %8s %6s %6s %6s\n", "", "peer's", "stand-in", "error", "gave up",
		"healthy/s", "share", "p50", "p99", "worst")
	for _, f := range runs {
		fmt.Fprintf(w, "%-21s %7d %8d %7d %7d  %9.1f %7.1f%% %6s %6s %6s\n", f.name, f.endings[own], f.endings[standIn],
			f.endings[refused]+f.endings[failed], f.endings[gaveUp], float64(f.healthy)/(p.end-p.begin).Seconds(),
			100*f.share, short(f.p50), short(f.p99), short(f.worst))
	}
	fmt.Fprintf(w, "\nThe summarizer:\n%-21s %10s %9s %9s %9s %11s\n", "", "slots held", "at most", "reached", "probes", "recovery")
	for _, f := range runs {
		fmt.Fprintf(w, "%-21s %10.2f %9d %9d %9d %11s\n", f.name, f.held, f.heldMax, f.reached, f.probes, short(f.recovered))
	}
	fmt.Fprint(w, legend)
	chart(w, p, runs)
}

const legend = `
peer's: the asked peer's own answer.  healthy/s, share and times: the callers of
the other peers; who gave up counts with its wait.  reached: calls made to the
summarizer in the outage.  recovery: from its end to the arrival of the last
caller, of any peer, who did not get that peer's own answer within a second.
gobreaker alone sees no failure: the calls succeed, after ten seconds.
`

// lateness says how far rows that were made by the clock can be trusted.
func lateness(w io.Writer, runs []figures) {
	fmt.Fprint(w, "\nHow late the machine itself was at worst, in the plan's time:")
	for _, f := range runs {
		fmt.Fprintf(w, " %s %s;", f.name, short(f.late))
	}
	fmt.Fprintln(w, "\nA row that was late by a deadline tells of the machine, not of the way.")
}

// short rounds a duration to three digits.
func short(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d < time.Second:
		return fmt.Sprintf("%.0fms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// chartStep is how many seconds one character shows.
const chartStep = 4

// chart draws what healthy peers answered, a line for each run. Its scale is
// that of the run without an outage; what is above it is cut.
func chart(w io.Writer, p plan, runs []figures) {
	most := 0
	for i := range runs[0].bins {
		most = max(most, runs[0].answers(i))
	}
	fmt.Fprintf(w, "\nAnswers of the healthy peers over time (a full block: %d/s or more):\n", most/chartStep)
	for _, f := range runs {
		var line strings.Builder
		for i := 0; i+chartStep <= len(f.bins); i += chartStep {
			line.WriteRune(block(f.answers(i), most))
		}
		fmt.Fprintf(w, "%-21s %s\n", f.name, line.String())
	}
	step := chartStep * binWidth
	width := int((p.end - p.begin) / step)
	fmt.Fprintf(w, "%-21s %s^%s^\n", "", strings.Repeat(" ", int(p.begin/step)), center("outage", width-1))
}

// answers counts those of the healthy peers in the seconds from i on.
func (f figures) answers(i int) int {
	n := 0
	for _, b := range f.bins[i:min(i+chartStep, len(f.bins))] {
		n += b.healthy
	}
	return n
}

func block(n, most int) rune {
	blocks := []rune(" ▁▂▃▄▅▆▇█")
	if most == 0 || n == 0 {
		return blocks[0]
	}
	return blocks[min(max(1, (n*(len(blocks)-1)+most/2)/most), len(blocks)-1)]
}

func center(s string, width int) string {
	left := max(width-len(s), 0) / 2
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", max(width-len(s)-left, 0))
}
