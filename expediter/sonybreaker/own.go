package sonybreaker

import (
	"errors"

	"github.com/sony/gobreaker/v2"
)

// New makes a breaker from the program's own settings, and its guard. The
// settings mean what they mean to gobreaker, with two differences: IsSuccessful,
// IsExcluded and OnStateChange are called outside every lock, so that they may
// call the guard and the engine (a panic of the first two counts as a failure
// of the call), and a trial that lost its lease is never counted. ReadyToTrip
// runs under gobreaker's lock and the guard's.
func New(st gobreaker.Settings, cfg Config) (*Guard, error) {
	g := &Guard{cfg: cfg, verdict: verdict(st.IsSuccessful, st.IsExcluded)}
	if told := st.OnStateChange; told != nil {
		g.changed = func(from, to gobreaker.State) { told(st.Name, from, to) }
	}
	own := st
	own.IsSuccessful = func(err error) bool { return err == nil }
	own.IsExcluded = func(err error) bool { return err == errIgnored || err == ErrTrialLost }
	own.OnStateChange = func(_ string, from, to gobreaker.State) { g.sawLocked(from, to) }
	g.breaker = gobreaker.NewTwoStepCircuitBreaker[any](own)
	return start(g)
}

// What the breaker of New is told of a call, beside nil.
var (
	errFailed  = errors.New("failed")
	errIgnored = errors.New("ignored")
)

// verdict judges a call's error as gobreaker would with these settings.
func verdict(successful, excluded func(error) bool) func(error) error {
	return func(err error) (judged error) {
		defer func() {
			if recover() != nil {
				judged = errFailed
			}
		}()
		switch {
		case excluded != nil && excluded(err):
			return errIgnored
		case successful != nil && successful(err), successful == nil && err == nil:
			return nil
		}
		return errFailed
	}
}
