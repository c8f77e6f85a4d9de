package mcpproxy

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/zap"
)

// mostPages is how many pages of one list are read.
const mostPages = 1000

// list reads all pages of a list: of resources/list under key resources, for
// one. A server that does not know the method has none.
func (l *link) list(ctx context.Context, method, key string, limit int64) ([]json.RawMessage, error) {
	var all []json.RawMessage
	var params, cursor json.RawMessage
	for range mostPages {
		a, err := l.call(ctx, method, params, &pending{})
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", method, err)
		case a.Error != nil && a.Error.Code == jsonrpc.CodeMethodNotFound:
			return all, nil
		case a.Error != nil:
			return nil, &refusalError{doing: method, answer: a}
		}
		if limit -= int64(len(a.Result)); limit < 0 {
			return nil, fmt.Errorf("%s: %w", method, errTooLarge)
		}
		page, ok := elements(field(a.Result, key))
		if !ok {
			return nil, fmt.Errorf("%s: the server's answer has no list of %s", method, key)
		}
		all = append(all, page...)
		next := field(a.Result, "nextCursor")
		if len(next) == 0 || string(next) == "null" || string(next) == `""` {
			return all, nil
		}
		if string(next) == string(cursor) {
			return nil, fmt.Errorf("%s: the server gives the same page again and again", method)
		}
		cursor = next
		params = with(nil, "cursor", cursor)
	}
	return nil, fmt.Errorf("%s: the server's list has more than %d pages", method, mostPages)
}

// listTools reads the tools, and what their calls need.
func (l *link) listTools(ctx context.Context) ([]rawTool, error) {
	if field(l.capabilities, "tools") == nil {
		return []rawTool{}, nil
	}
	limit := int64(defaultMaxResult)
	items, err := l.list(ctx, "tools/list", "tools", limit)
	if err != nil {
		return nil, err
	}
	tools, seen, headers := make([]rawTool, 0, len(items)), map[string]bool{}, map[string][]arg{}
	for _, raw := range items {
		t, args := l.tool(raw)
		if t.Name == "" || seen[t.Name] {
			l.log.Warn("a tool without a name, or with that of another, is left out", zap.Int("at", len(tools)))
			continue
		}
		seen[t.Name] = true
		tools = append(tools, t)
		if len(args) > 0 {
			headers[t.Name] = args
		}
	}
	l.headers.Store(&headers)
	return tools, nil
}

func (l *link) tool(raw json.RawMessage) (rawTool, []arg) {
	t := rawTool{Raw: raw}
	if json.Unmarshal(field(raw, "name"), &t.Name) != nil {
		return t, nil
	}
	t.ReadOnly = string(field(field(raw, "annotations"), "readOnlyHint")) == "true"
	if l.web == nil || !l.modern() {
		return t, nil
	}
	var s schema
	if json.Unmarshal(field(raw, "inputSchema"), &s) != nil {
		return t, nil // a schema that is none wants no headers
	}
	return t, s.args(nil)
}
