//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// soon is the deadline of calls that no answer comes to.
const soon = "proxy: {deadline: 1s}\n"

// A server on stdio does what it should not in one call; what the agent is told,
// what is recorded, and that all goes on in the same session.
func TestProxyFaultsOfServers(t *testing.T) {
	tests := []struct {
		tool, args, more string
		want             string // the agent's text, or its beginning
		cause            any    // nil: it is the server's own result
		records          []string
	}{
		{"mute", "{}", soon, "expediter: the call of mute has no result: the server did not answer within its deadline.", "timeout", []string{"CALL", "failure timeout"}},
		{"other_id", "{}", soon, "expediter: the call of other_id has no result: the server did not answer within its deadline.", "timeout", []string{"CALL", "failure timeout"}},
		{"progress", "{}", soon, "expediter: the call of progress has no result: the server did not answer within its deadline.", "timeout", []string{"CALL", "failure timeout"}},
		{"garbage", "{}", "", "ok", nil, []string{"CALL", "success"}},
		{"twice", "{}", "", "first", nil, []string{"CALL", "success"}},
		{"flood", "{}", "", "ok", nil, []string{"CALL", "success"}},
		{"nothing", "{}", "", "expediter: the call of nothing has no result: the server's answer cannot be read: it has neither", "unknown", []string{"CALL", "failure"}},
		{"deep", "{}", "", "expediter: the call of deep has no result: the server's answer cannot be read: ", "unknown", []string{"CALL", "failure"}},
		{"die", "{}", "", "expediter: the call of die has no result: the connection to the server was lost while the call was under way; whether it took effect is unknown: the server's process ended (exit status 3)",
			"network", []string{"CALL", "failure network"}},
		{"huge", `{"bytes":104857600}`, "", "expediter: the call of huge has no result: the server's message is larger than the proxy's limit for results.", "unknown", []string{"CALL", "failure"}},
		{"huge", `{"bytes":100000000}`, "", "xxxx", nil, []string{"CALL", "success"}},
	}
	for _, tt := range tests {
		t.Run(tt.tool+tt.args, func(t *testing.T) {
			t.Parallel()
			f := besideFaulty(t, "{command: mcp-faulty}", tt.more, nil)
			a := f.ask(tt.tool, tt.args)
			if !strings.HasPrefix(a.text, tt.want) || a.failed != (tt.cause != nil) || a.verdict["cause"] != tt.cause {
				t.Errorf("the agent is told %.300q, error %t, %v", a.text, a.failed, a.verdict)
			}
			f.goesOn()
			if most := f.mostMemory(); most > 48<<20 && tt.tool != "huge" || most > 600<<20 {
				t.Errorf("the proxy has held %d MB", most>>20)
			}
			if got := f.recorded("bad/" + tt.tool); !cmp.Equal(got, tt.records) {
				t.Errorf("recorded %v, want %v", got, tt.records)
			}
		})
	}
}
