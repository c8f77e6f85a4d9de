package simulate

import (
	"encoding/csv"
	"io"
	"strconv"
)

// CSV writes a line for each row, with three columns for each figure: the mean
// under the figure's JSON name, and the interval under that name with _p5 and
// _p95. A figure that no run has is empty.
func CSV(w io.Writer, r Result) error {
	out := csv.NewWriter(w)
	head := []string{"model", "rate", "way"}
	for _, c := range columns {
		head = append(head, c.name, c.name+"_p5", c.name+"_p95")
	}
	_ = out.Write(head) // Error tells of it
	for _, row := range r.Rows {
		record := []string{row.Model.String(), exact(row.Rate), row.Way}
		for _, c := range columns {
			s := *c.in(&row)
			if s.Runs == 0 {
				record = append(record, "", "", "")
				continue
			}
			record = append(record, exact(s.Mean), exact(s.Low), exact(s.High))
		}
		_ = out.Write(record)
	}
	out.Flush()
	return out.Error()
}

func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
