package a2apeer_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/executor"
)

// A peer that dies in mid-run and comes back at the same address.
func TestPeerIsKilledAndRestarted(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, kill := listen(t, "", bind.serve(newAgent(t)))
		b := newBench(t, nil)
		c := b.guarded(t, bind, addr, "travel")
		ask := func() { _, _ = send(t.Context(), c, "completed") }
		ask()
		kill()
		for range 5 {
			ask()
		}
		b.tell(t, "CALL travel", "success", "CALL travel", "failure network", "SKIP travel",
			"PROBE travel", "failure network", "SKIP travel", "PROBE travel", "failure network")
		listen(t, addr, bind.serve(newAgent(t)))
		for range 3 {
			ask()
		}
		b.tell(t, "SKIP travel", "PROBE travel", "success", "CALL travel", "success")
	})
}

func TestPeerDiesInMidCall(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		entered := make(chan struct{})
		addr, kill := listen(t, "", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then is the context's end noticed
			close(entered)
			<-r.Context().Done()
		}))
		b := newBench(t, nil)
		go func() { <-entered; kill() }()
		if _, err := send(t.Context(), b.guarded(t, bind, addr, "travel"), "completed"); err == nil {
			t.Error("got no error")
		}
		b.tell(t, "CALL travel", "failure network")
	})
}

func TestPeerHangs(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		t.Run("until the caller's deadline", func(t *testing.T) {
			b := newBench(t, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := send(ctx, b.guarded(t, bind, addr, "travel"), "hang"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			b.tell(t, "CALL travel", "failure timeout")
		})
		t.Run("until the client's", func(t *testing.T) {
			b := newBench(t, nil)
			base := &http.Transport{}
			t.Cleanup(base.CloseIdleConnections)
			c := client(t, bind, addr, b.peer(t, "travel").Options(&http.Client{Transport: base, Timeout: 50 * time.Millisecond})...)
			if _, err := send(t.Context(), c, "hang"); err == nil {
				t.Error("got no error")
			}
			b.tell(t, "CALL travel", "failure timeout")
		})
		t.Run("until the caller leaves", func(t *testing.T) {
			b := newBench(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(20*time.Millisecond, cancel)
			if _, err := send(ctx, b.guarded(t, bind, addr, "travel"), "hang"); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			b.tell(t, "CALL travel", "ignored")
		})
	})
}

// rawServer hands each connection to what speaks there, once something was asked.
func rawServer(t testing.TB, speak func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			all.Go(func() {
				_, _ = conn.Read(make([]byte, 64<<10))
				speak(conn)
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return l.Addr().String()
}

func TestBrokenPeers(t *testing.T) {
	web := func(status int, text string, headers ...string) string {
		addr, _ := listen(t, "", writing(status, text, headers...))
		return addr
	}
	reset := rawServer(t, func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) })
	noise := rawServer(t, func(c net.Conn) { _, _ = io.WriteString(c, "\x00\xff not HTTP\n\n") })
	short := rawServer(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{\"json") })
	json := []string{"Content-Type", "application/json"}
	for _, tt := range []struct{ name, addr, want string }{
		{"hangs up", rawServer(t, func(net.Conn) {}), "failure network"},
		{"resets", reset, "failure network"},
		{"speaks no HTTP", noise, "failure network"},
		{"breaks off", short, "failure network"},
		{"an error page with status 200", web(200, "<html>not found</html>"), "failure upstream"},
		{"an empty answer", web(200, ""), "failure network"},
		{"JSON of another shape", web(200, `{"jsonrpc":"2.0","result":[1]}`), "failure upstream"},
		{"JSON of nothing known", web(200, `{"jsonrpc":"2.0","result":{"detail":"file not found"},"detail":1}`), "failure upstream"},
		{"no JSON in an error", web(500, "{]", json...), "failure upstream"},
		{"server error", web(500, "oops"), "failure upstream"},
		{"a gateway's timeout", web(504, "oops"), "failure timeout"},
		{"a gateway's error in JSON", web(503, `{"error":{"code":503,"message":"maintenance"}}`, json...), "failure upstream"},
		{"too many requests", web(429, "slow down"), "failure rate_limit"},
		{"no agent here", web(404, "page not found"), "failure tool_missing"},
		{"login needed", web(401, "who?"), "failure auth"},
		{"forbidden", web(403, "no"), "failure permission"},
		{"forbidden by a rate limit", web(403, "no", "X-RateLimit-Remaining", "0"), "failure rate_limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, func(t *testing.T, bind binding) {
				b := newBench(t, nil)
				if _, err := send(t.Context(), b.guarded(t, bind, tt.addr, "travel"), "completed"); err == nil {
					t.Error("got no error")
				}
				b.tell(t, "CALL travel", tt.want)
			})
		})
	}
}

func TestRetryAfterHoldsTheTrial(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", writing(503, "later", "Retry-After", "3600"))
		b := newBench(t, nil)
		c := b.guarded(t, bind, addr, "travel")
		for range 4 {
			_, _ = send(t.Context(), c, "completed")
		}
		b.tell(t, "CALL travel", "failure upstream", "SKIP travel", "SKIP travel", "SKIP travel")
		b.pass(time.Hour)
		_, _ = stream(t.Context(), c, "completed")
		b.tell(t, "PROBE travel", "failure upstream")
	})
}

