package precheck_test

import (
	"context"
	"fmt"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/precheck"
)

func Example() {
	ctx, now := context.Background(), time.Unix(1_700_000_000, 0)
	checks, err := precheck.New(precheck.Config{Checks: map[string]precheck.Check{
		"Grep": precheck.ProgramOnPath("surely-not-installed"),
	}})
	if err != nil {
		panic(err)
	}
	x, err := expediter.New(expediter.Config{
		Tools: capability.Map{{Tool: "Grep", Provides: "content search", Fallback: "ask the user which files to examine",
			Alternatives: []capability.Alternative{{Tool: "Bash", Method: "grep -rn", Degradation: "slower"}}}},
		Events: checks.Observe(expediter.Events{}),
	})
	if err != nil {
		panic(err)
	}
	for _, f := range checks.Apply(ctx, x, 1, now) {
		fmt.Println(f.Tool, f.Score)
	}
	d := x.Decide("Grep", 1, now)
	fmt.Println(d.Verb, d.Reason, "→", d.Route.Tool)
	// Output:
	// Grep unavailable
	// SKIP unavailable → Bash
}

func ExampleChecker_Target() {
	checks, err := precheck.New(precheck.Config{})
	if err != nil {
		panic(err)
	}
	x, err := expediter.New(expediter.Config{})
	if err != nil {
		panic(err)
	}
	target := checks.Target(context.Background(), precheck.FileExists("no/such/file"))
	fmt.Println(x.DecideScored("Read", target, 1, time.Time{}).Verb)
	fmt.Println(x.Decide("Read", 1, time.Time{}).Verb)
	// Output:
	// SKIP
	// CALL
}
