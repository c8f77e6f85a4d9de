package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
)

// The SDK takes the methods that it knows. All others come through it as one,
// their name beside it, in a header that only the proxy can set.
const (
	otherMethod  = "expediter/other"
	methodHeader = "Expediter-Method"
	maxMethod    = 256 // bytes of a method's name; longer ones are refused
)

// sdkMethods are the requests that the SDK's server takes.
var sdkMethods = map[string]bool{"initialize": true, "ping": true, "server/discover": true, "subscriptions/listen": true,
	"tools/list": true, "tools/call": true, "prompts/list": true, "prompts/get": true, "resources/list": true,
	"resources/templates/list": true, "resources/read": true, "resources/subscribe": true, "resources/unsubscribe": true,
	"completion/complete": true, "logging/setLevel": true}

func isOther(method string) bool {
	return method != "" && len(method) <= maxMethod && !sdkMethods[method] && !strings.HasPrefix(method, "notifications/")
}

// otherParams are not looked at: their bytes are beside them.
type otherParams struct{ mcp.ParamsBase }

// UnmarshalJSON takes anything.
func (*otherParams) UnmarshalJSON([]byte) error { return nil }

// takeOthers has the SDK's server take the requests that it does not know; what
// stands before it answers them.
func takeOthers(s *mcp.Server) {
	err := mcp.AddReceivingCustomMethod(s, otherMethod, func(context.Context, *mcp.ServerSession, *otherParams) (*rawResult, error) {
		return nil, unknownMethod("not reached")
	})
	if err != nil {
		panic(err) // the name is none of the protocol's
	}
}

// worded keeps the text of an error that a method is not known: the SDK puts one
// of its own in the place of what it recognizes, with the name it was told.
func worded(err error) error {
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound {
		return &unknownError{rpc}
	}
	return err
}

// unknownError is a *jsonrpc.Error to errors.As, not to errors.Is.
type unknownError struct{ rpc *jsonrpc.Error }

func (e *unknownError) Error() string { return e.rpc.Message }

func (e *unknownError) As(to any) bool {
	rpc, ok := to.(**jsonrpc.Error)
	if ok {
		*rpc = e.rpc
	}
	return ok
}

// disguise makes a request on stdio one that the SDK takes. h gets its name.
func disguise(m *jsonrpc.Request, h http.Header) {
	if m.IsCall() && isOther(m.Method) {
		h[methodHeader] = []string{m.Method}
		m.Method = otherMethod
	}
}

// disguised is disguise for the message in an HTTP body; nil: it may stay.
func disguised(ms []member, h http.Header) []byte {
	method, _ := getString(ms, "method")
	if getMember(ms, "id") == nil || !isOther(method) {
		return nil
	}
	h[methodHeader] = []string{method}
	if h.Get("Mcp-Method") == method {
		h.Set("Mcp-Method", otherMethod)
	}
	return encodeMembers(setMember(ms, "method", encode(otherMethod)))
}

// realMethod is the name of a request's method as the client gave it.
func realMethod(method string, req mcp.Request) string {
	if x := req.GetExtra(); x != nil && method == otherMethod {
		if v := x.Header[methodHeader]; len(v) == 1 {
			return v[0]
		}
	}
	return method
}

// other passes a request that the proxy does not know on to the server that it
// is for.
func (r *request) other(ctx context.Context) (json.RawMessage, error) {
	r.p.ready(ctx)
	if r.method == "tasks/list" {
		return r.listTasks(ctx)
	}
	u, with, err := r.addressee(ctx)
	if err != nil {
		return nil, err
	}
	return r.pass(ctx, u, r.method, with...)
}

// addressee finds whom a request is for: by the task, the name or the URI in its
// params, or else as the only server with a capability of that name. What is to
// be set in the params comes with it.
func (r *request) addressee(ctx context.Context) (*upstream, []member, error) {
	if id, ok := getString(r.params, "taskId"); ok {
		if t, ok := r.p.tasks.find(id); ok {
			if t.by != r.s {
				return nil, nil, badParams(fmt.Errorf("no task %.128q of this client is known", id))
			}
			return t.up, nil, nil
		}
	} else if name, ok := getString(r.params, "name"); ok {
		if t, ok := r.p.find(name); ok {
			return t.up, []member{{"name", encode(t.tool.Name)}}, nil
		}
		if o, ok := r.prompt(ctx, name); ok {
			return o.up, []member{{"name", encode(o.name)}}, nil
		}
	} else if uri, ok := getString(r.params, "uri"); ok {
		if u := r.p.ownerOf(ctx, uri); u != nil {
			return u, nil, nil
		}
	}
	var only *upstream
	for _, u := range r.p.ups {
		if !declares(u, r.method) {
			continue
		}
		if only != nil {
			return nil, nil, unknownMethod(fmt.Sprintf("several servers may know the method %.128q; whose it is cannot be told", r.method))
		}
		only = u
	}
	if only == nil {
		return nil, nil, unknownMethod(fmt.Sprintf("no server is known to have the method %.128q", r.method))
	}
	return only, nil, nil
}

