package trace

import (
	"fmt"
	"strings"
	"testing"
)

// TestInspectSampleThatIsTooLong: what does not fit is told early, and once.
func TestInspectSampleThatIsTooLong(t *testing.T) {
	const calls = 420
	long := strings.Repeat("x", 40<<10) // so many are more than maxSample
	message := func(i int) string {
		return fmt.Sprintf(`{"role":"assistant","content":"","tool_calls":[{"id":"call_number_%08d","function":"bash","arguments":{"cmd":%q}}]},
			{"role":"tool","tool_call_id":"call_number_%08d","function":"bash","content":""}`, i, long, i)
	}
	event := func(i int) string {
		return fmt.Sprintf(`{"event":"tool","id":"call_number_%08d","function":"bash","arguments":{"cmd":%q},"result":"","timestamp":"2025-02-07T10:00:00Z","completed":"2025-02-07T10:00:01Z"}`, i, long)
	}
	list := func(one func(int) string, n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = one(i)
		}
		return strings.Join(parts, ",")
	}
	tests := []struct{ name, messages, events string }{
		{"events, and messages that were cut", list(message, 10), list(event, calls)},
		{"both", list(message, calls), list(event, calls)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			log := fmt.Sprintf(`{"version":2,"status":"success","eval":{"run_id":"r"},"samples":[{"id":1,"epoch":1,"messages":[%s],"events":[%s]}]}`, tt.messages, tt.events)
			stats, err := Read(t.Context(), "log.json", strings.NewReader(log), Options{}, func(*Event) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if stats.Calls != calls || stats.Sessions != 1 || stats.Open+stats.Orphans+stats.Repeated > 0 {
				t.Errorf("got %+v, want %d calls in one session, each with its result", stats, calls)
			}
		})
	}
}

// TestInspectLogThatBreaksOff: the sample that was being written counts.
func TestInspectLogThatBreaksOff(t *testing.T) {
	log := `{"version":2,"status":"started","eval":{"run_id":"r"},"samples":[{"id":1,"epoch":1,"messages":[
		{"role":"assistant","tool_calls":[{"id":"call_1","function":"bash","arguments":{}}]},{"role":"tool","tool_call_id":"call_1","content":""},{"role":"ass`
	stats, err := Read(t.Context(), "log.json", strings.NewReader(log), Options{}, func(*Event) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if stats.Calls != 1 || stats.Open != 0 || !stats.Torn {
		t.Errorf("got %+v, want one call with its result, and torn", stats)
	}
}
