package cascade

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Backoff is a capped doubling of probe intervals: min(every · 2^k, max). The
// zero Backoff gives 0. It is immutable and safe for concurrent use.
type Backoff struct {
	intervals []int64 // by k; the last one holds for every larger k
}

// backoffUnit is what one unit of an interval is in the library's durations:
// large enough that its float arithmetic never truncates a doubling, small
// enough that breaker.MaxInterval fits.
const backoffUnit = time.Microsecond

// NewBackoff returns the schedule for every and max, both from 1 to 10^12. A
// max below every caps the first interval too.
func NewBackoff(every, max int64) Backoff {
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(time.Duration(every)*backoffUnit),
		backoff.WithMultiplier(2),
		backoff.WithMaxInterval(time.Duration(max)*backoffUnit),
		backoff.WithRandomizationFactor(0), // the default draws past the cap
		backoff.WithMaxElapsedTime(0),      // the default stops after 15 minutes
		backoff.WithClockProvider(frozen{}),
	)
	var s Backoff
	for {
		// The library does not cap its first interval.
		n := min(int64(b.NextBackOff()/backoffUnit), max)
		s.intervals = append(s.intervals, n)
		if n >= max {
			return s
		}
	}
}

// Interval returns the interval after k failed probes.
func (b Backoff) Interval(k int) int64 {
	if len(b.intervals) == 0 {
		return 0
	}
	return b.intervals[min(max(k, 0), len(b.intervals)-1)]
}

// frozen keeps the library from reading the wall clock.
type frozen struct{}

func (frozen) Now() time.Time { return time.Time{} }
