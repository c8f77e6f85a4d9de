package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"go.uber.org/zap"
	"golang.org/x/oauth2"

	"github.com/expediter-go/expediter/cascade/redact"
)

const (
	maxLoginURL   = 8 << 10          // bytes
	browserWithin = 10 * time.Second // to send its request
	callbackPath  = "/callback"
)

// login is one login of the human, from the question to the token. It waits for
// the human as long as the proxy lives: it costs nothing, and the address stays
// the same.
type login struct {
	asking chan struct{} // closed when url is there for the human
	done   chan struct{} // closed when err is there
	url    string
	err    error           // nil: the token is there
	over   context.Context // ends with done
}

// logIn begins a login if none is under way. It returns when the human can be
// asked (errLogin), or when it has come to an end without.
func (a *authorizer) logIn(ctx context.Context, r refusal) error {
	challenge, _ := a.challenge(r)
	a.mu.Lock()
	l := a.login
	if l == nil && !a.over {
		l = &login{asking: make(chan struct{}), done: make(chan struct{})}
		over, cancel := context.WithCancel(ctx)
		l.over, a.login = over, l
		a.tasks.Go(func() {
			defer cancel()
			l.err = a.authorize(ctx, l, challenge)
			a.mu.Lock()
			a.login = nil
			a.mu.Unlock()
			if l.err != nil && ctx.Err() == nil {
				a.log.Warn("the login has failed", a.clean(l.err))
			}
			close(l.done)
		})
	}
	a.mu.Unlock()
	if l == nil {
		return errAuth
	}
	select {
	case <-l.asking:
		return errLogin
	case <-l.done:
		if l.err != nil {
			return a.failure(l.err)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wanted is the login whose address the human is to open; nil: there is none.
func (a *authorizer) wanted() *login {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	l := a.login
	a.mu.Unlock()
	if l == nil || !isClosed(l.asking) {
		return nil
	}
	return l
}

// loginURL is the address that the human is to open; empty: none.
func (a *authorizer) loginURL() string {
	if l := a.wanted(); l != nil {
		return l.url
	}
	return ""
}

// rest is the pause before the next attempt to connect: for as long as the human
// takes who is to log in.
func (a *authorizer) rest(ctx context.Context, d time.Duration) {
	if a != nil {
		a.mu.Lock()
		l := a.login
		a.mu.Unlock()
		if l != nil && within(ctx, l.done, longestAsked) && l.err == nil {
			return
		}
	}
	pause(ctx, d)
}

func (l *login) ended() bool { return isClosed(l.done) }

// authorize is the SDK's authorization code flow, with a browser that comes back
// to a port of this machine.
func (a *authorizer) authorize(ctx context.Context, l *login, challenge *http.Response) error {
	back, err := listenForBrowser(ctx, a.cfg.Redirect)
	if err != nil {
		return err
	}
	defer back.close()
	cfg := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:           back.url,
		RequestRefreshToken:   true,
		AcceptUnadvertisedIss: true, // it must be the right one all the same
		Client:                a.client,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return a.askHuman(ctx, l, back, args.URL)
		},
		NewTokenSource: func(_ context.Context, grant *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			a.keep(grant, t)
			return oauth2.StaticTokenSource(t), nil
		},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "expediter", RedirectURIs: []string{back.url}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}}},
	}
	if u, err := url.Parse(a.cfg.ClientID); err == nil && u.Scheme == "https" {
		cfg.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: a.cfg.ClientID}
	} else if cfg.PreregisteredClient = a.credentials(); cfg.PreregisteredClient != nil {
		cfg.DynamicClientRegistrationConfig = nil
	}
	h, err := auth.NewAuthorizationCodeHandler(cfg)
	if err != nil {
		return err
	}
	return h.Authorize(ctx, &http.Request{Method: http.MethodPost, URL: a.endpoint}, challenge)
}

// askHuman gives the human the address, and waits for the browser to come back.
func (a *authorizer) askHuman(ctx context.Context, l *login, back *browserPort, address string) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return nil, errors.New("the authorization server's address for the login is no https URL")
	case len(address) > maxLoginURL:
		return nil, fmt.Errorf("the authorization server's address for the login has %d bytes", len(address))
	}
	l.url = u.String()
	answers := back.serve(a.name, u.Query().Get("state"))
	close(l.asking)
	a.log.Warn("the server wants a login: open this address in a browser", zap.String("url", l.url))
	select {
	case q := <-answers:
		if refused := q.Get("error"); refused != "" {
			return nil, fmt.Errorf("the login was refused: %s", redact.Text(refused+" "+q.Get("error_description"), maxReason))
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// browserPort is where a browser comes back to after a login.
type browserPort struct {
	url       string
	path      string
	listeners []net.Listener
	server    *http.Server // nil: nobody is expected yet
}

// listenForBrowser listens at the redirect's port of this machine; at a free one
// if redirect is empty.
func listenForBrowser(ctx context.Context, redirect string) (*browserPort, error) {
	b := &browserPort{url: redirect, path: callbackPath}
	host, port := "127.0.0.1", "0"
	if redirect != "" {
		u, err := url.Parse(redirect)
		if err != nil || u.Scheme != "http" || !isLoopback(u.Hostname()) || u.Port() == "" {
			return nil, fmt.Errorf("the redirect of the login is no http URL of this machine with a port")
		}
		host, port, b.path = u.Hostname(), u.Port(), u.EscapedPath()
	}
	hosts := []string{host}
	if host == "localhost" {
		hosts = []string{"127.0.0.1", "::1"} // a browser tries either
	}
	var c net.ListenConfig
	for i, h := range hosts {
		l, err := c.Listen(ctx, "tcp", net.JoinHostPort(h, port))
		if err == nil {
			b.listeners = append(b.listeners, l)
		} else if i == 0 {
			return nil, fmt.Errorf("the browser has nowhere to come back to after a login: %w", err)
		}
	}
	if redirect == "" {
		b.url = "http://" + b.listeners[0].Addr().String() + callbackPath
	}
	return b, nil
}

// serve waits for the browser that brings state, and gives what it brought. Who
// brings another one knows nothing of the login.
func (b *browserPort) serve(name, state string) <-chan url.Values {
	answers := make(chan url.Values, 1)
	b.server = &http.Server{ReadHeaderTimeout: browserWithin, ReadTimeout: browserWithin, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h, q := w.Header(), req.URL.Query()
		h.Set("Content-Type", "text/plain; charset=utf-8")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		if req.Method != http.MethodGet || req.URL.EscapedPath() != b.path || state == "" || q.Get("state") != state ||
			q.Get("code") == "" && q.Get("error") == "" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintln(w, "expediter waits for a login here, and this is not its answer.")
			return
		}
		select {
		case answers <- q:
		default: // the browser was sent twice
		}
		fmt.Fprintf(w, "The answer to the login for %s has reached expediter, whose log says what came of it. This window can be closed.\n", redact.Text(name, maxText))
	})}
	for _, l := range b.listeners {
		go func() { _ = b.server.Serve(l) }() // it ends with close
	}
	return answers
}

// close lets the browser have its answer, and gives the port back.
func (b *browserPort) close() {
	if b.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if b.server.Shutdown(ctx) != nil {
			_ = b.server.Close()
		}
	}
	for _, l := range b.listeners {
		_ = l.Close()
	}
}
