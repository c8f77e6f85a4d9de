package a2apeer

import (
	"errors"
	"io"
	"net/http"
)

// Transport returns a transport over base (nil: http.DefaultTransport) that tells
// the peer which status and headers an answer had, and when a stream's body ended.
// It changes nothing. It is part of Options; without it statuses are known by
// their texts, Retry-After is not, and a stream that ends before its task does
// stays unrecorded until the engine's probe TTL.
func (p *Peer) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{peer: p, base: base}
}

type transport struct {
	peer *Peer
	base http.RoundTripper
}

// errPanicked is what a call came to whose base transport panicked.
var errPanicked = errors.New("the transport panicked")

// RoundTrip is that of the base, panics included.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := t.peer.callOf(req.Context())
	if c == nil {
		return t.base.RoundTrip(req)
	}
	back := false
	defer func() {
		if !back { // the client hands on no answer that After could hear
			c.ticket.End(c.failed(errPanicked))
		}
	}()
	resp, err := t.base.RoundTrip(req)
	back = true
	if err != nil || resp == nil {
		return resp, err
	}
	c.status, c.header = resp.StatusCode, resp.Header
	if c.streams && resp.StatusCode == http.StatusOK {
		resp.Body = &streamBody{ReadCloser: resp.Body, call: c}
	}
	return resp, nil
}

// CloseIdleConnections closes those of the base, if it can.
func (t *transport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// streamBody tells its call when it is closed. That is after the client has
// handed on what it read: the end of the data alone may come before that.
type streamBody struct {
	io.ReadCloser
	call  *call
	atEnd bool // the data has ended
	ended bool // and the client knows
}

// Read gives the end by itself, never along with data. The client reads on when
// it has handed on the events that it has, so one that was told of the end has
// not been left by its caller before.
func (b *streamBody) Read(p []byte) (int, error) {
	if b.atEnd {
		b.ended = true
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.atEnd = true
		if n > 0 {
			return n, nil
		}
		b.ended = true
	}
	return n, err
}

// Close ends the call, if no event did.
func (b *streamBody) Close() error {
	b.call.closed(b.ended)
	return b.ReadCloser.Close()
}
