package mcpproxy

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// offerWait is how long a server waits for the first client to say what it can.
const offerWait = 2 * time.Second

// begunWait is how long a server's question waits for the end of the first
// client's handshake.
const begunWait = 10 * time.Second

// What a server may ask is settled in its handshake, once for all clients. With
// one client on stdio it is offered what that client can, no more: a server that
// is promised roots asks for them at once, and one that gets an error then works
// without them for good. So the process is started at once, but the handshake
// waits for the client's own, which follows within milliseconds where a client
// starts the proxy. Over HTTP clients come and go: all is offered, and a client
// that cannot answer refuses as if it had been asked directly.
type offers struct {
	known chan struct{} // closed when it is settled
	begun chan struct{} // closed when the first client may be asked
	caps  json.RawMessage
}

// learn takes what the first client on stdio can from its first message that
// says so.
func (p *Proxy) learn(m *jsonrpc.Request) {
	if p.isOffered() {
		return
	}
	var caps json.RawMessage
	switch meta := field(m.Params, "_meta"); {
	case m.Method == "initialize":
		if caps = field(m.Params, "capabilities"); caps == nil {
			caps = json.RawMessage("{}")
		}
	default:
		caps = field(meta, metaCapabilities)
	}
	if caps == nil {
		return
	}
	if m.Method != "initialize" {
		p.begin()
	}
	p.offer(abilities(caps))
}

// offer settles what servers are offered, if nothing has.
func (p *Proxy) offer(caps json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isOffered() {
		p.offers.caps = caps
		close(p.offers.known)
	}
}

// begin lets servers ask the first client: its handshake has ended.
func (p *Proxy) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !isClosed(p.offers.begun) {
		close(p.offers.begun)
	}
}

// awaitBegun waits for the end of the handshake of a client that is known of, and
// says whether it did: no client is asked before.
func (p *Proxy) awaitBegun(ctx context.Context) bool {
	if isClosed(p.offers.begun) || !p.isOffered() {
		return false
	}
	within(ctx, p.offers.begun, begunWait)
	return true
}

func (p *Proxy) isOffered() bool { return isClosed(p.offers.known) }

// abilities are what a server is offered in its handshake; without a client in
// offerWait everything.
func (p *Proxy) abilities(ctx context.Context) json.RawMessage {
	if within(ctx, p.offers.known, offerWait) {
		return p.offers.caps
	}
	return offered
}

func unknownMethod(why string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: why}
}

// rootsChanged tells of a client's new roots to each server that it has called,
// and where it is the only client to all. Those of 2026-07-28 ask anew when they
// need them.
func (p *Proxy) rootsChanged(_ context.Context, req *mcp.RootsListChangedRequest) {
	raw := rawParams("notifications/roots/list_changed", req)
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[req.Session]
	for _, u := range p.ups {
		if s != nil && (len(p.sessions) == 1 || s.called[u]) && u.version() < newest {
			go u.notify("notifications/roots/list_changed", raw)
		}
	}
}
