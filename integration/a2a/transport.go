package a2apeer

import (
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

// RoundTrip is that of the base.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(req)
	c := t.peer.callOf(req.Context())
	if err != nil || c == nil {
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
// handed on every event: the end of the data alone may come before them.
type streamBody struct {
	io.ReadCloser
	call  *call
	ended bool
}

func (b *streamBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

func (b *streamBody) Close() error {
	b.call.closed(b.ended)
	return b.ReadCloser.Close()
}
