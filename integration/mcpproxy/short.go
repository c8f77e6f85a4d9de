package mcpproxy

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// joinHeader is the key of a short call, on the request that the SDK is given of
// it.
const joinHeader = "Expediter-Joins"

// short is a tools/call that goes past the SDK's server, which would read it
// three times over and hand it from goroutine to goroutine: most calls have a
// result and nothing else, and need no more of the protocol than its id. What
// has more to say to the client than that joins the SDK: it is given the request
// as well, comes back with it as receive, finds the call under way, and sends
// its messages and its end.
type short struct {
	p      *Proxy
	key    string
	cancel context.CancelFunc
	over   <-chan struct{}  // closed when the connection has ended
	give   func(key string) // gives the SDK the request, marked with the key, without waiting

	once    sync.Once     // for the first that decides whether it joins
	arrived sync.Once     // closes there
	there   chan struct{} // closed when the SDK has come back, or never will
	ctx     context.Context
	ss      *mcp.ServerSession // nil: it never will

	done chan struct{} // closed when raw and err are set
	raw  json.RawMessage
	err  error
}

var errNoJoin = errors.New("the client's connection has ended")

// shorts are the short calls under way of all clients.
type shorts struct {
	mu  sync.Mutex // no other is taken within it
	by  map[string]*short
	ids map[shortID]*short
}

// shortID is a call as its client names it: a cancellation has no more.
type shortID struct {
	session string
	id      string // as it stands
}

// open notes a call under way. It reports false if the client has another one of
// that id.
func (s *shorts) open(id shortID, q *short) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id.session == "" {
		return true // the end of its request is its cancellation
	}
	if s.ids[id] != nil {
		return false
	}
	s.ids[id] = q
	return true
}

func (s *shorts) close(id shortID, q *short) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids[id] == q {
		delete(s.ids, id)
	}
	if q.key != "" {
		delete(s.by, q.key)
	}
}

// cancel ends the call that a notifications/cancelled of a client names, if it
// is a short one.
func (s *shorts) cancel(session string, params json.RawMessage) {
	id := field(params, "requestId")
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.ids[shortID{session, string(id)}]; q != nil {
		q.cancel()
	}
}

// take returns the call of a key, once.
func (s *shorts) take(key string) *short {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.by[key]
	delete(s.by, key)
	return q
}

// short makes a call that joins the SDK by give, and ends by cancel. over is
// closed when its connection has ended.
func (p *Proxy) short(over <-chan struct{}, cancel context.CancelFunc, give func(string)) *short {
	return &short{p: p, cancel: cancel, over: over, give: give, there: make(chan struct{}), done: make(chan struct{})}
}

// answer runs a call of r to its end. It reports false if the SDK sends what it
// came to.
func (q *short) answer(ctx context.Context, r *request) (raw json.RawMessage, ok bool) {
	r.short = q
	q.raw, q.err = r.inSession(context.WithValue(ctx, shortKey{}, q), (*request).callTool)
	q.err = worded(q.err)
	if q.err != nil { // the SDK knows how errors are told
		q.join()
	} else {
		q.once.Do(func() { ok = true })
	}
	close(q.done)
	return q.raw, ok
}

// join gives the request to the SDK and waits until it has come back. It reports
// whether it did.
func (q *short) join() bool {
	q.once.Do(func() {
		key := rand.Text()
		q.p.shorts.mu.Lock()
		q.key = key
		q.p.shorts.by[key] = q
		q.p.shorts.mu.Unlock()
		q.give(key)
	})
	select {
	case <-q.there:
		return q.ss != nil
	case <-q.done: // it has been answered
	case <-q.over:
	}
	return false
}

// come is the SDK's coming back with the request: it stays until the call has
// ended.
func (q *short) come(ctx context.Context, ss *mcp.ServerSession) (mcp.Result, error) {
	q.arrive(ctx, ss)
	select {
	case <-q.done:
	case <-ctx.Done():
		q.cancel()
		<-q.done
	}
	if q.err != nil {
		return nil, q.err
	}
	return &rawResult{raw: q.raw}, nil
}

