package mcpproxy

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// change is a list that clients are told to read anew.
type change uint8

const (
	_ change = iota
	toolsChanged
	resourcesChanged
	promptsChanged
)

// changed tells every client that has not said it does not want to know. The
// SDK knows who listens in which way, and says so when its own lists change:
// they are changed and changed back.
func (p *Proxy) changed(all ...change) {
	const name = "expediter_changed"
	for _, c := range all {
		switch c {
		case toolsChanged:
			p.server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
			p.server.RemoveTools(name)
		case resourcesChanged:
			p.server.AddResource(&mcp.Resource{Name: name, URI: "expediter:changed"}, nil)
			p.server.RemoveResources("expediter:changed")
		case promptsChanged:
			p.server.AddPrompt(&mcp.Prompt{Name: name}, nil)
			p.server.RemovePrompts(name)
		}
	}
}

// upstreamNotify passes on what a server tells.
func (p *Proxy) upstreamNotify(u *upstream, method string, params json.RawMessage) {
	switch method {
	case "notifications/message", "notifications/elicitation/complete":
		p.passOn(u, method, params)
	case "notifications/resources/list_changed":
		p.lists.forget(u)
		p.changed(resourcesChanged)
	case "notifications/prompts/list_changed":
		p.lists.forget(u)
		p.changed(promptsChanged)
	case "notifications/resources/updated":
		ms, err := members(params)
		if uri, ok := getString(ms, "uri"); err == nil && ok {
			_ = p.server.ResourceUpdated(p.ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})
		}
	default:
		p.passOther(u, method, params)
	}
}

// passOn sends a notification to the clients that it may concern, log messages
// to those that asked for their level: on the stream of a call that is under way
// at the server, else beside all calls. Callers of 2026-07-28 hear of it only on
// their calls.
func (p *Proxy) passOn(u *upstream, method string, params json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	heard := map[*session]bool{}
	for f := range p.flights[u] {
		if !heard[f.r.s] || f.r.modern {
			heard[f.r.s] = true
			at := f.r.at()
			if at.hears(method) {
				at.out.send(func(ctx context.Context) { p.notifyRaw(ctx, at.ss, method, params) })
			}
		}
	}
	for _, s := range p.sessions {
		if s.ss != nil && !s.modern && !heard[s] && (s.level != "" || method != "notifications/message") {
			s.out.send(func(ctx context.Context) { p.notifyRaw(ctx, s.ss, method, params) })
		}
	}
}

// hears reports whether a notification beside a call is worth a way to its
// client: the SDK drops log messages that nobody asked for. It needs p.mu.
func (r *request) hears(method string) bool {
	if r.short == nil || method != "notifications/message" {
		return true
	}
	return r.modern && getMember(r.meta, metaLogLevel) != nil || !r.modern && r.s.level != ""
}

// levels of log messages, the most talkative first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// setLevel notes the level a client asked for and asks every server for the
// most talkative of all clients'; the SDK sends each client only its own.
func (p *Proxy) setLevel(ctx context.Context, ss *mcp.ServerSession, level string) {
	s, err := p.enter(ss, false, nil)
	if err != nil {
		return
	}
	defer p.leave(s)
	p.mu.Lock()
	s.level = level
	most := len(levels) - 1
	for _, s := range p.sessions {
		if i := slices.Index(levels, s.level); i >= 0 && i < most {
			most = i
		}
	}
	p.mu.Unlock()
	for _, u := range p.ups {
		p.tell(ctx, u, "logging/setLevel", "logging", encodeMembers([]member{{"level", encode(levels[most])}}))
	}
}

// tell asks a server for something whose answer nobody waits for.
func (p *Proxy) tell(ctx context.Context, u *upstream, method, capability string, params json.RawMessage) {
	if !u.isUp() || !can(u, capability) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listWait)
	stop := context.AfterFunc(p.ctx, cancel)
	go func() {
		defer cancel()
		defer stop()
		_, _ = u.call(bare{Context: ctx}, method, params, nil)
	}()
}

// can says whether a server declared a capability.
func can(u *upstream, capability string) bool {
	ms, err := members(u.capabilities())
	return err == nil && getMember(ms, capability) != nil
}

// watch is a resource that clients subscribed to.
type watch struct {
	up *upstream
	by map[*mcp.ServerSession]bool
}

// subscribe is called by the SDK for subscriptions of old and new clients.
func (p *Proxy) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	p.ready(ctx)
	u := p.ownerOf(ctx, uri)
	if u == nil {
		return mcp.ResourceNotFoundError(uri)
	}
	p.mu.Lock()
	w := p.watched[uri]
	first := w == nil
	if first {
		w = &watch{up: u, by: map[*mcp.ServerSession]bool{}}
		p.watched[uri] = w
	}
	w.by[req.Session] = true
	p.mu.Unlock()
	if !first {
		return nil
	}
	a, err := u.call(bare{Context: ctx}, "resources/subscribe", encodeMembers([]member{{"uri", encode(uri)}}), nil)
	if err == nil && a.Error != nil {
		err = a.Error
	}
	if err != nil {
		p.unwatch(uri, req.Session)
	}
	return err
}

func (p *Proxy) unsubscribe(ctx context.Context, req *mcp.UnsubscribeRequest) error {
	if u := p.unwatch(req.Params.URI, req.Session); u != nil {
		p.tell(ctx, u, "resources/unsubscribe", "resources", encodeMembers([]member{{"uri", encode(req.Params.URI)}}))
	}
	return nil
}

// unwatch returns the server that need not tell of the resource any more, nil
// if another client still wants to know.
func (p *Proxy) unwatch(uri string, ss *mcp.ServerSession) *upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watched[uri]
	if w == nil {
		return nil
	}
	delete(w.by, ss)
	if len(w.by) > 0 {
		return nil
	}
	delete(p.watched, uri)
	return w.up
}

func (p *Proxy) unwatchAll(ss *mcp.ServerSession) {
	p.mu.Lock()
	var uris []string
	for uri, w := range p.watched {
		if w.by[ss] {
			uris = append(uris, uri)
		}
	}
	p.mu.Unlock()
	for _, uri := range uris {
		if u := p.unwatch(uri, ss); u != nil {
			p.tell(p.ctx, u, "resources/unsubscribe", "resources", encodeMembers([]member{{"uri", encode(uri)}}))
		}
	}
}

// watchAgain subscribes anew at a server that came back and knows of nothing.
func (p *Proxy) watchAgain(u *upstream) {
	p.mu.Lock()
	var uris []string
	for uri, w := range p.watched {
		if w.up == u {
			uris = append(uris, uri)
		}
	}
	p.mu.Unlock()
	for _, uri := range uris {
		p.tell(p.ctx, u, "resources/subscribe", "resources", encodeMembers([]member{{"uri", encode(uri)}}))
	}
}
