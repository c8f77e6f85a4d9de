package expediter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

// One decision before every call, one record after it.
func Example() {
	x, err := expediter.New(expediter.Config{Tools: capability.Map{
		{Tool: "Grep", Provides: "content search", Fallback: "ask the user which files to examine",
			Alternatives: []capability.Alternative{{Tool: "Bash", Method: "rg or grep", Degradation: "loses output formatting"}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.UnixMilli(1_772_355_600_000) // a program passes time.Now()
	for step := range int64(7) {
		d := x.Decide("Grep", step, now)
		switch d.Verb {
		case expediter.Call, expediter.Probe:
			fmt.Println(step, d.Verb)
			if _, err := x.Record(d.Call, expediter.Failure(cascade.Upstream, "HTTP 502"), step, now); err != nil {
				fmt.Println(err)
			}
		case expediter.Skip:
			fmt.Println(step, d.Verb, "use", d.Route.Tool, "with", d.Route.Method, "—", d.Route.Degradation)
		case expediter.Pause:
			fmt.Println(step, d.Verb, d.Reason)
		}
	}
	// Output:
	// 0 CALL
	// 1 CALL
	// 2 CALL
	// 3 SKIP use Bash with rg or grep — loses output formatting
	// 4 SKIP use Bash with rg or grep — loses output formatting
	// 5 PROBE
	// 6 SKIP use Bash with rg or grep — loses output formatting
}

// breakDown lets a tool fail until it opens, or everything pauses.
func breakDown(x *expediter.Engine, tool string, now time.Time) {
	for {
		d := x.Decide(tool, 1, now)
		if !d.Verb.Go() {
			return
		}
		if _, err := x.Record(d.Call, expediter.Failure(cascade.Network, "connection refused"), 1, now); err != nil {
			fmt.Println(err)
		}
	}
}

// Two tools fail from one cause: everything pauses until the user confirms
// that the cause is gone.
func ExampleEngine_ConfirmRecovery() {
	x, err := expediter.New(expediter.Config{Tools: capability.Map{{Tool: "WebSearch"}, {Tool: "Mail"}, {Tool: "Read"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.UnixMilli(1_772_355_600_000)
	breakDown(x, "WebSearch", now)
	breakDown(x, "Mail", now)
	i := x.Status().Incidents[0]
	fmt.Println(i.Cause, i.Members)
	d := x.Decide("Read", 2, now)
	fmt.Println("Read:", d.Verb, d.Reason)

	if _, err := x.ConfirmRecovery("the proxy is back", 3, now); err != nil {
		fmt.Println(err)
	}
	fmt.Println("Read:", x.Decide("Read", 3, now).Verb)
	_, err = x.ConfirmRecovery("", 3, now)
	fmt.Println(errors.Is(err, expediter.ErrNoSystemicFailure))
	// Output:
	// network [Mail WebSearch]
	// Read: PAUSE systemic
	// Read: CALL
	// true
}

// A new cycle has a whole budget; circuits stay as they are.
func ExampleEngine_BeginCycle() {
	x, err := expediter.New(expediter.Config{Policy: expediter.Policy{Budget: 3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.UnixMilli(1_772_355_600_000)
	breakDown(x, "Grep", now)
	d := x.Decide("Read", 2, now)
	fmt.Println("Read:", d.Verb, d.Reason)

	x.BeginCycle(3, now)
	fmt.Println("Read:", x.Decide("Read", 3, now).Verb)
	fmt.Println("Grep:", x.Decide("Grep", 3, now).Verb)
	fmt.Println("cycle", x.Status().Cycle)
	// Output:
	// Read: PAUSE budget
	// Read: CALL
	// Grep: SKIP
	// cycle 2
}

// A run may go on in another process: calls in flight stay valid.
func ExampleEngine_Snapshot() {
	cfg := expediter.Config{Tools: capability.Map{{Tool: "Grep"}, {Tool: "Read"}}}
	x, err := expediter.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.UnixMilli(1_772_355_600_000)
	breakDown(x, "Grep", now)
	running := x.Decide("Read", 1, now)
	saved, err := json.Marshal(x.Snapshot())
	if err != nil {
		fmt.Println(err)
		return
	}

	var snapshot expediter.Snapshot
	if err := json.Unmarshal(saved, &snapshot); err != nil {
		fmt.Println(err)
		return
	}
	y, err := expediter.Restore(cfg, &snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = y.Record(running.Call, expediter.Success(), 2, now)
	fmt.Println("recorded:", err == nil)
	fmt.Println("Grep:", y.Decide("Grep", 2, now).Verb)
	// Output:
	// recorded: true
	// Grep: SKIP
}

// Observers hear what happens, in order.
func ExampleEvents() {
	x, err := expediter.New(expediter.Config{
		Tools: capability.Map{{Tool: "Grep", Alternatives: []capability.Alternative{{Tool: "Bash"}, {Tool: "Read", Level: capability.High}}}},
		Events: expediter.Events{
			Transition: func(t expediter.Transition) { fmt.Printf("%v: %s\n", t, t.Why) },
			Routed: func(r expediter.Routing) {
				fmt.Printf("%s goes to %s (%v), passing over %v\n", r.Tool, r.Route.Tool, r.Route.Label, r.PassedOver)
			},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.UnixMilli(1_772_355_600_000)
	x.SetAvailability("Bash", capability.Unavailable, 1, now)
	breakDown(x, "Grep", now)
	// Output:
	// Grep:CLOSED->OPEN@1: 3 consecutive failures
	// Grep goes to Read (PARTIAL), passing over [{Bash unavailable}]
}

// A check of what one call is aimed at says nothing about the tool.
func ExampleEngine_DecideScored() {
	x, err := expediter.New(expediter.Config{Tools: capability.Map{{Tool: "Read", Fallback: "ask the user to paste the file"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.UnixMilli(1_772_355_600_000)
	d := x.DecideScored("Read", capability.Unavailable, 1, now) // the file is not there
	fmt.Println(d.Verb, d.Reason, "—", d.Route.Ask)
	fmt.Println(x.Decide("Read", 1, now).Verb)
	// Output:
	// SKIP unavailable — ask the user to paste the file
	// CALL
}

// The caller knows that a server is gone: its tools open at once, at the price
// of one failure, and recover on one schedule.
func ExampleEngine_DeclareOutage() {
	x, err := expediter.New(expediter.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.UnixMilli(1_772_355_600_000)
	if _, err := x.DeclareOutage(cascade.Network, []string{"tracker/search", "tracker/comment"}, 1, now); err != nil {
		fmt.Println(err)
	}
	s := x.Status()
	fmt.Printf("%d / %d consumed, paused: %q\n", s.Consumed, s.Limit, s.Paused)
	for _, tool := range []string{"tracker/search", "tracker/comment", "Read"} {
		fmt.Println(tool, x.Decide(tool, 1, now).Verb)
	}
	// Output:
	// 1 / 5 consumed, paused: ""
	// tracker/search SKIP
	// tracker/comment SKIP
	// Read CALL
}
