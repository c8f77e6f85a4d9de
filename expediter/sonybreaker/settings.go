package sonybreaker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// Policy is the three limits of seed 000. None has a default.
type Policy struct {
	FailureThreshold  int           // failures in a row that open it; 1 to 4,294,967,295
	HalfOpenSuccesses int           // good trials that close it; 1 to 4,294,967,295
	Cooldown          time.Duration // from the opening to the first trial; 2 ns or more
}

// PolicyOf reads the limits from a breaker's policy as the engine has it; zero
// fields have their defaults. What gobreaker cannot do is an error: it counts no
// attempts or steps, lengthens no cooldown, knows no slow calls, and its rates
// are over a span of time and not over the last outcomes.
func PolicyOf(p breaker.Policy) (Policy, error) {
	p = p.Over(breaker.Defaults())
	errs := []error{p.Validate(true)}
	cannot := func(is bool, field, what string) {
		if is {
			errs = append(errs, fmt.Errorf("%s: gobreaker has no %s", field, what))
		}
	}
	cannot(p.Probe.Unit != breaker.Time, "probe.unit: "+p.Probe.Unit.String(), "cooldown but one of time; set time and give probe.every in milliseconds")
	cannot(p.Probe.Backoff.Or(false), "probe.backoff", "cooldown that grows; turn it off, or leave the pacing to the engine")
	cannot(p.Trip.Policy != breaker.Consecutive, "trip.policy: "+p.Trip.Policy.String(), "rate over the last outcomes; use consecutive, or leave the tripping to the engine")
	cannot(p.SlowCallMS != breaker.Off, "slow_call_ms", "notion of a slow call; turn it off, or leave the tripping to the engine")
	if err := errors.Join(errs...); err != nil {
		return Policy{}, err
	}
	return Policy{FailureThreshold: p.FailureThreshold, HalfOpenSuccesses: p.HalfOpenSuccesses,
		Cooldown: time.Duration(p.Probe.Every) * time.Millisecond}, nil
}

// Settings returns settings with which a gobreaker follows seed 000 to the
// letter, for calls made one after the other; see Guard for the others. Name
// and OnStateChange are left for the caller to set. IsExcluded is Ignored.
//
// A trial is let through at the very end of the cooldown: gobreaker waits for
// the instant after its Timeout, so that is 1 ns shorter. That, and that it
// reads a Timeout of 0 as 60 s, is why a cooldown below 2 ns is an error.
func Settings(p Policy) (gobreaker.Settings, error) {
	var errs []error
	count := func(name string, n int) {
		if n < 1 || int64(n) > math.MaxUint32 {
			errs = append(errs, fmt.Errorf("%s is %d; give 1 to %d, which is as far as gobreaker counts", name, n, uint32(math.MaxUint32)))
		}
	}
	count("FailureThreshold", p.FailureThreshold)
	count("HalfOpenSuccesses", p.HalfOpenSuccesses)
	if p.Cooldown < 2 {
		errs = append(errs, fmt.Errorf("%s is %v; gobreaker cannot let a trial through at once (it makes 60s of it), give 2ns or more, or use the engine's own breaker", "Cooldown", p.Cooldown))
	}
	if err := errors.Join(errs...); err != nil {
		return gobreaker.Settings{}, fmt.Errorf("gobreaker settings: %w", err)
	}
	threshold := uint32(p.FailureThreshold)
	return gobreaker.Settings{
		MaxRequests: uint32(p.HalfOpenSuccesses),
		Timeout:     p.Cooldown - 1,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= threshold },
		IsExcluded:  Ignored,
	}, nil
}

// ErrTrialLost is what a breaker is told of a trial that did not come back
// within its lease. It says nothing about the tool.
var ErrTrialLost = errors.New("the trial did not come back within its lease")

// Ignored reports whether the error of a call says nothing about its tool: the
// call was cancelled, it met a refusal (expediter.ErrNotCalled), or it is a trial
// that lost its lease. It is made for gobreaker's IsExcluded.
func Ignored(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, expediter.ErrNotCalled) || errors.Is(err, ErrTrialLost)
}
