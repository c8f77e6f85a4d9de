package trace

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachField(t *testing.T) {
	tests := []struct {
		name, raw string
		want      map[string]string // nil: an error
	}{
		{"nothing in it", ` { } `, map[string]string{}},
		{"every kind", `{"a":"x\"}\\","b":[1,{"c":"]"}],"d":{"e":{}},"f":-1.5e3,"g":true,"h":null}`, map[string]string{
			"a": `"x\"}\\"`, "b": `[1,{"c":"]"}]`, "d": `{"e":{}}`, "f": "-1.5e3", "g": "true", "h": "null"}},
		{"white space", "{\n\t\"a\" : 1 ,\r\n \"b\":2}\n", map[string]string{"a": "1", "b": "2"}},
		{"an array", `[1]`, nil},
		{"cut short", `{"a":{"b":1}`, nil},
		{"cut in a text", `{"a":"b`, nil},
		{"cut after a backslash", `{"a":"b\`, nil},
		{"no colon", `{"a" 1}`, nil},
		{"no value", `{"a":}`, nil},
		{"no comma", `{"a":1 "b":2}`, nil},
		{"a comma too much", `{"a":1,}`, nil},
		{"brackets crossed", `{"a":[{]}}`, nil},
		{"more after it", `{"a":1} {"b":2}`, nil},
		{"empty", ``, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := map[string]string{}
			err := eachField([]byte(tt.raw), func(key, value []byte) { got[string(key)] = string(value) })
			if err != nil {
				got = nil
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestScalars(t *testing.T) {
	if got, want := textOf([]byte(`"a\u00e9\n"`)), "aé\n"; got != want {
		t.Errorf("text: got %q, want %q", got, want)
	}
	if got := textOf([]byte(`12`)); got != "" {
		t.Errorf("text of a number: got %q, want none", got)
	}
	if got := numberOf([]byte(`-12`)); got != -12 {
		t.Errorf("number: got %d, want -12", got)
	}
	if isTrue([]byte("false")) || !isTrue([]byte("true")) {
		t.Error("truth is confused")
	}
}

func TestEndsOf(t *testing.T) {
	for name, piece := range map[string]string{
		"plain": "y", "escapes here and there": `some longer words in "quotes" and a line end` + "\n", "pairs": "\U0001F600 and a few more letters", "quotes": `a\\"` + "123456789012",
	} {
		whole := strings.Repeat(piece, 2*maxWhole/len(piece))
		raw, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		ascii := []byte(strings.ReplaceAll(string(raw), "\U0001F600", `\ud83d\ude00`))
		got := endsOf(ascii)
		first, last, ok := strings.Cut(got, " … ")
		if !ok || !strings.HasPrefix(whole, first) || !strings.HasSuffix(whole, last) || len(first) < maxWhole/16 || len(last) < maxWhole/16 {
			t.Errorf("%s: %d and %d bytes are not the ends of the text", name, len(first), len(last))
		}
	}
	dense, _ := json.Marshal(strings.Repeat("\n", maxWhole))
	if got := endsOf(dense); len(got) != maxWhole {
		t.Errorf("nothing but escapes: got %d bytes, want all %d", len(got), maxWhole)
	}
}

// FuzzSkim: what encoding/json reads is read, member by member the same.
func FuzzSkim(f *testing.F) {
	for _, seed := range []string{`{"a":"x\"}\\","b":[1,{"c":"]"}],"f":-1.5e3,"g":true,"h":null}`, `[[],{},"x",1]`, `{"a":{]}`, `"\\`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		fields, fieldErr := map[string]json.RawMessage{}, error(nil)
		fieldErr = eachField(raw, func(key, value []byte) {
			fields[string(key)] = value
			_, _, _ = textOf(value), numberOf(value), isTrue(value)
		})
		var elements []json.RawMessage
		elementErr := eachElement(raw, func(value []byte) { elements = append(elements, value) })
		if !json.Valid(raw) {
			return
		}
		switch first := bytes.TrimLeft(raw, " \t\r\n")[0]; {
		case (first == '{') != (fieldErr == nil):
			t.Errorf("an object: %v", fieldErr)
		case (first == '[') != (elementErr == nil):
			t.Errorf("an array: %v", elementErr)
		}
		var want []json.RawMessage
		if json.Unmarshal(raw, &want) == nil && len(want) != len(elements) {
			t.Errorf("got %d elements, want %d", len(elements), len(want))
		}
		for _, value := range elements {
			if !json.Valid(value) {
				t.Errorf("the element %q is no JSON", value)
			}
		}
		for key, value := range fields {
			if !json.Valid(value) {
				t.Errorf("the value %q of %q is no JSON", value, key)
			}
		}
	})
}
