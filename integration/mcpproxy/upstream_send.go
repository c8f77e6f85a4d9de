package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/zap"
)

// notify sends a notification, as well as it can.
func (l *link) notify(method string, params json.RawMessage) {
	l.write(&jsonrpc.Request{Method: method, Params: params})
}

func (l *link) write(msg jsonrpc.Message) {
	ctx, cancel := context.WithTimeout(l.ctx, writeFor)
	defer cancel()
	l.send(ctx, msg)
}

func (l *link) send(ctx context.Context, msg jsonrpc.Message) {
	if err := l.conn.Write(ctx, msg); err != nil {
		l.log.Debug("a message beside the calls was not sent", zap.Error(err))
	}
}

// tellCancelled tells the server that nobody waits for an answer any more. On
// HTTP of 2026-07-28 the closed stream says so.
func (l *link) tellCancelled(id int64, cause error) {
	if l.web != nil && l.modern() {
		return
	}
	params := encode(map[string]any{"requestId": id, "reason": cancelReason(cause)})
	told := make(chan struct{})
	l.mu.Lock()
	known := l.abandoned
	if !known {
		delete(l.calls, id)
		l.telling[id] = told
	}
	l.mu.Unlock()
	if known {
		return
	}
	go func() { // also when the link ends meanwhile
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), writeFor)
		defer cancel()
		l.send(ctx, &jsonrpc.Request{Method: "notifications/cancelled", Params: params})
		close(told)
		l.mu.Lock()
		delete(l.telling, id)
		l.mu.Unlock()
	}()
}

func cancelReason(cause error) string {
	if errors.Is(cause, errDeadline) {
		return errDeadline.Error()
	}
	return "the client has cancelled the call"
}

// abandon tells a server over HTTP that nobody waits any more for what was under
// way when the link ended: unlike a process it would go on.
func (l *link) abandon() {
	if l.web == nil || l.web.version.Load() == nil { // without a session; in mid-handshake nothing else is under way
		return
	}
	l.mu.Lock()
	ids := slices.Collect(maps.Keys(l.calls))
	l.abandoned = true
	telling := slices.Collect(maps.Values(l.telling))
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), abandonFor)
	defer cancel()
	for _, id := range ids {
		params := encode(map[string]any{"requestId": id, "reason": "the connection is being closed"})
		if l.conn.Write(ctx, &jsonrpc.Request{Method: "notifications/cancelled", Params: params}) != nil {
			return
		}
	}
	for _, told := range telling {
		select {
		case <-told:
		case <-ctx.Done():
		}
	}
}
