package simulate

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Text writes the result as tables for a terminal: for each model and rate one
// line of means for each way, and below it the interval.
func Text(w io.Writer, r Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d agents with %d sub-tasks each, %d seeds drawn from %d; columns that are 0 for every way are left out\n",
		r.Agents, r.Subtasks, r.Seeds, r.Seed)
	for _, block := range blocks(r.Rows) {
		fmt.Fprintf(&b, "\n%s\n", heading(block[0]))
		textBlock(&b, block)
	}
	lists := []struct {
		title string
		lines []string
	}{{"Where expediter finishes fewer sub-tasks", worse(r.Rows)}, {"What the figures assume", r.Notes}}
	for _, l := range lists {
		fmt.Fprintf(&b, "\n%s\n", l.title)
		for _, line := range l.lines {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func heading(r Row) string {
	if r.Model == NoFault {
		return "no fault"
	}
	return fmt.Sprintf("%s, rate %s", r.Model, number(r.Rate, 3))
}

func textBlock(w io.Writer, rows []Row) {
	const interval = "  5–95 %"
	width := utf8.RuneCountInString(interval)
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r.Way))
	}
	used := telling(rows)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%-*s", width, "")
	for _, c := range used {
		fmt.Fprint(t, "\t", c.title)
	}
	fmt.Fprintln(t, "\t")
	for _, r := range rows {
		means, intervals := fmt.Sprintf("%-*s", width, r.Way), fmt.Sprintf("%-*s", width, interval)
		for _, c := range used {
			s := *c.in(&r)
			means += "\t" + c.mean(s)
			intervals += "\t" + c.interval(s)
		}
		fmt.Fprintf(t, "%s\t\n%s\t\n", means, intervals)
	}
	t.Flush()
}

// telling are the columns in which some row is not zero.
func telling(rows []Row) []column {
	var list []column
	for _, c := range columns {
		for i := range rows {
			if s := c.in(&rows[i]); s.Mean != 0 || s.High != 0 {
				list = append(list, c)
				break
			}
		}
	}
	return list
}

// blocks cuts rows where the model or the rate changes.
func blocks(rows []Row) [][]Row {
	var list [][]Row
	for i, r := range rows {
		if i == 0 || r.Model != rows[i-1].Model || r.Rate != rows[i-1].Rate {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], r)
	}
	return list
}

// mean is a figure's mean; a dash where no run has one.
func (c column) mean(s Spread) string {
	if s.Runs == 0 {
		return "–"
	}
	return number(s.Mean/c.unit, c.decimals)
}

// interval is a figure's interval; empty where it is a single value.
func (c column) interval(s Spread) string {
	decimals := c.decimals
	if s.High/c.unit >= 100 { // narrow enough
		decimals = 0
	}
	low, high := number(s.Low/c.unit, decimals), number(s.High/c.unit, decimals)
	if s.Runs == 0 || low == high {
		return ""
	}
	return low + "–" + high
}

// number writes a number with at most so many decimals.
func number(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
