package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/fallback"
	"github.com/failsafe-go/failsafe-go/timeout"
	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/executor"
)

// The benchmarks of docs/performance.md, beside the peers' in one run: a call of
// a tool that does nothing.

func nothing(context.Context) (int, error) { return 1, nil }

func benchDo(b *testing.B, ctx context.Context, cfg executor.Config) {
	b.Helper()
	x, err := expediter.New(expediter.Config{Tools: capability.Map{{Tool: "Grep", Provides: "content search", Fallback: "ask the user"}}})
	if err != nil {
		b.Fatal(err)
	}
	cfg.Engine = x
	e, err := executor.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := executor.Do(ctx, e, "Grep", nothing); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDo(b *testing.B) { benchDo(b, context.Background(), executor.Config{}) }

// The same with a bulkhead, a guard that is a gobreaker, and a default.
func BenchmarkDoGuarded(b *testing.B) {
	benchDo(b, context.Background(), executor.Config{
		Limits:    map[string]executor.Limit{"Grep": {Concurrent: 10}},
		Guards:    map[string]executor.Guard{"Grep": gobreaker.NewTwoStepCircuitBreaker[int](gobreaker.Settings{Name: "Grep"})},
		Fallbacks: map[string]executor.Fallback{"Grep": {Default: 2}},
	})
}

// A caller that can leave: the tool needs a goroutine of its own.
func BenchmarkDoCancellable(b *testing.B) { benchDo(b, b.Context(), executor.Config{}) }

func BenchmarkDoDeadline(b *testing.B) {
	benchDo(b, context.Background(), executor.Config{Deadline: time.Minute})
}

// The least that a call costs whose caller can leave: a context, a goroutine, and
// the way back.
func BenchmarkGoroutineAndBack(b *testing.B) {
	done := make(chan int, 1)
	b.ReportAllocs()
	for b.Loop() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		go func() { v, _ := nothing(ctx); done <- v }()
		select {
		case <-done:
		case <-ctx.Done():
		}
		cancel()
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

// Its timeout cancels the context and waits for the tool all the same.
func BenchmarkFailsafeGet(b *testing.B) {
	with := failsafe.With[int](fallback.NewWithResult(2), circuitbreaker.NewWithDefaults[int](), timeout.New[int](time.Minute))
	ok := func() (int, error) { return 1, nil }
	b.ReportAllocs()
	for b.Loop() {
		if _, err := with.Get(ok); err != nil {
			b.Fatal(err)
		}
	}
}
