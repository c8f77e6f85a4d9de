package mcpproxy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestInstructions(t *testing.T) {
	tests := []struct {
		name  string
		texts []string
		want  string
	}{
		{"none", []string{"", " \n\t\x00 "}, ""},
		{"one", []string{"a\nb"}, "Server s0:\n  a\n  b\n"},
		{"two", []string{"a", "", "c"}, "Server s0:\n  a\n\nServer s2:\n  c\n"},
		{"control characters", []string{"a\x1b[31m\r\nb\x07\u202e\u009bc\xff"}, "Server s0:\n  a[31m\n  bc\uFFFD\n"},
		{"one that would pass for another", []string{"a\nServer s1:\u2028Server s1:\rServer s1:"},
			"Server s0:\n  a\n  Server s1:\n  Server s1:\n  Server s1:\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &Proxy{}
			for i, text := range tt.texts {
				p.ups = append(p.ups, &upstream{server: Server{Name: fmt.Sprint("s", i)}, guide: text})
			}
			if got := p.instructions(); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestInstructionsAreBounded(t *testing.T) {
	p := &Proxy{}
	for i := range 20 {
		p.ups = append(p.ups, &upstream{server: Server{Name: fmt.Sprint("s", i)}, guide: strings.Repeat("\u65e5", 3000)})
	}
	got := p.instructions()
	if len(got) > maxAllInstructions || len(got) < maxAllInstructions-2*maxInstructions || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
	if one := tidy(p.ups[0].guide, maxInstructions); len(one) > maxInstructions || !strings.HasSuffix(one, "[…]") {
		t.Errorf("%d bytes of one server", len(one))
	}
}

func TestCapabilities(t *testing.T) {
	p := &Proxy{ups: []*upstream{
		{caps: []byte(`{"tools":{"x":1},"experimental":{"a":{"n":9007199254740993}},"tasks":{"cancel":{}}}`)},
		{}, // never up
		{caps: []byte(`{"experimental":{"a":{"n":1,"m":2},"b":{}},"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/ui":{}}}`)},
		{caps: []byte(`{"huge":"` + strings.Repeat("x", maxCapabilities) + `"}`)},
	}}
	want := `{"tools":{},"experimental":{"a":{"n":9007199254740993,"m":2},"b":{}},"tasks":{"cancel":{},"list":{}},"extensions":{"io.modelcontextprotocol/ui":{}}}`
	if got := string(p.capabilities([]byte(`{"tools":{}}`))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestIntroductionDoesNotWait: a server that does not come up holds up no
// handshake for long.
func TestIntroductionDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &Proxy{settled: make(chan struct{})}
		began := time.Now()
		p.introduce(t.Context(), &mcp.InitializeResult{}, false)
		if took := time.Since(began); took != introduceWait {
			t.Errorf("took %v, want %v", took, introduceWait)
		}
	})
}
