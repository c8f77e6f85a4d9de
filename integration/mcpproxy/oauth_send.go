package mcpproxy

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// send sends a request with the token that its server wants. One that is refused
// for its token is sent once more, with another; x hears why there is none.
func (w *web) send(req *http.Request, x *exchange) (*http.Response, error) {
	a := w.auth
	if a == nil || !sameSite(w.endpoint, req.URL) {
		return w.base.RoundTrip(w.dressed(req, x))
	}
	token, err := a.current(req.Context())
	if err != nil {
		x.deny(err)
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	resp, err := w.base.RoundTrip(bearing(w.dressed(req, x), token))
	if err != nil || !wantsToken(resp) {
		return resp, err
	}
	if err := a.renew(req.Context(), token, resp); err != nil {
		if resp.StatusCode == http.StatusUnauthorized {
			x.deny(err)
		}
		return resp, nil
	}
	again, err := w.afresh(req, x)
	if err != nil {
		return resp, nil // its body is gone
	}
	_ = resp.Body.Close()
	return w.base.RoundTrip(bearing(again, a.latest()))
}

// afresh is a request that was sent, to be sent once more.
func (w *web) afresh(req *http.Request, x *exchange) (*http.Request, error) {
	again := w.dressed(req, x)
	if req.Body == nil || req.Body == http.NoBody {
		return again, nil
	}
	if req.GetBody == nil {
		return nil, http.ErrBodyNotAllowed
	}
	var err error
	again.Body, err = req.GetBody()
	return again, err
}

// deny notes why a request has no token.
func (x *exchange) deny(err error) {
	if x != nil {
		x.denied = err
	}
}

func bearing(req *http.Request, token *oauth2.Token) *http.Request {
	if token != nil {
		req.Header.Set("Authorization", "Bearer "+token.AccessToken)
	}
	return req
}

// wantsToken reports an answer that another token might change.
func wantsToken(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized ||
		resp.StatusCode == http.StatusForbidden && bearerParam(resp.Header, "error") == "insufficient_scope"
}

// bearerParam is what a challenge says; empty: nothing.
func bearerParam(h http.Header, key string) string {
	challenges, err := oauthex.ParseWWWAuthenticate(h.Values("WWW-Authenticate"))
	if err != nil {
		return ""
	}
	for _, c := range challenges {
		if v := c.Params[key]; c.Scheme == "bearer" && v != "" {
			return v
		}
	}
	return ""
}

// refusal is what a server said to a token. The zero refusal: the token has
// expired, and the server was not asked.
type refusal struct {
	header http.Header
	step   bool // the token is good, and its scopes are not enough
}

// challenge is what a server said, as the SDK's handlers want it: with the scopes
// to ask for ahead, if the proxy knows better than the server.
func (a *authorizer) challenge(r refusal) (challenge *http.Response, want []string) {
	a.mu.Lock()
	want = slices.Concat(a.cfg.Scopes, a.scopes)
	a.mu.Unlock()
	if len(a.cfg.Scopes) == 0 || r.step {
		want = append(want, strings.Fields(bearerParam(r.header, "scope"))...)
	}
	want = slices.DeleteFunc(want, func(s string) bool { return !isScope(s) })
	slices.Sort(want)
	h := http.Header{}
	if want = slices.Compact(want); len(want) > 0 {
		h.Add("WWW-Authenticate", `Bearer scope="`+strings.Join(want, " ")+`"`)
	}
	for _, said := range r.header.Values("WWW-Authenticate") {
		h.Add("WWW-Authenticate", said)
	}
	return &http.Response{StatusCode: http.StatusUnauthorized, Header: h, Body: http.NoBody}, want
}

// isScope holds a scope against RFC 6749, 3.3.
func isScope(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' })
}

// advice adds to the refusal of a server without OAuth what would help.
func (a *authorizer) advice(err error) error {
	var e *refusalError
	if a != nil || !errors.As(err, &e) || e.Status != http.StatusUnauthorized || bearerParam(e.Header, "resource_metadata") == "" {
		return err
	}
	return fmt.Errorf("the server wants a login: write oauth: {} below it, or a token below headers (%w)", err)
}
