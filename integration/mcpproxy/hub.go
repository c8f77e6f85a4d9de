package mcpproxy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/internal/store"
)

// Bounds that nobody sets.
const (
	startWait = 20 * time.Second // of a list, for servers that are being started
	listWait  = 20 * time.Second // for what one server lists
)

// Env is what a proxy has around it. The zero Env logs nothing, keeps nothing
// and reads the clock of the machine.
type Env struct {
	Log        *zap.Logger      // nil: silent
	Store      *store.Store     // nil: none
	Source     string           // where the configuration is from, for people
	JournalDir string           // empty: no journals
	TokenDir   string           // of the tokens that a human has logged in for, for the next start; empty: memory alone
	Now        func() time.Time // nil: time.Now
	// Fleet makes a client's engine a member of a fleet; nil: there is none. It is
	// called on a goroutine of its own, and a client's first call waits for it.
	Fleet func(*expediter.Engine) Membership
}

// Proxy stands between clients and servers. Make one with New; Serve serves a
// client on stdio, Handler many over HTTP, at the same time if need be. It is
// safe for concurrent use. Close ends it.
type Proxy struct {
	cfg Config
	env Env
	log *zap.Logger

	server  *mcp.Server
	keeper  *keeper     // nil: no store
	ups     []*upstream // in the order of the config, without the disabled
	calls   *semaphore.Weighted
	listens *semaphore.Weighted // streams of clients without sessions
	ctx     context.Context     // of the upstreams and all that is done for nobody in particular
	cancel  context.CancelFunc
	work    context.Context // of the clients' requests
	stop    context.CancelFunc
	group   errgroup.Group
	leaving sync.WaitGroup // clients that leave their fleet

	settled chan struct{} // closed when every server has come up or failed once

	tools   catalog
	prompts catalog
	lists   lists

	shorts shorts

	statusMu sync.Mutex // held while clients are told, so that what they hear is in order; locked before mu
	mu       sync.Mutex
	state    map[*upstream]status
	shown    map[*upstream]bool // what they have is in the lists
	sessions map[any]*session   // by *mcp.ServerSession; callers without a session by callerKey
	flights  map[*upstream]map[*flight]struct{}
	watched  map[string]*watch          // resources that clients subscribed to, by URI
	asking   map[string]*replies        // by id of the session
	lives    map[string]context.Context // of the clients of Serve, by id of the session
	byID     map[string]*session        // those over HTTP that have an id
	lines    map[string]*teeConn        // the same, their connections

	offers offers
	tasks  tasks
	parks  parks
}

// status is what was last heard of a server. The zero status: nothing yet.
type status struct {
	heard bool
	err   error // why it is down; nil: up, or nothing heard
}

// New makes a proxy and begins to connect its servers; it does not wait for
// them. Its error says what the config lacks.
func New(cfg Config, o Env) (*Proxy, error) {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	cfg.Proxy = cfg.Proxy.filled()
	p := &Proxy{
		cfg: cfg, env: o, log: o.Log,
		calls:    semaphore.NewWeighted(int64(cfg.Proxy.MaxInFlight)), // more wait their turn
		listens:  semaphore.NewWeighted(int64(cfg.Proxy.MaxSessions)),
		settled:  make(chan struct{}),
		state:    map[*upstream]status{},
		shown:    map[*upstream]bool{},
		sessions: map[any]*session{},
		flights:  map[*upstream]map[*flight]struct{}{},
		watched:  map[string]*watch{},
		asking:   map[string]*replies{},
		lives:    map[string]context.Context{},
		byID:     map[string]*session{},
		shorts:   shorts{by: map[string]*short{}, ids: map[shortID]*short{}},
		lines:    map[string]*teeConn{},
		offers:   offers{known: make(chan struct{}), begun: make(chan struct{})},
	}
	if err := errors.Join(p.addServers(), checkDecisions(cfg)); err != nil {
		return nil, err
	}
	p.server = p.newServer()
	p.keeper = newKeeper(p)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.work, p.stop = context.WithCancel(p.ctx)
	if len(p.ups) == 0 {
		close(p.settled)
	}
	for _, u := range p.ups {
		p.group.Go(func() error { u.run(p.ctx); return nil })
	}
	return p, nil
}

