package view

import (
	"encoding/csv"
	"io"
	"strings"

	"github.com/expediter-go/expediter/internal/analysis"
)

// CSV writes one table (RFC 4180): a row of all calls for each policy, then
// one for each tool, category and file. Times are in milliseconds. A name that
// a spreadsheet would take for a formula begins with an apostrophe.
func CSV(w io.Writer, r *analysis.Result) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	head := []string{"policy", "part", "name"}
	for _, f := range counts {
		head = append(head, f.name)
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for _, row := range rows(cleaned(r)) {
		if err := writeRow(out, &row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func writeRow(out *csv.Writer, row *analysis.Row) error {
	blocks := []struct {
		part  string
		names []analysis.Part
	}{
		{"all", []analysis.Part{{Counts: row.Counts}}},
		{"tool", row.ByTool}, {"category", row.ByCategory}, {"file", row.ByFile},
	}
	for _, b := range blocks {
		for i := range b.names {
			line := []string{harmless(row.Policy), b.part, harmless(b.names[i].Name)}
			for _, f := range counts {
				line = append(line, f.raw(&b.names[i].Counts))
			}
			if err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// harmless keeps a spreadsheet from running a name as a formula.
func harmless(name string) string {
	if strings.ContainsAny(firstRune(name), "=+-@＝＋－＠") {
		return "'" + name
	}
	return name
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}
