package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
)

// The sample of seed 000.
func ExampleBreaker() {
	events, err := replay.ReadEvents(strings.NewReader(`[
		{"t": 1, "result": "failure"}, {"t": 2, "result": "failure"},
		{"t": 3, "result": "failure"}, {"t": 4, "result": "success"}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := replay.Breaker(events, replay.Params{FailureThreshold: 2, Cooldown: 10, HalfOpenSuccesses: 1})
	fmt.Println(r.FinalState, r.Rejected, r.Transitions, err)
	// Output: OPEN [3 4] [closed->open@2] <nil>
}

func ExampleBreakerLines() {
	bad, err := replay.BreakerLines(os.Stdout, strings.NewReader(
		`{"events":[{"t":1,"result":"failure"}],"failure_threshold":1,"cooldown":5,"half_open_successes":1}
{"events":[{"t":1,"result":"failure"}],"failure_threshold":1,"cooldown":5}
`))
	fmt.Println(bad, err)
	// Output:
	// {"final_state":"open","rejected":[],"transitions":["closed->open@1"]}
	// {"error":"half_open_successes is missing; every case needs it"}
	// 1 <nil>
}

func ExampleEngine() {
	run, err := replay.Engine([]byte(`{"config": {"failure_threshold": 1},
		"capability_map": [{"tool": "Grep", "fallback": "ask the user", "alternatives": [{"tool": "Bash"}]}],
		"events": [
			{"op": "decide", "tool": "Grep", "step": 1, "id": "c1"},
			{"op": "record", "id": "c1", "step": 1, "result": "failure", "category": "tool_missing"},
			{"op": "decide", "tool": "Grep", "step": 2, "id": "c2"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	skip := run.Results[2]
	fmt.Println(skip.Decision, skip.Reason, skip.Route.Label, skip.Route.Tool, run.Final.Budget)
	// Output: SKIP open ACCEPTABLE Bash 1/5
}

// A run writes its journal; later the journal gives the same state, or says
// where it was changed.
func ExampleJournal() {
	var file bytes.Buffer
	w := replay.NewWriter(&file)
	x, err := expediter.New(expediter.Config{
		Tools:  capability.Map{{Tool: "Grep", Fallback: "ask the user"}},
		Events: expediter.Events{Journal: w.Event},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for step := int64(1); step <= 3; step++ {
		d := x.Decide("Grep", step, time.Time{})
		if _, err := x.Record(d.Call, expediter.Failure(cascade.Timeout, "no answer"), step, time.Time{}); err != nil {
			fmt.Println(err)
		}
	}
	if w.Err() != nil {
		fmt.Println(w.Err())
	}

	s, err := replay.Journal(bytes.NewReader(file.Bytes()))
	fmt.Println(s.Events, s.Status.Tools[0].State, err)

	changed := strings.Replace(file.String(), `"budget":"2/5"`, `"budget":"0/5"`, 1)
	_, err = replay.Journal(strings.NewReader(changed))
	var diff *replay.Difference
	if errors.As(err, &diff) {
		fmt.Println("line", diff.Line, diff.Field, diff.Recorded, diff.Replayed)
	}
	// Output:
	// 7 OPEN <nil>
	// line 5 budget "0/5" "2/5"
}
