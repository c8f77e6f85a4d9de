package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// waitFor is how long a test waits for what must come.
const waitFor = 20 * time.Second

// rig is an upstream that runs, and what it was heard to say.
type rig struct {
	*upstream
	ups, downs chan error
	notes      chan string
	lines      chan string // of the log
}

// start runs an upstream until the test ends. ask answers the server's requests;
// nil: nobody does.
func start(t *testing.T, s Server, o Options, ask func(method string, params json.RawMessage) json.RawMessage) *rig {
	t.Helper()
	r := &rig{ups: make(chan error, 100), downs: make(chan error, 100), notes: make(chan string, 100), lines: make(chan string, 10000)}
	core, _ := observer.New(zapcore.DebugLevel)
	log := zap.New(core, zap.Hooks(func(e zapcore.Entry) error {
		select {
		case r.lines <- e.Message:
		default:
		}
		return nil
	}))
	ev := upstreamEvents{
		up:     func(*upstream) { r.ups <- nil },
		down:   func(_ *upstream, err error) { r.downs <- err },
		notify: func(_ *upstream, method string, params json.RawMessage) { r.notes <- method + " " + string(params) },
	}
	if ask != nil {
		ev.request = func(_ context.Context, _ *upstream, method string, params json.RawMessage) (json.RawMessage, *jsonrpc.Error) {
			return ask(method, params), nil
		}
	}
	r.upstream = newUpstream(s, o, ev, log)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return r
}

// check asks whether the server is there, without calling a tool.
func (r *rig) check(ctx context.Context) error {
	l, err := r.connected(ctx)
	if err != nil {
		return err
	}
	return l.check(ctx)
}

// startUp is start for a server that comes up.
func startUp(t *testing.T, s Server, o Options, ask func(string, json.RawMessage) json.RawMessage) *rig {
	t.Helper()
	r := start(t, s, o, ask)
	next(t, r.ups, "up")
	return r
}

func next[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(waitFor):
		t.Fatalf("no %s within %v", what, waitFor)
	}
	panic("unreachable")
}

func (r *rig) tool(t *testing.T, name, args string) (answer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitFor)
	defer cancel()
	return r.call(ctx, "tools/call", json.RawMessage(`{"name":"`+name+`","arguments":`+args+`}`), nil)
}

// textOf is the text of a tool's result.
func textOf(t *testing.T, a answer, err error) string {
	t.Helper()
	if err != nil || a.Error != nil {
		t.Fatalf("the call failed: %v, %v", err, a.Error)
	}
	var res struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(a.Result, &res); err != nil || len(res.Content) == 0 {
		t.Fatalf("result %s: %v", a.Result, err)
	}
	return res.Content[0].Text
}

func TestStdioCall(t *testing.T) {
	r := startUp(t, stdioServer(t, "sdk"), Options{}, nil)
	a, err := r.tool(t, "echo", `{"text":"<&> ü"}`)
	if got, want := textOf(t, a, err), "<&> ü"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := r.version(); got != newestLegacy {
		t.Errorf("version %q, want %q", got, newestLegacy)
	}
	if len(r.tools()) != 7 || !r.isUp() || r.capabilities() == nil {
		t.Errorf("tools %d, up %v, capabilities %s", len(r.tools()), r.isUp(), r.capabilities())
	}
	a, err = r.tool(t, "nope", `{}`)
	if err != nil || a.Error == nil || a.Error.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("unknown tool: got %+v, %v, want code %d", a.Error, err, jsonrpc.CodeInvalidParams)
	}
}

func TestStdioKilledInMidCallAndRestarted(t *testing.T) {
	t.Parallel()
	r := startUp(t, stdioServer(t, "sdk"), Options{}, nil)
	a, err := r.tool(t, "pid", `{}`)
	first := textOf(t, a, err)
	done := r.hang(t.Context(), t)
	if p, err := os.FindProcess(number(t, first)); err != nil || p.Kill() != nil {
		t.Fatalf("the server cannot be killed: %v", err)
	}
	if err := next(t, done, "end of the call"); !errors.Is(err, errLost) {
		t.Errorf("call in a killed server: got %v, want errLost", err)
	}
	if err := next(t, r.downs, "down"); !strings.Contains(err.Error(), "killed") {
		t.Errorf("down: got %v, want the signal", err)
	}
	if _, err := r.tool(t, "pid", `{}`); !errors.Is(err, errDown) {
		t.Errorf("call while down: got %v, want errDown", err)
	}
	next(t, r.ups, "up again")
	a, err = r.tool(t, "pid", `{}`)
	if second := textOf(t, a, err); second == first {
		t.Errorf("the same process %s again", second)
	}
}

