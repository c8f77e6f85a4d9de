package trace

import (
	"encoding/json"
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
