package mcpproxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestShortCalls: a call whose result is all that there is to say is answered by
// JSON; one with something to say before, by a stream; an error as the SDK tells
// it.
func TestShortCalls(t *testing.T) {
	up := newPeer()
	p := newProxy(t, up.http(t, false), (&script{version: "2025-11-25"}).http(t, "script"))
	c := clientOf(t, p, "http", "2025-11-25").(*httpClient)
	tests := []struct{ name, params, kind, want string }{
		{"a result", `{"name":"echo","arguments":{"n":9007199254740993}}`, "application/json", `"arguments":{"n":9007199254740993}`},
		{"a question", `{"name":"roots","arguments":{}}`, "text/event-stream", `"method":"roots/list"`},
		{"progress", `{"name":"progress","arguments":{},"_meta":{"progressToken":"tok"}}`, "text/event-stream", `"progressToken":"tok"`},
		{"an error", `{"name":"odd","arguments":{}}`, "text/event-stream", `"code":12345`},
		{"an unknown tool", `{"name":"none","arguments":{}}`, "text/event-stream", "Unknown tool: none"},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := c.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":"call %d","method":"tools/call","params":%s}`, i, tt.params), nil)
			if got := res.Header.Get("Content-Type"); got != tt.kind {
				t.Errorf("content type %q, want %q", got, tt.kind)
			}
			answers(t, c, res, tt.want, fmt.Sprintf(`"id":"call %d"`, i))
		})
	}
}

// answers reads an answer, in which all of want are to be, and tells a server
// that asks for roots that there are none.
func answers(t *testing.T, c *httpClient, res *http.Response, want ...string) {
	t.Helper()
	var all []byte
	for part := make([]byte, 64<<10); ; {
		n, err := res.Body.Read(part)
		all = append(all, part[:n]...)
		if _, id, asked := strings.Cut(string(part[:n]), `"id":`); asked && strings.Contains(string(part[:n]), `"roots/list"`) {
			id = id[:strings.IndexAny(id, ",}")]
			c.post(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{"roots":[{"uri":"file:///here"}]}}`, nil)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range want {
		if !strings.Contains(string(all), w) {
			t.Errorf("no %s in %s", w, all)
		}
	}
}

// TestPlainCalls: what the SDK would refuse, or understand otherwise, is left to
// it.
func TestPlainCalls(t *testing.T) {
	const ok = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`
	tests := []struct {
		name, old, with string
		want            bool
	}{
		{"as it is", "", "", true},
		{"an id that is text", `"id":1`, `"id":"one"`, true},
		{"an id with a fraction", `"id":1`, `"id":1.0`, false},
		{"an id below zero", `"id":1`, `"id":-1`, false},
		{"a large id", `"id":1`, `"id":9007199254740993`, false},
		{"no id", `"id":1,`, ``, false},
		{"an id that is null", `"id":1`, `"id":null`, false},
		{"another method", `tools/call`, `tools/list`, false},
		{"another version", `"2.0"`, `"1.0"`, false},
		{"no version", `"jsonrpc":"2.0",`, ``, false},
		{"one member more", `"id":1`, `"id":1,"result":{}`, false},
		{"params that are a list", `{"name":"x"}`, `["x"]`, false},
		{"a name that is no text", `"x"`, `7`, false},
		{"arguments that are no object", `"name":"x"`, `"name":"x","arguments":[1]`, false},
		{"answers to questions", `"name":"x"`, `"name":"x","inputResponses":{}`, false},
		{"a state", `"name":"x"`, `"name":"x","requestState":"s"`, false},
		{"an unknown param", `"name":"x"`, `"name":"x","task":{}`, true},
		{"an odd revision", `"name":"x"`, `"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}`, false},
		{"the newest", `"name":"x"`, `"name":"x","_meta":{` + modernMeta + `}`, true},
		{"a newer one", `"name":"x"`, `"name":"x","_meta":{` + strings.Replace(modernMeta, newest, "2099-01-01", 1) + `}`, false},
		{"the newest without abilities", `"name":"x"`, `"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`, false},
	}
	p := newProxy(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ms, err := members([]byte(strings.Replace(ok, tt.old, tt.with, 1)))
			if err != nil {
				t.Fatal(err)
			}
			e, got := plainCall(ms)
			if got {
				r, err := p.requestOf(nil, "tools/call", e.params, "")
				got = err == nil && r.plain()
			}
			if got != tt.want {
				t.Errorf("short: %v, want %v", got, tt.want)
			}
		})
	}
}
