package mcpproxy

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is one client, as the proxy sees it. Callers over HTTP that speak
// 2026-07-28 have none: they share one for each name of a client.
type session struct {
	ss     *mcp.ServerSession // nil: a caller without a session
	client *client
	modern bool
	caps   json.RawMessage    // what a legacy client said it can do
	called map[*upstream]bool // where it had something under way
	level  string             // of log messages; empty: none asked for
	out    outbox             // log messages beside all calls
	used   time.Time
	kept   time.Time // when the SDK last heard of it, at the earliest; over HTTP
	busy   int       // requests and calls under way
	ended  bool      // the last of them ends the client's journal
}

// callerKey names the callers that share a session.
type callerKey string

var errFull = &jsonrpc.Error{Code: -32000, Message: "too many sessions at this proxy; end one, or raise its limit"}

// enter finds or makes the session of a request, which leave gives back.
func (p *Proxy) enter(ss *mcp.ServerSession, modern bool, meta []member) (*session, error) {
	var key any = ss
	if modern && (ss == nil || ss.ID() == "") {
		key = callerName(meta)
	}
	if s := p.known(key); s != nil {
		return s, nil
	}
	p.statusMu.Lock()
	defer p.statusMu.Unlock()
	if s := p.known(key); s != nil {
		return s, nil
	}
	if !p.room() {
		return nil, errFull
	}
	s := &session{modern: modern, used: p.env.Now(), busy: 1}
	if _, shared := key.(callerKey); !shared {
		s.ss = ss
		s.out.begin(p.ctx)
	}
	h := p.humanOf(s)
	h.client = clientName(ss, meta)
	s.client = p.newClient(strings.ToLower(rand.Text()), h)
	p.mu.Lock()
	p.sessions[key] = s
	if s.ss != nil && p.lives[ss.ID()] == nil {
		s.kept = s.used
		p.byID[ss.ID()] = s
	}
	downs := map[*upstream]error{}
	for u, st := range p.state {
		if st.err != nil {
			downs[u] = st.err
		}
	}
	p.mu.Unlock()
	for u, err := range downs {
		s.client.serverDown(u, err)
	}
	if s.ss != nil {
		go func() {
			_ = ss.Wait()
			p.forget(key)
		}()
	}
	return s, nil
}

// clientName is what a client calls itself.
func clientName(ss *mcp.ServerSession, meta []member) string {
	if ss == nil {
		return string(callerName(meta))
	}
	if init := ss.InitializeParams(); init != nil && init.ClientInfo != nil {
		return init.ClientInfo.Name
	}
	return string(callerName(meta))
}

func callerName(meta []member) callerKey {
	var info struct{ Name string }
	_ = json.Unmarshal(getMember(meta, metaClient), &info)
	return callerKey(info.Name[:min(len(info.Name), 128)])
}

func (p *Proxy) known(key any) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.sessions[key]
	if s != nil {
		s.busy++
		s.used = p.env.Now()
	}
	return s
}

func (p *Proxy) leave(s *session) {
	p.mu.Lock()
	s.busy--
	last := s.ended && s.busy == 0
	p.mu.Unlock()
	if last {
		s.client.close()
	}
}

// room makes a place for one more session, that of the one that has been idle
// longest if need be.
func (p *Proxy) room() bool {
	p.mu.Lock()
	var oldest *session
	var key any
	full := len(p.sessions) >= p.cfg.Proxy.MaxSessions
	for k, s := range p.sessions {
		if full && s.busy == 0 && p.env.Now().Sub(s.used) > 10*time.Minute && (oldest == nil || s.used.Before(oldest.used)) {
			oldest, key = s, k
		}
	}
	p.mu.Unlock()
	if !full {
		return true
	}
	if oldest == nil {
		return false
	}
	p.forgetLocked(key)
	if oldest.ss != nil {
		go oldest.ss.Close()
	}
	return true
}

// forget ends a session: its connection has ended.
func (p *Proxy) forget(key any) {
	p.statusMu.Lock()
	defer p.statusMu.Unlock()
	p.forgetLocked(key)
}

// forgetLocked needs statusMu.
func (p *Proxy) forgetLocked(key any) {
	p.mu.Lock()
	s := p.sessions[key]
	delete(p.sessions, key)
	if s != nil && s.ss != nil && p.byID[s.ss.ID()] == s {
		delete(p.byID, s.ss.ID())
	}
	idle := s != nil && s.busy == 0
	if s != nil {
		s.ended = true
	}
	p.mu.Unlock()
	if s == nil {
		return
	}
	if idle {
		s.client.close()
	}
	if s.ss != nil {
		p.unwatchAll(s.ss)
	}
}

// humanOf is whom the decisions of a session can ask.
func (p *Proxy) humanOf(s *session) human {
	if s.modern || s.ss == nil {
		return human{modern: true}
	}
	init := s.ss.InitializeParams()
	if init == nil || init.Capabilities == nil || init.Capabilities.Elicitation == nil {
		return human{}
	}
	h := human{elicit: func(ctx context.Context, message string, schema json.RawMessage) (string, json.RawMessage, error) {
		params := encodeMembers([]member{{"message", encode(message)}, {"requestedSchema", schema}})
		raw, rpc := p.askClient(ctx, s.ss, "elicitation/create", params)
		if rpc != nil {
			return "", nil, rpc
		}
		ms, err := members(raw)
		if err != nil {
			return "", nil, err
		}
		action, _ := getString(ms, "action")
		if action == "" {
			return "", nil, errors.New("the client's answer to an elicitation has no action")
		}
		return action, getMember(ms, "content"), nil
	}}
	if init.Capabilities.Elicitation.URL != nil {
		h.open = func(ctx context.Context, id, message, address string) error {
			_, rpc := p.askClient(ctx, s.ss, "elicitation/create", encode(map[string]string{
				"mode": "url", "elicitationId": id, "message": message, "url": address}))
			if rpc != nil {
				return rpc
			}
			return nil
		}
		h.opened = func(ctx context.Context, id string) {
			p.notifyRaw(ctx, s.ss, "notifications/elicitation/complete", encode(map[string]string{"elicitationId": id}))
		}
	}
	return h
}