// hang calls the tool that never answers, and returns when it is under way.
func (r *rig) hang(ctx context.Context, t *testing.T) <-chan error {
	t.Helper()
	done, began := make(chan error, 1), make(chan json.RawMessage, 10)
	go func() {
		_, err := r.call(ctx, "tools/call", json.RawMessage(`{"name":"hang","_meta":{"progressToken":"mine"},"arguments":{}}`),
			func(params json.RawMessage) { began <- params })
		done <- err
	}()
	params := next(t, began, "progress")
	if got := string(field(params, "progressToken")); got != `"mine"` {
		t.Errorf("progress for token %s, want that of the caller", got)
	}
	return done
}

// logged waits for a line of the log that has the text.
func (r *rig) logged(t *testing.T, text string) string {
	t.Helper()
	for {
		if line := next(t, r.lines, "log line with "+text); strings.Contains(line, text) {
			return line
		}
	}
}

func TestCancelReachesTheServer(t *testing.T) {
	r := startUp(t, stdioServer(t, "sdk"), Options{}, nil)
	stop := errors.New("the user has stopped it")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := r.hang(ctx, t)
	cancel(stop)
	if err := next(t, done, "end of the call"); !errors.Is(err, stop) {
		t.Errorf("got %v, want the cause of the cancellation", err)
	}
	r.logged(t, "the call was cancelled")
	a, err := r.tool(t, "echo", `{"text":"on"}`)
	if got := textOf(t, a, err); got != "on" {
		t.Errorf("after a cancelled call: got %q", got)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	r := startUp(t, stdioServer(t, "sdk"), Options{Deadline: 300 * time.Millisecond}, nil)
	err := next(t, r.hang(t.Context(), t), "end of the call")
	if !errors.Is(err, errDeadline) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want errDeadline", err)
	}
	r.logged(t, "the call was cancelled")
	if a, err := r.tool(t, "echo", `{"text":"on"}`); textOf(t, a, err) != "on" {
		t.Error("a server that answers the check must stay")
	}
}

func TestProgressComesInOrderBeforeTheResult(t *testing.T) {
	r := startUp(t, stdioServer(t, "sdk"), Options{}, nil)
	var got []string
	a, err := r.call(t.Context(), "tools/call", json.RawMessage(`{"name":"steps","_meta":{"progressToken":7,"k":1},"arguments":{}}`),
		func(params json.RawMessage) { got = append(got, string(params)) })
	if textOf(t, a, err) != "done" {
		t.Error("no result")
	}
	want := []string{`{"progressToken":7,"progress":1,"total":3}`, `{"progressToken":7,"progress":2,"total":3}`, `{"progressToken":7,"progress":3,"total":3}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestServerAsksTheClient(t *testing.T) {
	r := startUp(t, stdioServer(t, "sdk"), Options{}, func(method string, params json.RawMessage) json.RawMessage {
		if method != "elicitation/create" || string(field(params, "message")) != `"who?"` {
			t.Errorf("asked %s %s", method, params)
		}
		return json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`)
	})
	a, err := r.tool(t, "ask", `{}`)
	if got := textOf(t, a, err); got != "accept Ada" {
		t.Errorf("got %q", got)
	}
}

func TestChangedToolsAreReadAgain(t *testing.T) {
	r := startUp(t, stdioServer(t, "sdk"), Options{}, nil)
	a, err := r.tool(t, "grow", `{}`)
	textOf(t, a, err)
	next(t, r.ups, "news of the tools")
	if got := len(r.tools()); got != 8 {
		t.Errorf("%d tools, want 8", got)
	}
}

