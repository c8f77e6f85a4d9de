package executor_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/executor"
)

// shifty is an error that says another thing each time.
type shifty struct{ n atomic.Int64 }

func (s *shifty) Error() string { return fmt.Sprintf("face %d", s.n.Add(1)) }

// hung is an error whose text never comes.
type hung struct{ until time.Duration }

func (h *hung) Error() string { time.Sleep(h.until); return "late" }

// leaver is an error whose text ends the goroutine that asks for it.
type leaver struct{}

func (leaver) Error() string { runtime.Goexit(); return "" }

// faces is a tool with another fault each time.
func faces() func(context.Context) (string, error) {
	var n atomic.Int64
	tools := []func(context.Context) (string, error){
		func(context.Context) (string, error) { panic("boom") },
		func(context.Context) (string, error) { panic(nil) },
		func(context.Context) (string, error) { panic((*unreadable)(nil)) },
		func(context.Context) (string, error) { runtime.Goexit(); return "", nil },
		deaf,
		obedient,
		func(ctx context.Context) (string, error) { <-ctx.Done(); panic(ctx.Err()) },
		func(context.Context) (string, error) {
			time.Sleep(time.Second + executor.Grace)
			return "at the last moment", nil
		},
		func(context.Context) (string, error) { return "", (*unreadable)(nil) },
		func(context.Context) (string, error) { return "", &shifty{} },
		func(context.Context) (string, error) { return "", leaver{} },
		func(context.Context) (string, error) { return "", refused },
		func(context.Context) (string, error) { return "", io.ErrUnexpectedEOF },
		func(context.Context) (string, error) {
			time.Sleep(time.Minute)
			runtime.Goexit()
			return "", nil
		},
		func(context.Context) (string, error) { time.Sleep(time.Minute); panic("late") },
	}
	return func(ctx context.Context) (string, error) { return tools[int(n.Add(1))%len(tools)](ctx) }
}

// 10,000 calls of a tool that breaks in every way, in parallel, some of them
// cancelled: nothing is left running, held or in flight.
func TestNothingLeaks(t *testing.T) {
	for name, policy := range map[string]expediter.Policy{
		"faithful, always closed": {Policy: breaker.Policy{FailureThreshold: 1 << 30}, Budget: 1 << 30},
		"faithful, mostly open":   {Policy: breaker.Policy{FailureThreshold: 1, Probe: breaker.Pacing{Every: 1}}, Budget: 1 << 30},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { testNothingLeaks(t, policy) }) })
	}
}

