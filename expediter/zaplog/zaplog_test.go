package zaplog_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/zaplog"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// line is one log entry, as a test compares it.
type line struct {
	Level   zapcore.Level
	Message string
	Fields  map[string]any
}

func lines(logs *observer.ObservedLogs) []line {
	var out []line
	for _, e := range logs.All() {
		out = append(out, line{e.Level, e.Message, e.ContextMap()})
	}
	return out
}

func watched(level zapcore.Level) (expediter.Events, *observer.ObservedLogs) {
	core, logs := observer.New(level)
	return zaplog.New(zap.New(core)), logs
}

func TestEngineTellsTheLogger(t *testing.T) {
	events, logs := watched(zapcore.InfoLevel)
	x, err := expediter.New(expediter.Config{
		Tools:  capability.Map{{Tool: "Grep", Fallback: "ask the user"}},
		Policy: expediter.Policy{Budget: 3},
		Events: events,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		d := x.Decide("Grep", 7, noon)
		if _, err := x.Record(d.Call, expediter.Failure(cascade.ToolMissing, "no such tool"), 7, noon); err != nil {
			t.Fatal(err)
		}
	}
	x.BeginCycle(8, noon)
	want := []line{
		{zapcore.WarnLevel, "Circuit OPENED for Grep: 3 consecutive failures", map[string]any{"tool": "Grep", "from": "CLOSED",
			"to": "OPEN", "why": "3 consecutive failures", "failures": int64(3), "step": int64(7), "at": noon}},
		{zapcore.WarnLevel, "Paused: the failure budget is spent, 3 of 3 failures", map[string]any{"reason": "budget",
			"consumed": int64(3), "limit": int64(3), "step": int64(7), "at": noon}},
		{zapcore.InfoLevel, "Resumed: 0 of 3 failures", map[string]any{"reason": "", "consumed": int64(0),
			"limit": int64(3), "step": int64(8), "at": noon}},
	}
	if diff := cmp.Diff(want, lines(logs)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestTransition(t *testing.T) {
	tests := []struct {
		name  string
		event expediter.Transition
		level zapcore.Level
		want  string
	}{
		{"opened", expediter.Transition{Tool: "Grep", From: breaker.Closed, To: breaker.Open, Failures: 3, Why: "3 consecutive failures"},
			zapcore.WarnLevel, "Circuit OPENED for Grep: 3 consecutive failures"},
		{"opened again", expediter.Transition{Tool: "Grep", From: breaker.HalfOpen, To: breaker.Open, Why: "probe failed"},
			zapcore.WarnLevel, "Circuit OPENED for Grep: probe failed"},
		{"half-open", expediter.Transition{Tool: "Grep", From: breaker.Open, To: breaker.HalfOpen, Why: "trial due"},
			zapcore.InfoLevel, "Circuit HALF-OPEN for Grep: trial due"},
		{"closed", expediter.Transition{Tool: "Grep", From: breaker.HalfOpen, To: breaker.Closed, Why: "probe succeeded"},
			zapcore.InfoLevel, "Circuit CLOSED for Grep: probe succeeded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, logs := watched(zapcore.DebugLevel)
			events.Transition(tt.event)
			got := lines(logs)
			if len(got) != 1 || got[0].Level != tt.level || got[0].Message != tt.want {
				t.Fatalf("got %v, want %v %q", got, tt.level, tt.want)
			}
			if _, ok := got[0].Fields["at"]; ok {
				t.Error("no time was given, but the line has one")
			}
		})
	}
}

func TestRouted(t *testing.T) {
	bash := &capability.Route{Kind: capability.UseAlternative, Label: capability.Partial, Tool: "Bash", Method: "rg", Degradation: "slow"}
	ask := &capability.Route{Kind: capability.UseFallback, Label: capability.Fallback, Ask: "which files?"}
	tests := []struct {
		name  string
		event expediter.Routing
		want  line
	}{
		{"alternative", expediter.Routing{Tool: "Grep", Reason: expediter.OpenCircuit, Route: bash, Step: 4,
			PassedOver: []expediter.PassedOver{{Tool: "Find", Why: "OPEN"}}},
			line{zapcore.DebugLevel, "Skipped Grep (open): PARTIAL Bash", map[string]any{"tool": "Grep", "reason": "open",
				"route": "alternative", "label": "PARTIAL", "alternative": "Bash", "method": "rg", "degradation": "slow",
				"passed_over": []any{"Find: OPEN"}, "step": int64(4)}}},
		{"fallback", expediter.Routing{Tool: "Grep", Reason: expediter.Unavailable, Route: ask},
			line{zapcore.DebugLevel, "Skipped Grep (unavailable): ask the user", map[string]any{"tool": "Grep",
				"reason": "unavailable", "route": "fallback", "label": "FALLBACK", "ask": "which files?", "step": int64(0)}}},
		{"no route", expediter.Routing{Tool: "Grep", Reason: expediter.UnknownTool},
			line{zapcore.DebugLevel, "Skipped Grep (unknown_tool): scope reduced", map[string]any{"tool": "Grep",
				"reason": "unknown_tool", "route": "reduce", "label": "SKIPPED", "step": int64(0)}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, logs := watched(zapcore.DebugLevel)
			events.Routed(tt.event)
			if diff := cmp.Diff([]line{tt.want}, lines(logs)); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
			quiet, none := watched(zapcore.InfoLevel)
			quiet.Routed(tt.event)
			if none.Len() != 0 {
				t.Errorf("at level info got %v, want nothing", lines(none))
			}
		})
	}
}

func TestIncident(t *testing.T) {
	levels := map[expediter.IncidentKind]zapcore.Level{
		expediter.IncidentFlagged: zapcore.WarnLevel, expediter.IncidentDeclared: zapcore.WarnLevel,
		expediter.IncidentSuspected: zapcore.WarnLevel, expediter.IncidentJoined: zapcore.InfoLevel,
		expediter.IncidentConfirmed: zapcore.InfoLevel, expediter.IncidentEnded: zapcore.InfoLevel,
	}
	for kind, level := range levels {
		t.Run(string(kind), func(t *testing.T) {
			events, logs := watched(zapcore.DebugLevel)
			events.Incident(expediter.IncidentEvent{Kind: kind, Cause: "network", Members: []string{"Bash", "Grep"}, Step: 2})
			want := []line{{level, "Incident " + string(kind) + ": network (Bash, Grep)", map[string]any{"kind": string(kind),
				"cause": "network", "members": []any{"Bash", "Grep"}, "step": int64(2)}}}
			if diff := cmp.Diff(want, lines(logs)); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnverified(t *testing.T) {
	events, logs := watched(zapcore.WarnLevel)
	events.Unverified(expediter.Unverified{Tool: "Pay\n", Moment: expediter.Moment{Step: 4, Category: cascade.Timeout, Text: "no answer\x1b[2J"}})
	want := []line{{zapcore.WarnLevel, "Pay failed and may have taken effect: verify before it is repeated", map[string]any{"tool": "Pay",
		"category": "timeout", "text": "no answer", "step": int64(4)}}}
	if diff := cmp.Diff(want, lines(logs)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestIncidentOfManyTools(t *testing.T) {
	events, logs := watched(zapcore.DebugLevel)
	events.Incident(expediter.IncidentEvent{Kind: expediter.IncidentFlagged, Cause: "network",
		Members: strings.Split("a b c d e f g h i j", " ")})
	got := lines(logs)[0]
	if want := "Incident flagged: network (a, b, c, d, e, f, g, h and 2 more)"; got.Message != want {
		t.Errorf("got %q, want %q", got.Message, want)
	}
	if n := len(got.Fields["members"].([]any)); n != 10 {
		t.Errorf("field members has %d names, want 10", n)
	}
}

func TestPausedSystemicWithoutLimit(t *testing.T) {
	events, logs := watched(zapcore.DebugLevel)
	events.Paused(expediter.PauseEvent{Reason: expediter.Systemic, Consumed: 2, Limit: -1, Step: 5})
	want := []line{{zapcore.WarnLevel, "Paused: several tools fail together, until recovery is confirmed",
		map[string]any{"reason": "systemic", "consumed": int64(2), "step": int64(5)}}}
	if diff := cmp.Diff(want, lines(logs)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestHostileNames(t *testing.T) {
	events, logs := watched(zapcore.DebugLevel)
	evil := "x\x1b[31m\r\nINFO all is well\u202e\xff" + strings.Repeat("y", 5000)
	events.Transition(expediter.Transition{Tool: evil, To: breaker.Open, Why: evil})
	got := lines(logs)[0]
	if strings.ContainsAny(got.Message, "\x1b\r\n\u202e") || !utf8.ValidString(got.Message) || len(got.Message) > 1000 {
		t.Errorf("message is not one bounded, plain line: %.200q (%d bytes)", got.Message, len(got.Message))
	}
	if tool := got.Fields["tool"].(string); strings.ContainsAny(tool, "\x1b\r\n") || len(tool) > 500 {
		t.Errorf("field is not bounded and plain: %.200q", tool)
	}
}

func TestNilLoggerObservesNothing(t *testing.T) {
	e := zaplog.New(nil)
	if e.Transition != nil || e.Routed != nil || e.Incident != nil || e.Paused != nil || e.Journal != nil || e.Decided != nil || e.Recorded != nil {
		t.Errorf("got observers %+v, want none", e)
	}
}
