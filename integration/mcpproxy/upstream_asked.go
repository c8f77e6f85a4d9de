package mcpproxy

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/zap"
)

// ask answers a request of the server: sampling, elicitation, roots, ping. Who
// answers it is given the values of the call's context that it came with.
func (l *link) ask(from context.Context, req *jsonrpc.Request) {
	if req.Method == "ping" {
		go l.write(&jsonrpc.Response{ID: req.ID, Result: json.RawMessage("{}")})
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(from), askedFor)
	refusal := l.admit(req, cancel)
	if refusal != nil {
		cancel()
		go l.write(&jsonrpc.Response{ID: req.ID, Error: refusal})
		return
	}
	go func() {
		defer cancel()
		defer context.AfterFunc(l.ctx, cancel)()
		result, fault := l.in.request(ctx, req.Method, req.Params)
		l.extendAll()
		l.mu.Lock()
		delete(l.asked, req.ID.Raw())
		l.mu.Unlock()
		resp := &jsonrpc.Response{ID: req.ID, Result: result}
		if fault != nil {
			resp.Result, resp.Error = nil, fault
		}
		l.write(resp)
	}()
}

// admit enters the request of a server, or says why it is refused.
func (l *link) admit(req *jsonrpc.Request, cancel context.CancelFunc) *jsonrpc.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.in.request == nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the client does not take " + req.Method}
	case l.asked[req.ID.Raw()] != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request of this id is under way"}
	case len(l.asked) >= maxAsked:
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "too many requests of the server are under way"}
	}
	l.asked[req.ID.Raw()] = cancel
	return nil
}

// forget ends a request of the server that it has cancelled.
func (l *link) forget(params json.RawMessage) {
	id, err := decodeID(field(params, "requestId"))
	if err != nil || !id.IsValid() {
		return
	}
	l.mu.Lock()
	cancel := l.asked[id.Raw()]
	l.mu.Unlock()
	if cancel != nil {
		l.log.Debug("the server cancelled its request", zap.Any("id", id.Raw()))
		cancel()
	}
}

// isAsking reports whether the server waits for an answer.
func (l *link) isAsking() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.asked) > 0
}

// extendAll moves the deadlines of the calls under way: their server waits for
// a human or a model, and is not to blame.
func (l *link) extendAll() {
	l.mu.Lock()
	list := make([]*pending, 0, len(l.calls))
	for _, p := range l.calls {
		list = append(list, p)
	}
	l.mu.Unlock()
	for _, p := range list {
		if p.rest != nil {
			p.rest()
		}
	}
}
