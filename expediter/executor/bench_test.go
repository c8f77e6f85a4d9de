package executor_test

import (
	"context"
	"testing"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/executor"
)

func noop(context.Context) (int, error) { return 1, nil }

func benchDo(b *testing.B, ctx context.Context, cfg executor.Config) {
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
		if _, _, err := executor.Do(ctx, e, "Grep", noop); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDo(b *testing.B) { benchDo(b, context.Background(), executor.Config{}) }

func BenchmarkDoCancellable(b *testing.B) { benchDo(b, b.Context(), executor.Config{}) }

func BenchmarkDoDeadline(b *testing.B) {
	benchDo(b, context.Background(), executor.Config{Deadline: time.Minute})
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
