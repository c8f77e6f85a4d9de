package classify

import (
	"fmt"
	"strings"
	"testing"
)

// The tests here give each row of a table nothing but what the row is for: a row
// that an earlier one hides decides nothing.

func TestStatusRulesDecideForTheirStatus(t *testing.T) {
	for _, r := range httpRules {
		status := r.to // the last one of a range has no row of its own
		if got := Observe(Observation{HTTPStatus: status}); got.Class != r.class.String() || got.Rule != fmt.Sprintf("http:%d", status) {
			t.Errorf("%d to %d: got %s by %s, want %s", r.from, r.to, got.Class, got.Rule, r.class)
		}
	}
}

func TestRPCRulesDecideForTheirCode(t *testing.T) {
	for _, r := range rpcRules {
		got := Observe(Observation{Protocol: r.protocol, RPCCode: r.code})
		if want := fmt.Sprintf("jsonrpc:%d", r.code); got.Class != r.class.String() || got.Rule != want {
			t.Errorf("%s %d: got %s by %s, want %s", r.protocol, r.code, got.Class, got.Rule, r.class)
		}
	}
}

func TestGRPCRulesDecideForTheirStatus(t *testing.T) {
	for i, r := range grpcRules {
		for _, o := range []Observation{{GRPCCode: i + 1}, {Failed: true, Result: "rpc error: code = " + r.name + " desc = x"}} {
			if got := Observe(o); got.Class != r.class.String() || got.Rule != "grpc:"+r.name {
				t.Errorf("%s: got %s by %s, want %s", r.name, got.Class, got.Rule, r.class)
			}
		}
	}
}

func TestWordsOfAgentsDecide(t *testing.T) {
	payloads := []struct {
		base    Observation
		payload string // %s is the word
		words   map[string]class
	}{
		{Observation{Agent: ClaudeCode, Tool: "WebSearch"}, `{"results":["Web search error: %s"]}`, searchErrors},
		{Observation{Agent: Gemini}, `{"error":{"type":%q,"message":"x"}}`, geminiErrors},
		{Observation{Agent: Gemini}, `{"error":{"type":%q,"message":"x"}}`, geminiFallbacks},
		{Observation{Agent: OpenHands}, `{"error":"x","classification":{"cause":%q}}`, openHandsCauses},
		{Observation{Agent: Inspect, Failed: true}, `{"type":%q,"message":"x"}`, inspectErrors},
		{Observation{Protocol: A2A}, `{"status":{"state":%q}}`, a2aStates},
	}
	for _, p := range payloads {
		for word, want := range p.words {
			o := p.base
			o.Payload = fmt.Appendf(nil, p.payload, word)
			if got := Observe(o); got.Class != want.String() || !strings.Contains(got.Rule, "payload") && !strings.HasPrefix(got.Rule, "class:") {
				t.Errorf("%s: got %s by %s, want %s", o.Payload, got.Class, got.Rule, want)
			}
		}
	}
}

func TestGivenClassesSayWhatTheyMean(t *testing.T) {
	for word, want := range givenClasses {
		if got := Observe(Observation{Tool: "Search", Class: word}); got.Class != want.String() || got.Rule != "class:"+word {
			t.Errorf("%s: got %s by %s, want %s", word, got.Class, got.Rule, want)
		}
	}
}
