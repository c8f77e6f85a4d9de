package a2apeer_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
	a2apeer "github.com/expediter-go/expediter/integration/a2a"
)

// bench is an engine in which one failure opens a circuit and the second request
// after it is a trial. Its clock stands unless a test moves it.
type bench struct {
	engine   *expediter.Engine
	executor *executor.Executor

	mu    sync.Mutex
	now   time.Time
	heard []string
	took  int64 // milliseconds of the latest record
}

func newBench(t testing.TB, m capability.Map) *bench {
	t.Helper()
	b := &bench{now: time.Unix(1_700_000_000, 0)}
	var err error
	b.engine, err = expediter.New(expediter.Config{
		Tools:  m,
		Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1, Probe: breaker.Pacing{Every: 2}}, Budget: 100},
		Events: expediter.Events{Journal: b.hear},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.executor, err = executor.New(executor.Config{Engine: b.engine, Now: b.clock})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// hear notes decisions and records, such as "CALL travel" and "failure timeout".
func (b *bench) hear(e *expediter.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	line := ""
	switch {
	case e.Decided != nil:
		line = e.Decided.Decision.String() + " " + e.Tool
	case e.Result != nil:
		line = e.Result.String()
		b.took = e.DurationMS
		if line == "failure" {
			line += " " + e.Category.String()
		}
	default:
		return
	}
	b.heard = append(b.heard, line)
}

// tell compares what was heard since the last time.
func (b *bench) tell(t *testing.T, want ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if diff := cmp.Diff(want, b.heard); diff != "" {
		t.Errorf("the engine heard (-want +got):\n%s", diff)
	}
	b.heard = nil
}

func (b *bench) peer(t testing.TB, name string) *a2apeer.Peer {
	t.Helper()
	p, err := a2apeer.New(a2apeer.Config{Executor: b.executor, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// binding is a transport of the protocol, and what serves it.
type binding struct {
	protocol a2a.TransportProtocol
	serve    func(a2asrv.RequestHandler) http.Handler
}

var bindings = []binding{
	{a2a.TransportProtocolJSONRPC, func(h a2asrv.RequestHandler) http.Handler { return a2asrv.NewJSONRPCHandler(h) }},
	{a2a.TransportProtocolHTTPJSON, func(h a2asrv.RequestHandler) http.Handler { return a2asrv.NewRESTHandler(h) }},
}

// each runs a test over every binding.
func each(t *testing.T, test func(*testing.T, binding)) {
	t.Helper()
	for _, bind := range bindings {
		t.Run(string(bind.protocol), func(t *testing.T) { test(t, bind) })
	}
}

// client is a client of the address with more options.
func client(t testing.TB, bind binding, addr string, opts ...a2aclient.FactoryOption) *a2aclient.Client {
	t.Helper()
	card := &a2a.AgentCard{Name: "agent", Capabilities: a2a.AgentCapabilities{Streaming: true},
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface("http://"+addr, bind.protocol)}}
	c, err := a2aclient.NewFromCard(context.Background(), card, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// guarded is a client of the address that the peer guards.
func (b *bench) guarded(t testing.TB, bind binding, addr, name string) *a2aclient.Client {
	t.Helper()
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return client(t, bind, addr, b.peer(t, name).Options(&http.Client{Transport: base})...)
}

// listen serves an address ("": a new one) until the test ends or stop is called,
// which cuts every connection.
func listen(t testing.TB, addr string, h http.Handler) (at string, stop func()) {
	t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	stop = sync.OnceFunc(func() {
		_ = s.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// agent does what it is told in words: the first is a state or a command, the
// rest is what it says about it.
type agent struct {
	stuck chan struct{} // closed when those that hang may go on
}

func newAgent(t testing.TB) a2asrv.RequestHandler {
	a := agent{stuck: make(chan struct{})}
	t.Cleanup(func() { close(a.stuck) })
	return a2asrv.NewHandler(a, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
}

var states = map[string]a2a.TaskState{
	"completed": a2a.TaskStateCompleted, "failed": a2a.TaskStateFailed, "rejected": a2a.TaskStateRejected,
	"canceled": a2a.TaskStateCanceled, "input": a2a.TaskStateInputRequired, "auth": a2a.TaskStateAuthRequired,
}

var faults = map[string]error{
	"unauthenticated": a2a.ErrUnauthenticated, "unauthorized": a2a.ErrUnauthorized, "params": a2a.ErrInvalidParams,
	"internal": a2a.ErrInternalError, "unsupported": a2a.ErrUnsupportedOperation, "content": a2a.ErrUnsupportedContentType,
	"version": a2a.ErrVersionNotSupported,
}

func (a agent) Execute(ctx context.Context, x *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		word, rest, _ := strings.Cut(x.Message.Parts[0].Text(), " ")
		said := a2a.NewMessageForTask(a2a.MessageRoleAgent, x, a2a.NewTextPart(rest))
		switch state := states[word]; {
		case word == "message":
			yield(a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(rest)), nil)
		case faults[word] != nil:
			yield(nil, faults[word])
		case word == "hang":
			select {
			case <-a.stuck:
			case <-ctx.Done():
			}
			yield(nil, ctx.Err())
		default:
			if yield(a2a.NewSubmittedTask(x, x.Message), nil) && yield(a2a.NewStatusUpdateEvent(x, a2a.TaskStateWorking, nil), nil) &&
				yield(a2a.NewArtifactEvent(x, a2a.NewTextPart("part of it")), nil) {
				yield(a2a.NewStatusUpdateEvent(x, state, said), nil)
			}
		}
	}
}

func (agent) Cancel(_ context.Context, x *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(x, a2a.TaskStateCanceled, nil), nil)
	}
}

func request(text string) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))}
}

func send(ctx context.Context, c *a2aclient.Client, text string) (a2a.SendMessageResult, error) {
	return c.SendMessage(ctx, request(text))
}

// stream reads a stream and counts its events, up to one after which the agent
// waits for somebody: the library's server may leave the stream open there.
func stream(ctx context.Context, c *a2aclient.Client, text string) (events int, failed error) {
	for event, err := range c.SendStreamingMessage(ctx, request(text)) {
		if err != nil {
			return events, err
		}
		events++
		update, ok := event.(*a2a.TaskStatusUpdateEvent)
		if ok && (update.Status.State == a2a.TaskStateAuthRequired || update.Status.State == a2a.TaskStateInputRequired) {
			break
		}
	}
	return events, nil
}

// writing answers every request with the text.
func writing(status int, text string, headers ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
}
