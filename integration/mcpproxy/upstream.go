package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/zap"
)

// What a call came to that has no answer. The first two wrap their cause.
var (
	errDown = errors.New("the server is not connected; the call was not sent")
	errLost = errors.New("the connection to the server was lost while the call was under way; whether it took effect is unknown")

	errDeadline error = deadlineError{}
)

// deadlineError is context.DeadlineExceeded to errors.Is.
type deadlineError struct{}

func (deadlineError) Error() string        { return "the server did not answer within its deadline" }
func (deadlineError) Timeout() bool        { return true }
func (deadlineError) Is(target error) bool { return target == context.DeadlineExceeded }

// upstreamEvents are called one at a time for an upstream, in order, under no
// lock, and may call the upstream. Nil: not heard.
type upstreamEvents struct {
	up     func(u *upstream)            // connected and tools known, or its tools have changed
	down   func(u *upstream, err error) // the connection is lost, or cannot be made: for the first time since it was up
	notify func(u *upstream, method string, params json.RawMessage)
	offers func(ctx context.Context) json.RawMessage // what the server may ask for, in a handshake with sessions; nil: all
	// request answers the server's own. Unlike the others it is called
	// concurrently; ctx ends when the server takes it back or is lost.
	request func(ctx context.Context, u *upstream, method string, params json.RawMessage) (json.RawMessage, *jsonrpc.Error)
}

// answer is what a server said to a call.
type answer struct {
	Result json.RawMessage // as it came; nil with Error
	Error  *jsonrpc.Error  // of an HTTP refusal without one: made of its status and text
	Status int             // of the HTTP answer; 0: not HTTP
	Header http.Header     // of an HTTP answer that refused

	Excused bool // an error in Result is for what the client did not do
}

// rawTool is one tool as its server lists it.
type rawTool struct {
	Name string
	Raw  json.RawMessage // the whole object
}

// hints are what a server claims of a tool in its annotations; nil: nothing.
type hints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
}

// hints reads the tool's; its error says that they cannot be read.
func (t rawTool) hints() (hints, error) {
	var tool struct{ Annotations hints }
	err := json.Unmarshal(t.Raw, &tool)
	return tool.Annotations, err
}

// upstream is one server. It connects, and connects anew when the connection
// is lost, until its context ends. Make one with newUpstream; it is safe for
// concurrent use.
type upstream struct {
	server Server
	opts   Options
	events upstreamEvents
	log    *zap.Logger
	mask   func(string) string
	auth   *authorizer // nil: no OAuth
	queue  *eventQueue

	relist  chan struct{} // takes one: the list of tools has changed
	suspect chan struct{} // takes one: is the server still there?

	mu       sync.Mutex
	link     *link           // nil: down
	renewing chan struct{}   // closed when the session that is being made anew is there, or is not; nil: none is
	listed   []rawTool       // the last known, also when down
	caps     json.RawMessage // the same, of its capabilities
	revision string
	guide    string // its instructions, the last known
	downErr  error  // why it is down; nil: it is up, or has not been tried
}

func newUpstream(s Server, o Options, ev upstreamEvents, log *zap.Logger) *upstream {
	o = o.filled()
	if s.Timeout > 0 {
		o.Deadline = s.Timeout
	}
	u := &upstream{server: s, opts: o, events: ev, log: log.With(zap.String("server", s.Name)), mask: masker(s),
		queue: newEventQueue(), relist: make(chan struct{}, 1), suspect: make(chan struct{}, 1)}
	if u.auth = newAuthorizer(s, u.mask, u.log); u.auth != nil {
		u.mask = u.auth.mask
	}
	return u
}

// name is the server's, as the configuration has it.
func (u *upstream) name() string { return u.server.Name }

// shownName is the name, fit for a text that the proxy gives.
func (u *upstream) shownName() string { return redact.Text(u.server.Name, maxText) }

// tools returns the server's tools as listed last, those of a server that is
// down included; nil: never listed. The caller must not change them.
func (u *upstream) tools() []rawTool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.listed
}

// capabilities returns what the server said that it can, as it came; nil: it
// has not been connected yet.
func (u *upstream) capabilities() json.RawMessage {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.caps
}

// instructions are what the server says to its clients' models of how it is to be
// used, as it came; empty: nothing.
func (u *upstream) instructions() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.guide
}

// version is the revision of the protocol that the server speaks.
func (u *upstream) version() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.revision
}

// isUp reports whether a call would be sent. A session that is being made anew
// counts: a call waits for it.
func (u *upstream) isUp() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.renewing != nil || u.link != nil && !u.link.isStale()
}

// call asks the server and waits for its answer, at most for the server's
// deadline. The error is errDown, errLost, errDeadline, errTooLarge,
// errUnreadable or the cause of ctx's end. A lost session is made anew and the
// call repeated, once, if the server refused it before it did anything. progress
// hears what the server says under way, if params have a progress token; it must
// not wait for the server. Params may speak any revision of the protocol.
func (u *upstream) call(ctx context.Context, method string, params json.RawMessage, progress func(params json.RawMessage)) (answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := newDeadline(u.opts.Deadline, cancel)
	defer limit.stop()
	for again := false; ; again = true {
		l, err := u.connected(ctx)
		if err != nil {
			return answer{}, err
		}
		if a, own := l.instead(ctx, method, params); own {
			return a, nil
		}
		limit.begin(l)
		p := &pending{progress: progress, rest: limit.later}
		if u.opts.ProgressExtends {
			p.extend, p.wanted = limit.later, method == "tools/call"
		}
		a, err := l.call(ctx, method, params, p)
		switch {
		case err == nil && !again && l.sessionGone(a):
			u.renew(l)
			continue
		case errors.Is(err, errDown) && !again && errors.Is(l.retiredErr(), errRetired):
			continue // its session was replaced before the call was sent
		case errors.Is(err, errDeadline), errors.Is(err, errLost) && l.web != nil:
			signal(u.suspect)
		}
		return a, u.masked(err)
	}
}

// notify sends a notification to the server; nothing while it is down.
func (u *upstream) notify(method string, params json.RawMessage) {
	u.mu.Lock()
	l := u.link
	u.mu.Unlock()
	if l != nil && !l.isStale() {
		l.notify(method, params)
	}
}

// connected returns the link for a call, and waits for a session that is being
// made anew.
func (u *upstream) connected(ctx context.Context) (*link, error) {
	for {
		u.mu.Lock()
		l, renewing, downErr := u.link, u.renewing, u.downErr
		u.mu.Unlock()
		switch {
		case renewing == nil && l == nil:
			return nil, u.down(downErr)
		case renewing == nil && errors.Is(l.retiredErr(), errRetired):
			u.renew(l)
			continue
		case renewing == nil:
			return l, nil
		}
		select {
		case <-renewing:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// renew has a new session made in place of that of the link.
func (u *upstream) renew(l *link) {
	u.mu.Lock()
	if u.link == l && u.renewing == nil {
		u.renewing = make(chan struct{})
	}
	u.mu.Unlock()
	l.retire(errRetired)
}