func (p *Proxy) addServers() error {
	var errs []error
	seen := map[string]bool{}
	for i, s := range p.cfg.Servers {
		switch {
		case s.Disabled:
			continue
		case s.Name == "":
			errs = append(errs, fmt.Errorf("mcpproxy: server %d of the config has no name", i+1))
		case seen[s.Name]:
			errs = append(errs, fmt.Errorf("mcpproxy: two servers are named %q; rename one", s.Name))
		}
		seen[s.Name] = true
		ev := upstreamEvents{up: p.upstreamUp, down: p.upstreamDown, notify: p.upstreamNotify, request: p.upstreamAsks, offers: p.abilities}
		u := newUpstream(s, p.cfg.Proxy, ev, p.log)
		u.auth.keepIn(p.env.TokenDir)
		p.ups = append(p.ups, u)
	}
	return errors.Join(errs...)
}

// Close ends every session and every server, and returns when their processes
// have ended.
func (p *Proxy) Close() error {
	p.mu.Lock() // nothing joins parks.running from here on
	p.stop()    // sessions wait for what is under way, and servers hear that it is cancelled
	p.mu.Unlock()
	for s := range p.server.Sessions() {
		s.Close()
	}
	p.parks.running.Wait()
	p.cancel()
	err := p.group.Wait()
	p.statusMu.Lock()
	p.mu.Lock()
	var left []*session
	for key, s := range p.sessions {
		left = append(left, s)
		delete(p.sessions, key)
	}
	p.mu.Unlock()
	p.statusMu.Unlock()
	for _, s := range left {
		s.client.close()
	}
	p.leaving.Wait()
	return errors.Join(err, p.keeper.close())
}

// upstreamUp hears that a server is connected, or that its tools have changed.
func (p *Proxy) upstreamUp(u *upstream) {
	first := p.heard(u, nil, func(s *session) { s.client.serverUp(u) })
	if p.showTools() {
		p.changed(toolsChanged)
	}
	if first {
		p.lists.forget(u)
		p.watchAgain(u)
		p.changed(resourcesChanged, promptsChanged)
	}
	p.settle(u)
}

// upstreamDown hears that the connection to a server is lost or was not made.
// Its tools stay listed: they are out of order, not gone.
func (p *Proxy) upstreamDown(u *upstream, err error) {
	if err == nil {
		err = errDown
	}
	p.heard(u, err, func(s *session) { s.client.serverDown(u, err) })
	p.settle(u)
}

// heard notes what became of a server, tells every client, and says whether
// the server was not up before.
func (p *Proxy) heard(u *upstream, err error, tell func(*session)) (first bool) {
	p.statusMu.Lock()
	defer p.statusMu.Unlock()
	p.mu.Lock()
	old := p.state[u]
	p.state[u] = status{heard: true, err: err}
	all := make([]*session, 0, len(p.sessions))
	for _, s := range p.sessions {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		tell(s)
	}
	return !old.heard || old.err != nil
}

// settle opens the lists once they have what there is of every server.
func (p *Proxy) settle(u *upstream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown[u] = true
	if len(p.shown) < len(p.ups) {
		return
	}
	if !p.isSettled() {
		close(p.settled)
	}
}

// ready waits until every server has come up or failed, at most startWait: a
// client that asks at once shall not see an empty list.
func (p *Proxy) ready(ctx context.Context) { p.readyWithin(ctx, startWait) }

func (p *Proxy) readyWithin(ctx context.Context, limit time.Duration) { within(ctx, p.settled, limit) }

func (p *Proxy) isSettled() bool { return isClosed(p.settled) }
