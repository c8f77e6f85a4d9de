package trace

import (
	"encoding/json"
	"testing"
)

func TestContentText(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"a text", `"a"`, "a"},
		{"null", `null`, ""},
		{"absent", ``, ""},
		{"parts", `[{"type":"text","text":"a"},{"type":"image_url","image_url":{}},{"type":"output_text","text":"b"}]`, "a\nb"},
		{"an object", `{"ok":true}`, `{"ok":true}`},
		{"a number", `7`, "7"},
		{"texts", `["a"]`, `["a"]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := contentText(json.RawMessage(tt.raw)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
