package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/fallback"
	"github.com/failsafe-go/failsafe-go/timeout"
	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
)

// within gives a call its deadline.
func within(ctx context.Context, limit time.Duration, call func(context.Context) error) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return call(ctx)
}

// bare calls whatever happens.
func bare(p plan) (guard, error) {
	return func(ctx context.Context, _ request, call func(context.Context) error) (ending, bool) {
		if within(ctx, p.deadline, call) != nil {
			return failed, false
		}
		return own, false
	}, nil
}

func gobreakerSettings(p plan, peer int) gobreaker.Settings {
	return gobreaker.Settings{Name: name(peer), MaxRequests: 1, Timeout: p.cooldown,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= uint32(p.threshold) }}
}

func gobreakerGuard(p plan) (guard, error) {
	var breakers []*gobreaker.CircuitBreaker[struct{}]
	for peer := range p.peers {
		breakers = append(breakers, gobreaker.NewCircuitBreaker[struct{}](gobreakerSettings(p, peer)))
	}
	return func(ctx context.Context, r request, call func(context.Context) error) (end ending, probe bool) {
		b := breakers[r.peer]
		_, err := b.Execute(func() (struct{}, error) {
			probe = b.State() == gobreaker.StateHalfOpen
			return struct{}{}, within(ctx, p.deadline, call)
		})
		switch {
		case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
			return refused, false
		case err != nil:
			return failed, probe
		}
		return own, probe
	}, nil
}

func failsafeBreaker(p plan) circuitbreaker.Builder[string] {
	return circuitbreaker.NewBuilder[string]().WithFailureThreshold(uint(p.threshold)).WithSuccessThreshold(1)
}

const (
	fresh  = "the peer's own answer"
	canned = "a fixed text instead"
)

// failsafeGuard has the bulkhead outside the breaker: the other way round a
// full bulkhead would count as a failure of the peer.
func failsafeGuard(p plan) (guard, error) {
	type lane struct {
		breaker circuitbreaker.CircuitBreaker[string]
		all     failsafe.Executor[string]
	}
	var lanes []lane
	for range p.peers {
		b := failsafeBreaker(p).WithDelay(p.cooldown).Build()
		lanes = append(lanes, lane{b, failsafe.With(fallback.NewWithResult(canned),
			bulkhead.New[string](uint(p.limit)), b, timeout.New[string](p.deadline))})
	}
	return func(ctx context.Context, r request, call func(context.Context) error) (end ending, probe bool) {
		l := lanes[r.peer]
		text, err := l.all.WithContext(ctx).GetWithExecution(func(e failsafe.Execution[string]) (string, error) {
			probe = l.breaker.IsHalfOpen()
			return fresh, call(e.Context())
		})
		switch {
		case err != nil:
			return failed, probe
		case text == canned:
			return standIn, probe
		}
		return own, probe
	}, nil
}

// newExecutor has the policy of a service, which nobody watches and where some
// peers must not stop the others. Trials go by time. There is no budget of
// failures, which is for one agent's run. Several slow peers are no incident, and
// what is one pauses nothing for longer than a millisecond: a pause waits for a
// human. Parallel calls stay observations of their own: each is another caller's.
func newExecutor(p plan, now func() time.Time) (*executor.Executor, error) {
	cfg := executor.Config{Now: now, Deadline: p.deadline, Limits: map[string]executor.Limit{}, Fallbacks: map[string]executor.Fallback{}}
	var tools capability.Map
	for peer := range p.peers {
		tool := name(peer)
		tools = append(tools, capability.Entry{Tool: tool, Provides: "an answer", Fallback: "ask the user"})
		cfg.Limits[tool] = executor.Limit{Concurrent: p.limit}
		cfg.Fallbacks[tool] = executor.Fallback{LastGood: true, MaxAge: time.Hour, Default: canned}
	}
	var err error
	cfg.Engine, err = expediter.New(expediter.Config{Tools: tools, Policy: expediter.Policy{Budget: budget.Unlimited,
		Cascade: expediter.Cascade{MinTools: p.peers + 1, ConfirmAfterMS: 1},
		Policy: breaker.Policy{FailureThreshold: p.threshold,
			Probe: breaker.Pacing{Unit: breaker.Time, Every: p.cooldown.Milliseconds()}}}})
	if err != nil {
		return nil, err
	}
	return executor.New(cfg)
}

func expediterGuard(p plan) (guard, error) {
	e, err := newExecutor(p, nil)
	if err != nil {
		return nil, err
	}
	return guarded(e), nil
}

func guarded(e *executor.Executor) guard {
	return func(ctx context.Context, r request, call func(context.Context) error) (ending, bool) {
		ctx = executor.Asking(ctx, strconv.Itoa(r.document))
		_, receipt, err := executor.Do(ctx, e, name(r.peer), func(ctx context.Context) (string, error) { return fresh, call(ctx) })
		probe := receipt.Decision.Verb == expediter.Probe
		switch {
		case err != nil && !receipt.Decision.Verb.Go():
			return refused, probe
		case err != nil:
			return failed, probe
		case receipt.Used != executor.UsedTool:
			return standIn, probe
		}
		return own, probe
	}
}