func testNothingLeaks(t *testing.T, policy expediter.Policy) {
	const calls, callers, places = 10_000, 40, 8
	x, err := expediter.New(expediter.Config{Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	g := &counter{}
	e := newExecutor(t, executor.Config{Engine: x, Deadline: time.Second, Limits: map[string]executor.Limit{"Grep": {Concurrent: places, Wait: time.Second}},
		Guards: map[string]executor.Guard{"Grep": g}, Fallbacks: map[string]executor.Fallback{"Grep": {Default: "by default"}}})
	fn := faces()
	var all sync.WaitGroup
	var slow atomic.Int64
	for caller := range callers {
		all.Go(func() {
			for i := range calls / callers {
				ctx, cancel := context.WithCancel(t.Context())
				if (caller+i)%7 == 0 {
					time.AfterFunc(time.Millisecond*500, cancel)
				}
				began := time.Now()
				try(ctx, e, fn)
				if time.Since(began) > 2*time.Second+executor.Grace { // a second for a place, one for the call
					slow.Add(1)
				}
				cancel()
			}
		})
	}
	all.Wait()
	time.Sleep(2 * time.Hour) // the deaf ones come back
	synctest.Wait()
	if n := slow.Load(); n > 0 {
		t.Errorf("%d callers waited past their deadline", n)
	}
	if running, late := e.Abandoned(); running != 0 || late == 0 {
		t.Errorf("abandoned: got %d running, %d late; want 0 and some", running, late)
	}
	stacks := make([]byte, 1<<20) // any other goroutine that is left fails the bubble
	if left := strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "executor.(*flight)"); left > 0 {
		t.Errorf("%d frames of calls are left", left)
	}
	if r := row(t, x, "Grep"); r.ProbeInFlight {
		t.Error("a trial is still in flight")
	}
	if asked, told := g.asked.Load(), g.told.Load(); asked != told || asked == 0 {
		t.Errorf("the guard was asked %d times and told %d", asked, told)
	}
	if c := x.Status().Counts; c.Calls+c.Probes != c.Successes+c.Failures+c.Ignored {
		t.Errorf("calls that were never recorded: %+v", c)
	}
	checkPlaces(t, e, x, places)
}

// checkPlaces takes every place of Grep's bulkhead at once.
func checkPlaces(t *testing.T, e *executor.Executor, x *expediter.Engine, places int) {
	t.Helper()
	if err := x.Reset("Grep", "the test goes on", 1, time.Now()); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	var all sync.WaitGroup
	for range places {
		all.Go(func() {
			got := try(t.Context(), e, func(context.Context) (string, error) { <-gone; return "ran", nil })
			if got.value != "ran" || got.err != nil {
				t.Errorf("a place is lost: got %q, %v", got.value, got.err)
			}
		})
	}
	synctest.Wait()
	close(gone)
	all.Wait()
}

type counter struct{ asked, told atomic.Int64 }

func (c *counter) Allow() (func(error), error) {
	c.asked.Add(1)
	return func(error) { c.told.Add(1) }, nil
}

// A thousand callers in the moment in which a broken tool is due: one of them is
// the trial, the others are refused at once, and then all may call.
func TestOneTrialForAThousand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, err := expediter.New(expediter.Config{Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1,
			Probe: breaker.Pacing{Unit: breaker.Time, Every: 30_000}}}})
		if err != nil {
			t.Fatal(err)
		}
		e := newExecutor(t, executor.Config{Engine: x, Deadline: time.Minute, Limits: map[string]executor.Limit{"Grep": {Concurrent: 10}}})
		try(t.Context(), e, func(context.Context) (string, error) { return "", refused })
		time.Sleep(30 * time.Second)
		var reached, refusals atomic.Int64
		recovers := make(chan struct{})
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				got := try(t.Context(), e, func(context.Context) (string, error) { reached.Add(1); <-recovers; return "well", nil })
				if errors.Is(got.err, executor.ErrProbeInFlight) {
					refusals.Add(1)
				}
			})
		}
		synctest.Wait()
		if reached.Load() != 1 || refusals.Load() != 999 {
			t.Errorf("%d reached the tool and %d were refused, want 1 and 999", reached.Load(), refusals.Load())
		}
		close(recovers)
		all.Wait()
		if got := try(t.Context(), e, answer); got.err != nil || got.receipt.Decision.Verb != expediter.Call {
			t.Errorf("after the trial: got %v, %v", got.receipt.Decision.Verb, got.err)
		}
	})
}

func TestHostileErrors(t *testing.T) {
	big := strings.Repeat("x", 1<<30)
	for name, tt := range map[string]struct {
		fn   func(context.Context) (string, error)
		want cascade.Category
	}{
		"a text of 1 GB":         {func(context.Context) (string, error) { return big, errors.New(big) }, cascade.Unknown},
		"a panic of 1 GB":        {func(context.Context) (string, error) { panic(big) }, cascade.Unknown},
		"another face each time": {func(context.Context) (string, error) { return "", &shifty{} }, cascade.Unknown},
		"a text that hangs":      {func(context.Context) (string, error) { return "", &hung{time.Minute} }, cascade.Timeout},
		"a text that exits":      {func(context.Context) (string, error) { return "", leaver{} }, cascade.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newEngine(t, nil)
				e := newExecutor(t, executor.Config{Engine: x, Deadline: 2 * time.Second})
				got := try(t.Context(), e, tt.fn)
				last := row(t, x, "Grep").LastFailure
				if last == nil || last.Category != tt.want || len(last.Text) > 64<<10 || len(got.receipt.Outcome.Text) > 64<<10 {
					t.Errorf("recorded %.100v", last)
				}
				time.Sleep(time.Hour)
			})
		})
	}
}

