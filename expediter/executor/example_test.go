package executor_test

import (
	"context"
	"errors"
	"fmt"

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
