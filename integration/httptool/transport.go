package httptool

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter/executor"
)

// Config makes a Transport.
type Config struct {
	Executor *executor.Executor // decides, records, and knows step and time
	Base     http.RoundTripper  // sends what may be sent; nil: http.DefaultTransport
	// Name gives the tool that a request counts for, as the capability map has
	// it. Empty: this request is not guarded. Nil: Host. It may be called
	// concurrently and must not change the request.
	Name func(*http.Request) string
	// AtBodyEnd records a request that is answered with a status below 400 when
	// its body has been read or closed, so that a body that breaks off is a
	// failure, and the body counts for slow calls. The caller must then close
	// bodies even where it could do without: one that is never closed leaves its
	// call unrecorded until the engine's probe TTL has passed.
	//
	// The default is to record at the headers. By then a host has shown that it
	// is there, and a call is never left open: not by a caller who forgets a
	// body, nor by a stream that lasts for hours and would hold the only trial of
	// a tool for as long.
	AtBodyEnd bool
}

// Transport is an http.RoundTripper that asks before it sends. It is safe for
// concurrent use. Make one with New.
type Transport struct {
	cfg Config
}

// New makes a transport, or reports what is wrong with cfg.
func New(cfg Config) (*Transport, error) {
	if cfg.Executor == nil {
		return nil, errors.New("httptool: Executor is nil; make one with executor.New")
	}
	if cfg.Base == nil {
		cfg.Base = http.DefaultTransport
	}
	if cfg.Name == nil {
		cfg.Name = Host
	}
	return &Transport{cfg: cfg}, nil
}

// Host is the name of a request's host, however it is spelled: lower case, without
// the dot of an absolute name, an IP address in its short form, and with its port
// unless that is the scheme's own. A name that is not ASCII stays as it is.
func Host(req *http.Request) string {
	host := strings.ToLower(req.URL.Host)
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ""
	}
	name = plain(name)
	if port == "" || port == schemePorts[req.URL.Scheme] {
		return name
	}
	return name + ":" + port
}

// plain is one spelling of a host without its port.
func plain(name string) string {
	addr, err := netip.ParseAddr(name)
	switch {
	case err != nil:
		return strings.TrimSuffix(name, ".")
	case addr.Is4():
		return addr.String()
	}
	return "[" + addr.String() + "]"
}

var schemePorts = map[string]string{"http": "80", "https": "443"}

// What a request came to whose base transport does not keep its contract.
var (
	errPanicked = errors.New("the transport panicked")
	errNothing  = errors.New("the transport returned neither an answer nor an error")
)

// RoundTrip sends the request if its tool may be called. The error is
// *executor.Refused, that of the request's context if it has ended, or the
// base transport's own.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	tool := t.cfg.Name(req)
	if tool == "" {
		return t.cfg.Base.RoundTrip(req)
	}
	ticket, err := t.cfg.Executor.Begin(req.Context(), tool)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // as every RoundTripper must; nothing was sent
		}
		return nil, err
	}
	back := false
	defer func() {
		if !back {
			ticket.End(classify.Observation{Err: errPanicked})
		}
	}()
	resp, err := t.cfg.Base.RoundTrip(req)
	back = true
	switch {
	case err != nil:
		ticket.End(classify.Observation{Err: err})
	case resp == nil: // the client says so
		ticket.End(classify.Observation{Err: errNothing})
	case t.cfg.AtBodyEnd && lasts(resp):
		resp.Body = &body{ReadCloser: resp.Body, ticket: ticket}
	default:
		ticket.End(answered(resp))
	}
	return resp, err
}

// answered is what the status and the headers say. The body stays unread.
func answered(resp *http.Response) classify.Observation {
	o := classify.Observation{HTTPStatus: resp.StatusCode, Header: resp.Header}
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		o.Result = "HTTP " + resp.Status
	case resp.StatusCode < http.StatusContinue: // no status at all, and to classify none
		o.Failed, o.Result, o.Class = true, "a status that is none", cascade.Upstream.String()
	}
	return o
}

// CloseIdleConnections closes those of the base transport, if it can.
func (t *Transport) CloseIdleConnections() {
	if base, ok := t.cfg.Base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}
