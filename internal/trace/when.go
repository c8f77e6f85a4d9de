package trace

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// when is a time as recorders write it, as a text (see isoTime) or in
// milliseconds since 1970. Anything else is the zero time.
func when(raw json.RawMessage) time.Time {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	if t := isoTime(text); !t.IsZero() {
		return t
	}
	if ms, err := strconv.ParseFloat(text, 64); err == nil && ms > 0 && ms < maxMilliseconds {
		return time.UnixMilli(int64(ms))
	}
	return time.Time{}
}

// maxMilliseconds is the end of the year 9999.
const maxMilliseconds = 253402300800000

// isoTime reads a time as Python and JavaScript write it, in UTC where it has
// no zone; zero if it is none.
func isoTime(text string) time.Time {
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// epochSeconds is a time in seconds since 1970; zero if it is none.
func epochSeconds(s float64) time.Time {
	if s > 0 && s < 1e11 {
		whole, part := math.Modf(s)
		return time.Unix(int64(whole), int64(part*1e9)).UTC()
	}
	return time.Time{}
}

// createdAt is a time in seconds since 1970; zero for anything else.
func createdAt(raw json.RawMessage) time.Time {
	s, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return time.Time{}
	}
	return epochSeconds(s)
}

// nanos is a time in nanoseconds since 1970; zero if it is none.
func nanos(raw json.RawMessage) time.Time {
	text := scalar(raw)
	n, err := strconv.ParseInt(text, 10, 64)
	if f, ferr := strconv.ParseFloat(text, 64); err != nil && ferr == nil && f < 1e19/2 {
		n = int64(f)
	}
	if n <= 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// moment is the time of an event; zero for 0.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// milliseconds is a time as events have it; 0 for the zero time.
func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// seconds is a duration; zero for what cannot be one.
func seconds(s float64) time.Duration {
	if !(s >= 0 && s <= 1<<31) {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}
