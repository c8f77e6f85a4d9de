package classify

import (
	"strconv"
	"strings"
)

// httpRule is one row of the table of HTTP statuses. Where a status is
// overloaded, the text decides first if it finds one of the classes in text.
type httpRule struct {
	from, to int
	class    class
	text     []class
}

var httpRules = []httpRule{
	{401, 401, auth, nil},
	{402, 402, auth, []class{rateLimit}},
	{403, 403, permission, []class{rateLimit, auth}},
	{404, 404, invalidInput, []class{network, toolMissing}},
	{407, 407, auth, nil},
	{408, 408, timeout, nil},
	{425, 425, rateLimit, nil},
	{429, 429, rateLimit, nil},
	{451, 451, permission, nil},
	{400, 499, invalidInput, []class{rateLimit, auth, network, toolMissing}},
	{504, 504, timeout, nil},
	{522, 522, timeout, nil},
	{524, 524, timeout, nil},
	{525, 526, network, nil},
	{529, 529, rateLimit, nil},
	{500, 599, upstream, []class{rateLimit, filesystem, config}},
}

// statusRule is the row for a status; from 600 on there is none.
func statusRule(status int) (httpRule, bool) {
	for _, r := range httpRules {
		if r.from <= status && status <= r.to {
			return r, true
		}
	}
	return httpRule{}, false
}

// byHTTP asks the status, what the headers say of it, and where it is the
// status of a server's or agent's own address, that.
func (e *evidence) byHTTP() (class, string, bool) {
	r, ok := statusRule(e.HTTPStatus)
	if !ok {
		return 0, "", false
	}
	if len(r.text) > 0 {
		if c, rule, ok := match(e.folded, r.text); ok {
			return c, rule, true
		}
	}
	rule := "http:" + strconv.Itoa(e.HTTPStatus)
	switch {
	case e.HTTPStatus == 403 && exhausted(e.Header):
		return rateLimit, rule + ":header", true
	case r.class == invalidInput && strings.Contains(strings.ToLower(headers(e.Header).get("Www-Authenticate")), "invalid_token"):
		return auth, rule + ":header", true
	case e.HTTPStatus != 404 && e.HTTPStatus != 410:
	case e.Protocol == MCP && headers(e.Header).get("Mcp-Session-Id") != "":
		return network, rule + ":session", true
	case e.Protocol == MCP, e.Protocol == A2A && !strings.Contains(e.folded, "task"):
		return toolMissing, rule + ":endpoint", true
	}
	return r.class, rule, true
}

// rpcRule is one row of the table of JSON-RPC codes: what a code means depends
// on the protocol. A weak one lets the text decide first.
type rpcRule struct {
	protocol Protocol // Plain: any
	code     int
	class    class
	weak     bool
}

var rpcRules = []rpcRule{
	{A2A, -32001, invalidInput, true},   // task not found
	{A2A, -32002, invalidInput, true},   // task not cancelable
	{A2A, -32003, toolMissing, true},    // push notifications not supported
	{A2A, -32004, toolMissing, true},    // unsupported operation
	{A2A, -32005, invalidInput, true},   // content type not supported
	{A2A, -32006, upstream, true},       // invalid agent response
	{A2A, -32007, none, true},           // extended card not configured
	{A2A, -32008, config, false},        // extension support required
	{A2A, -32009, config, false},        // version not supported
	{A2A, -31401, auth, false},          // unauthenticated
	{A2A, -31403, permission, false},    // unauthorized
	{A2A, -32000, upstream, true},       // server error
	{MCP, -32000, network, true},        // connection closed
	{MCP, -32001, timeout, true},        // request timed out
	{MCP, -32002, invalidInput, true},   // resource not found
	{MCP, -32020, config, false},        // header mismatch
	{MCP, -32021, config, false},        // missing client capability
	{MCP, -32022, config, false},        // unsupported protocol version
	{MCP, -32042, none, false},          // URL elicitation required
	{MCP, -32003, network, true},        // client is closing
	{MCP, -32004, network, true},        // server is closing
	{MCP, -32005, upstream, true},       // rejected by transport
	{Plain, -32800, cancelled, false},   // request cancelled
	{Plain, -32802, cancelled, false},   // server cancelled
	{Plain, -32700, invalidInput, true}, // parse error
	{Plain, -32600, invalidInput, true}, // invalid request, also an expired login
	{Plain, -32601, toolMissing, true},
	{Plain, -32602, invalidInput, true}, // also an unknown tool
	{Plain, -32603, upstream, true},
}

// rpcRule is the row for the JSON-RPC code.
func (e *evidence) rpcRule() (rpcRule, bool) {
	for _, r := range rpcRules {
		if r.code == e.RPCCode && (r.protocol == Plain || r.protocol == e.Protocol) {
			return r, true
		}
	}
	return rpcRule{}, false
}

// byStatus asks the codes that mean one thing only, or whose few other
// meanings the text tells.
func (e *evidence) byStatus() (class, string, bool) {
	if r, ok := e.rpcRule(); ok && !r.weak {
		return r.class, "jsonrpc:" + strconv.Itoa(r.code), true
	}
	if c, rule, ok := e.byHTTP(); ok {
		return c, rule, true
	}
	if r, ok := e.grpcRule(); ok && !r.weak {
		return r.class, "grpc:" + r.name, true
	}
	return 0, "", false
}

// byWeakCode asks the overloaded codes, after the text has said nothing.
func (e *evidence) byWeakCode() (class, string, bool) {
	if r, ok := e.grpcRule(); ok {
		return r.class, "grpc:" + r.name, true
	}
	if r, ok := e.rpcRule(); ok {
		return r.class, "jsonrpc:" + strconv.Itoa(r.code), true
	}
	if r, ok := e.exitRule(); ok {
		return r.class, r.name(), true
	}
	return 0, "", false
}
