package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	File    string
	Line    int    // from 1; 0: the file as a whole
	Column  int    // from 1, in characters
	What    string // what is wrong
	Do      string // what to do about it; may be empty
	Warning bool   // the file can be used all the same
}

// String is `FILE:LINE:COLUMN: what; what to do`, on one line.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(oneLine(p.File))
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(oneLine(p.What))
	if p.Do != "" {
		b.WriteString("; " + oneLine(p.Do))
	}
	return b.String()
}

// Problems is everything that is wrong with a file. As an error it is one line
// for each, by place. The empty list is no error: see Err.
type Problems []Problem

// Error lists the problems, one line each, in the order of their places.
func (ps Problems) Error() string {
	lines := make([]string, 0, len(ps))
	for _, p := range ps.Sorted() {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// Sorted returns the problems ordered by place.
func (ps Problems) Sorted() Problems {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return sorted
}

// Err returns the problems that are no warnings as an error, or nil.
func (ps Problems) Err() error {
	var bad Problems
	for _, p := range ps {
		if !p.Warning {
			bad = append(bad, p)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return bad.listed()
}

// Warnings returns the problems that do not stop a file from being used.
func (ps Problems) Warnings() Problems {
	var warnings Problems
	for _, p := range ps {
		if p.Warning {
			warnings = append(warnings, p)
		}
	}
	return warnings.listed()
}

// listed sorts the problems and keeps the first MaxProblems.
func (ps Problems) listed() Problems {
	sorted := ps.Sorted()
	if len(sorted) <= MaxProblems+1 {
		return sorted
	}
	return append(sorted[:MaxProblems:MaxProblems], sorted[MaxProblems].andMore())
}

// add appends p, up to MaxProblems.
func (ps *Problems) add(p Problem) {
	switch {
	case len(*ps) < MaxProblems:
		*ps = append(*ps, p)
	case len(*ps) == MaxProblems:
		*ps = append(*ps, p.andMore())
	}
}

// andMore stands for p and all problems after it.
func (p Problem) andMore() Problem {
	p.What, p.Do = "too many problems to list from here on", "correct the ones above first"
	return p
}

// Quote cuts and escapes a text of a file for a message.
func Quote(text string) string {
	const most = 60
	if utf8.RuneCountInString(text) > most {
		return strconv.Quote(string([]rune(text[:min(len(text), 4*most)])[:most-1]) + "…")
	}
	return strconv.Quote(text)
}

// oneLine makes a message text safe to print on one line of a terminal.
func oneLine(text string) string {
	const most = 600
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != utf8.RuneError {
			return r
		}
		return '?'
	}, text)
}
