//lint:file-ignore SA1019 what the newest revision deprecates is what older clients and servers speak

package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
)

// implementation is how the proxy names itself to clients.
func implementation() *mcp.Implementation {
	return &mcp.Implementation{Name: "expediter", Title: "expediter proxy", Version: ownVersion()}
}

// newServer is the SDK's server with nothing in it: what clients ask for is
// answered before it, with bytes that its types would lose.
func (p *Proxy) newServer() *mcp.Server {
	s := mcp.NewServer(implementation(), &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{
			Tools:       &mcp.ToolCapabilities{ListChanged: true},
			Resources:   &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
			Prompts:     &mcp.PromptCapabilities{ListChanged: true},
			Logging:     &mcp.LoggingCapabilities{},
			Completions: &mcp.CompletionCapabilities{},
		},
		SubscribeHandler:        p.subscribe,
		UnsubscribeHandler:      p.unsubscribe,
		RootsListChangedHandler: p.rootsChanged,
		InitializedHandler:      func(context.Context, *mcp.InitializedRequest) { p.begin() },
	})
	takeOthers(s)
	s.AddReceivingMiddleware(p.receive)
	s.AddSendingMiddleware(sendRaw)
	return s
}

// Serve serves one client on in and out until it leaves, which is no error, or
// ctx ends. Where in is an io.Closer, it is closed when ctx ends.
func (p *Proxy) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	rc, ok := in.(io.ReadCloser)
	if !ok {
		rc = io.NopCloser(in)
	}
	t := newTee(ctx, p, rc, out)
	err := p.server.Run(ctx, t)
	t.end()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// rawResult is a result whose bytes stand as they are.
type rawResult struct {
	mcp.ResultBase
	raw json.RawMessage
}

// MarshalJSON returns the bytes.
func (r *rawResult) MarshalJSON() ([]byte, error) { return r.raw, nil }

// request is one request of a client.
type request struct {
	p      *Proxy
	s      *session
	ss     *mcp.ServerSession // the connection it came on
	method string
	raw    json.RawMessage // params as they came
	params []member
	meta   []member
	modern bool
	id     string  // of the request, on stdio; empty: not known
	out    outbox  // progress and log messages to the client, in order
	parked *parked // nil: the client cannot be asked while the request is under way
	short  *short  // nil: it came by the SDK
}

// handlers are the requests that the SDK's server never sees.
var handlers = map[string]handler{
	"tools/list":               (*request).listTools,
	"tools/call":               (*request).callTool,
	"prompts/list":             (*request).listPrompts,
	"prompts/get":              (*request).getPrompt,
	"resources/list":           (*request).listResources,
	"resources/templates/list": (*request).listTemplates,
	"resources/read":           (*request).readResource,
	"completion/complete":      (*request).complete,
	otherMethod:                (*request).other,
}

// cacheable are the results that tell a 2026-07-28 client how long they hold.
var cacheable = map[string]bool{"tools/list": true, "prompts/list": true, "resources/list": true,
	"resources/templates/list": true, "resources/read": true}

func (p *Proxy) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		h := handlers[method]
		if h == nil {
			return p.beside(ctx, next, method, req)
		}
		if q, err := p.joins(req); err != nil {
			return nil, err
		} else if q != nil {
			return q.come(ctx, req.GetSession().(*mcp.ServerSession))
		}
		r, err := p.newRequest(method, req)
		if err != nil {
			return nil, err
		}
		raw, err := r.inSession(ctx, h)
		if err != nil {
			return nil, worded(err)
		}
		return &rawResult{raw: raw}, nil
	}
}

// inSession answers a request by h, as one of its session's.
func (r *request) inSession(ctx context.Context, h handler) (raw json.RawMessage, err error) {
	ctx, stop := both(ctx, r.p.life(r.ss))
	defer stop()
	if err := r.p.calls.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer r.p.calls.Release(1)
	if r.s, err = r.p.enter(r.ss, r.modern, r.meta); err != nil {
		return nil, err
	}
	defer r.p.leave(r.s)
	r.out.begin(ctx)
	raw, err = r.serve(ctx, h)
	r.out.close()
	if err == nil && r.modern {
		raw = completed(raw, cacheable[r.method])
	}
	return raw, err
}

