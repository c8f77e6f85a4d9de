package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	versionHeader = "Mcp-Protocol-Version"
	maxRefusal    = 64 << 10 // bytes that are read of an answer that refuses
	maxReason     = 300      // of its text
	idlePerServer = 128      // connections kept for the next calls
)

// web is what all HTTP requests to one server go through, as the transport of
// the SDK's own. It adds what the server's configuration says, keeps what each
// answer said for the call that it belongs to, and shows the SDK only whether
// that was taken: it would end the whole connection for one bad answer.
type web struct {
	endpoint *url.URL
	header   http.Header
	base     *http.Transport
	limit    int64 // bytes of one message
	mask     func(string) string
	auth     *authorizer            // nil: no OAuth
	version  atomic.Pointer[string] // of a legacy session; nil: not known yet
}

// exchange is one call's HTTP request and what came of it. The nil exchange is
// no HTTP.
type exchange struct {
	args   map[string]string // headers that the tool wants of its arguments
	failed func(error)       // ends the request and its call

	status   int // these are set when the request has returned
	header   http.Header
	reason   string            // of a refusal, cleaned
	body     []byte            // of a refusal
	messages []jsonrpc.Message // of an answer that is no stream
	stream   *http.Response    // of one that is
	denied   error             // why there is no token for the server

	sent atomic.Bool // a connection was there: the server may have seen it
	mu   sync.Mutex
	err  error // of an answer that could not be read
}

type exchangeKey struct{}

func (x *exchange) fail(err error) {
	x.mu.Lock()
	x.err = err
	x.mu.Unlock()
	x.failed(err)
}

func (x *exchange) failure() error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.err
}

func newWeb(s Server, limit int64, mask func(string) string) (*web, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("the URL of server %q is no http or https URL", s.Name)
	}
	w := &web{endpoint: u, header: http.Header{}, limit: limit, mask: mask,
		base: http.DefaultTransport.(*http.Transport).Clone()}
	w.base.MaxIdleConns, w.base.MaxIdleConnsPerHost = 0, idlePerServer
	for k, v := range s.Header {
		if k = textproto.CanonicalMIMEHeaderKey(k); !ours[k] {
			w.header.Set(k, v)
		}
	}
	return w, nil
}

// ours are headers that the protocol needs as they are.
var ours = map[string]bool{"Accept": true, "Content-Type": true, "Content-Length": true, "Connection": true,
	"Last-Event-Id": true, "Mcp-Session-Id": true, versionHeader: true, "Mcp-Method": true, "Mcp-Name": true}

func (w *web) client() *http.Client {
	return &http.Client{Transport: w, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return http.ErrUseLastResponse
		}
		return nil // RoundTrip has let it through
	}}
}

func (w *web) connect(ctx context.Context) (mcp.Connection, error) {
	t := &mcp.StreamableClientTransport{Endpoint: w.endpoint.String(), HTTPClient: w.client()}
	return t.Connect(ctx)
}

// RoundTrip sends one request. Of the answer to a POST the SDK sees only whether
// it was taken.
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	resp, err := w.send(req, x)
	if err != nil || w.follows(resp) || req.Method != http.MethodPost {
		return resp, err
	}
	if x == nil { // nobody waits for what came of it
		_ = resp.Body.Close()
		if resp.StatusCode >= 300 {
			return plain(req, resp, http.StatusServiceUnavailable), nil
		}
		return plain(req, resp, http.StatusAccepted), nil
	}
	x.status = resp.StatusCode
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode >= 300:
		w.refused(x, resp)
		return plain(req, resp, http.StatusServiceUnavailable), nil
	case kind == "text/event-stream":
		x.stream = resp
	case kind == "application/json":
		w.message(x, resp)
	case resp.StatusCode == http.StatusOK && resp.ContentLength != 0:
		w.refused(x, resp)
	default:
		_ = resp.Body.Close()
	}
	return plain(req, resp, http.StatusAccepted), nil
}

// dressed is the request with the configured headers, if it goes where they
// belong.
func (w *web) dressed(req *http.Request, x *exchange) *http.Request {
	ctx := req.Context()
	if x != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.sent.Store(true) }})
	}
	req = req.Clone(ctx)
	if sameSite(w.endpoint, req.URL) {
		for k, v := range w.header {
			req.Header[k] = v
		}
		if host := w.header.Get("Host"); host != "" {
			req.Host = host
		}
	}
	if v := w.version.Load(); v != nil && req.Header.Get(versionHeader) == "" {
		req.Header.Set(versionHeader, *v)
	}
	if x != nil {
		for k, v := range x.args {
			req.Header.Set(k, v)
		}
	}
	return req
}

// sameSite reports whether credentials for a may go to b: the same host and
// port, and no step down from https.
func sameSite(a, b *url.URL) bool {
	if a.Scheme == "http" && b.Scheme == "https" && a.Port() == "" && b.Port() == "" {
		return strings.EqualFold(a.Hostname(), b.Hostname())
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// follows reports a redirect that keeps the request as it is, to where its
// credentials may go.
func (w *web) follows(resp *http.Response) bool {
	if resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect {
		return false
	}
	to, err := resp.Location()
	return err == nil && sameSite(w.endpoint, to)
}

// plain is an answer without a body, for the SDK.
func plain(req *http.Request, of *http.Response, status int) *http.Response {
	h := http.Header{}
	if id := of.Header.Get("Mcp-Session-Id"); id != "" {
		h.Set("Mcp-Session-Id", id)
	}
	return &http.Response{StatusCode: status, Status: strconv.Itoa(status) + " " + http.StatusText(status),
		Proto: of.Proto, ProtoMajor: of.ProtoMajor, ProtoMinor: of.ProtoMinor, Header: h, Body: http.NoBody, Request: req}
}

// refused keeps what an answer said that is no result.
func (w *web) refused(x *exchange, resp *http.Response) {
	defer resp.Body.Close()
	x.header = resp.Header.Clone()
	x.body, _ = io.ReadAll(io.LimitReader(resp.Body, maxRefusal)) // what there is of it
	x.reason = "HTTP " + strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode)
	if resp.StatusCode < 300 {
		x.reason = "HTTP " + strconv.Itoa(resp.StatusCode) + " with " + redact.Text(resp.Header.Get("Content-Type"), 60) + " instead of JSON"
	}
	if said := redact.Text(w.mask(string(x.body)), maxReason); said != "" {
		x.reason += ": " + said
	}
}

// fault is the JSON-RPC error that a refusal has in its body, or stands for.
func (x *exchange) fault() *jsonrpc.Error {
	var said struct{ Error *jsonrpc.Error }
	if json.Unmarshal(x.body, &said) == nil && said.Error != nil {
		return said.Error
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: x.reason}
}

// message reads an answer that is no stream.
func (w *web) message(x *exchange, resp *http.Response) {
	defer resp.Body.Close()
	body, err := readAll(resp.Body, resp.ContentLength, w.limit)
	if err == nil {
		x.messages, err = decode(body)
	}
	if err != nil && len(x.messages) == 0 {
		x.fail(err)
	}
}

// readAll reads a body of at most limit bytes; length is what its sender says
// of it, -1: nothing.
func readAll(r io.Reader, length, limit int64) ([]byte, error) {
	if length > limit {
		return nil, errTooLarge
	}
	buf := bytes.NewBuffer(make([]byte, 0, min(max(length, 0), 1<<20)+bytes.MinRead))
	if n, err := buf.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, fmt.Errorf("%w: %w", errLost, err)
	} else if n > limit {
		return nil, errTooLarge
	}
	return buf.Bytes(), nil
}
