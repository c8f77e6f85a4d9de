// Package redact is the one home of how text from outside is made fit to keep
// and to print (SPEC section 12): bounded, without control characters and
// terminal escapes, with secrets masked. It is pure and safe for concurrent
// use.
package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expediter-go/expediter/internal/pattern"
)

// ellipsis ends a text that was cut.
const ellipsis = "…"

// maxMarks is how many combining marks one character keeps.
const maxMarks = 4

// Text makes text from outside fit for one line of a report: valid UTF-8
// without terminal escapes, control characters, invisible characters and
// direction overrides; white space collapsed to single spaces; secrets masked;
// at most max runes, the last one an ellipsis when something was cut. Cleaning
// a cleaned text changes nothing. Escaping for a format is up to the format.
func Text(text string, max int) string {
	return settle(within(text, max), func(s string) string {
		return cut(mask(strings.Join(strings.Fields(plain(s)), " ")), max)
	})
}

// Lines is Text for text that keeps its lines: at most lines of them,
// each of at most max runes, inner spaces kept.
func Lines(text string, lines, max int) []string {
	whole := settle(within(text, lines*max), func(s string) string { return mask(plain(s)) })
	var list []string
	for line := range strings.SplitSeq(strings.Trim(whole, "\n"), "\n") {
		if len(list) == lines {
			return append(list[:lines-1], ellipsis)
		}
		list = append(list, cut(strings.TrimRight(line, " "), max))
	}
	if len(list) == 1 && list[0] == "" {
		return nil
	}
	return list
}

// settle repeats a pass until it changes nothing: what a cut leaves may look
// like a secret that was none before.
func settle(s string, pass func(string) string) string {
	for range 8 {
		next := pass(s)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// within bounds the work on a huge text: the part that could still be printed,
// without the word that the bound splits.
func within(text string, max int) string {
	limit := 8*max + 4096
	if len(text) <= limit {
		return text
	}
	text = text[:limit]
	if i := strings.LastIndexAny(text, " \t\r\n"); i > limit/2 {
		text = text[:i]
	}
	return text + " " + ellipsis
}

func cut(s string, max int) string {
	if max < 1 {
		return ""
	}
	if utf8.RuneCountInString(s) <= max {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == max {
			return strings.TrimRight(s[:i], " ") + ellipsis
		}
	}
	return s
}

var (
	// A terminal's control sequences, and its strings (title, clipboard,
	// link) with their end; without an end the text stays visible.
	controlSequence = pattern.New(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]`)
	controlString   = pattern.New(`(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}\x{9e}\x{9f}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})`)
	escape          = pattern.New(`\x1b[ -/]*[0-~]`)
)

// plain leaves printable text and line feeds.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsAny(s, "\x1b\u0090\u0098\u009b\u009d\u009e\u009f") {
		s = controlString.RE().ReplaceAllString(s, "")
		s = controlSequence.RE().ReplaceAllString(s, "")
		s = escape.RE().ReplaceAllString(s, "")
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	marks := 0
	return strings.Map(func(r rune) rune {
		if ' ' <= r && r <= '~' {
			marks = 0
			return r
		}
		if !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Me, r) {
			marks = 0
			return visible(r)
		}
		if marks++; marks > maxMarks {
			return -1
		}
		return r
	}, s)
}

func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
		return '\n'
	case r == '\t' || unicode.Is(unicode.Zs, r):
		return ' '
	case unicode.IsGraphic(r):
		return r
	case unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r):
		return -1
	default:
		return '\uFFFD'
	}
}
