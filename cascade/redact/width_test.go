package redact_test

import (
	"testing"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/google/go-cmp/cmp"
)

func TestWidth(t *testing.T) {
	tests := []struct {
		name, give string
		want       int
	}{
		{"ASCII", "Grep", 4},
		{"dash and arrow", "— →", 3},
		{"Latin with accents", "café", 4},
		{"combining accent", "cafe\u0301", 4},
		{"Japanese", "検索ツール", 10},
		{"halfwidth katakana", "ｱｲ", 2},
		{"fullwidth letters", "ＡＢ", 4},
		{"kana with a combining mark", "か\u3099", 2},
		{"Hangul", "검색", 4},
		{"Hangul in parts", "\u1100\u1161", 2},
		{"Chinese, supplementary plane", "𠀀", 2},
		{"emoji", "🔧", 2},
		{"narrow symbol", "☀", 1},
		{"Hebrew", "שלום", 4},
		{"Thai with a vowel above", "ที่", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := redact.Width(tt.give); got != tt.want {
				t.Errorf("Width(%q): got %d, want %d", tt.give, got, tt.want)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		give string
		n    int
		want []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"incomprehensible word", 5, []string{"incomprehensible", "word"}},
		{"日本 語", 5, []string{"日本", "語"}},
		{"", 5, []string{""}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, redact.Wrap(tt.give, tt.n)); diff != "" {
			t.Errorf("Wrap(%q, %d) (-want +got):\n%s", tt.give, tt.n, diff)
		}
	}
}
