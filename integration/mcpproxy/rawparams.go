package mcpproxy

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK decodes params into its own types, which lose what they do not know.
// Their bytes travel beside them, in a header that only the proxy can set: it
// is taken out of every request that comes over HTTP.
const (
	paramsHeader = "Expediter-Params" // of one request
	batchHeader  = "Expediter-Batch"  // the whole batch, of which nobody knows which request is which
	idHeader     = "Expediter-Id"     // of one request, on stdio
)

// rawParams returns the params of a request as they came, nil if it had none.
func rawParams(method string, req mcp.Request) json.RawMessage {
	x := req.GetExtra()
	if x == nil {
		return nil
	}
	if v := x.Header[paramsHeader]; len(v) == 1 {
		return json.RawMessage(v[0])
	}
	if v := x.Header[batchHeader]; len(v) == 1 {
		return paramsInBatch(v[0], method, req.GetParams())
	}
	return nil
}

// rawID is the id of a request that came on stdio; empty: it did not.
func rawID(req mcp.Request) string {
	if x := req.GetExtra(); x != nil {
		if v := x.Header[idHeader]; len(v) == 1 {
			return v[0]
		}
	}
	return ""
}

func idText(id jsonrpc.ID) string { return string(encode(id.Raw())) }

// paramsInBatch finds the params that decode to what the SDK decoded. Where two
// requests of a batch do, either stands for both.
func paramsInBatch(batch, method string, typed mcp.Params) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal([]byte(batch), &all) != nil {
		return nil
	}
	var found []json.RawMessage
	for _, raw := range all {
		ms, err := members(raw)
		if err != nil {
			continue
		}
		if m, _ := getString(ms, "method"); m == method {
			found = append(found, getMember(ms, "params"))
		}
	}
	return sameAs(found, typed)
}

// sameAs returns the first of raws that decodes to typed, a pointer; nil if none
// does.
func sameAs(raws []json.RawMessage, typed any) json.RawMessage {
	t := reflect.TypeOf(typed)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil
	}
	for _, raw := range raws {
		v := reflect.New(t.Elem())
		if json.Unmarshal(raw, v.Interface()) == nil && reflect.DeepEqual(v.Interface(), typed) {
			return raw
		}
	}
	return nil
}

// teeTransport keeps the bytes of what comes in on stdio, and takes short calls
// out of it. It serves one connection.
type teeTransport struct {
	mcp.Transport
	p    *Proxy
	ctx  context.Context // of Serve
	in   io.Reader
	out  *wholeWrites
	feed *io.PipeWriter // what the SDK reads
	conn *teeConn       // nil: not connected
}

func (t *teeTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	tee := &teeConn{Connection: c, p: t.p, t: t, id: "stdio-" + rand.Text(), open: map[jsonrpc.ID]bool{}, joining: map[jsonrpc.ID]string{}}
	tee.ctx, tee.gone = both(t.ctx, t.p.work)
	t.p.mu.Lock()
	t.p.lives[tee.id] = tee.ctx
	t.p.lines[tee.id] = tee
	t.p.mu.Unlock()
	t.conn = tee
	go tee.split()
	return tee, nil
}

type teeConn struct {
	mcp.Connection
	p    *Proxy
	t    *teeTransport
	id   string
	ctx  context.Context
	gone context.CancelFunc // ends what the client has under way: nobody waits for it
	ss   *mcp.ServerSession // nil: not known yet; for split alone
	busy sync.WaitGroup     // short calls

	feeding sync.Mutex // held while a line is handed to the SDK
	mu      sync.Mutex
	open    map[jsonrpc.ID]bool   // requests that are not answered yet
	joining map[jsonrpc.ID]string // short calls that the SDK is about to be given, with their keys
}

func (c *teeConn) SessionID() string { return c.id }

// Read returns the next message. Requests beyond those that may be under way are
// refused: a client that asks and asks, and reads nothing, is held up here.
func (c *teeConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	for err == nil && !c.admits(m) {
		err = c.Connection.Write(ctx, &jsonrpc.Response{ID: m.(*jsonrpc.Request).ID, Error: errBusy})
		if err == nil {
			m, err = c.Connection.Read(ctx)
		}
	}
	if err != nil {
		c.gone()
		return nil, err
	}
	switch m := m.(type) {
	case *jsonrpc.Request:
		c.p.learn(m)
		h := http.Header{paramsHeader: {string(m.Params)}, idHeader: {idText(m.ID)}}
		c.mark(m, h)
		m.Extra = &mcp.RequestExtra{Header: h}
		if m.Method == "notifications/cancelled" {
			if id, err := decodeID(field(m.Params, "requestId")); err == nil && id.IsValid() {
				c.p.parks.cancelled(c.id, idText(id))
			}
		}
		disguise(m, h)
	case *jsonrpc.Response:
		c.p.reply(c.id, m.Result)
	}
	return m, nil
}

// mostWaiting is how many requests of one client on stdio may wait for their turn.
const mostWaiting = 1 << 10

var errBusy = &jsonrpc.Error{Code: -32000, Message: "too many requests of this client are under way; wait for their answers"}

// admits enters a request, unless too many are open.
func (c *teeConn) admits(m jsonrpc.Message) bool {
	req, ok := m.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.joining[req.ID] != "" {
		return true // it has been
	}
	if len(c.open) >= c.p.cfg.Proxy.MaxInFlight+mostWaiting {
		return false
	}
	c.open[req.ID] = true
	return true
}

// answered says that a request is not open any more.
func (c *teeConn) answered(id jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

// Write sends a message to the client.
func (c *teeConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if resp, ok := m.(*jsonrpc.Response); ok {
		c.answered(resp.ID)
	}
	return err
}

func (c *teeConn) Close() error {
	c.gone()
	c.p.mu.Lock()
	delete(c.p.lives, c.id)
	delete(c.p.lines, c.id)
	c.p.mu.Unlock()
	return c.Connection.Close()
}

// life is the context that ends what a connection has under way; nil: over HTTP,
// without a session.
func (p *Proxy) life(ss *mcp.ServerSession) context.Context {
	if ss == nil {
		return p.work
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx, ok := p.lives[ss.ID()]; ok {
		return ctx
	}
	return p.work
}

// replies are the answers of a client to what it was asked, as they came.
type replies struct {
	mu     sync.Mutex
	asked  int
	answer []json.RawMessage
}

// maxReplies bounds what is kept of a client that answers what nobody asked.
const maxReplies = 64

// reply keeps an answer of a client while something is asked of it.
func (p *Proxy) reply(session string, result json.RawMessage) {
	p.mu.Lock()
	r := p.asking[session]
	p.mu.Unlock()
	if r == nil || len(result) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.answer) < maxReplies {
		r.answer = append(r.answer, result)
	}
}

// take returns the bytes of the answer that the SDK decoded to typed.
func (r *replies) take(typed any) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw := sameAs(r.answer, typed)
	for i := range r.answer {
		if raw != nil && &r.answer[i][0] == &raw[0] {
			r.answer = append(r.answer[:i], r.answer[i+1:]...)
			break
		}
	}
	return raw
}
