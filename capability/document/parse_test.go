package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/capability/document"
)

func TestParseReportsPlace(t *testing.T) {
	tests := []struct {
		name, file, in, want string
	}{
		{"empty", "f", "", "f:1:1: the document is empty"},
		{"blank", "f", " \n\n", "f:1:1: the document is empty"},
		{"only a comment", "f", "# nothing\n", "f:1:1: no valid YAML: the document is empty"},
		{"NUL", "f", "a: 1\nb: \x00", "f:2:4: control character U+0000; remove it"},
		{"escape sequence", "f", "a: \x1b[31m", "f:1:4: control character U+001B"},
		{"C1 in YAML", "f", "a: \u009b", "f:1:4: control character U+009B"},
		{"invalid UTF-8", "f", "é: 1\nü\xff", "f:2:2: byte 0xff is no valid UTF-8"},
		{"UTF-16", "f", "\xff\xfea\x00", "f:1:1: byte 0xff is no valid UTF-8; save the file as UTF-8"},
		{"YAML syntax", "f", "a: 1\n  b: 2\n", "f:2:3: no valid YAML: mapping values are not allowed"},
		{"YAML tab", "f", "a:\n\tb: 1\n", "f:2:2: no valid YAML: found character that cannot start any token"},
		{"second document", "f", "a: 1\n---\nb: 2\n", "f:2:1: a second document begins here; keep one document per file"},
		{"tag", "f", "a: !boom 1", `f:1:4: the tag "!boom" is not supported`},
		{"binary tag", "f", "a: !!binary aGk=", `f:1:4: the tag "!!binary" is not supported`},
		{"complex key", "f", "? [a, b]\n: 1", "f:1:3: a key is a list"},
		{"null key", "f", "~: 1", "f:1:1: a key is nothing"},
		{"alias of itself", "f", "a: &x\n  b: *x\n", "f:2:6: alias *"},
		{"merge of a text", "f", "a:\n  <<: b\n", `f:2:7: << is given the text "b"`},
		{"JSON truncated", "f.json", "{\n  \"a\": [1,\n", "f.json:3:1: no valid JSON: unexpected end"},
		{"JSON trailing comma", "f.json", "{\n \"é\": 1,}", "f.json:2:10: no valid JSON: invalid character '}'"},
		{"JSON twice", "f.json", "{}\n{}", "f.json:2:1: no valid JSON: invalid character '{' after top-level value"},
		{"JSON empty name only", "f.json", "a: 1", "f.json:1:1: no valid JSON"},
		{"JSON in a jsonl", "f.jsonl", `{"a" 1}`, "f.jsonl:1:6: no valid JSON"},
		{"truncated, no name", "f", `{"a": [1, 2`, "f:1:1: no valid YAML"},
		{"hostile file name", "a\x1b\n", "", "a??:1:1: the document is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := document.Parse(tt.file, []byte(tt.in))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s…", err, tt.want)
			}
			if ps := (document.Problems)(nil); !errors.As(err, &ps) || len(ps) == 0 {
				t.Errorf("got %T, want Problems", err)
			}
		})
	}
}

func TestParseBounds(t *testing.T) {
	laughs := &strings.Builder{}
	fmt.Fprintln(laughs, "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]")
	for i := 1; i < 20; i++ {
		fmt.Fprintf(laughs, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	merges := &strings.Builder{}
	fmt.Fprintln(merges, "a0: &a0 {x: y}")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(merges, "a%d: &a%d {k%d: *a%d, l%d: *a%d, <<: *a%d}\n", i, i, i, i-1, i, i-1, i-1)
	}
	tests := []struct {
		name, file, in, want string
	}{
		{"size", "f", strings.Repeat(" ", document.MaxBytes+1), "larger than 16 MiB"},
		{"billion laughs", "f", laughs.String(), "more than 250000 values and keys"},
		{"billion merges", "f", merges.String(), "more than 250000 values and keys"},
		{"YAML depth", "f", strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested more than 100 levels"},
		{"YAML depth beyond the library", "f", strings.Repeat("[", 200_000), "exceeded max depth"},
		{"JSON depth", "f.json", strings.Repeat("[", 200) + strings.Repeat("]", 200), "nested more than 100 levels"},
		{"JSON depth beyond the library", "f.json", strings.Repeat("[", 200_000), "exceeded max depth"},
		{"YAML values", "f", strings.Repeat("- a\n", document.MaxNodes+1), "more than 250000 values and keys"},
		{"YAML signs", "f", "[" + strings.Repeat(",", 4*document.MaxNodes), "more than 250000 values and keys"},
		{"JSON values", "f.json", "[" + strings.Repeat("1,", document.MaxNodes+1) + "1]", "more than 250000 values and keys"},
		{"long anchors", "f", strings.Repeat("&a ", 1<<20), "no valid YAML"},
		{"question marks", "f", strings.Repeat("? ", 400_000), "exceeded max depth"},
		{"dashes", "f", strings.Repeat("- ", 400_000), "exceeded max depth"},
		{"open braces", "f", strings.Repeat("{a: ", 200_000), "exceeded max depth"},
		{"open quote", "f", "a: \"" + strings.Repeat("x\n", 400_000), "no valid YAML"},
		{"comments", "f", strings.Repeat("#\n", 400_000), "the document is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := document.Parse(tt.file, []byte(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %.200v, want %s", err, tt.want)
			}
		})
	}
}
