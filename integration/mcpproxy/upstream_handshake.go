package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// codeVersion is the JSON-RPC error of a server that does not speak the
// revision asked for.
const codeVersion = -32022

// shakeHands agrees on a revision: first on an old one, since a session has
// more to offer, then on that without sessions.
func (l *link) shakeHands(ctx context.Context, abilities json.RawMessage) error {
	a, err := l.initialize(ctx, newestLegacy, abilities)
	if err != nil {
		return err
	}
	if a.Error != nil && wantsDiscover(a) {
		return l.discover(ctx, abilities)
	}
	if err = l.initialized(ctx, a); err == nil || l.web == nil || a.Error != nil || ctx.Err() != nil {
		return err
	}
	l.web.version.Store(nil) // a server without sessions may name the revision before it, and refuse that
	if l.discover(ctx, abilities) != nil {
		return err
	}
	return nil
}

func (l *link) initialize(ctx context.Context, version string, abilities json.RawMessage) (answer, error) {
	params, err := json.Marshal(map[string]any{"protocolVersion": version, "capabilities": abilities, "clientInfo": self})
	if err != nil {
		return answer{}, err
	}
	return l.call(ctx, "initialize", params, &pending{})
}

// wantsDiscover reports the refusals of a server that knows no sessions.
func wantsDiscover(a answer) bool {
	return a.Error.Code == codeVersion || a.Error.Code == jsonrpc.CodeMethodNotFound || a.Status == http.StatusBadRequest
}

// abilities are what the server may ask of clients.
func (u *upstream) abilities(ctx context.Context) json.RawMessage {
	switch {
	case u.events.request == nil:
		return json.RawMessage("{}")
	case u.events.offers == nil:
		return offered
	}
	return u.events.offers(ctx)
}

// initialized ends the handshake of an old revision.
func (l *link) initialized(ctx context.Context, a answer) error {
	if a.Error != nil {
		return &refusalError{doing: "initialize", answer: a}
	}
	var said struct{ ProtocolVersion string }
	if err := json.Unmarshal(a.Result, &said); err != nil || said.ProtocolVersion == "" {
		return errors.New("initialize: the server's answer names no revision of the protocol")
	}
	if knownLegacy([]string{said.ProtocolVersion}) == "" {
		return fmt.Errorf("initialize: the server speaks revision %.20q, which the proxy does not know", said.ProtocolVersion)
	}
	l.version, l.capabilities = said.ProtocolVersion, field(a.Result, "capabilities")
	_ = json.Unmarshal(field(a.Result, "instructions"), &l.guide) // what is no text is none
	if l.web != nil {
		l.web.version.Store(&said.ProtocolVersion)
	}
	return l.conn.Write(ctx, &jsonrpc.Request{Method: "notifications/initialized"})
}

// discover is the handshake without sessions. A server that then names an old
// revision after all is taken at its word.
func (l *link) discover(ctx context.Context, abilities json.RawMessage) error {
	l.version = newest
	a, err := l.call(ctx, "server/discover", nil, &pending{})
	if err != nil {
		return err
	}
	if a.Error == nil {
		l.capabilities = field(a.Result, "capabilities")
		_ = json.Unmarshal(field(a.Result, "instructions"), &l.guide) // what is no text is none
		return nil
	}
	l.version = ""
	var data struct{ Supported []string }
	_ = json.Unmarshal(a.Error.Data, &data) // empty: the refusal stands
	old := knownLegacy(data.Supported)
	if a.Error.Code != codeVersion || old == "" {
		return &refusalError{doing: "server/discover", answer: a}
	}
	if a, err = l.initialize(ctx, old, abilities); err != nil {
		return err
	}
	return l.initialized(ctx, a)
}

// check asks for a sign of life. An error of the protocol is one, a gateway's is
// none.
func (l *link) check(ctx context.Context) error {
	method := "ping"
	if l.modern() {
		method = "server/discover"
	}
	a, err := l.call(ctx, method, nil, &pending{})
	if err == nil && (a.Status >= 500 || a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden) {
		return &refusalError{doing: method, answer: a}
	}
	return err
}

// sessionGone reports an answer that says that the server does not know the
// session, and so has done nothing.
func (l *link) sessionGone(a answer) bool {
	if l.web == nil || l.modern() || a.Error == nil || l.conn.SessionID() == "" {
		return false
	}
	if a.Status == http.StatusNotFound {
		return true
	}
	refused := a.Status == http.StatusBadRequest || a.Error.Code == jsonrpc.CodeInvalidRequest
	text := strings.ToLower(a.Error.Message)
	for _, says := range []string{"session not found", "no valid session", "invalid session", "unknown session",
		"session expired", "session has expired", "session does not exist", "server not initialized"} {
		if refused && strings.Contains(text, says) {
			return true
		}
	}
	return false
}
