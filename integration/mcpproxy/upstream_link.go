package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
)

const (
	maxAsked   = 64               // requests of one server under way at a time
	askedFor   = time.Hour        // the longest that a human may take over one
	writeFor   = 10 * time.Second // what is sent beside the calls
	abandonFor = time.Second
	drainAfter = 2 * time.Second // a stream that its server keeps open behind its answer
)

// errRetired ends a link that another one has replaced.
var errRetired = errors.New("the session was replaced by a new one")

// link is one connection to a server: calls out, and what comes in. Ids are its
// own. It is safe for concurrent use.
type link struct {
	conn mcp.Connection
	web  *web // of Streamable HTTP; nil: stdio
	log  *zap.Logger
	in   linkEvents

	version      string                           // of the protocol; set by the handshake, before any call of others
	capabilities json.RawMessage                  // as the server said in the handshake
	guide        string                           // the same, its instructions
	headers      atomic.Pointer[map[string][]arg] // of the tools' arguments, by tool; HTTP of 2026-07-28 only
	logLevel     atomic.Pointer[string]           // what a 2026-07-28 server is told with each request; nil: nothing

	ctx    context.Context // ends with the link; its cause is why
	cancel context.CancelCauseFunc
	stale  chan struct{} // closed when no new call may begin on it
	ended  chan struct{} // closed when the connection and its process have ended

	rehear chan struct{} // takes one: what the subscription is for has changed

	mu      sync.Mutex
	watched map[string]bool            // resources that a 2026-07-28 server tells the changes of
	last    int64                      // the last id given
	calls   map[int64]*pending         // under way
	telling map[int64]chan struct{}    // calls whose end the server is being told; closed when it was
	asked   map[any]context.CancelFunc // the server's own requests under way, by id
	retired error                      // why it is stale

	abandoned bool // the server is being told of all that was under way
}

// linkEvents are called from the link's reader: they must not wait for an
// answer of the same server.
type linkEvents struct {
	notify  func(method string, params json.RawMessage)
	request func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *jsonrpc.Error)
}

// pending is a call under way.
type pending struct {
	answered chan *jsonrpc.Response // takes one
	token    json.RawMessage        // of the caller; nil: none
	progress func(json.RawMessage)  // nil: not heard
	extend   func()                 // progress moves the deadline; nil: it does not
	rest     func()                 // a request of the server's own moves it; nil: there is no deadline
	wanted   bool                   // ask for progress even if the caller did not
}

func newLink(ctx context.Context, conn mcp.Connection, w *web, log *zap.Logger, in linkEvents) *link {
	l := &link{conn: conn, web: w, log: log, in: in, stale: make(chan struct{}), ended: make(chan struct{}),
		rehear: make(chan struct{}, 1), watched: map[string]bool{},
		calls: map[int64]*pending{}, telling: map[int64]chan struct{}{}, asked: map[any]context.CancelFunc{}}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	go l.read()
	go func() {
		<-l.ctx.Done()
		l.abandon()
		_ = conn.Close() // what went wrong is the cause
		close(l.ended)
	}()
	return l
}

// modern reports a server of 2026-07-28 or later: without sessions.
func (l *link) modern() bool { return l.version >= newest }

// err is why the link has ended; nil: it has not.
func (l *link) err() error { return context.Cause(l.ctx) }

// retire lets no new call begin, and ends the link when those under way have
// ended.
func (l *link) retire(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.retired != nil {
		return
	}
	l.retired = err
	close(l.stale)
	if len(l.calls) == 0 {
		l.cancel(err)
	}
}

// retiredErr is why no new call may begin on the link; nil: one may.
func (l *link) retiredErr() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.retired
}

func (l *link) isStale() bool {
	select {
	case <-l.stale:
		return true
	case <-l.ctx.Done():
		return true
	default:
		return false
	}
}

// read takes in what the server sends until the connection ends.
func (l *link) read() {
	for {
		msg, err := l.conn.Read(l.ctx)
		if err != nil {
			l.cancel(err)
			return
		}
		l.handle(l.ctx, msg)
	}
}

