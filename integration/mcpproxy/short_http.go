package mcpproxy

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
)

// keptFor is how long a session may live of short calls alone before the SDK
// hears of it: it would take it for idle.
const keptFor = time.Hour

// kept is the SDK's session of an id; nil: it has none, or is to hear of it.
func (p *Proxy) kept(id string) *mcp.ServerSession {
	now := p.env.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.byID[id]
	if s == nil {
		return nil
	}
	if now.Sub(s.kept) > keptFor {
		s.kept = now
		return nil
	}
	return s.ss
}

// short answers a request that is a short call, and reports whether it was one.
func (f *front) short(w http.ResponseWriter, req *http.Request, modern bool, ms []member) bool {
	e, ok := plainCall(ms)
	if !ok || !plainHead(req.Header, modern) {
		return false
	}
	id, sdk := shortID{}, f.stateless
	var ss *mcp.ServerSession
	ctx := req.Context()
	if !modern {
		id, sdk = shortID{req.Header.Get("Mcp-Session-Id"), string(e.id)}, f.stateful
		ctx = context.WithoutCancel(ctx) // an old client says that it has lost interest
		if ss = f.p.kept(id.session); ss == nil {
			return false
		}
	}
	r, err := f.p.requestOf(ss, "tools/call", e.params, "")
	if err != nil || r.modern != modern || !r.plain() {
		return false
	}
	if name, _ := getString(r.params, "name"); modern && req.Header.Get("Mcp-Name") != name {
		return false
	}
	return f.answer(ctx, w, req, sdk, r, id, e)
}

func (f *front) answer(ctx context.Context, w http.ResponseWriter, req *http.Request, sdk http.Handler, r *request, id shortID, e envelope) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	var q *short
	q = f.p.short(f.p.ctx.Done(), cancel, func(key string) {
		req.Header[joinHeader] = []string{key}
		go func() {
			defer close(ended)
			defer q.arrive(ctx, nil)
			defer f.quietly()
			sdk.ServeHTTP(w, req)
		}()
	})
	if !f.p.shorts.open(id, q) {
		return false
	}
	defer f.p.shorts.close(id, q)
	result, ok := q.answer(ctx, r)
	if !ok {
		<-ended
		return true
	}
	head, tail := resultMessage(e.id)
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = []string{"application/json"}, []string{"no-cache, no-transform"}
	h["Content-Length"] = []string{strconv.Itoa(len(head) + len(result) + len(tail))}
	for _, part := range [][]byte{head, result, tail} {
		if _, err := w.Write(part); err != nil {
			return true // the client has left
		}
	}
	return true
}

// quietly keeps a panic of a request from ending the proxy, as the server does
// in its own goroutines.
func (f *front) quietly() {
	if v := recover(); v != nil {
		f.p.log.Error("a request panicked", zap.Any("panic", v), zap.Stack("stack"))
	}
}

// plainHead reports whether the SDK would take a call with this head.
func plainHead(h http.Header, modern bool) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	accept := strings.Join(h.Values("Accept"), ",")
	version, session := h.Get(versionHeader), h.Get("Mcp-Session-Id")
	switch {
	case kind != "application/json", h.Get("Last-Event-Id") != "",
		!strings.Contains(accept, "application/json"), !strings.Contains(accept, "text/event-stream"):
		return false
	case modern:
		return version == newest && session == "" && h.Get("Mcp-Method") == "tools/call"
	}
	return session != "" && (version == "" || slices.Contains(legacyVersions, version))
}