func TestHereHostileTools(t *testing.T) {
	for _, tt := range exits {
		if tt.caller != nil || tt.limit != 0 {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			x := newEngine(t, nil)
			open(t, x, "Grep")
			e := newExecutor(t, executor.Config{Engine: x, Limits: map[string]executor.Limit{"Grep": {Concurrent: 1}}})
			got := try(context.Background(), e, tt.fn)
			if got.value != tt.value || got.panics != tt.panics || got.exits != tt.exits || got.err != tt.err {
				t.Errorf("got %+v", got)
			}
			checkRecord(t, x, e, expediter.Probe, tt, got)
			if err := x.Reset("Grep", "test", 1, time.Time{}); err != nil {
				t.Fatal(err)
			}
			if got := try(context.Background(), e, answer); got.err != nil {
				t.Errorf("the place is lost: %v", got.err)
			}
		})
	}
}

// Clocks and steps that go back move nothing back, and no duration is negative.
func TestTimeGoesBack(t *testing.T) {
	now, step := time.Unix(1_000_000, 0), int64(50)
	x, err := expediter.New(expediter.Config{Policy: expediter.Policy{Policy: breaker.Policy{FailureThreshold: 1,
		Probe: breaker.Pacing{Unit: breaker.Time, Every: 30_000}}}})
	if err != nil {
		t.Fatal(err)
	}
	e := newExecutor(t, executor.Config{Engine: x, Now: func() time.Time { return now }, Step: func() int64 { return step },
		Fallbacks: map[string]executor.Fallback{"Grep": {LastGood: true}}})
	ctx := executor.Asking(context.Background(), "q")
	got := try(ctx, e, func(context.Context) (string, error) { now, step = now.Add(-time.Hour), 3; return "good", nil })
	if got.receipt.Outcome.Duration != 0 {
		t.Errorf("duration: got %v, want 0", got.receipt.Outcome.Duration)
	}
	now = now.Add(-time.Hour)
	if got := try(ctx, e, func(context.Context) (string, error) { return "", refused }); got.value != "good" || got.receipt.Age != 0 {
		t.Errorf("last good: got %q of age %v", got.value, got.receipt.Age)
	}
	now = now.Add(-time.Hour)
	if got := try(ctx, e, answer); got.receipt.Decision.Verb != expediter.Skip {
		t.Errorf("a clock that goes back makes a trial due: %v", got.receipt.Decision.Verb)
	}
	if s := x.Status(); s.Step != 50 || s.At != 1_000_000_000 {
		t.Errorf("the engine stands at step %d, %d ms", s.Step, s.At)
	}
}

// peers are servers that break in their own way.
var peers = map[string]struct {
	serve func(net.Conn)
	want  cascade.Category
}{
	"accepts and never answers": {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, cascade.Timeout},
	"resets in mid-stream": {func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf of")
		_ = c.(*net.TCPConn).SetLinger(0)
	}, cascade.Network},
	"breaks off in mid-stream": {func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf of")
	}, cascade.Network},
	"resets before it answers": {func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		_ = c.(*net.TCPConn).SetLinger(0)
	}, cascade.Network},
	"drips": {func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
		_, _ = io.Copy(c, c) // nothing more comes
	}, cascade.Timeout},
	"answers garbage": {func(c net.Conn) {
		_, _ = http.ReadRequest(bufio.NewReader(c))
		fmt.Fprint(c, "\x00\xff\x1b[2J no protocol\r\n\r\n")
	}, cascade.Network},
}

func TestBrokenPeers(t *testing.T) {
	for name, peer := range peers {
		t.Run(name, func(t *testing.T) {
			x := newEngine(t, searching)
			e := newExecutor(t, executor.Config{Engine: x, Deadline: 200 * time.Millisecond})
			url := listen(t, peer.serve)
			began := time.Now()
			_, receipt, err := executor.Do(t.Context(), e, "send", func(ctx context.Context) (string, error) { return get(ctx, url) })
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("the caller waited %v", took)
			}
			if err == nil || receipt.Outcome.Result != cascade.Failed || receipt.Outcome.Category != peer.want {
				t.Errorf("got %v as %v, want a failure of %v", err, receipt.Outcome.Category, peer.want)
			}
			if !receipt.MayHaveTakenEffect {
				t.Errorf("after %v nobody knows what it did", err)
			}
		})
	}
}

func get(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := new(http.Client).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// listen serves every connection with serve, and closes it then.
func listen(t *testing.T, serve func(net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}
