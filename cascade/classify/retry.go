package classify

import (
	"strconv"
	"strings"
	"time"

	"github.com/expediter-go/expediter/internal/pattern"
)

// maxRetryAfter bounds what a text or header may ask for: nobody waits longer
// on the word of a server.
const maxRetryAfter = 24 * time.Hour

// retryAfter is how long to wait: what the caller knows, else what the headers
// say, else the text. Zero: nobody says.
func (e *evidence) retryAfter() time.Duration {
	wait := e.RetryAfter
	if wait <= 0 {
		wait = headerWait(e.Header, e.At)
	}
	if wait <= 0 {
		wait = textWait(e.folded)
	}
	return min(wait, maxRetryAfter)
}

var retryText = pattern.New(`(?:retry[- _]?after|retry in|try again (?:in|after)|wait|reset(?:s)? (?:after|in)|retrydelay)["':=\s]{0,4}(?:for |about )?(\d{1,7}(?:\.\d{1,6})?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)?\b`)

// retryWords are words one of which a text has that retryText matches.
var retryWords = []string{"retry", "try again", "wait", "reset"}

// textWait is the wait that a folded text asks for; without a unit it is in
// seconds. Zero: it asks for none.
func textWait(folded string) time.Duration {
	if !containsAny(folded, retryWords) {
		return 0
	}
	m := retryText.RE().FindStringSubmatch(folded)
	if m == nil {
		return 0
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0
	}
	unit := time.Second
	switch {
	case strings.HasPrefix(m[2], "ms"), strings.HasPrefix(m[2], "milli"):
		unit = time.Millisecond
	case strings.HasPrefix(m[2], "m"):
		unit = time.Minute
	case strings.HasPrefix(m[2], "h"):
		unit = time.Hour
	}
	return time.Duration(min(n*float64(unit), float64(maxRetryAfter)))
}
