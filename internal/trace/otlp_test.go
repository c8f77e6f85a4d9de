package trace

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// spansOf builds export requests, one a line, of spans without attributes but
// those of their kind.
func spansOf(requests ...[]string) string {
	var b strings.Builder
	for _, spans := range requests {
		fmt.Fprintf(&b, `{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}`+"\n", strings.Join(spans, ","))
	}
	return b.String()
}

func otlpTestSpan(id, parent, name string, second int) string {
	start := time.Unix(1775802400+int64(second), 0).UnixNano()
	return fmt.Sprintf(`{"traceId":"t1","spanId":%q,"parentSpanId":%q,"name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d"}`,
		id, parent, name, start, start+5e8)
}

// fill is more spans of another trace than the window holds.
func fill() []string {
	spans := make([]string, 0, otlpWindow+10)
	for i := range cap(spans) {
		spans = append(spans, fmt.Sprintf(`{"traceId":"other","spanId":"f%d","name":"execute_tool fill","startTimeUnixNano":"%d","endTimeUnixNano":"%d"}`,
			i, time.Unix(1775802500, 0).UnixNano()+int64(i), time.Unix(1775802501, 0).UnixNano()+int64(i)))
	}
	return spans
}

func TestOTLPCallsCountOnce(t *testing.T) {
	agent, client, server := otlpTestSpan("a", "", "execute_tool get", 1), otlpTestSpan("b", "a", "tools/call get", 1), otlpTestSpan("c", "b", "tools/call get", 1)
	tests := []struct {
		name     string
		requests [][]string
		want     int
	}{
		{"one request", [][]string{{agent, client, server}}, 1},
		{"children first", [][]string{{server, client, agent}}, 1},
		{"two requests", [][]string{{client}, {agent, server}}, 1},
		{"the parent long after", [][]string{{client}, fill(), {agent}}, 1 + otlpWindow + 10},
		{"the child long after", [][]string{{agent}, fill(), {client}}, 1 + otlpWindow + 10},
		{"the same span long after", [][]string{{agent}, fill(), {agent}}, 1 + otlpWindow + 10},
		{"the same span at once", [][]string{{agent, agent, client, client}}, 1},
		{"another tool within", [][]string{{agent, otlpTestSpan("b", "a", "tools/call put", 1)}}, 2},
		{"an agent's tool within the same agent's tool", [][]string{{agent, otlpTestSpan("b", "a", "execute_tool get", 1)}}, 2},
		{"a retry within", [][]string{{agent, client, otlpTestSpan("d", "a", "tools/call get", 2)}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stats, err := Read(t.Context(), "spans.jsonl", strings.NewReader(spansOf(tt.requests...)), Options{}, func(*Event) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if stats.Calls != tt.want || stats.Open+stats.Orphans+stats.Repeated+stats.Broken > 0 {
				t.Errorf("got %+v, want %d calls, all with a result", stats, tt.want)
			}
		})
	}
}

// TestOTLPOrder: spans come as they end; events come as things happened.
func TestOTLPOrder(t *testing.T) {
	var spans []string
	for i := range 50 {
		spans = append(spans, otlpTestSpan(fmt.Sprint("s", i), "", "execute_tool get", (i*37)%50))
	}
	in := spansOf(spans[:20], spans[20:])
	last, calls := int64(0), 0
	_, err := Read(t.Context(), "spans.jsonl", strings.NewReader(in), Options{}, func(e *Event) error {
		if e.Kind == End {
			return nil
		}
		if e.At < last {
			t.Errorf("an event at %d comes after one at %d", e.At, last)
		}
		last = e.At
		calls++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if calls != 100 {
		t.Errorf("got %d events, want an issue and a result of each of 50 calls", calls)
	}
}

// TestOTLPFailure: what makes a call a failed one, of the spans of one call.
func TestOTLPFailure(t *testing.T) {
	span := func(id, parent, name, more string) string {
		return strings.TrimSuffix(otlpTestSpan(id, parent, name, 1), "}") + more + "}"
	}
	bad := `,"status":{"code":2,"message":"connection refused"}`
	tests := []struct {
		name  string
		spans []string
		want  int
	}{
		{"a status", []string{span("a", "", "execute_tool get", bad)}, 1},
		{"a status by name", []string{span("a", "", "execute_tool get", `,"status":{"code":"STATUS_CODE_ERROR","message":"connection refused"}`)}, 1},
		{"an error type", []string{span("a", "", "execute_tool get", `,"attributes":[{"key":"error.type","value":{"stringValue":"ConnectionError: connection refused"}}]`)}, 1},
		{"the exit code of curl", []string{span("a", "", "execute_tool bash", `,"attributes":[{"key":"process.exit.code","value":{"intValue":"7"}},{"key":"gen_ai.tool.call.arguments","value":{"stringValue":"{\"command\":\"curl\"}"}}]`)}, 1},
		{"a status that is well", []string{span("a", "", "execute_tool get", `,"status":{"code":1}`)}, 0},
		{"the only try within", []string{span("a", "", "execute_tool get", ""), span("b", "a", "tools/call get", bad)}, 1},
		{"a try that a retry healed", []string{span("a", "", "execute_tool get", ""), span("b", "a", "tools/call get", bad), span("c", "a", "tools/call get", "")}, 0},
		{"every try", []string{span("a", "", "execute_tool get", ""), span("b", "a", "tools/call get", bad), span("c", "a", "tools/call get", bad)}, 1},
		{"the agent's own word", []string{span("a", "", "execute_tool get", bad), span("b", "a", "tools/call get", "")}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stats, err := Read(t.Context(), "spans.jsonl", strings.NewReader(spansOf(tt.spans)), Options{}, func(*Event) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if stats.Calls != 1 || stats.Failures != tt.want {
				t.Errorf("got %d calls, %d failures; want 1 call, %d failures", stats.Calls, stats.Failures, tt.want)
			}
		})
	}
}
