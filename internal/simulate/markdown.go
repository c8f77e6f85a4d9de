package simulate

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the result for a page: one table for each model, each cell a
// mean and its interval, then where expediter is worse, and what is assumed.
// Its headings are of the third level.
func Markdown(w io.Writer, r Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d agents with %d sub-tasks each, %d seeds drawn from %d. Columns that are 0 throughout are left out.\n",
		r.Agents, r.Subtasks, r.Seeds, r.Seed)
	for _, rows := range byModel(r.Rows) {
		markdownTable(&b, rows)
	}
	b.WriteString("\n### Where expediter finishes fewer sub-tasks\n\n")
	for _, line := range worse(r.Rows) {
		fmt.Fprintf(&b, "- %s\n", cell(line))
	}
	b.WriteString("\n### What the figures assume\n\n")
	for _, line := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", cell(line))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func byModel(rows []Row) [][]Row {
	var list [][]Row
	for i, r := range rows {
		if i == 0 || r.Model != rows[i-1].Model {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], r)
	}
	return list
}

func markdownTable(b *strings.Builder, rows []Row) {
	used := telling(rows)
	title := rows[0].Model.String()
	if rows[0].Model == NoFault {
		title = "no fault"
	}
	fmt.Fprintf(b, "\n### %s\n\n| rate | way |", title)
	for _, c := range used {
		fmt.Fprintf(b, " %s |", c.title)
	}
	fmt.Fprintf(b, "\n| --- | --- |%s\n", strings.Repeat(" --- |", len(used)))
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s |", number(r.Rate, 3), cell(r.Way))
		for _, c := range used {
			s := *c.in(&r)
			text := c.mean(s)
			if in := c.interval(s); in != "" {
				text += " (" + in + ")"
			}
			fmt.Fprintf(b, " %s |", text)
		}
		b.WriteString("\n")
	}
}

// cell keeps a name of the user's from ending a cell or a line.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "`", "'").Replace(text)
}