// declares says whether a server has a capability, an extension or an experiment
// that a method's name begins with, or whose last part it begins with.
func declares(u *upstream, method string) bool {
	caps := u.capabilities()
	head, _, _ := strings.Cut(method, "/")
	for _, raw := range []json.RawMessage{caps, field(caps, "extensions"), field(caps, "experimental")} {
		ms, _ := members(raw)
		for _, m := range ms {
			last := m.key[strings.LastIndex(m.key, "/")+1:]
			if !ownCapabilities[m.key] && (last == head || m.key == method || strings.HasPrefix(method, m.key+"/")) {
				return true
			}
		}
	}
	return false
}

// maxTasks bounds the tasks that are remembered; the oldest are forgotten.
const maxTasks = 4096

// tasks knows who has begun which task, and where. The zero tasks knows none. It
// is safe for concurrent use.
type tasks struct {
	mu    sync.Mutex
	known map[string]begun
	order []string
}

// begun is a task and who has begun it.
type begun struct {
	up *upstream
	by *session
}

// note remembers the task that a result says was begun. A task stays who it was
// whatever another server says.
func (t *tasks) note(raw json.RawMessage, u *upstream, by *session) {
	if len(raw) > 1<<16 || !strings.Contains(string(raw), `"taskId"`) {
		return
	}
	ms, err := members(raw)
	if err != nil {
		return
	}
	if kind, _ := getString(ms, "resultType"); kind != "task" || getMember(ms, "taskId") == nil {
		ms, _ = members(getMember(ms, "task"))
	}
	id, ok := getString(ms, "taskId")
	if !ok || len(id) > 512 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, old := t.known[id]; old {
		return
	}
	if t.known == nil {
		t.known = map[string]begun{}
	}
	if len(t.order) >= maxTasks {
		delete(t.known, t.order[0])
		t.order = t.order[1:]
	}
	t.known[id] = begun{u, by}
	t.order = append(t.order, id)
}

func (t *tasks) find(id string) (begun, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k, ok := t.known[id]
	return k, ok
}

// listTasks lists this client's tasks: to a server all clients are one, and what
// one does is none of another's business.
func (r *request) listTasks(ctx context.Context) (json.RawMessage, error) {
	var mine []item
	known := false
	for _, u := range r.p.ups {
		if field(field(u.capabilities(), "tasks"), "list") == nil {
			continue
		}
		known = true
		items, err := r.p.fetch(ctx, u, listKind{"tasks/list", "tasks", "taskId", "tasks"})
		if err != nil {
			r.p.log.Warn("a server does not list its tasks", zap.String("server", u.name()), zap.Error(err))
		}
		for _, it := range items {
			if t, ok := r.p.tasks.find(it.id); ok && t.up == u && t.by == r.s {
				mine = append(mine, it)
			}
		}
	}
	if !known {
		return nil, unknownMethod("no server lists its tasks")
	}
	return r.page("tasks", mine)
}

// passOther sends a notification that the proxy does not know to the client whose
// task it is about, or else to all that would hear a log message. The SDK sends
// what it knows alone, so only clients on stdio get it.
func (p *Proxy) passOther(u *upstream, method string, params json.RawMessage) {
	if len(method) > maxMethod {
		return
	}
	id := field(params, "taskId")
	if id == nil {
		p.passOn(u, method, params)
		return
	}
	var text string
	_ = json.Unmarshal(id, &text)
	t, ok := p.tasks.find(text)
	if !ok || t.up != u || t.by.ss == nil {
		return
	}
	t.by.out.send(func(ctx context.Context) { p.notifyRaw(ctx, t.by.ss, method, params) })
}

// notifyOther writes a notification that the SDK does not know.
func (p *Proxy) notifyOther(ctx context.Context, ss *mcp.ServerSession, method string, params json.RawMessage) {
	p.mu.Lock()
	conn := p.lines[ss.ID()]
	p.mu.Unlock()
	if conn == nil {
		p.log.Debug("a notification was dropped: it cannot be sent over HTTP", zap.String("method", method))
		return
	}
	_ = conn.Write(ctx, &jsonrpc.Request{Method: method, Params: params}) // an error: the client has left
}