func TestGarbagePagesAndBytes(t *testing.T) {
	r := startUp(t, stdioServer(t, "raw"), Options{}, nil)
	want := []rawTool{{Name: "a", Raw: json.RawMessage(`{"name":"a","x":9007199254740993}`)},
		{Name: "b", Raw: json.RawMessage(`{"name":"b","annotations":{"idempotentHint":true}}`)}}
	if diff := cmp.Diff(want, r.tools()); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if got := r.version(); got != "2025-06-18" {
		t.Errorf("version %q", got)
	}
	r.logged(t, "npm warn: a banner")
	a, err := r.tool(t, "a", `{"n":9007199254740993,"t":"<&>"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(a.Result), `{"x":9007199254740993,"sent":{"name":"a","arguments":{"n":9007199254740993,"t":"<&>"}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStatelessOverStdio(t *testing.T) {
	r := startUp(t, stdioServer(t, "stateless"), Options{}, nil)
	if got := r.version(); got != newest {
		t.Errorf("version %q, want %q", got, newest)
	}
	a, err := r.call(t.Context(), "tools/call", json.RawMessage(`{"name":"a","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"me"}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"a","_meta":{"io.modelcontextprotocol/clientInfo":{"name":"me"},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`
	if got := string(field(a.Result, "sent")); got != want {
		t.Errorf("the server was sent\n%s, want\n%s", got, want)
	}
	if a, err := r.call(t.Context(), "logging/setLevel", json.RawMessage(`{"level":"debug"}`), nil); err != nil || string(a.Result) != "{}" {
		t.Errorf("setLevel: %s, %v", a.Result, err)
	}
}

func TestBadServers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode string
		opts Options
		want error
	}{
		{"other-id", Options{Deadline: 200 * time.Millisecond}, errDeadline},
		{"silent", Options{Deadline: 200 * time.Millisecond}, errDeadline},
		{"huge", Options{MaxResult: 1 << 20}, errTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			r := startUp(t, stdioServer(t, tt.mode), tt.opts, nil)
			if a, err := r.tool(t, "a", `{}`); !errors.Is(err, tt.want) {
				t.Errorf("got %s, %v, want %v", a.Result, err, tt.want)
			}
			if err := r.check(t.Context()); err != nil {
				t.Errorf("the server must stay: %v", err)
			}
		})
	}
}

func TestServerThatExitsAtStart(t *testing.T) {
	r := start(t, stdioServer(t, "exits"), Options{}, nil)
	err := next(t, r.downs, "down")
	if !strings.Contains(err.Error(), "exit status 7") || !strings.Contains(err.Error(), "no licence") {
		t.Errorf("got %v, want its status and last words", err)
	}
	if strings.Contains(err.Error(), "sesame-open") {
		t.Errorf("a secret in %v", err)
	}
	if _, err := r.tool(t, "a", `{}`); !errors.Is(err, errDown) {
		t.Errorf("got %v, want errDown", err)
	}
}

func TestServerThatIsNotThere(t *testing.T) {
	r := start(t, Server{Name: "none", Command: "no-such-binary-xyz"}, Options{}, nil)
	if err := next(t, r.downs, "down"); !strings.Contains(err.Error(), "no-such-binary-xyz") {
		t.Errorf("got %v", err)
	}
}

func TestProcessesEndWithTheProxy(t *testing.T) {
	r := startUp(t, stdioServer(t, "sdk"), Options{}, nil)
	a, err := r.tool(t, "pid", `{}`)
	p, err := os.FindProcess(number(t, textOf(t, a, err)))
	if err != nil {
		t.Fatal(err)
	}
	l, err := r.connected(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.cancel(errors.New("the test ends it"))
	next(t, l.ended, "end")
	if err := p.Signal(syscall.Signal(0)); err == nil {
		t.Error("the process lives on")
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	r := startUp(t, stdioServer(t, "deaf"), Options{Deadline: 50 * time.Millisecond}, nil)
	r.mu.Lock()
	deaf := r.link.conn.(*process).cmd.Process
	r.mu.Unlock()
	t.Cleanup(func() { _ = deaf.Kill() }) // it does not hear that it is to end
	for range 3 {                         // the first fills the pipe, the others wait for their turn
		if _, err := r.tool(t, "a", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`); !errors.Is(err, errDeadline) {
			t.Errorf("got %v, want errDeadline", err)
		}
	}
}

func TestErrorsRepeatNoSecret(t *testing.T) {
	s := Server{Name: "x", URL: "http://me:passw0rd@127.0.0.1:1/mcp?key=s3cr3t%2Bvalue", Header: map[string]string{"X-Key": "Bearer abcdefg"},
		Args: []string{"--api-key", "from-args", "--token=in-flag", "/a/path"}, Env: map[string]string{"K": "from-env", "LEVEL": "debug"}}
	text := "passw0rd s3cr3t+value s3cr3t%2Bvalue abcdefg from-args in-flag from-env"
	if got, want := masker(s)(text+" debug /a/path"), strings.Repeat("[masked] ", 7)+"debug /a/path"; got != want {
		t.Errorf("got %q", got)
	}
	r := start(t, s, Options{}, nil)
	if err := next(t, r.downs, "down"); strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "passw0rd") {
		t.Errorf("secrets in %v", err)
	}
	if _, err := r.tool(t, "a", `{}`); !errors.Is(err, errDown) || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got %v", err)
	}
}
