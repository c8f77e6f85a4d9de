package mcpproxy

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestWithAndWithout(t *testing.T) {
	tests := []struct{ name, raw, with, without string }{
		{"none", ``, `{"k":1}`, ``},
		{"empty", `{}`, `{"k":1}`, `{}`},
		{"in its place", `{"a":9007199254740993,"k":{"x":[1,"}"]},"b":1e400}`, `{"a":9007199254740993,"k":1,"b":1e400}`, `{"a":9007199254740993,"b":1e400}`},
		{"at the end", `{"a":"\"k\":2"}`, `{"a":"\"k\":2","k":1}`, `{"a":"\"k\":2"}`},
		{"escaped", `{"\u006b":2}`, `{"k":1}`, `{}`},
		{"twice", `{"k":2,"k":3}`, `{"k":2,"k":3}`, `{"k":2,"k":3}`},
		{"no object", `[1]`, `{"k":1}`, `[1]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(with(json.RawMessage(tt.raw), "k", json.RawMessage("1"))); got != tt.with {
				t.Errorf("with: got %s, want %s", got, tt.with)
			}
			if got := string(without(json.RawMessage(tt.raw), "k", "z")); got != tt.without {
				t.Errorf("without: got %s, want %s", got, tt.without)
			}
		})
	}
}

func TestDecode(t *testing.T) {
	one, _ := jsonrpc.MakeID(1.0)
	word, _ := jsonrpc.MakeID("w")
	internal := func(text string) *jsonrpc.Error {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: text}
	}
	tests := []struct {
		name, data string
		want       []jsonrpc.Message
		bad        bool
	}{
		{"result", `{"result":{"n":9007199254740993 },"jsonrpc":"2.0","id":1}`, []jsonrpc.Message{&jsonrpc.Response{ID: one, Result: json.RawMessage(`{"n":9007199254740993 }`)}}, false},
		{"error", `{"id":"w","error":{"code":-32042,"message":"m","data":{"b":1}}}`, []jsonrpc.Message{&jsonrpc.Response{ID: word, Error: &jsonrpc.Error{Code: -32042, Message: "m", Data: json.RawMessage(`{"b":1}`)}}}, false},
		{"an error that is none", `{"id":1,"error":"broken"}`, []jsonrpc.Message{&jsonrpc.Response{ID: one, Error: internal(`"broken"`)}}, false},
		{"null error", `{"id":1,"error":null,"result":null}`, []jsonrpc.Message{&jsonrpc.Response{ID: one, Result: json.RawMessage("null")}}, false},
		{"neither", `{"id":1}`, []jsonrpc.Message{&jsonrpc.Response{ID: one, Error: fmt.Errorf("%w: it has neither result nor error", errUnreadable)}}, false},
		{"request", `{"id":1,"method":"ping","params":{"a":1}}`, []jsonrpc.Message{&jsonrpc.Request{ID: one, Method: "ping", Params: json.RawMessage(`{"a":1}`)}}, false},
		{"notification", `{"method":"n"}`, []jsonrpc.Message{&jsonrpc.Request{Method: "n"}}, false},
		{"batch", ` [{"method":"n"},{"id":1,"result":2}]`, []jsonrpc.Message{&jsonrpc.Request{Method: "n"}, &jsonrpc.Response{ID: one, Result: json.RawMessage("2")}}, false},
		{"batch with a stray", `[{"method":"n"},7]`, []jsonrpc.Message{&jsonrpc.Request{Method: "n"}}, true},
		{"no JSON", `starting up...`, nil, true},
		{"cut off", `{"id":1,"result":{`, nil, true},
		{"no object", `"text"`, nil, true},
		{"an id that is none", `{"id":[],"result":1}`, nil, true},
		{"a method that is none", `{"method":1}`, nil, true},
		{"no id", `{"result":1}`, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decode([]byte(tt.data))
			if (err != nil) != tt.bad {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.Comparer(func(a, b jsonrpc.ID) bool { return a == b }),
				cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"result":{},"jsonrpc":"2.0","id":1}`, `{"id":"w","error":{"code":1}}`, `[{"method":"n"},7]`, `{"id":1e999}`,
		`{"id":-0.5,"method":"\ud800"}`, `[]`, `[[]]`, `{"":{"":{}}}`, "\xff{}", `{"a" : [ ] , "id" : null}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := decode(data)
		if !json.Valid(data) && err == nil {
			t.Errorf("%q is not JSON", data)
		}
		for _, msg := range list {
			if _, err := jsonrpc.EncodeMessage(msg); err != nil {
				t.Errorf("%q: %v", data, err)
			}
		}
		if set := with(data, "k", json.RawMessage(`{"v":1}`)); json.Valid(data) && string(set) != string(data) && string(field(set, "k")) != `{"v":1}` {
			t.Errorf("with: %q gave %q", data, set)
		}
	})
}