// answer calls h. A panic is an error of this request alone.
func (r *request) answer(ctx context.Context, h handler) (raw json.RawMessage, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.p.log.Error("a request panicked", zap.String("method", r.method), zap.Any("panic", v), zap.Stack("stack"))
			raw, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the proxy failed at this request; its log says why"}
		}
	}()
	return h(r, ctx)
}

func (p *Proxy) newRequest(method string, req mcp.Request) (*request, error) {
	ss, ok := req.GetSession().(*mcp.ServerSession)
	if !ok {
		return nil, errors.New("a request without a session")
	}
	return p.requestOf(ss, realMethod(method, req), rawParams(method, req), rawID(req))
}

// requestOf is a request of a connection; nil: over HTTP, without a session.
func (p *Proxy) requestOf(ss *mcp.ServerSession, method string, raw json.RawMessage, id string) (*request, error) {
	r := &request{p: p, ss: ss, method: method, raw: raw, id: id}
	if len(r.raw) == 0 || string(r.raw) == "null" {
		return r, nil
	}
	var err error
	if r.params, err = members(r.raw); err != nil {
		return nil, badParams(err)
	}
	if m := getMember(r.params, "_meta"); m != nil && string(m) != "null" {
		if r.meta, err = members(m); err != nil {
			return nil, badParams(fmt.Errorf("_meta: %w", err))
		}
	}
	v, _ := getString(r.meta, metaVersion)
	r.modern = v >= newest
	return r, nil
}

func badParams(err error) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid params: " + err.Error()}
}

// closeRefused is after how long the connection of a client goes for which there
// is no room: it has read why by then.
const closeRefused = time.Second

// beside lets the SDK answer, and does what else there is to do.
func (p *Proxy) beside(ctx context.Context, next mcp.MethodHandler, method string, req mcp.Request) (mcp.Result, error) {
	if method == "subscriptions/listen" { // lasts as long as a session does
		if !p.listens.TryAcquire(1) {
			return nil, errFull
		}
		defer p.listens.Release(1)
	}
	res, err := next(ctx, method, req)
	ss, ok := req.GetSession().(*mcp.ServerSession)
	if err != nil || !ok {
		return res, err
	}
	switch method {
	case "initialize":
		r, rerr := p.newRequest(method, req)
		if rerr != nil {
			return res, err
		}
		s, serr := p.enter(ss, false, nil)
		if serr != nil {
			time.AfterFunc(closeRefused, func() { ss.Close() })
			return nil, serr
		}
		p.mu.Lock()
		s.caps = getMember(r.params, "capabilities")
		p.mu.Unlock()
		p.leave(s)
		res = p.introduce(ctx, res, false)
	case "server/discover":
		res = p.introduce(ctx, res, true)
	case "logging/setLevel":
		if params, ok := req.GetParams().(*mcp.SetLoggingLevelParams); ok {
			p.setLevel(ctx, ss, string(params.Level))
		}
	}
	return res, err
}

// completed adds to a result what clients of 2026-07-28 need and older servers
// do not send.
func completed(raw json.RawMessage, cached bool) json.RawMessage {
	ms, err := members(raw)
	if err != nil {
		return raw
	}
	n := len(ms)
	add := func(key string, v string) {
		if getMember(ms, key) == nil {
			ms = append(ms, member{key, json.RawMessage(v)})
		}
	}
	add("resultType", `"complete"`)
	kind, _ := getString(ms, "resultType")
	if cached && kind == "complete" {
		add("ttlMs", "0")
		add("cacheScope", `"private"`)
	}
	changed := len(ms) != n
	meta := getMember(ms, "_meta")
	if mm, err := members(meta); len(meta) == 0 || err == nil && getMember(mm, metaServer) == nil {
		mm = append(mm, member{metaServer, serverInfo})
		ms, changed = setMember(ms, "_meta", encodeMembers(mm)), true
	}
	if !changed {
		return raw
	}
	return encodeMembers(ms)
}

var serverInfo = encode(implementation())
