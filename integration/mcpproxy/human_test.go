package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
)

// spent is a policy whose budget one failure spends.
func spent() Config {
	cfg := two
	cfg.Policy.Budget = 1
	return cfg
}

// answering is a human who answers so, and counts how often.
func answering(asked *atomic.Int64, action, choice string) human {
	return human{elicit: func(_ context.Context, message string, schema json.RawMessage) (string, json.RawMessage, error) {
		asked.Add(1)
		if !json.Valid(schema) || !strings.Contains(message, "paused") {
			return "", nil, errors.New("not a question")
		}
		return action, encode(map[string]string{"choice": choice}), nil
	}}
}

func TestHumanEndsPauseOfBudget(t *testing.T) {
	tests := []struct {
		name, action, choice string
		goes                 bool
		text                 string
	}{
		{"new cycle", "accept", choiceCycle, true, ""},
		{"stop", "accept", choiceStop, false, "chose to stop"},
		{"declined", "decline", choiceCycle, false, "chose to stop"},
		{"closed", "cancel", "", false, "chose to stop"},
		{"a choice that was not offered", "accept", choiceConfirm, false, "chose to stop"},
		{"no choice", "accept", "", false, "chose to stop"},
		{"no answer", "", "", false, noAnswer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int64
			b := newBench(t, spent(), twoTools)
			c := b.newClient("s", answering(&asked, tt.action, tt.choice))
			search, read := b.target(t, "hub/search"), b.target(t, "hub/read")
			call(t, c, search, gives(broken))
			if tt.goes {
				if got := string(call(t, c, read, gives(okResult))); got != okResult {
					t.Errorf("got %s", got)
				}
			} else {
				for range 5 {
					got := readTold(t, call(t, c, read, never(t)))
					if got.Decision != expediter.Pause || got.Reason != "budget" || !got.IsError || !strings.Contains(got.Text, tt.text) {
						t.Errorf("%+v", got)
					}
				}
			}
			if asked.Load() != 1 {
				t.Errorf("asked %d times, want once for each pause", asked.Load())
			}
		})
	}
}

func TestNobodyToAsk(t *testing.T) {
	b := newBench(t, spent(), twoTools)
	c := b.newClient("s", human{})
	call(t, c, b.target(t, "hub/search"), gives(broken))
	got := readTold(t, call(t, c, b.target(t, "hub/search"), never(t)))
	want := "expediter: PAUSE. The failure budget of this cycle is spent: 1 of 1 failures (hub/search 1). No tool is called until the user begins a new cycle. " +
		"The user is to hear what was done, what was not, and why: expediter_report has it."
	if got.Text != want {
		t.Errorf("got  %s\nwant %s", got.Text, want)
	}
}

// systemic makes an incident: two tools that fail alike.
func systemic(t *testing.T, c *client, b *bench) {
	t.Helper()
	for range 3 {
		call(t, c, b.target(t, "hub/search"), gives(broken))
	}
	for c.engine.Status().Paused == expediter.NoReason {
		call(t, c, b.target(t, "alt/find"), gives(broken))
	}
	if st := c.engine.Status(); st.Paused != expediter.Systemic {
		t.Fatalf("paused: %v", st.Paused)
	}
}

func TestHumanConfirmsRecovery(t *testing.T) {
	var asked atomic.Int64
	b := newBench(t, two, twoTools)
	c := b.newClient("s", answering(&asked, "accept", choiceConfirm))
	systemic(t, c, b)
	if got := string(call(t, c, b.target(t, "hub/read"), gives(okResult))); got != okResult || asked.Load() != 1 {
		t.Errorf("got %s, asked %d times", got, asked.Load())
	}
}

func TestHumanDoesNotConfirm(t *testing.T) {
	var asked atomic.Int64
	b := newBench(t, two, twoTools)
	c := b.newClient("s", answering(&asked, "accept", choiceCycle))
	systemic(t, c, b)
	got := readTold(t, call(t, c, b.target(t, "hub/read"), never(t)))
	if got.Reason != "systemic" || got.Cause != "network" || !strings.Contains(got.Text, "until the user has confirmed") {
		t.Errorf("%+v", got)
	}
}

