package mcpproxy

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// minExcuse is how long the words of a client's refusal are at least, in bytes, by
// which they are known again in what the server says of it.
const minExcuse = 8

// heard notes a client's answer to a question of the server.
func (f *flight) heard(raw json.RawMessage) {
	ms, _ := members(raw)
	if action, _ := getString(ms, "action"); action == "decline" || action == "cancel" {
		f.declined.Store(true)
	}
}

// heardAll is heard for the answers of an inputResponses.
func (f *flight) heardAll(answers json.RawMessage) {
	ms, _ := members(answers)
	for _, m := range ms {
		f.heard(m.value)
	}
}

// excuses reports whether an answer that is an error is so for what the client did
// not do: its human said no, it cannot do what the server's method needs, or the
// server passes the words of its refusal on. A refusal alone excuses nothing else: a
// server may get along without an answer, and fail for reasons of its own.
func (f *flight) excuses(a answer) bool {
	if f.declined.Load() {
		return true
	}
	rpc := f.refused.Load()
	switch {
	case rpc == nil:
		return false
	case a.Error != nil:
		return rpc.Code == jsonrpc.CodeMethodNotFound || len(rpc.Message) >= minExcuse && strings.Contains(a.Error.Message, rpc.Message)
	}
	words := bytes.Trim(encode(rpc.Message), `"`)
	return len(words) >= minExcuse && len(a.Result) <= 1<<20 && bytes.Contains(a.Result, words)
}
