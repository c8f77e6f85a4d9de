package executor_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
)

func exampleExecutor() *executor.Executor {
	x, err := expediter.New(expediter.Config{
		Tools: capability.Map{{Tool: "Grep", Provides: "content search", Fallback: "ask the user which files to examine",
			Alternatives: []capability.Alternative{{Tool: "Bash", Method: "rg or grep", Degradation: "loses output formatting"}}}},
		Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1}},
	})
	if err != nil {
		panic(err)
	}
	e, err := executor.New(executor.Config{Engine: x})
	if err != nil {
		panic(err)
	}
	return e
}

func ExampleDo() {
	e := exampleExecutor()
	grep := func(context.Context) (string, error) { return "", errors.New("connection refused") }
	for range 2 {
		_, _, err := executor.Do(context.Background(), e, "Grep", grep)
		if refused := (*executor.Refused)(nil); errors.As(err, &refused) {
			fmt.Println(refused.Decision.Verb, "→", refused.Decision.Route.Tool)
		}
		fmt.Println(err)
	}
	// Output:
	// connection refused
	// SKIP → Bash
	// "Grep" skipped: its circuit is open (next trial in 2 attempts); use Bash (rg or grep): ACCEPTABLE, loses output formatting
}

func ExampleWrap() {
	e := exampleExecutor()
	length := executor.Wrap(e, "len", func(_ context.Context, s string) (int, error) { return len(s), nil })
	fmt.Println(length(context.Background(), "four"))
	// Output: 4 <nil>
}

// What stands in for a tool is in the receipt and in the report, and says what it
// lacks.
func ExampleFallback() {
	x, err := expediter.New(expediter.Config{Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1}}})
	if err != nil {
		panic(err)
	}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	e, err := executor.New(executor.Config{Engine: x, Now: func() time.Time { return now },
		Fallbacks: map[string]executor.Fallback{"weather": {LastGood: true, MaxAge: time.Hour}}})
	if err != nil {
		panic(err)
	}
	weather := func(context.Context) (string, error) {
		if now.Minute() > 0 {
			return "", errors.New("503 Service Unavailable")
		}
		return "sunny", nil
	}
	ctx := executor.Asking(context.Background(), "Lisbon")
	for range 3 {
		value, receipt, err := executor.Do(ctx, e, "weather", weather)
		fmt.Printf("%s %v %v %v %q\n", value, err, receipt.Used, receipt.Age, receipt.Label)
		now = now.Add(20 * time.Minute)
	}
	s := e.Substitutes()[0]
	fmt.Println(s.Tool, s.Used, s.Times, "lost:", s.Lost)
	// Output:
	// sunny <nil> tool 0s ""
	// sunny <nil> last_good 20m0s "[STALE DATA — retrieved at 2026-03-01T09:00:00Z, may not reflect current state]"
	// sunny <nil> last_good 40m0s "[STALE DATA — retrieved at 2026-03-01T09:00:00Z, may not reflect current state]"
	// weather last_good 2 lost: what has changed since
}
