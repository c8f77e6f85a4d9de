package view

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/trace"
)

// named is a name, or that there is none.
func named(s string) string {
	if s == "" {
		return "(no name)"
	}
	return s
}

// sources says what was read, in one sentence; folder is where all of it lies,
// or empty.
func sources(r *analysis.Result, folder string) string {
	formats := map[string]int{}
	var bytes int64
	for _, f := range r.Files {
		formats[f.Format]++
		bytes += f.Bytes
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(formats)) {
		list = append(list, orWord(name, "not recognised")+" "+grouped(formats[name]))
	}
	s := plural(r.Calls, "call") + " in " + plural(r.Sessions, "session")
	if len(r.Files) > 0 {
		s += " from " + plural(len(r.Files), "source")
		if folder != "" {
			s += " below " + folder
		}
		s += " (" + strings.Join(list, ", ") + "; " + size(bytes) + ")"
	}
	return s
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

func size(n int64) string {
	switch {
	case n < 1000:
		return plural(n, "byte")
	case n < 1e6:
		return tenths(n, 1e3) + " kB"
	case n < 1e9:
		return tenths(n, 1e6) + " MB"
	}
	return tenths(n, 1e9) + " GB"
}

func tenths(n, of int64) string {
	return strings.TrimSuffix(grouped(n/of)+"."+string(rune('0'+n%of*10/of)), ".0")
}

// odd lists what a source held that was passed over.
func odd(s *trace.Stats) []string {
	var list []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			list = append(list, "1 "+one)
		case n > 1:
			list = append(list, grouped(n)+" "+many)
		}
	}
	if s.Format == "" && s.Problem == "" {
		list = append(list, "format not recognised")
	}
	add(s.Foreign, "record of no known kind", "records of no known kind")
	add(s.Broken, "record that is broken or too long", "records that are broken or too long")
	add(s.Open, "call without a result", "calls without a result")
	add(s.Orphans, "result without a call", "results without a call")
	add(s.Repeated, "call told before", "calls told before")
	if s.Torn {
		list = append(list, "it ends within a record")
	}
	if s.Problem != "" {
		list = append(list, "not read further: "+s.Problem)
	}
	return list
}

// oddFiles says what was odd, a line for each source, the worst first.
func oddFiles(files []trace.Stats) []string {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b trace.Stats) int { return cmp.Compare(oddness(&b), oddness(&a)) })
	var lines []string
	for i := range files {
		if list := odd(&files[i]); len(list) > 0 {
			lines = append(lines, named(files[i].File)+": "+strings.Join(list, ", "))
		}
	}
	return lines
}

// oddness puts sources in order: those cut short or unknown first.
func oddness(s *trace.Stats) int {
	n := s.Foreign + s.Broken + s.Open + s.Orphans + s.Repeated
	if s.Problem != "" || s.Format == "" {
		n += 1 << 40
	}
	return n
}

// judged says how many outcomes had no mark of their own.
func judged(files []trace.Stats) string {
	n, calls := 0, 0
	for i := range files {
		n, calls = n+files[i].Judged, calls+files[i].Calls
	}
	if n == 0 {
		return ""
	}
	return of(n, calls, "result") + " had no mark of success or failure and were judged from the text."
}

// verdict says what the first policy would have done, in sentences.
func verdict(r *analysis.Result) []string {
	c := &r.Counts
	list := []string{health(c)}
	if c.Skipped == 0 {
		list = append(list, "Policy "+named(r.Policy)+" would have skipped nothing.")
	} else {
		list = append(list, "Policy "+named(r.Policy)+" would have skipped "+plural(c.Skipped, "call")+": "+grouped(c.Saved)+
			" that failed in the recording (saved), "+grouped(c.Lost)+" that worked (lost)"+rest(c)+".")
	}
	if c.Pauses == 0 {
		return append(list, "It would never have paused.")
	}
	return append(list, "It would have paused "+of(c.SessionsPaused, c.Sessions, "session")+"; "+
		plural(c.Paused, "call")+" came after a pause and before the user's next prompt.")
}

func health(c *analysis.Counts) string {
	text := "No call failed"
	if c.Failures > 0 {
		text = of(c.Failures, c.Calls, "call") + " failed"
	}
	text += " because the tool, or the way to it, was broken"
	switch {
	case c.Answered == 1:
		text += "; 1 looked like an error and was the answer of a working tool"
	case c.Answered > 1:
		text += "; " + grouped(c.Answered) + " looked like errors and were answers of a working tool"
	}
	return text + "."
}

// rest are the skipped calls that are neither saved nor lost.
func rest(c *analysis.Counts) string {
	if n := c.Skipped - c.Saved - c.Lost; n > 0 {
		return " and " + grouped(n) + " that say nothing either way"
	}
	return ""
}

// outages says what was spliced in, in one sentence.
func outages(s *analysis.Splice) string {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(s.ByKind)) {
		kinds = append(kinds, grouped(s.ByKind[kind])+" "+strings.ReplaceAll(kind, "_", " "))
	}
	text := plural(s.Outages, "seeded outage") + " laid over the sessions"
	if len(kinds) > 0 {
		text += " (" + strings.Join(kinds, ", ") + ")"
	}
	return text + "; seed " + strconv.FormatUint(s.Seed, 10) + "."
}
