package a2apeer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter/executor"
)

// DefaultTimeout is that of the HTTP client that Options makes: the library's
// own. It covers a stream as a whole.
const DefaultTimeout = 3 * time.Minute

// Config makes a Peer.
type Config struct {
	Executor *executor.Executor // decides, records, and knows step and time
	Name     string             // the agent, as the capability map has it; without a slash
}

// Peer guards the calls to one agent. It is safe for concurrent use, by any
// number of clients of that agent. Make one with New.
type Peer struct {
	cfg   Config
	tasks tasks
}

var _ a2aclient.CallInterceptor = (*Peer)(nil)

// New makes a peer, or reports everything that is wrong with cfg.
func New(cfg Config) (*Peer, error) {
	var errs []error
	if cfg.Executor == nil {
		errs = append(errs, errors.New("a2apeer: Executor is nil; make one with executor.New"))
	}
	if cfg.Name == "" || strings.Contains(cfg.Name, "/") {
		errs = append(errs, fmt.Errorf("a2apeer: Name %.64q; give the agent's name in the capability map, without a slash: what follows one is a skill", cfg.Name))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Peer{cfg: cfg}, nil
}

// Options are those that guard a client over JSON-RPC or REST: the interceptor,
// and transports over a copy of the HTTP client that tell it of statuses, headers
// and the ends of streams. Give them last. The HTTP client may be nil: one with
// DefaultTimeout.
//
//	client, err := a2aclient.NewFromCard(ctx, card, peer.Options(nil)...)
func (p *Peer) Options(client *http.Client) []a2aclient.FactoryOption {
	told := http.Client{Timeout: DefaultTimeout}
	if client != nil {
		told = *client
	}
	told.Transport = p.Transport(told.Transport)
	return []a2aclient.FactoryOption{
		a2aclient.WithJSONRPCTransport(&told),
		a2aclient.WithRESTTransport(&told),
		a2aclient.WithCallInterceptors(p),
	}
}

type skillKey struct{}

// WithSkill says which of the agent's skills a call is for; the protocol itself
// has no such thing. Its breaker is then peer/skill. Empty: that of the peer.
func WithSkill(ctx context.Context, skill string) context.Context {
	return context.WithValue(ctx, skillKey{}, skill)
}

// callKey finds the call that a peer's context is for: one client may have the
// interceptors of several.
type callKey struct{ *Peer }

// Before asks for the call. A refusal is the call's error, *executor.Refused.
func (p *Peer) Before(ctx context.Context, req *a2aclient.Request) (context.Context, any, error) {
	skill, _ := ctx.Value(skillKey{}).(string)
	c := &call{peer: p, skill: skill, method: req.Method, streams: streams(req), asked: asked(req)}
	ticket, err := p.cfg.Executor.Begin(ctx, classify.Key(c.observed()))
	c.ticket = ticket
	// A refused call has a context of its own as well: After is called for it.
	return context.WithValue(ctx, callKey{p}, c), nil, err
}

// After records what came of the call, once. It changes nothing.
func (p *Peer) After(ctx context.Context, resp *a2aclient.Response) error {
	if c := p.callOf(ctx); c != nil {
		c.heard(resp)
	}
	return nil
}

// callOf is the call that a context is for; nil: none that was allowed.
func (p *Peer) callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{p}).(*call); ok && c.ticket != nil {
		return c
	}
	return nil
}