// handle takes in one message. ctx is that of the call on whose stream it came,
// or the link's.
func (l *link) handle(ctx context.Context, msg jsonrpc.Message) {
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		l.answered(msg)
	case *jsonrpc.Request:
		switch {
		case msg.IsCall():
			l.ask(ctx, msg)
		case msg.Method == "notifications/progress":
			l.progressed(msg.Params)
		case msg.Method == "notifications/cancelled":
			l.forget(msg.Params)
		case msg.Method == "notifications/subscriptions/acknowledged":
		case l.in.notify != nil:
			l.in.notify(msg.Method, withoutSubscription(msg.Params))
		}
	}
}

func (l *link) answered(resp *jsonrpc.Response) {
	id, _ := resp.ID.Raw().(int64)
	l.mu.Lock()
	p := l.calls[id]
	l.mu.Unlock()
	if p == nil {
		l.log.Debug("an answer to no call under way was dropped", zap.Any("id", resp.ID.Raw()))
		return
	}
	select {
	case p.answered <- resp:
	default: // the second answer to one call
	}
}

// progressed gives a call's progress to its caller, under the caller's token.
func (l *link) progressed(params json.RawMessage) {
	var id int64
	if json.Unmarshal(field(params, "progressToken"), &id) != nil {
		return
	}
	l.mu.Lock()
	p := l.calls[id]
	l.mu.Unlock()
	if p == nil {
		return
	}
	if p.extend != nil {
		p.extend()
	}
	if p.progress != nil && p.token != nil {
		p.progress(with(params, "progressToken", p.token))
	}
}

// call sends a request and waits for its answer. The end of ctx is told to the
// server; its cause is the error.
func (l *link) call(ctx context.Context, method string, params json.RawMessage, p *pending) (answer, error) {
	p.answered = make(chan *jsonrpc.Response, 1)
	p.token = field(field(params, "_meta"), "progressToken")
	id, err := l.begin(p)
	if err != nil {
		return answer{}, err
	}
	defer l.end(id)
	rid, _ := jsonrpc.MakeID(float64(id)) // a number is always fit for an id
	req := &jsonrpc.Request{ID: rid, Method: method, Params: l.outbound(params, id, p)}
	if l.web == nil {
		if err := l.conn.Write(ctx, req); err != nil {
			return answer{}, l.unsent(ctx, err)
		}
		return l.await(ctx, id, p, nil)
	}
	return l.post(ctx, req, id, p)
}

// begin registers a call.
func (l *link) begin(p *pending) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.retired != nil {
		return 0, fmt.Errorf("%w: %w", errDown, l.retired)
	}
	if err := l.err(); err != nil {
		return 0, fmt.Errorf("%w: %w", errDown, err)
	}
	l.last++
	l.calls[l.last] = p
	return l.last, nil
}

func (l *link) end(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err() != nil {
		return // abandon tells of it
	}
	delete(l.calls, id)
	if l.retired != nil && len(l.calls) == 0 {
		l.cancel(l.retired)
	}
}

// unsent is the error of a call whose request could not be written whole: no
// server has seen it.
func (l *link) unsent(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		return cause
	}
	l.cancel(err)
	return fmt.Errorf("%w: %w", errDown, l.err())
}

// await waits for the answer to a request that was sent. x is the exchange of
// an HTTP request; nil: none.
func (l *link) await(ctx context.Context, id int64, p *pending, x *exchange) (answer, error) {
	select {
	case resp := <-p.answered:
		return l.answer(resp, x)
	case <-ctx.Done():
	case <-l.ctx.Done():
	}
	select { // an answer that is there counts
	case resp := <-p.answered:
		return l.answer(resp, x)
	default:
	}
	if err := x.failure(); err != nil {
		return answer{}, err
	}
	if cause := context.Cause(ctx); cause != nil {
		l.tellCancelled(id, cause)
		return answer{}, cause
	}
	return answer{}, fmt.Errorf("%w: %w", errLost, l.err())
}

func (l *link) answer(resp *jsonrpc.Response, x *exchange) (answer, error) {
	a := answer{Result: resp.Result}
	if x != nil {
		a.Status, a.Header = x.status, x.header
	}
	if resp.Error == nil {
		return a, nil
	}
	if err := x.failure(); err != nil {
		return answer{}, err
	}
	if e, ok := resp.Error.(*jsonrpc.Error); ok {
		a.Error, a.Result = e, nil
		return a, nil
	}
	if errors.Is(resp.Error, errTooLarge) || errors.Is(resp.Error, errUnreadable) {
		return answer{}, resp.Error
	}
	return answer{}, fmt.Errorf("%w: %w", errLost, resp.Error)
}
