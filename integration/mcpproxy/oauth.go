package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"go.uber.org/zap"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/expediter-go/expediter/cascade/redact"
)

// tokenWithin bounds each request to an authorization server.
const tokenWithin = 30 * time.Second

// maxHidden is how many of a server's latest tokens no text may repeat.
const maxHidden = 8

// errAuth is in every error of a server that wants a token which cannot be had.
var errAuth = errors.New("the server wants a login")

// errLogin asks for the human.
var errLogin = fmt.Errorf("%w: the user is to open the address that is in the proxy's log and in expediter_status", errAuth)

// authorizer gets the tokens for one server, and keeps them. The nil authorizer
// is of a server without OAuth. It is safe for concurrent use.
type authorizer struct {
	name     string
	endpoint *url.URL
	cfg      OAuth
	log      *zap.Logger
	mask     func(string) string // hides the tokens, too
	client   *http.Client
	path     string // of the file that keeps the tokens; empty: memory alone
	hidden   atomic.Pointer[strings.Replacer]
	renewals singleflight.Group // one at a time; who waits needs no lock

	// Of the renewal under way alone.
	machine *extauth.ClientCredentialsHandler // nil: the human logs in

	mu     sync.Mutex
	ctx    context.Context // of the proxy's work for the server: a token outlives a request; nil: not begun
	grant  *oauth2.Config  // to whom the token was given; nil: none yet, or client credentials
	token  *oauth2.Token   // nil: none
	scopes []string        // of the token
	login  *login          // under way; nil: none
	past   []string        // tokens that no text may repeat, the latest last
	over   bool            // no login may begin
	tasks  sync.WaitGroup  // logins
}

// newAuthorizer is nil for a server without OAuth. mask hides what the server's
// configuration has.
func newAuthorizer(s Server, mask func(string) string, log *zap.Logger) *authorizer {
	if s.OAuth == nil || s.URL == "" {
		return nil
	}
	a := &authorizer{name: s.Name, cfg: *s.OAuth, log: log, client: &http.Client{Timeout: tokenWithin, CheckRedirect: noSecretElsewhere}}
	a.endpoint, _ = url.Parse(s.URL) // nil: newWeb says why, and nothing is sent
	a.hidden.Store(strings.NewReplacer())
	a.mask = func(text string) string { return a.hidden.Load().Replace(mask(text)) }
	if a.cfg.Unattended {
		a.machine, _ = extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{
			HTTPClient:  a.client,
			Credentials: a.credentials(),
		}) // nil: without id or secret, and the human is asked
	}
	return a
}

// noSecretElsewhere lets what only reads be redirected.
func noSecretElsewhere(req *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet || len(via) > 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// credentials are what the configuration says of the client; nil: nothing.
func (a *authorizer) credentials() *oauthex.ClientCredentials {
	if a.cfg.ClientID == "" {
		return nil
	}
	c := &oauthex.ClientCredentials{ClientID: a.cfg.ClientID}
	if a.cfg.ClientSecret != "" {
		c.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: a.cfg.ClientSecret}
	}
	return c
}

// begin says for how long tokens are wanted, and takes those that are kept.
func (a *authorizer) begin(ctx context.Context) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx == nil && a.path != "" {
		a.takeLocked(a.load())
	}
	a.ctx = ctx
}

// wait lets no login begin, and returns when the last has ended; the context of
// begin has.
func (a *authorizer) wait() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	a.tasks.Wait()
}

// current is the token for a request, renewed if it has expired; nil: there is
// none, and the server will say what it wants.
func (a *authorizer) current(ctx context.Context) (*oauth2.Token, error) {
	t := a.latest()
	if t == nil || t.Valid() {
		return t, nil
	}
	err := a.renew(ctx, t, nil)
	if err != nil && !errors.Is(err, errAuth) {
		return nil, err
	}
	return a.latest(), nil
}

// latest is the token as it is; nil: there is none.
func (a *authorizer) latest() *oauth2.Token {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.token
}

