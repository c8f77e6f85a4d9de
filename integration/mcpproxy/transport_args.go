package mcpproxy

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// arg is an argument that a tool wants in a header as well (x-mcp-header in its
// schema, 2026-07-28).
type arg struct {
	path   []string
	header string
}

// schema is what is read of a tool's inputSchema for it.
type schema struct {
	Header     json.RawMessage   `json:"x-mcp-header"`
	Properties map[string]schema `json:"properties"`
}

// maxArgDepth is how deep an argument in a header may stand.
const maxArgDepth = 16

func (s schema) args(path []string) []arg {
	var list []arg
	for name, p := range s.Properties {
		at := append(path[:len(path):len(path)], name)
		var header string
		if json.Unmarshal(p.Header, &header) == nil && isToken(header) {
			list = append(list, arg{path: at, header: "Mcp-Param-" + header})
		}
		if len(at) < maxArgDepth {
			list = append(list, p.args(at)...)
		}
	}
	return list
}

// isToken reports a name that may stand in a header.
func isToken(s string) bool {
	return s != "" && len(s) <= 100 && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}) < 0
}

// argHeaders are the headers for a call of a tool; nil: none.
func (l *link) argHeaders(req *jsonrpc.Request) map[string]string {
	tools := l.headers.Load()
	if tools == nil || req.Method != "tools/call" {
		return nil
	}
	var name string
	if json.Unmarshal(field(req.Params, "name"), &name) != nil || (*tools)[name] == nil {
		return nil
	}
	args, out := field(req.Params, "arguments"), map[string]string{}
	for _, a := range (*tools)[name] {
		raw := args
		for _, key := range a.path {
			raw = field(raw, key)
		}
		if v, ok := headerValue(raw); ok {
			out[a.header] = v
		}
	}
	return out
}

// headerValue writes a string, a boolean or an integer as a header has it.
func headerValue(raw json.RawMessage) (string, bool) {
	var v any
	if raw == nil || json.Unmarshal(raw, &v) != nil {
		return "", false
	}
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		const safe = 1<<53 - 1
		n := int64(v)
		return strconv.FormatInt(n, 10), float64(n) == v && n >= -safe && n <= safe
	case string:
		return headerText(v), true
	}
	return "", false
}

// headerText is the text itself if a header can carry it, and else in base64.
func headerText(s string) string {
	odd := func(r rune) bool { return r < 0x20 || r > 0x7e }
	if strings.IndexFunc(s, odd) < 0 && strings.TrimSpace(s) == s && !strings.HasPrefix(s, "=?base64?") {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}
