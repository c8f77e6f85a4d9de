package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"github.com/expediter-go/expediter/expediter"
)

// lot is a proxy between callers of 2026-07-28, who give requests to its
// middleware, and a server of an old revision, whose every message is the test's.
// It lives in a bubble.
type lot struct {
	*Proxy
	up   *upstream
	peer mcp.Connection

	mu      sync.Mutex
	calls   map[string]jsonrpc.ID // that the server got, by their token
	made    int
	ended   map[any]bool              // calls that the server was told are cancelled, by id
	answers map[any]*jsonrpc.Response // to the server's own questions, by id
}

func newLot(t rapid.TB, ctx context.Context, env Env) *lot {
	t.Helper()
	cfg := Config{Policy: expediter.Interactive()}
	cfg.Policy.Budget = 2
	p, err := New(cfg, env)
	if err != nil {
		t.Fatal(err)
	}
	ev := upstreamEvents{notify: p.upstreamNotify, request: p.upstreamAsks}
	u := newUpstream(Server{Name: "one", Command: "one"}, Options{Deadline: 10000 * time.Hour}, ev, zap.NewNop())
	u.revision, u.listed = newestLegacy, []rawTool{plainTool("x"), plainTool("y")}
	p.ups = append(p.ups, u)
	l := &lot{Proxy: p, up: u, calls: map[string]jsonrpc.ID{}, ended: map[any]bool{}, answers: map[any]*jsonrpc.Response{}}
	l.connect(t, ctx)
	return l
}

// connect connects the server, anew if it was lost.
func (l *lot) connect(t rapid.TB, ctx context.Context) {
	near, far := mcp.NewInMemoryTransports()
	peer, err := far.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := near.Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	l.peer = peer
	link := newLink(l.ctx, conn, nil, zap.NewNop(), l.up.linkEvents())
	link.version = newestLegacy
	l.up.mu.Lock()
	l.up.link, l.up.downErr = link, nil
	l.up.mu.Unlock()
	l.upstreamUp(l.up)
	go l.read(ctx, peer)
}

// lose ends the connection to the server.
func (l *lot) lose() {
	err := errors.New("EOF")
	l.up.link.cancel(err)
	<-l.up.link.ended
	_ = l.peer.Close()
	l.up.mu.Lock()
	l.up.link, l.up.downErr = nil, err
	l.up.mu.Unlock()
	l.upstreamDown(l.up, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.ended) // the next connection counts anew
}

func (l *lot) read(ctx context.Context, peer mcp.Connection) {
	for {
		msg, err := peer.Read(ctx)
		if err != nil {
			return
		}
		l.mu.Lock()
		switch m := msg.(type) {
		case *jsonrpc.Response:
			l.answers[m.ID.Raw()] = m
		case *jsonrpc.Request:
			switch m.Method {
			case "tools/call":
				var token string
				_ = json.Unmarshal(field(field(m.Params, "arguments"), "token"), &token)
				l.calls[token] = m.ID
				l.made++
			case "notifications/cancelled":
				id, _ := decodeID(field(m.Params, "requestId"))
				l.ended[id.Raw()] = true
			}
		}
		l.mu.Unlock()
	}
}

// close ends the proxy and what the bubble has left.
func (l *lot) close(t rapid.TB) {
	if err := l.Proxy.Close(); err != nil {
		t.Error(err)
	}
	if l.up.link != nil {
		<-l.up.link.ended
	}
	_ = l.peer.Close()
}

// ask has the server ask for something, on the stream of the call of a token.
func (l *lot) ask(ctx context.Context, token, id, method, params string) {
	l.Proxy.mu.Lock()
	var on *flight
	for f := range l.flights[l.up] {
		if strings.Contains(string(f.r.raw), `"token":"`+token+`"`) {
			on = f
		}
	}
	l.Proxy.mu.Unlock()
	rid, _ := jsonrpc.MakeID(id)
	l.up.link.handle(bare{ctx, on}, &jsonrpc.Request{ID: rid, Method: method, Params: json.RawMessage(params)})
}

// finish has the server answer the call of a token.
func (l *lot) finish(ctx context.Context, token, result string) {
	l.mu.Lock()
	id := l.calls[token]
	l.mu.Unlock()
	_ = l.peer.Write(ctx, &jsonrpc.Response{ID: id, Result: json.RawMessage(result)})
}

