//lint:file-ignore SA1019 what the newest revision deprecates is what older clients and servers speak

package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rawSend is what takes the place of what the SDK was told to send.
type rawSend struct {
	method string
	params json.RawMessage
}

type rawSendKey struct{}

// rawParamsOut are params whose bytes stand as they are.
type rawParamsOut struct {
	mcp.ParamsBase
	raw json.RawMessage
}

// MarshalJSON returns the bytes.
func (r *rawParamsOut) MarshalJSON() ([]byte, error) { return r.raw, nil }

// sendRaw puts the bytes of a rawSend in the place of typed params.
func sendRaw(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		raw, ok := ctx.Value(rawSendKey{}).(rawSend)
		ss, isServer := req.GetSession().(*mcp.ServerSession)
		if !ok || !isServer || raw.method != method || len(raw.params) == 0 {
			return next(ctx, method, req)
		}
		return next(ctx, method, &mcp.ServerRequest[*rawParamsOut]{Session: ss, Params: &rawParamsOut{raw: raw.params}})
	}
}

func withRaw(ctx context.Context, method string, params json.RawMessage) context.Context {
	return context.WithValue(ctx, rawSendKey{}, rawSend{method, params})
}

// notifyRaw sends a notification of a server to a client. Failing to is the
// client's loss: it has left.
func (p *Proxy) notifyRaw(ctx context.Context, ss *mcp.ServerSession, method string, params json.RawMessage) {
	ctx, ss, stop, err := sending(ctx, ss)
	if err != nil {
		return
	}
	defer stop()
	ctx = withRaw(ctx, method, params)
	switch method {
	case "notifications/progress":
		_ = ss.NotifyProgress(ctx, &mcp.ProgressNotificationParams{})
	case "notifications/message":
		ms, _ := members(params)
		level, _ := getString(ms, "level")
		_ = ss.Log(ctx, &mcp.LoggingMessageParams{Level: mcp.LoggingLevel(level)})
	case "notifications/elicitation/complete":
		ms, _ := members(params)
		id, _ := getString(ms, "elicitationId")
		_ = ss.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: id})
	default:
		p.notifyOther(ctx, ss, method, params)
	}
}

// upstreamAsks passes a request of a server on to the client whose call is
// under way there. Where calls of several clients are, and the transport does
// not tell to which the request belongs, nobody is asked: a question of one
// client's work is none of another's business.
func (p *Proxy) upstreamAsks(ctx context.Context, u *upstream, method string, params json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	if needs[method] == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("the proxy does not know the method %.64q", method)}
	}
	ss, f, err := p.whom(ctx, u)
	if f == nil && p.awaitBegun(ctx) {
		ss, f, err = p.whom(ctx, u)
	}
	if err != nil {
		return nil, unknownMethod(err.Error()) // as who cannot answer says
	}
	if f == nil {
		return p.askClient(ctx, ss, method, params)
	}
	raw, rpc := f.ask(ctx, method, params)
	if rpc != nil {
		f.refused.Store(rpc)
	}
	f.heard(raw)
	return raw, rpc
}

// ask asks the client of a call that is under way.
func (f *flight) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	r := f.r
	if r.modern && !r.takes(method, params) {
		return nil, unknownMethod("the client does not take " + method)
	}
	if r.modern && r.parked == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the client cannot be asked during a %.64q", r.method)}
	}
	if r.modern {
		return r.parked.ask(ctx, method, params)
	}
	ctx, stop := both(f.ctx, ctx)
	defer stop()
	return r.p.askClient(ctx, r.ss, method, params)
}

var (
	errNobody  = errors.New("no client that could answer is connected")
	errSeveral = errors.New("calls of several clients are under way at this server; which of them it asks cannot be told")
	errModern  = errors.New("the client speaks " + newest + ", in which servers ask by input_required")
)

// whom finds the client that a server asks: by its call, or, where it has none
// under way, by its connection. Callers that share a session for their name are
// not one client.
func (p *Proxy) whom(ctx context.Context, u *upstream) (*mcp.ServerSession, *flight, error) {
	on, told := ctx.Value(flightKey{}).(*flight)
	if on != nil {
		return nil, on, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var found *flight
	for f := range p.flights[u] {
		if told { // on the stream of what is done for no client
			break
		}
		if found != nil && (found.r.s != f.r.s || f.r.modern && f.r.s.ss == nil) {
			return nil, nil, errSeveral
		}
		if found == nil || found.r.parked != nil && found.r.parked.isAway() {
			found = f
		}
	}
	if found != nil {
		return nil, found, nil
	}
	if len(p.sessions) != 1 {
		return nil, nil, errNobody
	}
	for _, s := range p.sessions {
		if s.ss == nil || s.modern {
			return nil, nil, errModern
		}
		return s.ss, nil, nil
	}
	return nil, nil, errNobody
}

// askClient asks a client and returns the bytes of its answer.
func (p *Proxy) askClient(ctx context.Context, ss *mcp.ServerSession, method string, params json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
	if rpc := lacks(ss, method); rpc != nil {
		return nil, rpc
	}
	ctx, ss, stop, err := sending(ctx, ss)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "asking the client: " + err.Error()}
	}
	defer stop()
	id := ss.ID()
	r := p.listen(id)
	defer p.unlisten(id, r)
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	typed, err := askTyped(withRaw(ctx, method, params), ss, method, params)
	if err != nil {
		var rpc *jsonrpc.Error
		if errors.As(err, &rpc) {
			return nil, &jsonrpc.Error{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data}
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "asking the client: " + err.Error()}
	}
	if raw := r.take(typed); raw != nil {
		return raw, nil
	}
	return encode(typed), nil
}

func askTyped(ctx context.Context, ss *mcp.ServerSession, method string, params json.RawMessage) (any, error) {
	switch method {
	case "sampling/createMessage":
		return ss.CreateMessageWithTools(ctx, nil)
	case "roots/list":
		return ss.ListRoots(ctx, nil)
	case "elicitation/create":
		ms, err := members(params)
		if err != nil {
			return nil, err
		}
		mode, _ := getString(ms, "mode")
		return ss.Elicit(ctx, &mcp.ElicitParams{Mode: mode})
	}
	return nil, fmt.Errorf("clients cannot be asked for %.64q", method)
}

// listen begins to keep the answers of a client, as replies says.
func (p *Proxy) listen(session string) *replies {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.asking[session]
	if r == nil {
		r = &replies{}
		p.asking[session] = r
	}
	r.asked++
	return r
}

func (p *Proxy) unlisten(session string, r *replies) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.asked--; r.asked == 0 {
		delete(p.asking, session)
	}
}
