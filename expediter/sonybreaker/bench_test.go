package sonybreaker_test

import (
	"testing"

	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/sonybreaker"
)

func benchmark(b *testing.B, g twoStep) {
	b.ReportAllocs()
	for b.Loop() {
		done, err := g.Allow()
		if err != nil {
			b.Fatal(err)
		}
		done(nil)
	}
}

func BenchmarkPlainTwoStep(b *testing.B) {
	benchmark(b, gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{}))
}

func BenchmarkGuard(b *testing.B) {
	for _, w := range ways {
		b.Run(w.name, func(b *testing.B) {
			x, err := expediter.New(expediter.Config{})
			if err != nil {
				b.Fatal(err)
			}
			g, err := w.over(gobreaker.Settings{}, sonybreaker.Config{Engine: x, Tool: "Search"})
			if err != nil {
				b.Fatal(err)
			}
			benchmark(b, g)
		})
	}
}
