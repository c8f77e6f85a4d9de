package report

import (
	"fmt"
	"strings"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/expediter"
)

// substitutesOf cleans the values that stood in for a tool's own.
func substitutesOf(from []expediter.Substitute) []Substitute {
	var list []Substitute
	for _, s := range from {
		list = append(list, Substitute{Tool: redact.Text(s.Tool, maxName), Used: redact.Text(s.Used, maxName),
			Label: redact.Text(s.Label, maxText), Lost: redact.Text(s.Lost, maxText), Times: s.Times,
			Moment: Moment{Step: s.Step, At: s.At, Text: redact.Text(s.Cause, maxText)}})
	}
	return list
}

func (r Report) substituteLines() []line {
	var list []line
	for _, s := range r.Substitutes {
		head := fmt.Sprintf("%s: %s, %s, last at %s", s.Tool, strings.ReplaceAll(s.Used, "_", " "), count(s.Times, "time"), r.when(s.Moment))
		sub := []string{"Lost: " + s.Lost}
		if s.Label != "" {
			sub = append(sub, s.Label)
		}
		if s.Text != "" {
			sub = append(sub, "Because: "+s.Text)
		}
		list = append(list, line{Text: head, Sub: sub})
	}
	return list
}