// ending2026 is what came of a request.
type ending2026 struct {
	raw string
	err error
}

// send gives a tools/call to the proxy, as from a caller of a name.
func (l *lot) send(ctx context.Context, who, tool, token, more string) <-chan ending2026 {
	meta := strings.Replace(modernMeta, `"raw"`, `"`+who+`"`, 1)
	params := `{"name":"` + tool + `","arguments":{"token":"` + token + `"},"_meta":{` + meta + `}` + more + `}`
	done := make(chan ending2026, 1)
	go func() {
		req := &mcp.ServerRequest[*mcp.CallToolParamsRaw]{Session: &mcp.ServerSession{}, Params: &mcp.CallToolParamsRaw{},
			Extra: &mcp.RequestExtra{Header: http.Header{paramsHeader: {params}}}}
		res, err := l.receive(nil)(ctx, "tools/call", req)
		g := ending2026{err: err}
		if raw, ok := res.(*rawResult); ok {
			g.raw = string(raw.raw)
		}
		done <- g
	}()
	return done
}

// inputAsked is a result that asks for input.
type inputAsked struct {
	ResultType, RequestState string
	InputRequests            map[string]struct {
		Method string
		Params struct {
			Message         string
			RequestedSchema struct {
				Properties struct{ Choice struct{ Enum []string } }
			}
		}
	}
}

func readAsked(raw string) (a inputAsked, ok bool) {
	err := json.Unmarshal([]byte(raw), &a)
	return a, err == nil && a.ResultType == "input_required"
}

// modelCall is one call in the model.
type modelCall struct {
	who, tool, token string
	cancel           context.CancelFunc
	waits            <-chan ending2026 // the request that waits; nil: none does
	state            string            // that the client was given; empty: it waits, or all is over
	away             time.Time
	open             []string          // the server's questions without an answer, by id
	sent             map[string]string // of them those that the client knows, by key
	answered         bool              // the server has
	lost             bool              // its server was
	over             bool
}

type model struct {
	*lot
	ctx   context.Context
	rt    *rapid.T
	calls []*modelCall
	last  int
	made  int
	spent []*modelCall // whose states were used, or are too old
	used  []string
}

func (m *model) any(what string, f func(*modelCall) bool) *modelCall {
	var some []*modelCall
	for _, c := range m.calls {
		if f(c) {
			some = append(some, c)
		}
	}
	if len(some) == 0 {
		m.rt.Skip("no call " + what)
	}
	return rapid.SampledFrom(some).Draw(m.rt, "call")
}

// request sends a request of a call and follows what comes of it.
func (m *model) request(c *modelCall, more string) {
	ctx, cancel := context.WithCancel(m.ctx)
	c.cancel, c.state = cancel, ""
	c.waits = m.send(ctx, c.who, c.tool, c.token, more)
	m.follow(c)
}

