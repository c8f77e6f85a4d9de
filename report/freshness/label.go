package freshness

import (
	"strings"
	"time"
	"unicode"
)

// Label is a text that stands beside data. The zero Label says that nothing
// speaks against the data being fresh.
type Label string

// Unknown is the label of data whose age nobody can tell.
const Unknown Label = "[FRESHNESS UNKNOWN — no baseline for comparison]"

// Stale labels data that was retrieved before it was needed.
func Stale(retrieved time.Time) Label {
	return Label("[STALE DATA — retrieved at " + retrieved.UTC().Format(time.RFC3339) + ", may not reflect current state]")
}

// Cached labels a result that is byte for byte the previous one. subject is
// what may have changed since; empty: "its source".
func Cached(tool, subject string) Label {
	if subject == "" {
		subject = "its source"
	}
	return Label("[CACHED RESULT — " + plain(tool) + " returned identical results to previous call; " + plain(subject) + " may have changed since]")
}

// Unverified labels a result of that date whose present truth is in doubt.
func Unverified(tool string, date time.Time) Label {
	return Label("[UNVERIFIED — " + plain(tool) + " result from " + date.UTC().Format(time.DateOnly) + "; current status unknown]")
}

// maxName bounds a name inside a label, in runes.
const maxName = 100

// plain keeps an outside name from forging or breaking a label.
func plain(name string) string {
	n := 0
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '[' || r == ']' || n == maxName {
			return -1
		}
		n++
		return r
	}, strings.ToValidUTF8(name, ""))
}
