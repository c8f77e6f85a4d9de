package sonybreaker_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
	"github.com/expediter-go/expediter/expediter/sonybreaker"
)

// searchEngine has an index to go to when the search is down, and leaves it to
// the search's gobreaker to say when that is.
func searchEngine() (*expediter.Engine, error) {
	return expediter.New(expediter.Config{Policy: expediter.Policy{Budget: 10}, Tools: capability.Map{
		{Tool: "Search", Provides: "web search", Fallback: "ask the user",
			Policy:       breaker.Policy{FailureThreshold: 100},
			Alternatives: []capability.Alternative{{Tool: "Index", Method: "yesterday's copy", Degradation: "a day old"}}},
		{Tool: "Index", Provides: "yesterday's pages", Fallback: "ask the user"},
	}})
}

func guardedSearch(engine *expediter.Engine) error {
	search, err := sonybreaker.New(gobreaker.Settings{Name: "search"}, sonybreaker.Config{Engine: engine, Tool: "Search"})
	if err != nil {
		return err
	}
	exec, err := executor.New(executor.Config{Engine: engine, Guards: map[string]executor.Guard{"Search": search}})
	if err != nil {
		return err
	}
	for range 7 {
		_, _, err = executor.Do(context.Background(), exec, "Search", func(context.Context) (string, error) {
			return "", errors.New("dial tcp 192.0.2.1:443: connection refused")
		})
	}
	fmt.Println(err)
	fmt.Println(errors.Is(err, executor.ErrSkipped), engine.Status().Tools[0].State, engine.Status().Counts.Failures)
	return nil
}

// A gobreaker with its defaults opens at the sixth failure. The seventh call is
// refused, and the refusal has the route that the map declares.
func ExampleNew() {
	engine, err := searchEngine()
	if err == nil {
		err = guardedSearch(engine)
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// "Search" skipped: the breaker in front of it refused: gobreaker is open for "Search"; take its route until a trial is due; use Index (yesterday's copy): ACCEPTABLE, a day old
	// true OPEN 6
}

// A breaker that the program has and goes on to use.
func ExampleObserve() {
	engine, err := searchEngine()
	if err != nil {
		fmt.Println(err)
		return
	}
	mine := gobreaker.NewCircuitBreaker[string](gobreaker.Settings{})
	observed, err := sonybreaker.Observe(mine, sonybreaker.Config{Engine: engine, Tool: "Index"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 7 {
		_, err = observed.Execute(func() (string, error) { return "", errors.New("disk is gone") })
	}
	fmt.Println(err)
	fmt.Println(engine.Status().Tools[1].State)
	// Output:
	// circuit breaker is open
	// OPEN
}

// Over is for a breaker in two steps.
func ExampleOver() {
	engine, err := searchEngine()
	if err != nil {
		fmt.Println(err)
		return
	}
	mine := gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 2 },
		IsExcluded:  sonybreaker.Ignored,
	})
	guard, err := sonybreaker.Over(mine, sonybreaker.Config{Engine: engine, Tool: "Search"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, result := range []error{errors.New("down"), context.Canceled, errors.New("down"), nil} {
		done, err := guard.Allow()
		if err != nil {
			fmt.Println(err)
			continue
		}
		done(result)
	}
	fmt.Println(engine.Status().Tools[0].External.Why)
	// Output:
	// gobreaker is open for "Search"; take its route until a trial is due
	// gobreaker: 2 failures in a row, 2 of 2 calls failed
}

func ExampleSettings() {
	st, err := sonybreaker.Settings(sonybreaker.Policy{FailureThreshold: 3, HalfOpenSuccesses: 1, Cooldown: 30 * time.Second})
	fmt.Println(st.Timeout, st.MaxRequests, err)
	_, err = sonybreaker.Settings(sonybreaker.Policy{FailureThreshold: 3, HalfOpenSuccesses: 1})
	fmt.Println(err)
	// Output:
	// 29.999999999s 1 <nil>
	// gobreaker settings: Cooldown is 0s; gobreaker cannot let a trial through at once (it makes 60s of it), give 2ns or more, or use the engine's own breaker
}

func ExamplePolicyOf() {
	p, err := sonybreaker.PolicyOf(breaker.Policy{FailureThreshold: 5, Probe: breaker.Pacing{Unit: breaker.Time, Every: 10_000}})
	fmt.Println(p, err)
	_, err = sonybreaker.PolicyOf(breaker.Policy{})
	fmt.Println(err)
	// Output:
	// {5 1 10s} <nil>
	// probe.unit: attempts: gobreaker has no cooldown but one of time; set time and give probe.every in milliseconds
}