// renew gets another token than used, which was refused by resp, or has expired
// (nil). The error is errLogin when that takes a human, and is without errAuth
// when an authorization server could not be reached.
func (a *authorizer) renew(ctx context.Context, used *oauth2.Token, resp *http.Response) error {
	r := refusal{}
	if resp != nil {
		r = refusal{resp.Header, resp.StatusCode == http.StatusForbidden}
	}
	done := a.renewals.DoChan("", func() (any, error) { return nil, a.obtain(used, r) })
	select {
	case got := <-done:
		return got.Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// obtain is renew, alone.
func (a *authorizer) obtain(used *oauth2.Token, r refusal) error {
	a.mu.Lock()
	ctx, grant, token := a.ctx, a.grant, a.token
	a.mu.Unlock()
	switch {
	case ctx == nil || a.endpoint == nil:
		return errAuth
	case token != nil && used != token && token.Valid():
		return nil // another request was first
	case r.step && a.covers(strings.Fields(bearerParam(r.header, "scope"))):
		return errAuth // they were granted, and it did not help
	case a.machine != nil:
		return a.obtainUnattended(ctx, r)
	}
	if !r.step && grant != nil && token != nil {
		if done, err := a.refresh(ctx, grant, token); done || err != nil {
			return err
		}
	}
	if r.header == nil {
		return errAuth
	}
	return a.logIn(ctx, r)
}

// obtainUnattended gets a token for the client's own secret. The SDK's handler
// keeps the context that it is given.
func (a *authorizer) obtainUnattended(ctx context.Context, r refusal) error {
	challenge, scopes := a.challenge(r)
	err := a.machine.Authorize(ctx, &http.Request{Method: http.MethodPost, URL: a.endpoint}, challenge)
	if err != nil {
		return a.failure(err)
	}
	source, err := a.machine.TokenSource(ctx)
	if err != nil {
		return a.failure(err)
	}
	t, err := source.Token()
	if err != nil {
		return a.failure(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.takeLocked(&kept{Token: t, Scopes: scopesOf(t, scopes)})
	return nil
}

// takeLocked makes a token the current one; nil: nothing is changed.
func (a *authorizer) takeLocked(k *kept) {
	if k == nil {
		return
	}
	a.grant, a.token, a.scopes = k.Grant, k.Token, k.Scopes
	secrets := []string{k.Token.AccessToken, k.Token.RefreshToken}
	if k.Grant != nil {
		secrets = append(secrets, k.Grant.ClientSecret)
	}
	for _, s := range secrets {
		if len(s) >= minSecret && !slices.Contains(a.past, s) {
			a.past = append(a.past, s)
		}
	}
	a.past = a.past[max(0, len(a.past)-maxHidden):]
	var pairs []string
	for _, s := range a.past {
		pairs = append(pairs, s, "[masked]")
	}
	a.hidden.Store(strings.NewReplacer(pairs...))
}

// clean is an error for the log.
func (a *authorizer) clean(err error) zap.Field {
	return zap.String("error", redact.Text(a.mask(err.Error()), maxText))
}

// failure is the error of an authorization server. One that cannot be reached,
// or has had too much, says nothing of the login.
func (a *authorizer) failure(err error) error {
	var away *url.Error
	var said *oauth2.RetrieveError
	if errors.As(err, &said) && said.Response != nil &&
		(said.Response.StatusCode >= 500 || said.Response.StatusCode == http.StatusTooManyRequests) || errors.As(err, &away) {
		return fmt.Errorf("the authorization server gives no token: %w", err)
	}
	return fmt.Errorf("%w: %w", errAuth, err)
}

// scopesOf are those that came with a token; the ones asked for if it does not
// say (RFC 6749, 5.1).
func scopesOf(t *oauth2.Token, asked []string) []string {
	if said, ok := t.Extra("scope").(string); ok {
		return strings.Fields(said)
	}
	return asked
}

func (a *authorizer) covers(scopes []string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(a.scopes, s) })
}
