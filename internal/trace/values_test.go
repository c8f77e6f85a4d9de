package trace

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestContentText(t *testing.T) {
	long := quote("begins " + strings.Repeat("x", 2*maxWhole) + " ends")
	tests := []struct{ name, raw, want string }{
		{"a text", `"a\nb"`, "a\nb"},
		{"null", `null`, ""},
		{"nothing", ``, ""},
		{"parts", `[{"type":"text","text":"a"},{"type":"image","source":{"text":"no"}},{"type":"input_text","text":"b"}]`, "a\nb"},
		{"parts without a text", `[{"type":"image"},{"type":"text","text":""}]`, ""},
		{"a list of something else", `["a","b"]`, `["a","b"]`},
		{"an object", `{"error":"x"}`, `{"error":"x"}`},
		{"a number", `3`, `3`},
		{"cut short", `[{"text":"a"},{`, `[{"text":"a"},{`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := contentText(json.RawMessage(tt.raw)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for raw, want := range map[string]bool{`"a"`: true, `null`: true, `[]`: true, `[{"text":"a"}]`: true, `["a"]`: false, `{"text":"a"}`: false, `3`: false} {
		if _, ok := partsText(json.RawMessage(raw)); ok != want {
			t.Errorf("%s has parts or is a text: got %v, want %v", raw, ok, want)
		}
	}
	for _, raw := range []string{long, `[{"type":"text","text":` + long + `}]`} {
		got := contentText(json.RawMessage(raw))
		if len(got) > maxWhole || !strings.HasPrefix(got, "begins ") || !strings.HasSuffix(got, " ends") {
			t.Errorf("a long text: got %d bytes, want both ends of it, at most %d", len(got), maxWhole)
		}
	}
}
