package classify

import "testing"

func TestSignaturesKeepApartWhatIsNotOneCause(t *testing.T) {
	failed := func(server, tool, text string) Observation {
		return Observation{Server: server, Tool: tool, Protocol: MCP, Failed: true, Result: text}
	}
	const busy, late, unknown, refused = "503 Service Unavailable", "context deadline exceeded",
		"An error occurred invoking 'query'.", "dial tcp 10.0.0.1:443: connect: connection refused"
	for _, tt := range []struct {
		name string
		a, b Observation
		same bool
	}{
		{"two services that are busy", failed("mail", "send", busy), failed("db", "query", busy), false},
		{"two services that are late", failed("mail", "send", late), failed("db", "query", late), false},
		{"one server, two tools", failed("db", "query", busy), failed("db", "explain", busy), true},
		{"one tool twice", failed("", "Search", busy), failed("", "Search", busy), true},
		{"two tools without a server", failed("", "Search", busy), failed("", "Mail", busy), false},
		{"the network, whose failures are anybody's", failed("mail", "send", refused), failed("db", "query", refused), true},
		{"a failure of no known category", Observation{Tool: "a", Failed: true, Result: unknown}, Observation{Tool: "b", Failed: true, Result: unknown}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := Observe(tt.a), Observe(tt.b)
			if a.Signature == "" || (a.Signature == b.Signature) != tt.same {
				t.Errorf("got %q and %q (%s), want the same: %v", a.Signature, b.Signature, a.Class, tt.same)
			}
			if len(a.Signature) > MaxSignature {
				t.Errorf("got %d bytes, want at most %d", len(a.Signature), MaxSignature)
			}
		})
	}
}