// follow waits until nothing moves, and takes in whether the request was answered.
func (m *model) follow(c *modelCall) {
	synctest.Wait()
	if c.waits == nil {
		return
	}
	var g ending2026
	select {
	case g = <-c.waits:
		c.waits = nil
		c.cancel() // as when an HTTP request has its answer
		synctest.Wait()
	default:
		if len(c.open) > 0 {
			m.rt.Fatalf("%s waits, with %v unanswered", c.token, c.open)
		}
		return
	}
	a, ok := readAsked(g.raw)
	if pause := a.InputRequests[pauseKey]; ok && pause.Method != "" { // nothing was called: a human ends the pause
		m.request(c, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:{"action":"accept","content":{"choice":%q}}}`,
			a.RequestState, pauseKey, pause.Params.RequestedSchema.Properties.Choice.Enum[0]))
		return
	}
	if ok {
		m.parked(c, a)
		return
	}
	if c.answered && !c.lost && !strings.Contains(g.raw, c.token) {
		m.rt.Fatalf("%s got %s %v", c.token, g.raw, g.err)
	}
	c.over = true
}

func (m *model) parked(c *modelCall, a inputAsked) {
	var ids []string
	c.sent = map[string]string{}
	for key, q := range a.InputRequests {
		id, of, _ := strings.Cut(q.Params.Message, " of ")
		if of != c.token {
			m.rt.Fatalf("%s was asked the question of %s", c.token, of)
		}
		ids = append(ids, id)
		c.sent[key] = id
	}
	slices.Sort(ids)
	slices.Sort(c.open)
	if !slices.Equal(ids, c.open) {
		m.rt.Fatalf("%s was asked %v, want %v", c.token, ids, c.open)
	}
	c.state, c.away = a.RequestState, time.Now()
}

func (m *model) call(rt *rapid.T) {
	m.last++
	c := &modelCall{who: rapid.SampledFrom([]string{"ada", "bob"}).Draw(rt, "who"),
		tool: rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "tool"), token: fmt.Sprintf("t%d.", m.last)}
	m.request(c, "")
	m.lot.mu.Lock()
	_, c2 := m.lot.calls[c.token]
	m.lot.mu.Unlock()
	if c2 {
		m.made++
	} else if !c.over {
		rt.Fatalf("%s waits, but was not made", c.token)
	}
	m.calls = append(m.calls, c)
}

func runs(c *modelCall) bool { return !c.over && !c.answered }

func (m *model) asks(rt *rapid.T) {
	c := m.any("that runs", runs)
	m.last++
	id := fmt.Sprint("q", m.last)
	c.open = append(c.open, id)
	m.ask(m.ctx, c.token, id, "elicitation/create", `{"message":"`+id+` of `+c.token+`"}`)
	m.follow(c)
}

func (m *model) answer(rt *rapid.T) {
	c := m.any("that is away", func(c *modelCall) bool { return c.state != "" })
	var parts []string
	var told []string
	for key, id := range c.sent {
		if rapid.IntRange(0, 3).Draw(rt, "leaves out") > 0 {
			parts = append(parts, fmt.Sprintf(`%q:{"action":"accept","content":{"id":%q}}`, key, id))
			told = append(told, id)
		}
	}
	if !c.answered {
		c.open = slices.DeleteFunc(c.open, func(id string) bool { return slices.Contains(told, id) })
	} else {
		c.open = nil
	}
	m.spent, m.used = append(m.spent, c), append(m.used, c.state)
	m.request(c, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%s}`, c.state, strings.Join(parts, ",")))
	m.lot.mu.Lock()
	defer m.lot.mu.Unlock()
	for _, id := range told {
		a := m.answers[id]
		if c.answered {
			continue // it went without
		}
		if a == nil || !strings.Contains(string(a.Result), `"`+id+`"`) {
			rt.Fatalf("question %s was answered %+v", id, a)
		}
	}
}

// forge uses a state that is spent, or another's.
func (m *model) forge(rt *rapid.T) {
	var c *modelCall
	var state, who, tool string
	if live := m.live(); len(live) > 0 && (len(m.used) == 0 || rapid.Bool().Draw(rt, "live")) {
		c = rapid.SampledFrom(live).Draw(rt, "call")
		state, who, tool = c.state, c.who, c.tool
		if rapid.Bool().Draw(rt, "another client") {
			who = map[string]string{"ada": "bob", "bob": "ada"}[who]
		} else {
			tool = map[string]string{"x": "y", "y": "x"}[tool]
		}
	} else if len(m.used) > 0 {
		i := rapid.IntRange(0, len(m.used)-1).Draw(rt, "state")
		c, state = m.spent[i], m.used[i]
		who, tool = c.who, c.tool
	} else {
		rt.Skip("no state")
	}
	g := m.send(m.ctx, who, tool, "forged.", fmt.Sprintf(`,"requestState":%q,"inputResponses":{"question-1":{"action":"accept","content":{}}}`, state))
	synctest.Wait()
	select {
	case g := <-g:
		if strings.Contains(g.raw, c.token) && !strings.Contains(g.raw, metaDecision) { // its failure may be told
			rt.Fatalf("a forged state got %s", g.raw)
		}
	default:
		rt.Fatal("a forged state waits")
	}
}

func (m *model) live() (live []*modelCall) {
	for _, c := range m.calls {
		if c.state != "" {
			live = append(live, c)
		}
	}
	return live
}

func (m *model) finishes(rt *rapid.T) {
	c := m.any("that runs", runs)
	c.answered = true
	if c.state == "" {
		c.open = nil
	}
	result := rapid.SampledFrom([]string{okResult, broken}).Draw(rt, "result")
	m.finish(m.ctx, c.token, strings.Replace(result, `"text":"`, `"text":"`+c.token+` `, 1))
	m.follow(c)
	if c.state == "" && !c.over {
		rt.Fatalf("%s has its answer and waits", c.token)
	}
}

