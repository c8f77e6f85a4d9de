package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// post is call over HTTP: a request of its own, whose answer is a message or a
// stream that ends with it.
func (l *link) post(ctx context.Context, req *jsonrpc.Request, id int64, p *pending) (answer, error) {
	x := &exchange{args: l.argHeaders(req)}
	sending, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), exchangeKey{}, x))
	x.failed = func(err error) {
		cancel()
		l.answered(&jsonrpc.Response{ID: req.ID, Error: err})
	}
	defer context.AfterFunc(ctx, cancel)()
	defer context.AfterFunc(l.ctx, cancel)()
	err := l.conn.Write(sending, req)
	for _, m := range x.messages {
		l.handle(ctx, m)
	}
	if len(x.messages) > 0 { // if none was the answer, none will come
		l.answered(&jsonrpc.Response{ID: req.ID, Error: fmt.Errorf("%w: it is to another call", errUnreadable)})
	}
	if x.stream != nil {
		go func() { defer cancel(); l.follow(sending, x, req.ID) }()
	}
	var a answer
	if x.stream == nil && len(x.messages) == 0 {
		a, err = l.refused(ctx, id, x, err)
	} else {
		a, err = l.await(ctx, id, p, x)
	}
	if err != nil || x.status >= 300 {
		cancel()
		return a, err
	}
	lateCancel(cancel)
	return a, nil
}

// refused says what came of a request that has no message for an answer.
func (l *link) refused(ctx context.Context, id int64, x *exchange, err error) (answer, error) {
	if cause := context.Cause(ctx); cause != nil {
		if x.sent.Load() {
			l.tellCancelled(id, cause)
		}
		return answer{}, cause
	}
	switch failure := x.failure(); {
	case x.denied != nil:
		l.retire(x.denied) // no other call would fare better
		return answer{}, fmt.Errorf("%w: %w", errDown, x.denied)
	case errors.Is(failure, errTooLarge), errors.Is(failure, errLost):
		return answer{}, failure
	case failure != nil:
		return answer{}, fmt.Errorf("%w: %w", errUnreadable, failure)
	case x.status >= 300 || x.reason != "":
		return answer{Status: x.status, Header: x.header, Error: x.fault()}, nil
	case x.status != 0:
		return answer{Status: x.status, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError,
			Message: "HTTP " + strconv.Itoa(x.status) + " without an answer to the call"}}, nil
	case l.err() != nil && x.sent.Load():
		return answer{}, fmt.Errorf("%w: %w", errLost, l.err())
	case !x.sent.Load():
		l.retire(err) // nobody is there
		return answer{}, fmt.Errorf("%w: %w", errDown, err)
	}
	return answer{}, fmt.Errorf("%w: %w", errLost, err)
}
