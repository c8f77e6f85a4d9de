package classify

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Words around a number that make it an HTTP status.
var (
	beforeStatus = [...]string{"http", "status", "error", "code", "rejected", "response", "responded with", "returned", "received", "failed"}
	afterStatus  = [...]string{"too many", "client error", "server error", "request", "resource", "unauthorized", "unauthorised", "forbidden", "service", "internal",
		"bad", "gateway", "conflict", "not found", "not acceptable", "method not", "unprocessable", "overloaded", "payment"}
)

// maxStatusGap is how many characters may stand between such a word and the
// number, without the E of an error code.
const maxStatusGap = 12

// announcesStatus reports whether a text ends in what presents a status: a word
// for one, or the version of HTTP.
func announcesStatus(text string) bool {
	if version, ok := strings.CutSuffix(text, " "); ok {
		if name := strings.TrimRight(version, "0123456789."); name != version && strings.HasSuffix(name, "http/") {
			return true
		}
	}
	return slices.ContainsFunc(beforeStatus[:], func(word string) bool {
		at := strings.LastIndex(text, word)
		if at < 0 {
			return false
		}
		gap := strings.TrimSuffix(text[at+len(word):], "e")
		return utf8.RuneCountInString(gap) <= maxStatusGap && !strings.ContainsAny(gap, "0123456789\n")
	})
}

// explainsStatus reports whether a text begins with the words for a status.
func explainsStatus(text string) bool {
	text = strings.TrimLeft(text, space)
	if text != "" && strings.IndexByte(":(-", text[0]) >= 0 {
		text = strings.TrimLeft(text[1:], space)
	}
	return slices.ContainsFunc(afterStatus[:], func(word string) bool { return strings.HasPrefix(text, word) })
}

// space is what a pattern's \s is.
const space = " \t\n\f\r"

// maxStatuses bounds how many numbers of a text are looked at.
const maxStatuses = 16

// httpStatuses are the numbers that a text presents as HTTP statuses, by the
// words before or after them. A bare number is none.
func httpStatuses(folded string) []int {
	var found []int
	for i, n := nextStatus(folded, 0), 0; i >= 0 && n < maxStatuses; i, n = nextStatus(folded, i+1), n+1 {
		before, after := folded[max(0, i-48):i], folded[i+3:]
		if after != "" && isWord(after[0]) || countsThings(after) {
			continue
		}
		alone := before == "" || !isWord(before[len(before)-1])
		first := i == 0 && (strings.HasPrefix(after, " {") || strings.HasPrefix(after, ": "))
		if first || announcesStatus(before) || alone && explainsStatus(head(after, 48)) {
			found = append(found, int(folded[i]-'0')*100+int(folded[i+1]-'0')*10+int(folded[i+2]-'0'))
		}
	}
	return found
}

// countsThings knows that "returned 500 rows" is no status.
func countsThings(rest string) bool {
	rest = strings.TrimPrefix(rest, " ")
	for _, unit := range [...]string{"ms", "rows", "lines", "files", "bytes", "kb", "mb", "items", "results", "records", "tests", "errors"} {
		if strings.HasPrefix(rest, unit) {
			return true
		}
	}
	return false
}

// nextStatus is where the next number from 400 to 599 begins, at from or later;
// -1: nowhere. It may be the end of a longer word.
func nextStatus(s string, from int) int {
	for i := from; i+2 < len(s); i++ {
		if (s[i] == '4' || s[i] == '5') && isDigit(s[i+1]) && isDigit(s[i+2]) && (i == 0 || !isDigit(s[i-1])) {
			return i
		}
	}
	return -1
}

func isWord(c byte) bool { return isDigit(c) || c == '_' || 'a' <= c && c <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