// loses has the connection to the server go, and come back.
func (m *model) loses(rt *rapid.T) {
	m.lose()
	for _, c := range m.calls {
		if !runs(c) {
			continue
		}
		c.answered, c.lost = true, true
		if c.state == "" {
			c.open = nil
		}
		if m.follow(c); c.state == "" && !c.over {
			rt.Fatalf("%s waits for a server that is lost", c.token)
		}
	}
	m.connect(rt, m.lot.ctx)
	synctest.Wait()
}

func (m *model) cancels(rt *rapid.T) {
	c := m.any("that waits", func(c *modelCall) bool { return c.waits != nil })
	c.cancel()
	m.follow(c)
	if !c.over {
		rt.Fatalf("%s was cancelled and goes on", c.token)
	}
	m.mustEnd(c)
}

// mustEnd: the server knows that nobody waits any more.
func (m *model) mustEnd(c *modelCall) {
	m.lot.mu.Lock()
	defer m.lot.mu.Unlock()
	if id, ok := m.lot.calls[c.token]; ok && !c.answered && !m.ended[id.Raw()] {
		m.rt.Fatalf("the server was not told that %s is cancelled", c.token)
	}
}

func (m *model) time(rt *rapid.T) {
	time.Sleep(time.Duration(rapid.IntRange(1, 700).Draw(rt, "seconds")) * time.Second)
	m.expire()
}

func (m *model) expire() {
	synctest.Wait()
	for _, c := range m.calls {
		if c.state != "" && time.Since(c.away) >= parkFor {
			m.spent, m.used = append(m.spent, c), append(m.used, c.state)
			c.state, c.over = "", true
			m.mustEnd(c)
		}
	}
}

// check holds the proxy against the model.
func (m *model) check(rt *rapid.T) {
	running, busy, away := map[string]int{}, map[string]int{}, 0
	for _, c := range m.calls {
		if runs(c) {
			running[c.who]++
			busy[c.who]++
		}
		if c.waits != nil {
			busy[c.who]++
		}
		if c.state != "" {
			away++
		}
	}
	m.lot.mu.Lock()
	made := m.lot.made
	m.lot.mu.Unlock()
	if made != m.made {
		rt.Fatalf("the server got %d calls, want %d", made, m.made)
	}
	m.parks.mu.Lock()
	if len(m.parks.all) != away {
		rt.Fatalf("%d calls are away, want %d", len(m.parks.all), away)
	}
	m.parks.mu.Unlock()
	m.Proxy.mu.Lock()
	defer m.Proxy.mu.Unlock()
	if n := len(m.flights[m.up]); n != running["ada"]+running["bob"] {
		rt.Fatalf("%d calls are under way, want %v", n, running)
	}
	for _, who := range []string{"ada", "bob"} {
		s := m.sessions[callerKey(who)]
		if s == nil {
			continue
		}
		n := s.client.engine.Status().Counts
		if pending := n.Calls + n.Probes - n.Successes - n.Failures - n.Ignored; int(pending) != running[who] || s.busy != busy[who] {
			rt.Fatalf("%s: %+v and %d requests, want %d running", who, n, s.busy, running[who])
		}
	}
}

// Whatever servers ask and clients do with it: each call is made at most once,
// recorded once for the client that made it, and its result is that client's.
func TestParkedCallsAreRecordedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			dir, err := os.MkdirTemp(t.TempDir(), "")
			if err != nil {
				rt.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := &model{lot: newLot(rt, ctx, Env{JournalDir: dir}), ctx: ctx, rt: rt}
			defer m.lot.close(rt)
			with := func(f func(*rapid.T)) func(*rapid.T) {
				return func(rt *rapid.T) { m.rt = rt; f(rt) }
			}
			rt.Repeat(map[string]func(*rapid.T){"call": with(m.call), "ask": with(m.asks), "answer": with(m.answer), "forge": with(m.forge),
				"finish": with(m.finishes), "cancel": with(m.cancels), "lose": with(m.loses), "time": with(m.time), "": with(m.check)})
			m.rt = rt
			for _, c := range m.calls {
				if c.waits != nil {
					c.cancel()
					m.follow(c)
				}
			}
			time.Sleep(parkFor)
			m.expire()
			m.check(rt)
			m.lot.close(rt)
			checkJournal(rt, dir)
		})
	})
}
