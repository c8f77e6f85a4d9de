package expediter_test

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// The benchmarks of docs/performance.md. Ours and the peers' stand in one file
// so that one run gives the ratios.

func benchEngine(b *testing.B, p expediter.Policy) *expediter.Engine {
	b.Helper()
	m := capability.Map{
		{Tool: "Grep", Provides: "content search", Fallback: "ask the user which files to examine",
			Alternatives: []capability.Alternative{{Tool: "Bash", Method: "rg or grep", Degradation: "loses output formatting"}}},
		{Tool: "Bash", Provides: "commands", Fallback: "report the commands"},
		{Tool: "Read", Provides: "files", Fallback: "ask the user to paste them"},
		{Tool: "Write", Provides: "files", Fallback: "print the file"},
		{Tool: "WebSearch", Provides: "the web", Fallback: "ask the user"},
	}
	x, err := expediter.New(expediter.Config{Tools: m, Policy: p})
	if err != nil {
		b.Fatal(err)
	}
	return x
}

// warm gives the engine's tool the success after which it counts as healthy.
func warm(b *testing.B, x *expediter.Engine, tool string, now time.Time) {
	b.Helper()
	if _, err := x.Record(x.Decide(tool, 1, now).Call, expediter.Success(), 1, now); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
}

var benchStart = time.UnixMilli(1_700_000_000_000)

// A CLOSED tool by name, success, at one moment.
func BenchmarkDecideRecord(b *testing.B) {
	x, now := benchEngine(b, expediter.Policy{}), benchStart
	warm(b, x, "Grep", now)
	for b.Loop() {
		d := x.Decide("Grep", 1, now)
		if _, err := x.Record(d.Call, expediter.Success(), 1, now); err != nil {
			b.Fatal(err)
		}
	}
}

// The same with a millisecond passing at each call.
func BenchmarkDecideRecordMovingTime(b *testing.B) {
	x, now := benchEngine(b, expediter.Policy{}), benchStart
	warm(b, x, "Grep", now)
	for b.Loop() {
		now = now.Add(time.Millisecond)
		d := x.Decide("Grep", 1, now)
		if _, err := x.Record(d.Call, expediter.Success(), 1, now); err != nil {
			b.Fatal(err)
		}
	}
}

// The same with the clock read at each call, as an application does.
func BenchmarkDecideRecordTimeNow(b *testing.B) {
	x := benchEngine(b, expediter.Policy{})
	warm(b, x, "Grep", time.Now())
	for b.Loop() {
		now := time.Now()
		d := x.Decide("Grep", 1, now)
		if _, err := x.Record(d.Call, expediter.Success(), 1, now); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecideRecordParallel(b *testing.B) {
	x := benchEngine(b, expediter.Policy{})
	now := benchStart
	success := expediter.Success()
	for _, tool := range []string{"Grep", "Read"} {
		if _, err := x.Record(x.Decide(tool, 1, now).Call, success, 1, now); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			d := x.Decide("Grep", 1, now)
			if _, err := x.Record(d.Call, success, 1, now); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// An OPEN tool with an alternative to go to.
func BenchmarkSkip(b *testing.B) {
	x := benchEngine(b, expediter.Policy{Policy: breaker.Policy{Probe: breaker.Pacing{
		Every: breaker.MaxInterval, Max: breaker.MaxInterval}}})
	now := benchStart
	for range 3 {
		if _, err := x.Record(x.Decide("Grep", 1, now).Call, expediter.Failure(cascade.Upstream, "502"), 1, now); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		d := x.Decide("Grep", 1, now)
		if d.Verb != expediter.Skip || d.Route.Tool != "Bash" {
			b.Fatalf("got %v by %v, want SKIP by Bash", d.Verb, d.Route)
		}
	}
}

func BenchmarkGobreakerExecute(b *testing.B) {
	cb := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{Name: "Grep"})
	ok := func() (int, error) { return 1, nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cb.Execute(ok); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGobreakerOpen(b *testing.B) {
	cb := gobreaker.NewCircuitBreaker[int](gobreaker.Settings{Name: "Grep", Timeout: time.Hour})
	broken := errors.New("broken")
	for range 10 {
		_, _ = cb.Execute(func() (int, error) { return 0, broken })
	}
	ok := func() (int, error) { return 1, nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cb.Execute(ok); !errors.Is(err, gobreaker.ErrOpenState) {
			b.Fatal(err)
		}
	}
}

func BenchmarkFailsafeTryAcquireRecord(b *testing.B) {
	cb := circuitbreaker.NewWithDefaults[any]()
	b.ReportAllocs()
	for b.Loop() {
		if !cb.TryAcquirePermit() {
			b.Fatal("refused")
		}
		cb.RecordSuccess()
	}
}

// The memory of an engine for each of its tools, declared or learnt.
func BenchmarkMemoryPerTool(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			m := make(capability.Map, n)
			for i := range m {
				m[i] = capability.Entry{Tool: fmt.Sprintf("server%d/tool%d", i%50, i), Provides: "something",
					Fallback: "ask", Alternatives: []capability.Alternative{{Tool: "server0/tool0x", Method: "m", Degradation: "d"}}}
			}
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				x, err := expediter.New(expediter.Config{Tools: m})
				if err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/tool")
				runtime.KeepAlive(x)
			}
		})
	}
}
