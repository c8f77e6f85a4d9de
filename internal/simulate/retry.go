package simulate

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// retrier is an agent without an expediter: it repeats a failed call, then
// gives the sub-task up and goes on. It takes no alternatives and writes no
// report.
type retrier struct {
	agent *agent
	waits []int64 // ms before each repetition; as many as there are
	gates []*gate // by tool; nil: every call goes through
}

func (r retrier) work() tally {
	for i := range r.agent.plan {
		r.agent.end(r.subtask(i))
	}
	return r.agent.finish()
}

func (r retrier) subtask(i int) ending {
	result := done
	for place, tool := range r.agent.plan[i] {
		f, ok := r.persist(request{agent: r.agent.number, subtask: i, place: place, tool: tool})
		if !ok {
			return givenUp
		}
		if f.wrong {
			result = wrong
		}
	}
	return result
}

// persist makes a call until it succeeds, the repetitions are used up, or a
// breaker refuses it.
func (r retrier) persist(q request) (fate, bool) {
	for {
		f, made := r.try(q)
		if !made || !f.down {
			return f, made
		}
		if q.attempt == len(r.waits) {
			return f, false
		}
		r.agent.now += r.waits[q.attempt]
		q.attempt++
	}
}

// try makes a call if nothing stands before it.
func (r retrier) try(q request) (f fate, made bool) {
	if r.gates == nil {
		return r.agent.call(q), true
	}
	made = r.gates[q.tool].do(&r.agent.now, func() bool {
		f = r.agent.call(q)
		return !f.down
	})
	if !made {
		r.agent.deny(q)
	}
	return f, made
}

// First and longest wait of the backoff, and its factor.
const (
	firstWait  = time.Second
	longest    = time.Minute
	waitFactor = 2
)

// schedule is the library's schedule for n repetitions, in ms, without jitter:
// its jitter draws from a source that no seed reaches.
func schedule(n int) []int64 {
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(firstWait),
		backoff.WithMultiplier(waitFactor),
		backoff.WithMaxInterval(longest),
		backoff.WithRandomizationFactor(0),
		backoff.WithMaxElapsedTime(0),
		backoff.WithClockProvider(frozen{}),
	)
	waits := make([]int64, n)
	for i := range waits {
		waits[i] = b.NextBackOff().Milliseconds()
	}
	return waits
}

// frozen keeps the library from reading the wall clock.
type frozen struct{}

func (frozen) Now() time.Time { return time.Time{} }
