package mcpproxy

import (
	"context"
	"encoding/json"

	"go.uber.org/zap"
)

// listTools reads the tools, and what their calls need.
func (l *link) listTools(ctx context.Context) ([]rawTool, error) {
	if field(l.capabilities, "tools") == nil {
		return []rawTool{}, nil
	}
	items, err := pages("tools/list", "tools", func(params json.RawMessage) (answer, error) {
		return l.call(ctx, "tools/list", params, &pending{})
	})
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
	if l.web == nil || !l.modern() {
		return t, nil
	}
	var s schema
	if json.Unmarshal(field(raw, "inputSchema"), &s) != nil {
		return t, nil // a schema that is none wants no headers
	}
	return t, s.args(nil)
}