// All calls of one pause wait for the same answer.
func TestOneQuestionForManyCalls(t *testing.T) {
	b := newBench(t, spent(), twoTools)
	var asked atomic.Int64
	answer := make(chan struct{})
	c := b.newClient("s", human{elicit: func(context.Context, string, json.RawMessage) (string, json.RawMessage, error) {
		asked.Add(1)
		<-answer
		return "accept", encode(map[string]string{"choice": choiceCycle}), nil
	}})
	call(t, c, b.target(t, "hub/search"), gives(broken))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := string(call(t, c, b.target(t, "hub/read"), gives(okResult))); got != okResult {
				t.Errorf("got %s", got)
			}
		})
	}
	for c.engine.Status().Counts.Pauses < 20 { // until all of them have been decided
		runtime.Gosched()
	}
	close(answer)
	all.Wait()
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// A human who is not there holds a call for a bounded time, and is asked once
// more later.
func TestHumanIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, spent(), twoTools)
		b.env.Now = time.Now
		var asked atomic.Int64
		c := b.newClient("s", human{elicit: func(ctx context.Context, _ string, _ json.RawMessage) (string, json.RawMessage, error) {
			if asked.Add(1) == 1 {
				<-ctx.Done()
				return "", nil, ctx.Err()
			}
			panic("a client that breaks")
		}})
		call(t, c, b.target(t, "hub/search"), gives(broken))
		began := time.Now()
		for range 3 {
			if got := readTold(t, call(t, c, b.target(t, "hub/read"), never(t))); got.Decision != expediter.Pause || !strings.Contains(got.Text, noAnswer) {
				t.Errorf("%+v", got)
			}
		}
		if took := time.Since(began); took != humanWait || asked.Load() != 1 {
			t.Errorf("waited %v, asked %d times", took, asked.Load())
		}
		time.Sleep(askAgain)
		call(t, c, b.target(t, "hub/read"), never(t))
		if asked.Load() != 2 {
			t.Errorf("asked %d times", asked.Load())
		}
	})
}

// The client that is asked gives the call up: others are not held by it.
func TestAskedCallIsCancelled(t *testing.T) {
	b := newBench(t, spent(), twoTools)
	ctx, cancel := context.WithCancel(t.Context())
	c := b.newClient("s", human{elicit: func(context.Context, string, json.RawMessage) (string, json.RawMessage, error) {
		cancel()
		select {} // a transport that does not look at its context
	}})
	call(t, c, b.target(t, "hub/search"), gives(broken))
	raw, _ := c.callTool(ctx, b.target(t, "hub/read"), someParams, never(t))
	if got := readTold(t, raw); got.Decision != expediter.Pause {
		t.Errorf("%+v", got)
	}
	if got := readTold(t, call(t, c, b.target(t, "hub/read"), never(t))); !strings.Contains(got.Text, noAnswer) {
		t.Errorf("%+v", got)
	}
}

const modernParams = `{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":CAP}},"name":"read","arguments":{"id":9007199254740993}REST}`

func modern(capability, rest string) json.RawMessage {
	return json.RawMessage(strings.Replace(strings.Replace(modernParams, "CAP", capability, 1), "REST", rest, 1))
}

