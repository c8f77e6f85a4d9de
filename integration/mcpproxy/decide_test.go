package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/zap"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/replay"
)

// bench is a proxy whose servers are there as the test wants it, and whose clock
// is the test's.
type bench struct {
	*Proxy
	clock atomic.Int64 // milliseconds
}

func newBench(t testing.TB, cfg Config, tools map[string][]rawTool) *bench {
	t.Helper()
	b := &bench{}
	b.clock.Store(1_800_000_000_000)
	cfg.Proxy = cfg.Proxy.filled()
	b.Proxy = &Proxy{cfg: cfg, log: zap.NewNop(), env: Env{JournalDir: t.TempDir(), Now: func() time.Time { return time.UnixMilli(b.clock.Load()) }}}
	if err := checkDecisions(cfg); err != nil {
		t.Fatal(err)
	}
	var lists []serverNames
	raws := map[owner]rawTool{}
	for _, s := range cfg.Servers {
		u := &upstream{server: s, listed: tools[s.Name], mask: masker(s)}
		setUp(u, true)
		b.ups = append(b.ups, u)
		l := serverNames{up: u, prefix: prefixOf(s.Name)}
		for _, tool := range u.listed {
			l.names = append(l.names, tool.Name)
			raws[owner{u, tool.Name}] = tool
		}
		lists = append(lists, l)
	}
	b.tools.set(lists, raws, true)
	return b
}

// setUp makes a server look connected, or not.
func setUp(u *upstream, up bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.renewing = nil; up {
		u.renewing = make(chan struct{})
	}
}

func plainTool(name string) rawTool {
	return rawTool{Name: name, Raw: json.RawMessage(`{"name":"` + name + `","inputSchema":{"type":"object"}}`)}
}

func (b *bench) pass(d time.Duration) { b.clock.Add(d.Milliseconds()) }

func (b *bench) target(t testing.TB, key string) target {
	t.Helper()
	got, ok := b.findKey(key)
	if !ok {
		t.Fatalf("no tool %s", key)
	}
	return got
}

var two = Config{Servers: []Server{{Name: "hub", Command: "hub"}, {Name: "alt", Command: "alt"}}, Policy: expediter.Interactive()}

var twoTools = map[string][]rawTool{"hub": {plainTool("search"), plainTool("read")}, "alt": {plainTool("find")}}

const okResult = `{"content":[{"type":"text","text":"ok"}],"n":9007199254740993,"isError":false}`

func gives(result string) forwardFunc {
	return func(context.Context, target, json.RawMessage) (answer, error) {
		return answer{Result: json.RawMessage(result)}, nil
	}
}

func failsWith(err error) forwardFunc {
	return func(context.Context, target, json.RawMessage) (answer, error) { return answer{}, err }
}

func never(t testing.TB) forwardFunc {
	return func(_ context.Context, to target, _ json.RawMessage) (answer, error) {
		t.Errorf("%s was called", to.key)
		return answer{Result: json.RawMessage(okResult)}, nil
	}
}

const broken = `{"content":[{"type":"text","text":"connect ECONNREFUSED 10.0.0.1:443"}],"isError":true}`

var someParams = json.RawMessage(`{"name":"search","arguments":{"q":"hunter2-secret"}}`)

// told is an answer that no server gave.
type told struct {
	Text    string
	IsError bool
	verdict
}

