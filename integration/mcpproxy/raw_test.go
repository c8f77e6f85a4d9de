package mcpproxy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestMembers(t *testing.T) {
	tests := []struct {
		name, in, want string // want is empty for what is refused
	}{
		{"empty", `{}`, `{}`},
		{"order and values", `{"z":1,"a":{"b":[1,{"c":"}"}]},"s":"\"\\","n":9007199254740993,"e":-1.0e5,"t":true,"nil":null}`,
			`{"z":1,"a":{"b":[1,{"c":"}"}]},"s":"\"\\","n":9007199254740993,"e":-1.0e5,"t":true,"nil":null}`},
		{"space between", " {\n \"a\" : 1 ,\t\"b\" : [ 1, 2 ] }\r\n", `{"a":1,"b":[ 1, 2 ]}`},
		{"an escaped key", `{"\u0061":1}`, `{"a":1}`},
		{"a key twice", `{"a":1,"a":2}`, ``},
		{"a key twice, once escaped", `{"a":1,"\u0061":2}`, ``},
		{"an array", `[]`, ``},
		{"nothing", ``, ``},
		{"two objects", `{}{}`, ``},
		{"cut off", `{"a":`, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ms, err := members(json.RawMessage(tt.in))
			got := ""
			if err == nil {
				got = string(encodeMembers(ms))
			}
			if got != tt.want {
				t.Errorf("got %s (%v), want %s", got, err, tt.want)
			}
		})
	}
}

func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":{"b":"\\\""},"c":[{}]}`, ` { "a" : [ ] , "b":1.5e3}`, `{"a":1,"a":2}`, `null`, `"x"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ms, err := members(data)
		if err != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if len(ms) != len(want) {
			t.Fatalf("%d members of %q, want %d", len(ms), data, len(want))
		}
		for _, m := range ms {
			if !bytes.Equal(m.value, want[m.key]) {
				t.Errorf("%q of %q is %q, want %q", m.key, data, m.value, want[m.key])
			}
		}
		again, err := members(encodeMembers(ms))
		if err != nil || len(again) != len(ms) {
			t.Errorf("%q does not survive: %v", data, err)
		}
	})
}

func TestPlainCallIsFlat(t *testing.T) {
	for depth, want := range map[int]bool{10: true, 9_900: false} {
		args := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		ms, err := members(json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":` + args + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, got := plainCall(ms); got != want {
			t.Errorf("%d brackets: got %v, want %v", depth, got, want)
		}
	}
}
