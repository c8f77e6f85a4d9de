package classify

import (
	"strconv"
	"strings"
	"time"
)

// epoch is the smallest number of seconds that a reset header means as a
// point in time and not as a span: 2001-09-09.
const epoch = 1_000_000_000

// quotas are the headers of rate limits that come in pairs: how much is left,
// and when there is more.
var quotas = [...]struct{ remaining, reset string }{
	{"X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
	{"Ratelimit-Remaining", "Ratelimit-Reset"},
	{"X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"},
	{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
	{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
	{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
	{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
}

// headers are those of an HTTP answer, by canonical names.
type headers map[string][]string

func (h headers) get(name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// dates are the forms of a point in time: the three of HTTP, and RFC 3339.
var dates = [...]string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC, time.RFC3339}

// exhausted: the headers say that a rate limit is used up, or when to come
// back.
func exhausted(h headers) bool {
	if h.get("Retry-After") != "" || h.get("Retry-After-Ms") != "" {
		return true
	}
	for _, q := range quotas {
		if usedUp(h.get(q.remaining)) {
			return true
		}
	}
	remaining, _ := rateLimitHeader(h)
	return usedUp(remaining)
}

func usedUp(remaining string) bool { return strings.TrimSpace(remaining) == "0" }

// headerWait is the wait that the headers ask for: what they say of it
// outright, else the longest until a used-up quota is full again. at is when
// the answer came; where it is zero, points in time say nothing. Zero: they
// ask for none.
func headerWait(h headers, at time.Time) time.Duration {
	if len(h) == 0 {
		return 0
	}
	if wait := span(h.get("Retry-After-Ms"), time.Millisecond); wait > 0 {
		return wait
	}
	if wait := until(h.get("Retry-After"), at); wait > 0 {
		return wait
	}
	var longest time.Duration
	for _, q := range quotas {
		if usedUp(h.get(q.remaining)) {
			longest = max(longest, until(h.get(q.reset), at))
		}
	}
	if remaining, reset := rateLimitHeader(h); usedUp(remaining) {
		longest = max(longest, until(reset, at))
	}
	return longest
}

// until reads a wait: seconds, a duration such as 6m0s, or a point in time as
// an epoch (seconds or milliseconds), an HTTP date or RFC 3339.
func until(value string, at time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if len(value) > 64 {
		return 0
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		switch {
		case n < epoch:
			return span(value, time.Second)
		case n < epoch*1000:
			return since(time.Unix(int64(n), 0), at)
		case n < epoch*1_000_000:
			return since(time.UnixMilli(int64(n)), at)
		}
		return 0
	}
	if wait, err := time.ParseDuration(value); err == nil {
		return bounded(wait)
	}
	for _, layout := range dates {
		if date, err := time.Parse(layout, value); err == nil {
			return since(date, at)
		}
	}
	return 0
}

func since(date, at time.Time) time.Duration {
	if at.IsZero() {
		return 0
	}
	return bounded(date.Sub(at))
}

// span is a number of units.
func span(value string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(maxRetryAfter)))
}

func bounded(wait time.Duration) time.Duration { return min(max(wait, 0), maxRetryAfter) }

// rateLimitHeader reads the single header of the drafts: limit=100,
// remaining=0, reset=50 or "default";r=0;t=50.
func rateLimitHeader(h headers) (remaining, reset string) {
	fields := strings.FieldsFunc(head(h.get("Ratelimit"), 256), func(r rune) bool { return r == ';' || r == ',' || r == ' ' })
	for _, field := range fields {
		switch name, value, _ := strings.Cut(field, "="); strings.ToLower(name) {
		case "remaining", "r":
			remaining = value
		case "reset", "t":
			reset = value
		}
	}
	return remaining, reset
}
