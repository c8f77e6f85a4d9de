package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/replay"
	"github.com/expediter-go/expediter/internal/control"
	sessions "github.com/expediter-go/expediter/internal/session"
	"github.com/expediter-go/expediter/internal/store"
)

// keeping is a bench whose clients are in a store, and how a command reaches it.
func keeping(t *testing.T, cfg Config) (*bench, *control.Proxy) {
	t.Helper()
	dir, err := os.MkdirTemp("", "x") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b := newBench(t, cfg, twoTools)
	b.clock.Store(time.Now().UnixMilli()) // that of the files, or they are old
	b.log, b.env.Store, b.env.JournalDir, b.env.Source = zap.NewNop(), store.Open(dir), "", "proxy.yaml"
	b.keeper = newKeeper(b.Proxy)
	t.Cleanup(func() {
		if err := b.keeper.close(); err != nil {
			t.Error(err)
		}
	})
	p, err := control.Reach(b.env.Store, b.keeper.socket.Name())
	if err != nil {
		t.Fatal(err)
	}
	return b, p
}

// listed are the sessions of the bench's store, by id.
func (b *bench) listed(t *testing.T) map[string]sessions.Summary {
	t.Helper()
	all, err := sessions.List(t.Context(), b.env.Store)
	if err != nil && !errors.Is(err, store.ErrNoSession) {
		t.Fatal(err)
	}
	by := map[string]sessions.Summary{}
	for _, s := range all {
		by[s.Session] = s
	}
	return by
}