// Many callers at the moment of recovery: the agent is asked once.
func TestOneTrialAtATime(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		b := newBench(t, nil)
		asked, leave := make(chan struct{}, 1000), make(chan struct{})
		real := bind.serve(newAgent(t))
		addr, _ := listen(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked <- struct{}{}
			<-leave
			real.ServeHTTP(w, r)
		}))
		down, _ := listen(t, "", writing(500, "oops"))
		_, _ = send(t.Context(), b.guarded(t, bind, down, "travel"), "completed")
		c := b.guarded(t, bind, addr, "travel")
		var skipped sync.WaitGroup
		skipped.Add(199)
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				_, err := send(t.Context(), c, "completed")
				if errors.Is(err, executor.ErrSkipped) {
					skipped.Done()
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		skipped.Wait() // all others have been refused while the trial is under way
		close(leave)
		all.Wait()
		if len(asked) != 1 || b.engine.Status().Counts.Probes != 1 {
			t.Errorf("got %d requests, %d trials; want 1", len(asked), b.engine.Status().Counts.Probes)
		}
		if _, err := send(t.Context(), c, "completed"); err != nil {
			t.Error(err)
		}
	})
}

// Whatever happens, a call that was allowed is recorded.
func TestNothingIsLeftOpen(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", bind.serve(newAgent(t)))
		b := newBench(t, nil)
		b.engine.ObserveOnly(true, "count them all", expediter.NoStep, b.now)
		c := b.guarded(t, bind, addr, "travel")
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				for j, tt := range said {
					ctx, cancel := context.WithCancel(t.Context())
					if (i+j)%5 == 0 {
						go cancel()
					}
					if (i+j)%2 == 0 {
						_, _ = send(ctx, c, tt.text)
					} else {
						_, _ = stream(ctx, c, tt.text)
					}
					_, _ = c.GetTask(ctx, &a2a.GetTaskRequest{ID: "none"})
					cancel()
				}
			})
		}
		all.Wait()
		counts := b.engine.Status().Counts
		if counts.Calls == 0 || counts.Calls+counts.Probes != counts.Successes+counts.Failures+counts.Ignored {
			t.Errorf("got %+v, want as many records as calls", counts)
		}
	})
}

// lying answers everything with the same task.
func lying(bind binding, task string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent := strings.Contains(string(body), "parts")
		text := task
		if sent {
			text = `{"task":` + task + `}`
		}
		if bind.protocol == a2a.TransportProtocolJSONRPC {
			text = `{"jsonrpc":"2.0","id":"1","result":` + text + `}`
		}
		_, _ = io.WriteString(w, text)
	})
}

// To fail with the task of last time is to fail: only who looks a task up is told
// of the same failure again.
func TestSameFailedTaskForEveryMessage(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", lying(bind, `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_FAILED"}}`))
		b := newBench(t, nil)
		c := b.guarded(t, bind, addr, "travel")
		for range 3 {
			if _, err := send(t.Context(), c, "completed"); err != nil && !errors.Is(err, executor.ErrOpen) {
				t.Error(err)
			}
		}
		b.tell(t, "CALL travel", "failure unknown", "SKIP travel", "PROBE travel", "failure unknown")
	})
}

func TestAnotherTaskThanAskedFor(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		for name, task := range map[string]string{
			"one that is done": `{"id":"t2","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}`,
			"none":             `{}`,
		} {
			t.Run(name, func(t *testing.T) {
				addr, _ := listen(t, "", lying(bind, task))
				b := newBench(t, nil)
				_, _ = b.guarded(t, bind, addr, "travel").GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"})
				b.tell(t, "CALL travel", "failure upstream")
				b = newBench(t, nil)
				_, _ = b.guarded(t, bind, addr, "travel").CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: "t1"})
				b.tell(t, "CALL travel", "failure upstream")
			})
		}
	})
}

// A reader that its agent keeps busy with no end to it has a deadline, and the
// trial is free afterwards.
func TestStreamWithoutEnd(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		addr, _ := listen(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, events(bind, working))
			}
		}))
		for _, want := range []string{"failure timeout", "ignored"} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if want == "ignored" {
				ctx, cancel = context.WithCancel(t.Context())
				time.AfterFunc(50*time.Millisecond, cancel)
			}
			b := newBench(t, nil)
			// The library may read the event that was cut as garbage.
			if n, err := stream(ctx, b.guarded(t, bind, addr, "travel"), "completed"); n == 0 || err == nil {
				t.Errorf("got %d events, %v", n, err)
			}
			cancel()
			b.tell(t, "CALL travel", want)
		}
	})
}

// panicking is a base transport that does what its name says.
type panicking struct{}

func (panicking) RoundTrip(*http.Request) (*http.Response, error) { panic("boom") }

func TestPanicOfTheBaseFreesTheTrial(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		b := newBench(t, nil)
		c := client(t, bind, "127.0.0.1:1", b.peer(t, "travel").Options(&http.Client{Transport: panicking{}})...)
		for _, ask := range []func(){
			func() { _, _ = send(t.Context(), c, "completed") },
			func() { _, _ = stream(t.Context(), c, "completed") },
		} {
			func() {
				defer func() {
					if got := recover(); got != "boom" {
						t.Errorf("got %v, want the panic itself", got)
					}
				}()
				ask()
			}()
			b.tell(t, "CALL travel", "failure unknown")
			if err := b.engine.Reset("travel", "once more", expediter.NoStep, b.now); err != nil {
				t.Fatal(err)
			}
		}
	})
}