func readTold(t testing.TB, raw json.RawMessage) told {
	t.Helper()
	var r struct {
		Content []struct{ Text string }
		IsError bool
		Meta    map[string]struct {
			Decision, Reason, Outcome, Tool, Server, Cause, Since string
			Route                                                 *verdictRoute
			Failures                                              int
			RetryAfterMS                                          int64
		} `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Content) == 0 {
		t.Fatalf("%s: %v", raw, err)
	}
	m, ok := r.Meta[metaDecision]
	got := told{Text: r.Content[0].Text, IsError: r.IsError, verdict: verdict{Reason: m.Reason, Outcome: m.Outcome, Tool: m.Tool,
		Server: m.Server, Cause: m.Cause, Since: m.Since, Route: m.Route, Failures: m.Failures, RetryAfterMS: m.RetryAfterMS}}
	if ok {
		if err := got.Decision.UnmarshalText([]byte(m.Decision)); err != nil {
			t.Fatal(err)
		}
	} else {
		got.Decision = expediter.Call
	}
	return got
}

func call(t testing.TB, c *client, to target, f forwardFunc) json.RawMessage {
	t.Helper()
	raw, rpc := c.callTool(context.Background(), to, someParams, f)
	if rpc != nil {
		t.Fatalf("%s: %v", to.key, rpc)
	}
	return raw
}

func state(c *client, key string) breaker.State {
	for _, t := range c.engine.Status().Tools {
		if t.Tool == key {
			return t.State
		}
	}
	return breaker.Closed
}

func TestResultsStayAsTheyCame(t *testing.T) {
	b := newBench(t, two, twoTools)
	c := b.newClient("s", human{})
	if got := string(call(t, c, b.target(t, "hub/search"), gives(okResult))); got != okResult {
		t.Errorf("got %s", got)
	}
	for _, rpc := range []*jsonrpc.Error{{Code: -32602, Message: "no", Data: json.RawMessage(`{"x":1}`)}, {Code: -32603, Message: "database is locked"}} {
		_, got := c.callTool(t.Context(), b.target(t, "hub/search"), someParams, func(context.Context, target, json.RawMessage) (answer, error) {
			return answer{Error: rpc}, nil
		})
		if got != rpc {
			t.Errorf("got %v, want the server's own %v", got, rpc)
		}
	}
}

func TestOpenSkipProbeClose(t *testing.T) {
	cfg := two
	cfg.Tools = capability.Map{{Tool: "hub/search", Alternatives: []capability.Alternative{{Tool: "alt/find", Method: "by name", Degradation: "no ranking"}}}}
	b := newBench(t, cfg, twoTools)
	c := b.newClient("s", human{})
	search := b.target(t, "hub/search")
	for range 3 {
		if got := string(call(t, c, search, gives(broken))); got != broken {
			t.Fatalf("a failure is passed on as it is; got %s", got)
		}
	}
	got := readTold(t, call(t, c, search, never(t)))
	want := verdict{Decision: expediter.Skip, Reason: "open", Tool: "hub/search", Cause: "network", Since: "2027-01-15T08:00:00Z", Failures: 3,
		RetryAfterMS: 30_000, Route: &verdictRoute{Kind: "alternative", Label: "ACCEPTABLE", Tool: "find", Method: "by name", Degradation: "no ranking"}}
	if diff := cmp.Diff(want, got.verdict); diff != "" || !got.IsError {
		t.Error(diff)
	}
	wantText := `expediter: SKIP. search is open since 08:00:00Z: 3 failures in a row. The latest: network, "connect ECONNREFUSED 10.0.0.1:443". ` +
		`Declared alternative: find, by name (ACCEPTABLE: no ranking). Its next trial: after 1 more request for it, not before 08:00:01Z, or any request for it from 08:00:30Z on. Other tools are not affected.`
	if got.Text != wantText {
		t.Errorf("got  %s\nwant %s", got.Text, wantText)
	}
	b.pass(31 * time.Second)
	if got := string(call(t, c, search, gives(okResult))); got != okResult || state(c, "hub/search") != breaker.Closed {
		t.Errorf("the trial: %s, %v", got, state(c, "hub/search"))
	}
}

func TestLostServerIsOneOutage(t *testing.T) {
	b := newBench(t, two, twoTools)
	c := b.newClient("s", human{})
	search, read, find := b.target(t, "hub/search"), b.target(t, "hub/read"), b.target(t, "alt/find")
	call(t, c, search, gives(okResult))
	lost := func(context.Context, target, json.RawMessage) (answer, error) {
		setUp(search.up, false)
		c.serverDown(search.up, errors.New("exit status 1"))
		return answer{}, fmt.Errorf("%w: EOF", errLost)
	}
	got := readTold(t, call(t, c, search, lost))
	if got.Decision != expediter.Call || got.Outcome != "failure" || !strings.Contains(got.Text, "whether it took effect is unknown") {
		t.Errorf("%+v", got)
	}
	for _, to := range []target{search, read, read, search} {
		got := readTold(t, call(t, c, to, never(t)))
		if got.Decision != expediter.Skip || got.Reason != "unavailable" || got.Server != "hub" || !strings.Contains(got.Text, `its server hub is not connected since 08:00:00Z ("exit status 1")`) {
			t.Errorf("%+v", got)
		}
	}
	if got := string(call(t, c, find, gives(okResult))); got != okResult {
		t.Errorf("another server's tool: %s", got)
	}
	st := c.engine.Status()
	if st.Consumed != 1 || len(st.Incidents) != 1 || !st.Incidents[0].Declared || len(st.Incidents[0].Members) != 3 || st.Paused != expediter.NoReason {
		t.Errorf("consumed %d, incidents %+v", st.Consumed, st.Incidents)
	}
	setUp(search.up, true)
	c.serverUp(search.up)
	probes := c.engine.Status().Counts.Probes
	for _, to := range []target{search, read} {
		if got := string(call(t, c, to, gives(okResult))); got != okResult {
			t.Errorf("%s: %s", to.key, got)
		}
	}
	st = c.engine.Status()
	if st.Counts.Probes-probes != 2 || len(st.Incidents) != 0 {
		t.Errorf("%d trials, incidents %+v", st.Counts.Probes-probes, st.Incidents)
	}
}

func TestOutageThatNobodyMeetsCostsNothing(t *testing.T) {
	b := newBench(t, two, twoTools)
	c := b.newClient("s", human{})
	hub := b.ups[0]
	for range 10 {
		setUp(hub, false)
		c.serverDown(hub, errors.New("EOF"))
		setUp(hub, true)
		c.serverUp(hub)
	}
	if st := c.engine.Status(); st.Consumed != 0 || st.Counts.Skips != 0 {
		t.Errorf("%d consumed", st.Consumed)
	}
	call(t, c, b.target(t, "hub/search"), gives(okResult))
}

// A server that is lost again and again must not stop an agent whose other tools
// work.
func TestFlappingServerDoesNotPause(t *testing.T) {
	b := newBench(t, two, twoTools)
	c := b.newClient("s", human{})
	search := b.target(t, "hub/search")
	for range 10 {
		setUp(search.up, false)
		c.serverDown(search.up, errors.New("EOF"))
		if got := readTold(t, call(t, c, search, never(t))); got.Decision != expediter.Skip {
			t.Fatalf("%+v", got)
		}
		setUp(search.up, true)
		c.serverUp(search.up)
		call(t, c, search, gives(okResult))
		b.pass(time.Second)
	}
	if st := c.engine.Status(); st.Consumed != 3 || st.Paused != expediter.NoReason {
		t.Errorf("consumed %d, paused %v", st.Consumed, st.Paused)
	}
}

// A server that goes between the decision and the call: the call was never sent.
func TestNeverSentIsASkip(t *testing.T) {
	b := newBench(t, two, twoTools)
	c := b.newClient("s", human{})
	search := b.target(t, "hub/search")
	got := readTold(t, call(t, c, search, func(context.Context, target, json.RawMessage) (answer, error) {
		setUp(search.up, false)
		return answer{}, fmt.Errorf("%w: broken pipe", errDown)
	}))
	if st := c.engine.Status(); got.Decision != expediter.Skip || got.Server != "hub" || st.Counts.Failures != 0 || st.Counts.Refused != 1 {
		t.Errorf("%+v, %+v", got, st.Counts)
	}
}

func TestPassthrough(t *testing.T) {
	no, yes := `{"readOnlyHint":false}`, `{"readOnlyHint":true}`
	tests := []struct {
		name        string
		passthrough bool
		effects     capability.SideEffects
		tool, alt   string // annotations
		altSchema   string
		schema      string
		want        bool
	}{
		{name: "declared", passthrough: true, want: true},
		{name: "only told", want: false},
		{name: "side effects in the map", passthrough: true, effects: capability.Idempotent},
		{name: "destructive, though the server says read-only", passthrough: true, effects: capability.Destructive, tool: yes},
		{name: "the server says it writes", passthrough: true, effects: capability.EffectsNone, tool: no},
		{name: "the alternative writes", passthrough: true, alt: no},
		{name: "both say read-only", passthrough: true, tool: yes, alt: yes, want: true},
		{name: "another output schema", passthrough: true, schema: `{"type":"object"}`},
		{name: "the same output schema", passthrough: true, schema: `{"type":"object"}`, altSchema: `{"type":"object"}`, want: true},
	}
	tool := func(name, annotations, schema string) rawTool {
		raw := map[string]json.RawMessage{"name": encode(name)}
		if annotations != "" {
			raw["annotations"] = json.RawMessage(annotations)
		}
		if schema != "" {
			raw["outputSchema"] = json.RawMessage(schema)
		}
		return rawTool{Name: name, Raw: encode(raw)}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := two
			cfg.Tools = capability.Map{{Tool: "hub/search", SideEffects: tt.effects,
				Alternatives: []capability.Alternative{{Tool: "alt/find", Degradation: "no ranking", Level: capability.High, Passthrough: tt.passthrough}}}}
			b := newBench(t, cfg, map[string][]rawTool{"hub": {tool("search", tt.tool, tt.schema)}, "alt": {tool("find", tt.alt, tt.altSchema)}})
			c := b.newClient("s", human{})
			search := b.target(t, "hub/search")
			for range 3 {
				call(t, c, search, gives(broken))
			}
			called := false
			raw := call(t, c, search, func(_ context.Context, to target, params json.RawMessage) (answer, error) {
				called = true
				if to.key != "alt/find" || string(params) != string(someParams) {
					t.Errorf("%s %s", to.key, params)
				}
				return answer{Result: json.RawMessage(okResult)}, nil
			})
			if called != tt.want {
				t.Fatalf("called: %v; %s", called, raw)
			}
			if !tt.want {
				return
			}
			if got := string(raw); !strings.HasPrefix(got, `{"content":[{"type":"text","text":"ok"},{"type":"text","text":"expediter: this result is from find, the declared alternative of search (PARTIAL: no ranking). search is open since`) ||
				!strings.HasSuffix(got, `"_meta":{"io.github.expediter/note":"route"}}],"n":9007199254740993,"isError":false}`) {
				t.Errorf("got %s", got)
			}
			if in := c.report(); len(in.Substitutes) != 1 {
				t.Errorf("%+v", in.Substitutes)
			}
		})
	}
}

func TestFreshnessStandsBeside(t *testing.T) {
	cfg := two
	cfg.Tools = capability.Map{{Tool: "hub/search", SideEffects: capability.EffectsNone}}
	b := newBench(t, cfg, twoTools)
	c := b.newClient("s", human{})
	for key, labelled := range map[string]bool{"hub/search": true, "hub/read": false} {
		first, second := string(call(t, c, b.target(t, key), gives(okResult))), string(call(t, c, b.target(t, key), gives(okResult)))
		if first != okResult {
			t.Errorf("%s: fresh data has no label: %s", key, first)
		}
		if got := strings.Contains(second, `[CACHED RESULT — search returned identical results`); got != labelled || !labelled && second != okResult {
			t.Errorf("%s: %s", key, second)
		}
	}
}

func TestNoFailures(t *testing.T) {
	for name, result := range map[string]string{
		"input required": `{"resultType":"input_required","inputRequests":{"a":{}},"requestState":"x"}`,
		"load shedding":  `{"resultType":"input_required","requestState":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, two, twoTools)
			c := b.newClient("s", human{modern: true})
			for range 20 {
				if got := string(call(t, c, b.target(t, "hub/search"), gives(result))); got != result {
					t.Fatalf("got %s", got)
				}
			}
			if st := c.engine.Status(); st.Counts.Failures != 0 || st.Counts.Ignored != 20 {
				t.Errorf("%+v", st.Counts)
			}
		})
	}
}

func TestHTTPRefusalIsAToolResult(t *testing.T) {
	b := newBench(t, two, twoTools)
	c := b.newClient("s", human{})
	got := readTold(t, call(t, c, b.target(t, "hub/search"), func(context.Context, target, json.RawMessage) (answer, error) {
		return answer{Status: 503, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "Service Unavailable"}}, nil
	}))
	if got.Outcome != "failure" || got.Cause != "upstream" || !strings.Contains(got.Text, "HTTP status 503") {
		t.Errorf("%+v", got)
	}
}

func TestJournalKeepsNoSecrets(t *testing.T) {
	for _, record := range []bool{false, true} {
		cfg := two
		cfg.Proxy.RecordArguments = record
		b := newBench(t, cfg, twoTools)
		c := b.newClient("session-id-of-the-client", human{})
		call(t, c, b.target(t, "hub/search"), failsWith(fmt.Errorf(`Post "https://x.test/?api_key=sk-live-0123456789abcdef0123": %w`, io.ErrUnexpectedEOF)))
		c.close()
		call(t, c, b.target(t, "hub/search"), gives(okResult)) // ends after the session
		files, err := filepath.Glob(filepath.Join(b.env.JournalDir, "*"))
		if err != nil || len(files) != 1 || strings.Contains(files[0], "session-id") {
			t.Fatalf("%v %v", files, err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "sk-live-0123456789abcdef0123") || strings.Contains(string(data), "hunter2-secret") != record {
			t.Errorf("record %v: %s", record, data)
		}
		if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
	}
}

func TestClientThatOnlyLooksLeavesNoJournal(t *testing.T) {
	b := newBench(t, two, twoTools)
	c := b.newClient("s", human{})
	c.ownTools()
	c.statusResult()
	c.close()
	if files, _ := os.ReadDir(b.env.JournalDir); len(files) != 0 {
		t.Errorf("%v", files)
	}
}

// Many clients at once: nothing is lost or mixed up, and each journal replays.
func TestManyClients(t *testing.T) {
	const clients, calls = 200, 50
	cfg := two
	b := newBench(t, cfg, twoTools)
	search, read := b.target(t, "hub/search"), b.target(t, "hub/read")
	var all sync.WaitGroup
	for i := range clients {
		c := b.newClient(fmt.Sprint(i), human{})
		var mine sync.WaitGroup
		for k := range calls {
			all.Add(1)
			mine.Add(1)
			go func() {
				defer all.Done()
				defer mine.Done()
				want := fmt.Sprintf(`{"content":[],"n":"%d-%d"}`, i, k)
				to := search
				if k%2 == 0 {
					to = read
				}
				if raw, _ := c.callTool(t.Context(), to, someParams, gives(want)); string(raw) != want {
					t.Errorf("got %s, want %s", raw, want)
				}
			}()
		}
		all.Add(1)
		go func() {
			defer all.Done()
			mine.Wait()
			if n := c.engine.Status().Counts; n.Calls != calls || n.Successes != calls {
				t.Errorf("client %d: %+v", i, n)
			}
			c.close()
		}()
	}
	all.Wait()
	files, _ := filepath.Glob(filepath.Join(b.env.JournalDir, "*"))
	if len(files) != clients {
		t.Fatalf("%d journals", len(files))
	}
	for _, name := range files[:3] {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := replay.Journal(f); err != nil {
			t.Error(err)
		}
		f.Close()
	}
}
