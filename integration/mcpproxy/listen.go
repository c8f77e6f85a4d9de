package mcpproxy

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxBody bounds one request of a client over HTTP.
const maxBody = 16 << 20

// idleSession is how long a session over HTTP is kept of which nothing is
// heard: a laptop sleeps over night.
const idleSession = 24 * time.Hour

// Handler serves many clients over Streamable HTTP, those of revisions with
// sessions and those of 2026-07-28 without, at whatever path it is mounted.
//
// Without a token in the options it serves only connections to a loopback
// address; the Host must then name one, and a browser's Origin must be the
// Host. The client's token goes no further than here.
func (p *Proxy) Handler() http.Handler {
	p.begin()
	p.offer(offered)
	server := func(*http.Request) *mcp.Server { return p.server }
	f := &front{
		p: p, within: takesWithin,
		stateful: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			SessionTimeout: idleSession, MaxRequestBodyBytes: maxBody}),
		stateless: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody}),
	}
	return f
}

// front is what a request goes through before the SDK sees it.
type front struct {
	p                   *Proxy
	within              time.Duration // see patient
	stateful, stateless http.Handler
}

func (f *front) ServeHTTP(to http.ResponseWriter, req *http.Request) {
	w := patient{to, f.within}
	defer w.end()
	if status, why := f.refuse(req); status != 0 {
		if status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", `Bearer realm="expediter"`)
		}
		http.Error(w, why, status)
		return
	}
	req.Header.Del("Authorization") // it ends here
	for name := range req.Header {
		if strings.HasPrefix(name, "Expediter-") {
			delete(req.Header, name)
		}
	}
	if req.Method != http.MethodPost {
		f.stateful.ServeHTTP(w, req)
		return
	}
	modern, ms, err := f.read(w, req)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		http.Error(w, fmt.Sprintf("a request may have %d bytes at most", tooLong.Limit), http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case f.short(w, req, modern, ms):
	case modern:
		f.stateless.ServeHTTP(w, req)
	default:
		f.stateful.ServeHTTP(w, req)
	}
}

// refuse returns the status and the reason to refuse a request with, zero to let
// it in.
func (f *front) refuse(req *http.Request) (int, string) {
	token := f.p.cfg.Proxy.ListenToken
	if token == "" {
		local, _ := req.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if local == nil || !isLoopback(local.String()) {
			return http.StatusForbidden, "this proxy has no token and serves loopback addresses only"
		}
		if !isLoopback(req.Host) {
			return http.StatusForbidden, fmt.Sprintf("the host %.128q is not a loopback address", req.Host)
		}
	}
	if origin := req.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, req.Host) {
			return http.StatusForbidden, fmt.Sprintf("the origin %.128q may not use this proxy", origin)
		}
	}
	if token != "" && !bears(req, token) {
		return http.StatusUnauthorized, "a bearer token is needed: the listen token of the proxy's configuration"
	}
	return 0, ""
}

// bears compares in constant time, whatever the lengths.
func bears(req *http.Request, token string) bool {
	all := req.Header.Values("Authorization")
	if len(all) != 1 {
		return false
	}
	scheme, got, _ := strings.Cut(all[0], " ")
	a, b := sha256.Sum256([]byte(strings.TrimSpace(got))), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && strings.EqualFold(scheme, "bearer")
}

func isLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// read takes the body, puts the bytes of its params beside it, and says whether
// it is for a server without sessions. A message that is no batch comes with its
// members.
func (f *front) read(w http.ResponseWriter, req *http.Request) (modern bool, ms []member, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		return false, nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	modern = req.Header.Get("Mcp-Protocol-Version") >= newest
	if b := bytes.TrimLeft(body, " \t\r\n"); len(b) > 0 && b[0] == '[' {
		return modern, nil, f.readBatch(req, body)
	}
	if ms, err = members(body); err != nil {
		return modern, nil, err
	}
	params, session := getMember(ms, "params"), req.Header.Get("Mcp-Session-Id")
	req.Header[paramsHeader] = []string{string(params)}
	switch string(getMember(ms, "method")) {
	case "":
		f.p.reply(session, getMember(ms, "result"))
	case `"notifications/cancelled"`:
		f.p.shorts.cancel(session, params)
	}
	if other := disguised(ms, req.Header); other != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(other)), int64(len(other))
	}
	if modern || session != "" {
		return modern, ms, nil
	}
	ps, _ := members(params)
	meta, _ := members(getMember(ps, "_meta"))
	v, _ := getString(meta, metaVersion)
	return v >= newest, ms, nil
}

func (f *front) readBatch(req *http.Request, body []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		return err
	}
	for _, raw := range all {
		ms, err := members(raw)
		if err != nil {
			return err
		}
		if getMember(ms, "method") == nil {
			f.p.reply(req.Header.Get("Mcp-Session-Id"), getMember(ms, "result"))
		}
	}
	req.Header[batchHeader] = []string{string(body)}
	return nil
}