// question2026 calls while all is paused, and returns the question's state.
func question2026(t *testing.T, c *client, to target, params json.RawMessage) string {
	t.Helper()
	raw, rpc := c.callTool(t.Context(), to, params, never(t))
	if rpc != nil {
		t.Fatal(rpc)
	}
	var q struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]struct {
			Method string
			Params struct {
				Message         string
				RequestedSchema json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(raw, &q); err != nil || q.ResultType != "input_required" || q.InputRequests[pauseKey].Method != "elicitation/create" {
		t.Fatalf("%s: %v", raw, err)
	}
	return q.RequestState
}

func TestInputRequired(t *testing.T) {
	b := newBench(t, spent(), twoTools)
	c := b.newClient("s", human{modern: true})
	search, read := b.target(t, "hub/search"), b.target(t, "hub/read")
	call(t, c, search, gives(broken))
	server := `,"inputResponses":{"q":{"action":"accept"}},"requestState":"the server's"`
	state := question2026(t, c, read, modern(`{}`, server))
	if got := readTold(t, call(t, c, read, never(t))); got.Decision != expediter.Pause {
		t.Errorf("asked once for each pause: %+v", got)
	}
	answered := func(state string) json.RawMessage {
		return modern(`{}`, `,"inputResponses":{"`+pauseKey+`":{"action":"accept","content":{"choice":"`+choiceCycle+`"}}},"requestState":"`+state+`"`)
	}
	raw, _ := c.callTool(t.Context(), read, answered("expediter-forged"), never(t))
	if got := readTold(t, raw); got.Decision != expediter.Pause {
		t.Fatalf("a state that nobody gave: %+v", got)
	}
	var sent string
	raw, _ = c.callTool(t.Context(), read, answered(state), func(_ context.Context, _ target, params json.RawMessage) (answer, error) {
		sent = string(params)
		return answer{Result: json.RawMessage(okResult)}, nil
	})
	if string(raw) != okResult || sent != string(modern(`{}`, server)) {
		t.Errorf("got %s\nthe server got %s\nwant           %s", raw, sent, modern(`{}`, server))
	}
	call(t, c, search, gives(broken)) // the budget of the new cycle
	if _, _ = c.callTool(t.Context(), read, answered(state), never(t)); c.engine.Status().Cycle != 2 {
		t.Error("a state was good for two answers")
	}
}

func TestModernClientThatCannotAsk(t *testing.T) {
	for _, capability := range []string{`null`, `{"url":{}}`, `"x"`} {
		b := newBench(t, spent(), twoTools)
		c := b.newClient("s", human{modern: true})
		call(t, c, b.target(t, "hub/search"), gives(broken))
		raw, _ := c.callTool(t.Context(), b.target(t, "hub/read"), modern(capability, ""), never(t))
		if got := readTold(t, raw); got.Decision != expediter.Pause {
			t.Errorf("%s: %s", capability, raw)
		}
	}
}

func TestIdleGapBeginsACycle(t *testing.T) {
	tests := []struct {
		name     string
		budget   int
		idle     time.Duration
		cycle    int
		decision expediter.Verb
	}{
		{"short", 5, 4 * time.Minute, 1, expediter.Call},
		{"long", 5, 6 * time.Minute, 2, expediter.Call},
		{"long, but the budget is exhausted", 1, time.Hour, 1, expediter.Pause},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := two
			cfg.Policy.Budget = tt.budget
			b := newBench(t, cfg, twoTools)
			c := b.newClient("s", human{})
			call(t, c, b.target(t, "hub/search"), gives(broken))
			b.pass(tt.idle)
			raw := call(t, c, b.target(t, "hub/read"), gives(okResult))
			if st := c.engine.Status(); st.Cycle != tt.cycle || (string(raw) == okResult) != (tt.decision == expediter.Call) {
				t.Errorf("cycle %d: %s", st.Cycle, raw)
			}
		})
	}
}

// A call that runs for long is no idle gap.
func TestLongCallIsNotIdle(t *testing.T) {
	b := newBench(t, two, twoTools)
	c := b.newClient("s", human{})
	call(t, c, b.target(t, "hub/search"), gives(broken))
	call(t, c, b.target(t, "hub/search"), func(context.Context, target, json.RawMessage) (answer, error) {
		b.pass(time.Hour)
		call(t, c, b.target(t, "hub/read"), gives(okResult))
		b.pass(time.Hour)
		return answer{Result: json.RawMessage(okResult)}, nil
	})
	call(t, c, b.target(t, "hub/read"), gives(okResult))
	if st := c.engine.Status(); st.Cycle != 1 {
		t.Errorf("cycle %d", st.Cycle)
	}
}

// Nothing that an agent can call ends a pause.
func TestOwnToolsDuringAPause(t *testing.T) {
	cfg := spent()
	cfg.Tools = capability.Map{{Tool: "hub/search"}}
	b := newBench(t, cfg, twoTools)
	c := b.newClient("s", human{})
	call(t, c, b.target(t, "hub/search"), gives(broken))
	for _, tool := range c.ownTools() {
		raw, rpc := c.callTool(t.Context(), target{tool: tool}, json.RawMessage(`{"arguments":{"subtasks":[{"title":"x","tools":["search"]}]}}`), never(t))
		if rpc != nil || readTold(t, raw).IsError {
			t.Errorf("%s: %s %v", tool.Name, raw, rpc)
		}
	}
	if st := c.engine.Status(); st.Paused != expediter.Budget {
		t.Errorf("%v", st.Paused)
	}
}
