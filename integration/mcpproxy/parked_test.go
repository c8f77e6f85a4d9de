package mcpproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asksFirst adds a tool that asks as servers of old revisions do, then reports
// progress, then answers.
func (p *peer) asksFirst() {
	p.AddTool(&mcp.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			go func() { // the SDK lets a question wait when its session has ended
				select {
				case <-p.over:
				case <-ctx.Done():
				}
				cancel()
			}()
			res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
			if err != nil {
				select {
				case p.cancelled <- struct{}{}:
				default:
				}
				return nil, err
			}
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: 1}); err != nil {
				return nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(res.Action, " ", res.Content["name"])}}}, nil
		})
}

func askParams(rest string) string {
	return `{"name":"ask","arguments":{},"_meta":{` + modernMeta + rest + `}`
}

func answerAda(state string) string {
	return `,"requestState":"` + state + `","inputResponses":{"question-1":{"action":"accept","content":{"name":"Ada"}}}`
}

// readQuestion is the state of a result that asks.
func readQuestion(t *testing.T, raw, rpc string) string {
	t.Helper()
	a, ok := readAsked(raw)
	if q := a.InputRequests["question-1"]; !ok || q.Method != "elicitation/create" || q.Params.Message != "who?" || a.RequestState == "" {
		t.Fatalf("got %s %s, want the server's question", raw, rpc)
	}
	return a.RequestState
}

// TestOldServerAsksNewClient: the question of a server of an old revision comes to
// a client of 2026-07-28 in its own way, and the call goes on meanwhile.
func TestOldServerAsksNewClient(t *testing.T) {
	for _, up := range []string{"http", "stdio"} {
		for _, down := range []string{"http", "stdio"} {
			t.Run(up+" for "+down, func(t *testing.T) {
				t.Parallel()
				s := stdioServer(t, "sdk")
				if up == "http" {
					peer := newPeer()
					peer.asksFirst()
					s = peer.http(t, false)
				}
				p := newProxy(t, s)
				c := clientOf(t, p, down, newest)
				raw, rpc := c.call(t, "tools/call", askParams("}"))
				state := readQuestion(t, raw, rpc)
				raw, rpc = c.call(t, "tools/call", askParams("}"+answerAda(state)))
				if !strings.Contains(raw, `"accept Ada"`) || !strings.Contains(raw, `"resultType":"complete"`) {
					t.Errorf("got %s %s", raw, rpc)
				}
				if _, rpc = c.call(t, "tools/call", askParams("}"+answerAda(state))); !strings.Contains(rpc, "make the call anew") {
					t.Errorf("an answer was taken twice: %s", rpc)
				}
			})
		}
	}
}

// TestProgressOfParkedCall: progress comes on the request that waits now, under
// its token.
func TestProgressOfParkedCall(t *testing.T) {
	up := newPeer()
	up.asksFirst()
	c := clientOf(t, newProxy(t, up.http(t, false)), "http", newest).(*httpClient)
	raw, rpc := c.call(t, "tools/call", askParams(`,"progressToken":"one"}`))
	body := `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":` + askParams(`,"progressToken":"two"}`+answerAda(readQuestion(t, raw, rpc))) + `}`
	res := c.post(t, body, http.Header{"Mcp-Method": {"tools/call"}, "Mcp-Name": {"ask"}})
	all, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(all), `"progressToken":"two"`) || strings.Contains(string(all), `"one"`) {
		t.Errorf("got %s (%v), want progress of the token two", all, err)
	}
}

// TestParkedCallEnds: nobody is left to answer.
func TestParkedCallEnds(t *testing.T) {
	for _, how := range []string{"the client cancels", "the client leaves", "the proxy closes"} {
		t.Run(how, func(t *testing.T) {
			up := newPeer()
			up.asksFirst()
			dir := t.TempDir()
			p, err := New(Config{Servers: []Server{up.http(t, false)}}, Env{JournalDir: dir})
			if err != nil {
				t.Fatal(err)
			}
			c := newLineClient(t, p)
			id, answer := c.start(t, "tools/call", askParams("}"))
			m := <-answer
			readQuestion(t, string(m.Result), string(m.Error))
			var s *session
			p.mu.Lock()
			for _, s = range p.sessions {
			}
			p.mu.Unlock()
			switch how {
			case "the client cancels":
				c.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
			case "the client leaves":
				_ = c.w.(io.Closer).Close()
			}
			if how != "the proxy closes" {
				select {
				case <-up.cancelled:
				case <-time.After(10 * time.Second):
					t.Error("the server was not told that nobody answers")
				}
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if n := s.client.engine.Status().Counts; n.Calls != 1 || n.Ignored != 1 {
				t.Errorf("recorded %+v, want one call, ignored", n)
			}
			if len(p.parks.all) != 0 || len(p.parks.each) != 0 {
				t.Errorf("%d calls wait", len(p.parks.all))
			}
			checkJournal(t, dir) // has the end of the call, though its client left before
		})
	}
}

// TestClientNeverComesBack: its call is given up, and is nobody's failure.
func TestClientNeverComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLot(t, t.Context(), Env{})
		defer l.close(t)
		done := l.send(t.Context(), "ada", "x", "one.", "")
		synctest.Wait()
		l.ask(t.Context(), "one.", "q", "sampling/createMessage", `{}`)
		synctest.Wait()
		if a := l.answers["q"]; a == nil || a.Error.(*jsonrpc.Error).Code != jsonrpc.CodeMethodNotFound {
			t.Errorf("what the client cannot do was answered %+v", a)
		}
		l.ask(t.Context(), "one.", "r", "elicitation/create", `{"z":9007199254740993,"message":"<m>"}`)
		g := <-done
		if want := `"inputRequests":{"question-1":{"method":"elicitation/create","params":{"z":9007199254740993,"message":"<m>"}}}`; !strings.Contains(g.raw, want) {
			t.Errorf("got  %s\nwant %s", g.raw, want)
		}
		time.Sleep(parkFor)
		synctest.Wait()
		if id := l.calls["one."]; !l.ended[id.Raw()] {
			t.Error("the server was not told")
		}
		if n := l.sessions[callerKey("ada")].client.engine.Status().Counts; n.Calls != 1 || n.Ignored != 1 {
			t.Errorf("recorded %+v, want one call, ignored", n)
		}
	})
}