// arrive says that the SDK has come back; without ss, that it never will.
func (q *short) arrive(ctx context.Context, ss *mcp.ServerSession) {
	q.arrived.Do(func() {
		q.ctx, q.ss = ctx, ss
		close(q.there)
	})
}

// joins finds the short call that the SDK comes back with; nil: it is none. A
// call that has ended meanwhile, because its client has left, is an error: it
// must not be made again.
func (p *Proxy) joins(req mcp.Request) (*short, error) {
	x := req.GetExtra()
	if x == nil || len(x.Header[joinHeader]) != 1 {
		return nil, nil
	}
	if q := p.shorts.take(x.Header[joinHeader][0]); q != nil {
		return q, nil
	}
	return nil, errNoJoin
}

type shortKey struct{}

// sending is the context and the connection by which something is sent to a
// client: of a short call, those that it has with the SDK. The context ends with
// ctx.
func sending(ctx context.Context, ss *mcp.ServerSession) (context.Context, *mcp.ServerSession, context.CancelFunc, error) {
	q, ok := ctx.Value(shortKey{}).(*short)
	if !ok {
		return ctx, ss, func() {}, nil
	}
	if !q.join() {
		return nil, nil, nil, errNoJoin
	}
	ctx, stop := both(q.ctx, ctx)
	return ctx, q.ss, stop, nil
}

// envelope is a tools/call as it came.
type envelope struct {
	id     json.RawMessage
	params json.RawMessage
}

// plainCall reads a message that is a tools/call with nothing about it that the
// SDK, here or in the server, would refuse: brackets nested too deep, for one. For
// all others it reports false.
func plainCall(ms []member) (e envelope, ok bool) {
	var method string
	for _, m := range ms {
		switch m.key {
		case "jsonrpc":
			if ok = string(m.value) == `"2.0"`; !ok {
				return e, false
			}
		case "id":
			e.id = m.value
		case "method":
			method = string(m.value)
		case "params":
			e.params = m.value
		default:
			return e, false
		}
	}
	return e, ok && method == `"tools/call"` && plainID(e.id) && len(e.params) > 0 && e.params[0] == '{' && flat(e.params)
}

// plainID reports an id that is its own bytes to every reader: a string, or a
// number of few digits.
func plainID(id json.RawMessage) bool {
	if len(id) > 2 && id[0] == '"' {
		return len(id) <= 128
	}
	for _, c := range id {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(id) > 0 && len(id) <= 15 && (id[0] != '0' || len(id) == 1)
}

// plain reports whether the request of a plainCall needs none of the SDK's
// judgement, as one of an old revision or of the newest.
func (r *request) plain() bool {
	for _, m := range r.params {
		switch m.key {
		case "name":
			if len(m.value) < 2 || m.value[0] != '"' {
				return false
			}
		case "arguments", "_meta":
			if len(m.value) == 0 || m.value[0] != '{' {
				return false
			}
		default:
			if known := m.key == "inputResponses" || m.key == "requestState"; known {
				return false
			}
		}
	}
	if v := getMember(r.meta, metaVersion); !r.modern {
		return v == nil
	} else if string(v) != `"`+newest+`"` {
		return false
	}
	var caps *mcp.ClientCapabilities
	var info *mcp.Implementation
	return json.Unmarshal(getMember(r.meta, metaCapabilities), &caps) == nil && caps != nil &&
		(getMember(r.meta, metaClient) == nil || json.Unmarshal(getMember(r.meta, metaClient), &info) == nil)
}

// resultMessage is the message of a result around its bytes.
func resultMessage(id json.RawMessage) (head, tail []byte) {
	head = append(append([]byte(`{"jsonrpc":"2.0","id":`), id...), `,"result":`...)
	return head, []byte("}")
}
