package replay

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

func journalPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The example of docs/journal.md is a journal.
func TestDocumentedExample(t *testing.T) {
	_, rest, ok := strings.Cut(journalPage(t), "```jsonl\n")
	block, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("docs/journal.md has no jsonl block")
	}
	s, err := Journal(strings.NewReader(block))
	if err != nil {
		t.Fatal(err)
	}
	if s.Events != 6 || s.Torn != "" || s.Status.Tools[0].State != breaker.Open || s.Status.Consumed != 1 {
		t.Errorf("got %d events, torn %q, %+v", s.Events, s.Torn, s.Status)
	}
}

// Every member and every word that a journal can hold stands in
// docs/journal.md.
func TestDocumentIsComplete(t *testing.T) {
	page := journalPage(t)
	yes, result := true, expediter.Success().Result
	text, err := json.Marshal(map[string]any{
		"event": expediter.Event{Start: &expediter.Start{Strict: true, NoUser: true, Stepless: true, MaxTools: 1, Replay: true},
			Tool: "x", Tools: []string{"x"}, Scored: true, Score: 1, Call: 1, Result: &result, Category: 1, Signature: "x", Text: "x",
			DurationMS: 1, RetryMS: 1, Effect: true, Reason: "x", On: &yes, State: new(breaker.State), Note: map[string]any{},
			Decided: &expediter.Decided{Reason: 1, Caution: 1, Would: 1, Passed: []expediter.PassedOver{{}}, Next: 1, Unit: 1},
			Stale:   true, Batched: true, Transitions: []string{"x"}, Budget: "x", Paused: 1, Suspected: &expediter.SystemicOutput{}, Error: "x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var event struct{ Event map[string]any }
	if err := json.Unmarshal(text, &event); err != nil {
		t.Fatal(err)
	}
	members := []string{"cause", "tools", "systemic", "route", "snapshot"}
	for name, value := range event.Event {
		members = append(members, name)
		if inner, ok := value.(map[string]any); ok {
			for name := range inner {
				members = append(members, name)
			}
		}
	}
	for r := expediter.Systemic; r <= expediter.Refused; r++ {
		members = append(members, r.String())
	}
	for _, name := range members {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("`%s` is not described", name)
		}
	}
	for op := range allOps {
		if !strings.Contains(page, "`"+string(op)+"`") {
			t.Errorf("op `%s` is not described", op)
		}
	}
}

var allOps = map[expediter.Op]bool{
	expediter.OpStart: true, expediter.OpDecide: true, expediter.OpRecord: true, expediter.OpBeginCycle: true,
	expediter.OpConfirmRecovery: true, expediter.OpAvailability: true, expediter.OpDeclareOutage: true,
	expediter.OpRefuse: true, expediter.OpExternal: true, expediter.OpVerified: true,
	expediter.OpShare: true, expediter.OpLease: true, expediter.OpAdopt: true,
	expediter.OpForceOpen: true, expediter.OpReset: true, expediter.OpDisable: true, expediter.OpObserveOnly: true,
	expediter.OpTask: true, expediter.OpSubtask: true, expediter.OpRouteTaken: true, expediter.OpNote: true,
}