// TestSeveralQuestions go together where they are open together, and those that
// the client leaves out come again.
func TestSeveralQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLot(t, t.Context(), Env{})
		defer l.close(t)
		done := l.send(t.Context(), "ada", "x", "one.", "")
		synctest.Wait()
		l.ask(t.Context(), "one.", "a", "elicitation/create", `{"message":"a"}`)
		first, _ := readAsked((<-done).raw)
		l.ask(t.Context(), "one.", "b", "elicitation/create", `{"message":"b"}`)
		l.ask(t.Context(), "one.", "c", "elicitation/create", `{"message":"c"}`)
		synctest.Wait()
		second, _ := readAsked((<-l.send(t.Context(), "ada", "x", "one.", answerAda(first.RequestState))).raw)
		synctest.Wait()
		if len(first.InputRequests) != 1 || len(second.InputRequests) != 2 {
			t.Errorf("asked %v, then %v", first.InputRequests, second.InputRequests)
		}
		if a := l.answers["a"]; a == nil || string(a.Result) != `{"action":"accept","content":{"name":"Ada"}}` {
			t.Errorf("the first question was answered %+v", a)
		}
	})
}

// TestTooManyParked: what there is no room for is refused, and its call goes on.
func TestTooManyParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLot(t, t.Context(), Env{})
		defer l.close(t)
		ask := func(who, token string) <-chan ending2026 {
			done := l.send(t.Context(), who, "x", token, "")
			synctest.Wait()
			l.ask(t.Context(), token, token, "elicitation/create", `{}`)
			synctest.Wait()
			return done
		}
		for i := range maxParkedOf {
			<-ask("ada", fmt.Sprint("t", i, "."))
		}
		done := ask("ada", "last.")
		if a := l.answers["last."]; a == nil || a.Error == nil {
			t.Errorf("one too many was answered %+v", a)
		}
		l.finish(t.Context(), "last.", okResult)
		if g := <-done; !strings.Contains(g.raw, `"text":"ok"`) {
			t.Errorf("got %+v", g)
		}
		<-ask("bob", "another's.")
	})
}

// TestClientLacksAbility: that a client cannot be asked opens no tool.
func TestClientLacksAbility(t *testing.T) {
	for _, transport := range []string{"http", "stdio"} {
		up := newPeer()
		up.asksFirst()
		c := clientOf(t, newProxy(t, up.http(t, false)), transport, newest)
		params := strings.Replace(askParams("}"), `"elicitation":{}`, ``, 1)
		for range 12 {
			if raw, rpc := c.call(t, "tools/call", params); rpc == "" {
				t.Fatalf("got %s %s, want the server's error", raw, rpc)
			}
		}
	}
}

// TestModernCallerHasNoSession: a session that a caller of 2026-07-28 claims to
// have gives it no circuits of its own, and takes none of its calls away from it.
func TestModernCallerHasNoSession(t *testing.T) {
	up := newPeer()
	up.asksFirst()
	p := newProxy(t, up.http(t, false))
	c := clientOf(t, p, "http", newest).(*httpClient)
	ask := func(session, more string) (raw, rpc string) {
		c.head = http.Header{"Mcp-Session-Id": {session}}
		return c.call(t, "tools/call", askParams("}"+more))
	}
	state := readQuestion(t, first(ask("one", "")), "")
	if raw, rpc := ask("two", answerAda(state)); !strings.Contains(raw, "accept Ada") {
		t.Errorf("got %s %s", raw, rpc)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sessions[callerKey("raw")]; len(p.sessions) != 1 || s == nil || s.client.engine.Status().Counts.Calls != 1 {
		t.Errorf("%d sessions, want one with one call", len(p.sessions))
	}
}

func first(raw, _ string) string { return raw }