// replayed is what the journal of a session in the store folds to, and the status
// that is kept beside it.
func (b *bench) replayed(t *testing.T, id string) (folded, kept expediter.Status) {
	t.Helper()
	var lines bytes.Buffer
	err := sessions.View(t.Context(), b.env.Store, store.ID{Agent: sessions.AgentProxy, Session: id}, b.env.Now(), func(s *sessions.Session) error {
		kept = s.Status()
		for line := range s.Journal() {
			lines.Write(append(bytes.Clone(line), '\n'))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	end, err := replay.Journal(&lines)
	if err != nil {
		t.Fatal(err)
	}
	return end.Status, kept
}

// A client is a session from its first call on, or when a command asks; one that
// only looked leaves none.
func TestClientsAreSessions(t *testing.T) {
	b, p := keeping(t, two)
	looked := b.newClient("looked", human{})
	seen := b.newClient("seen", human{client: "editor"})
	if err := b.keeper.round(t.Context(), func(e *mirrored) bool { return e.dirty.Load() }); err != nil || len(b.listed(t)) != 0 {
		t.Fatalf("nothing was called: %v, error %v", b.listed(t), err)
	}
	looked.close()
	if err := p.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := b.listed(t)
	if s := all["seen"]; len(all) != 1 || s.Client != "editor" || s.Ended || !s.Mirrored() || s.Socket != b.keeper.socket.Name() {
		t.Errorf("got %+v", all)
	}
	seen.close()
	if err := p.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := b.listed(t)["seen"]; !s.Ended {
		t.Errorf("got %+v, want it ended", s)
	}
	if err := p.Do(t.Context(), control.Request{Op: control.Resume, Session: "seen"}); !errors.Is(err, control.ErrNoSession) {
		t.Errorf("an ended session: got %v, want %v", err, control.ErrNoSession)
	}
}

// Many clients call at once while they are written: nothing is lost, and nothing
// of one stands in another's journal.
func TestClientsAreKeptWhileTheyCall(t *testing.T) {
	b, p := keeping(t, two)
	var wait sync.WaitGroup
	const clients, workers, calls = 8, 4, 40
	for i := range clients {
		c := b.newClient(fmt.Sprint("c", i), human{})
		for range workers {
			wait.Go(func() {
				for n := range calls {
					result := okResult
					if n%9 == i {
						result = broken
					}
					c.callTool(t.Context(), b.target(t, "hub/search"), someParams, gives(result))
				}
			})
		}
		wait.Go(func() {
			if err := p.Write(t.Context()); err != nil {
				t.Error(err)
			}
		})
		wait.Go(func() {
			if err := p.Do(t.Context(), control.Request{Op: control.Reset, Session: c.id, Tool: "search"}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if err := p.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range clients {
		folded, kept := b.replayed(t, fmt.Sprint("c", i))
		for _, st := range []expediter.Status{folded, kept} {
			n := st.Counts
			if got := n.Calls + n.Probes + n.Skips + n.Pauses; got != workers*calls {
				t.Errorf("client %d: %d decisions, want %d", i, got, workers*calls)
			}
		}
	}
}

func TestControls(t *testing.T) {
	cfg := two
	cfg.Policy.Budget = 2
	b, p := keeping(t, cfg)
	c := b.newClient("s", human{})
	do := func(op control.Op, tool string) {
		t.Helper()
		if err := p.Do(t.Context(), control.Request{Op: op, Session: "s", Tool: tool, Why: "test"}); err != nil {
			t.Fatalf("%s %s: %v", op, tool, err)
		}
	}
	state := func(tool string) breaker.State {
		t.Helper()
		_, kept := b.replayed(t, "s") // it is in the store when the command returns
		for _, s := range kept.Tools {
			if s.Tool == tool {
				return s.State
			}
		}
		t.Fatalf("the store has no tool %s", tool)
		return 0
	}
	do(control.Open, "search") // before any call
	if got := state("hub/search"); got != breaker.Open {
		t.Errorf("got %v, want it open", got)
	}
	if text, _ := c.callTool(t.Context(), b.target(t, "hub/search"), someParams, never(t)); !strings.Contains(string(text), "opened by the user: test") {
		t.Errorf("got %s", text)
	}
	do(control.Reset, "hub/search")
	if got := state("hub/search"); got != breaker.Closed {
		t.Errorf("got %v, want it closed", got)
	}
	for range 2 {
		c.callTool(t.Context(), b.target(t, "hub/read"), someParams, gives(broken))
	}
	text, _ := c.callTool(t.Context(), b.target(t, "hub/search"), someParams, never(t))
	if !strings.Contains(string(text), "a new cycle, with 'expediter resume --session s' in a terminal of their own.") {
		t.Errorf("a pause: got %s", text)
	}
	if err := p.Do(t.Context(), control.Request{Op: control.Confirm, Session: "s"}); !errors.Is(err, control.ErrNothing) {
		t.Errorf("confirm without an incident: got %v, want %v", err, control.ErrNothing)
	}
	do(control.Resume, "")
	if text, _ := c.callTool(t.Context(), b.target(t, "hub/search"), someParams, gives(okResult)); string(text) != okResult {
		t.Errorf("after a resume: got %s", text)
	}
	folded, kept := b.replayed(t, "s")
	if folded.Cycle != kept.Cycle || kept.Consumed != 0 {
		t.Errorf("got cycle %d and %d, consumed %d", folded.Cycle, kept.Cycle, kept.Consumed)
	}
}

func TestToolsOfControls(t *testing.T) {
	b, p := keeping(t, two)
	b.newClient("s", human{})
	for typed, want := range map[string]string{"search": "hub/search", "hub__search": "hub/search", "alt/find": "alt/find"} {
		if got, err := p.Tool(t.Context(), "s", typed); got != want || err != nil {
			t.Errorf("%q: got %q, error %v, want %q", typed, got, err, want)
		}
	}
	for _, typed := range []string{"", "sear", "hub", "expediter_status", "hub connection", "\x1b[2J"} {
		if got, err := p.Tool(t.Context(), "s", typed); !errors.Is(err, control.ErrNoTool) {
			t.Errorf("%q: got %q, error %v, want %v", typed, got, err, control.ErrNoTool)
		}
	}
	if _, err := p.Tool(t.Context(), "s", "sear"); !strings.Contains(err.Error(), "did you mean search?") {
		t.Errorf("got %v", err)
	}
	if _, err := p.Tool(t.Context(), "other", "search"); !errors.Is(err, control.ErrNoSession) {
		t.Errorf("got %v, want %v", err, control.ErrNoSession)
	}
}

// A call that waits for the human's answer goes on when the human has spoken by a
// command.
func TestCommandAnswersTheQuestion(t *testing.T) {
	b, p := keeping(t, spent())
	asked := make(chan struct{})
	var times atomic.Int64
	c := b.newClient("s", human{elicit: func(ctx context.Context, _ string, _ json.RawMessage) (string, json.RawMessage, error) {
		if times.Add(1) == 1 {
			close(asked)
		}
		<-ctx.Done()
		return "", nil, ctx.Err()
	}})
	c.callTool(t.Context(), b.target(t, "hub/read"), someParams, gives(broken))
	answered := make(chan string, 1)
	go func() {
		text, _ := c.callTool(t.Context(), b.target(t, "hub/search"), someParams, gives(okResult))
		answered <- string(text)
	}()
	select {
	case <-asked:
	case text := <-answered:
		t.Fatalf("not asked: %s", text)
	}
	if err := p.Do(t.Context(), control.Request{Op: control.Resume, Session: "s"}); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-answered:
		if text != okResult || times.Load() != 1 {
			t.Errorf("got %s, asked %d times", text, times.Load())
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the call still waits")
	}
}

// A store that cannot be written is tried again, and holds nobody up.
func TestStoreIsMended(t *testing.T) {
	b, p := keeping(t, two)
	c := b.newClient("s", human{})
	dir, err := b.env.Store.Folder(control.Folder, false)
	if err != nil {
		t.Fatal(err)
	}
	sessionsDir := strings.TrimSuffix(dir, control.Folder) + "sessions"
	if err := errors.Join(os.RemoveAll(sessionsDir), os.WriteFile(sessionsDir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if text, _ := c.callTool(t.Context(), b.target(t, "hub/search"), someParams, gives(okResult)); string(text) != okResult {
		t.Errorf("got %s", text)
	}
	if err := p.Write(t.Context()); err == nil {
		t.Error("a file holds sessions")
	}
	if err := os.Remove(sessionsDir); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(t.Context()); err != nil {
		t.Error(err)
	}
	if folded, _ := b.replayed(t, "s"); folded.Counts.Calls != 1 {
		t.Errorf("got %+v", folded.Counts)
	}
}

// A client that is gone is not kept for ever where the store stays broken.
func TestEndedClientIsGivenUp(t *testing.T) {
	b, p := keeping(t, two)
	dir, err := b.env.Store.Folder(control.Folder, false)
	if err != nil {
		t.Fatal(err)
	}
	sessionsDir := strings.TrimSuffix(dir, control.Folder) + "sessions"
	if err := errors.Join(os.RemoveAll(sessionsDir), os.WriteFile(sessionsDir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	c := b.newClient("s", human{})
	c.callTool(t.Context(), b.target(t, "hub/search"), someParams, gives(okResult))
	c.close()
	for range keepTries {
		_ = p.Write(t.Context()) // fails
	}
	b.keeper.mu.Lock()
	defer b.keeper.mu.Unlock()
	if n := len(b.keeper.all); n != 0 {
		t.Errorf("%d clients are kept", n)
	}
}

func TestProjectIn(t *testing.T) {
	for folder, want := range map[string]string{"": "", "/": "", "/home/me": "", "/home/me/work": "/home/me/work", "/srv": "/srv"} {
		if got := projectIn(folder, "/home/me"); got != want {
			t.Errorf("%q: got %q, want %q", folder, got, want)
		}
	}
}
