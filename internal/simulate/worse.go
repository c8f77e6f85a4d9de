package simulate

import (
	"fmt"
	"strings"
)

// finished are the sub-tasks that are done with right data, one way or another.
func finished(r Row) float64 { return r.Done.Mean + r.Degraded.Mean }

// margin is how many sub-tasks make a difference worth a line.
const margin = 0.5

// worse says where a way with the engine finishes fewer sub-tasks than the best
// of the others, and what else it costs there.
func worse(rows []Row) []string {
	var list []string
	for _, block := range blocks(rows) {
		best := -1
		for i, r := range block {
			if !engine(r) && (best < 0 || finished(r) > finished(block[best])) {
				best = i
			}
		}
		for _, r := range block {
			if best >= 0 && engine(r) && finished(r) < finished(block[best])-margin {
				list = append(list, worseLine(r, block[best]))
			}
		}
	}
	if list == nil {
		return []string{"nowhere in this comparison"}
	}
	return list
}

func engine(r Row) bool { return strings.HasPrefix(r.Way, enginePrefix) }

func worseLine(r, other Row) string {
	line := fmt.Sprintf("%s: %s %s, %s %s; %s minutes instead of %s", heading(r), r.Way, number(finished(r), 1),
		other.Way, number(finished(other), 1), number(r.Minutes.Mean, 1), number(other.Minutes.Mean, 1))
	if r.DeniedGood.Mean > 0 {
		line += fmt.Sprintf(", %s good requests denied", number(r.DeniedGood.Mean, 1))
	}
	if r.Pauses.Mean > 0 {
		line += fmt.Sprintf(", %s pauses", number(r.Pauses.Mean, 1))
	}
	return line
}
