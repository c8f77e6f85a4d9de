//lint:file-ignore SA1019 what the newest revision deprecates is what older clients and servers speak

package mcpproxy

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// needs are what servers may ask of clients: the methods, and what a client must
// have to be asked.
var needs = map[string]string{"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}

// canBeAsked reports whether the client says that it can be asked for anything.
func (r *request) canBeAsked() bool {
	for _, a := range needs {
		if r.ability(a) != nil {
			return true
		}
	}
	return false
}

// ability is what the client says of one; nil: it has it not.
func (r *request) ability(name string) json.RawMessage {
	caps, err := members(getMember(r.meta, metaCapabilities))
	if a := getMember(caps, name); err == nil && string(a) != "null" {
		return a
	}
	return nil
}

// takes reports whether the client says that it can be asked this.
func (r *request) takes(method string, params json.RawMessage) bool {
	a := r.ability(needs[method])
	if a == nil || method != "elicitation/create" {
		return a != nil
	}
	modes, err := members(a)
	if err != nil {
		return false
	}
	mode := "form"
	if ms, err := members(params); err == nil {
		if m, ok := getString(ms, "mode"); ok {
			mode = m
		}
	}
	return len(modes) == 0 && mode == "form" || getMember(modes, mode) != nil
}

// abilities are what of a client's capabilities concerns servers.
func abilities(caps json.RawMessage) json.RawMessage {
	all, _ := members(caps)
	var out []member
	for _, m := range all {
		if m.key == "roots" || m.key == "sampling" || m.key == "elicitation" {
			out = append(out, m)
		}
	}
	if raw := encodeMembers(out); len(raw) <= maxOffer {
		return raw
	}
	return json.RawMessage("{}")
}

// maxOffer bounds what of a client's abilities is passed on.
const maxOffer = 16 << 10

// lacks says that a client with a session has not declared that it answers a
// method; nil: it has.
func lacks(ss *mcp.ServerSession, method string) *jsonrpc.Error {
	var caps mcp.ClientCapabilities
	if init := ss.InitializeParams(); init != nil && init.Capabilities != nil {
		caps = *init.Capabilities
	}
	can := map[string]bool{"roots/list": caps.RootsV2 != nil, "sampling/createMessage": caps.Sampling != nil,
		"elicitation/create": caps.Elicitation != nil}
	if can[method] {
		return nil
	}
	return unknownMethod("the client does not take " + method)
}
