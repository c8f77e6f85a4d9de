package view

import (
	"strings"

	"github.com/expediter-go/expediter/cascade/redact"
)

// tone is the colour of a piece of text on a terminal. The zero tone is plain.
type tone uint8

const (
	plain tone = iota
	strong
	soft
	good
	bad
)

var escapes = [...]string{strong: "\x1b[1m", soft: "\x1b[2m", good: "\x1b[32m", bad: "\x1b[31m"}

// sheet collects lines of text for a terminal.
type sheet struct {
	strings.Builder
	width  int // columns
	colour bool
}

func (s *sheet) tint(text string, t tone) string {
	if t == plain || !s.colour || text == "" {
		return text
	}
	return escapes[t] + text + "\x1b[0m"
}

// title begins a part.
func (s *sheet) title(text string) {
	if s.Len() > 0 {
		s.WriteString("\n")
	}
	for _, line := range s.fold(text, s.width) {
		s.WriteString(s.tint(line, strong) + "\n")
	}
}

// para writes wrapped text; lead stands before its first line, and its width
// before the others.
func (s *sheet) para(lead, text string, t tone) {
	indent := strings.Repeat(" ", redact.Width(lead))
	for i, line := range s.fold(text, s.width-len(indent)) {
		if i > 0 {
			lead = indent
		}
		s.WriteString(lead + s.tint(line, t) + "\n")
	}
}

// fold wraps text and breaks words that are longer than a line.
func (s *sheet) fold(text string, n int) []string {
	n = max(n, 8)
	var words []string
	for word := range strings.FieldsSeq(text) {
		for redact.Width(word) > n {
			head, tail := split(word, n)
			words, word = append(words, head), tail
		}
		words = append(words, word)
	}
	return redact.Wrap(strings.Join(words, " "), n)
}

// split cuts a word after n columns, at least one character in.
func split(word string, n int) (head, tail string) {
	cols := 0
	for i, r := range word {
		if cols += redact.Width(string(r)); cols > n && i > 0 {
			return word[:i], word[i:]
		}
	}
	return word, ""
}

// shorten keeps the start and the end of a text that is wider than n columns:
// in a path or a program's name the end tells most.
func shorten(text string, n int) string {
	if redact.Width(text) <= n {
		return text
	}
	if n < 5 {
		head, _ := split(text, max(n-1, 1))
		return head + "…"
	}
	head, _ := split(text, (n-1)/2)
	runes := []rune(text)
	tail := ""
	for i := len(runes) - 1; i >= 0 && redact.Width(head)+1+redact.Width(string(runes[i:])) <= n; i-- {
		tail = string(runes[i:])
	}
	return head + "…" + tail
}

// cell is one field of a table.
type cell struct {
	text string
	tone tone
}

// gap is the space between columns.
const gap = 2

// minFirst is how narrow the first column may become, in columns.
const minFirst = 16

// table writes rows under a head; the first column is text, the others are
// figures. What does not fit side by side goes below, with the first column
// again.
func (s *sheet) table(rows [][]cell) {
	widths := s.widths(rows)
	for from := 1; from < len(widths); {
		to, total := from, widths[0]
		for to < len(widths) && (to == from || total+gap+widths[to] <= s.width) {
			total += gap + widths[to]
			to++
		}
		if from > 1 {
			s.WriteString("\n")
		}
		for i, row := range rows {
			s.line(row, widths, from, to, i == 0)
		}
		from = to
	}
}

// widths are those of the columns. The first gives way to the others.
func (s *sheet) widths(rows [][]cell) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			widths[i] = max(widths[i], redact.Width(c.text))
		}
	}
	others := 0
	for _, n := range widths[1:] {
		others += gap + n
	}
	room := s.width - others
	if room < minFirst {
		room = max(s.width/2, minFirst)
	}
	widths[0] = min(widths[0], room)
	for i := range widths[1:] {
		widths[i+1] = min(widths[i+1], s.width-widths[0]-gap)
	}
	return widths
}

// line writes the first cell of a row and those of [from, to).
func (s *sheet) line(row []cell, widths []int, from, to int, head bool) {
	paint := func(text string, t tone) string {
		if head {
			t = soft
		}
		return s.tint(text, t)
	}
	first := shorten(row[0].text, widths[0])
	line := paint(first, row[0].tone) + strings.Repeat(" ", widths[0]-redact.Width(first))
	for i := from; i < to; i++ {
		text := shorten(row[i].text, widths[i])
		line += strings.Repeat(" ", gap+widths[i]-redact.Width(text)) + paint(text, row[i].tone)
	}
	s.WriteString(strings.TrimRight(line, " ") + "\n")
}
