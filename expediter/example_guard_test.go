package expediter_test

import (
	"fmt"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// A bulkhead of the caller's is full: the call is not made, the tool is not
// blamed, and the answer says where to go instead.
func ExampleEngine_Refuse() {
	x, err := expediter.New(expediter.Config{Tools: capability.Map{{Tool: "Grep", Alternatives: []capability.Alternative{{Tool: "Bash"}}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.UnixMilli(1_772_355_600_000)
	d := x.Decide("Grep", 1, now)
	fmt.Println(d.Verb)
	d, err = x.Refuse(d.Call, "20 calls are running", 1, now)
	fmt.Println(d.Verb, d.Reason, "→", d.Route.Tool, err)
	fmt.Println(x.Decide("Grep", 1, now).Verb)
	// Output:
	// CALL
	// SKIP refused → Bash <nil>
	// CALL
}

// A breaker that the caller has already says that it is open: no call is
// routed to its tool, and whoever asks for the tool itself is left to it.
func ExampleEngine_External() {
	x, err := expediter.New(expediter.Config{Tools: capability.Map{
		{Tool: "Grep", Fallback: "ask the user", Alternatives: []capability.Alternative{{Tool: "Bash"}}}, {Tool: "Bash"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.UnixMilli(1_772_355_600_000)
	breakDown(x, "Grep", now)
	if err := x.External("Bash", breaker.Open, "5 failures in a row", 1, now); err != nil {
		fmt.Println(err)
	}
	fmt.Println(x.Decide("Grep", 1, now).Route.Label)
	fmt.Println(x.Decide("Bash", 1, now).Verb)
	// Output:
	// FALLBACK
	// CALL
}

// Nobody knows whether the payment was made: no other tool makes it until
// somebody has looked.
func ExampleEngine_Verified() {
	x, err := expediter.New(expediter.Config{
		Tools: capability.Map{{Tool: "Pay", SideEffects: capability.Destructive, Fallback: "ask the user",
			Alternatives: []capability.Alternative{{Tool: "Wire"}}}},
		Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.UnixMilli(1_772_355_600_000)
	o := expediter.Failure(cascade.Timeout, "no answer in 60s")
	o.MayHaveTakenEffect = true
	if _, err := x.Record(x.Decide("Pay", 1, now).Call, o, 1, now); err != nil {
		fmt.Println(err)
	}
	fmt.Println(x.Decide("Pay", 1, now).Route.Label, len(x.Status().Unverified))
	if err := x.Verified("Pay", "the account shows no payment", 1, now); err != nil {
		fmt.Println(err)
	}
	fmt.Println(x.Decide("Pay", 1, now).Route.Label, len(x.Status().Unverified))
	// Output:
	// FALLBACK 1
	// ACCEPTABLE 0
}
