package a2apeer

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/expediter-go/expediter/capability"
)

// A card comes from outside: whatever it is, there is a verdict, and only what
// is JSON and offers the skill is available.
func FuzzCard(f *testing.F) {
	f.Add([]byte(`{"name":"agent","supportedInterfaces":[{"url":"http://agent.invalid","protocolBinding":"JSONRPC"}],"skills":[{"id":"hotel"}]}`))
	f.Add([]byte(`{"supportedInterfaces":[null],"skills":[{}]}`))
	f.Add([]byte(`{"securitySchemes":{"a":{"type":7}}}`))
	f.Add([]byte(`null`))
	f.Add([]byte("<html>\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := byCard(bytes.NewReader(data), []string{"hotel"})
		if err != nil {
			t.Errorf("got %v; what was read is a verdict", err)
		}
		if got == capability.Available && (!json.Valid(data) || !bytes.Contains(data, []byte("hotel")) && !bytes.Contains(data, []byte(`\u`))) {
			t.Errorf("%q is %v", data, got)
		}
	})
}
