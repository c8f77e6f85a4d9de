package redisfleet_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

// Decide and Record cost the same with and without a fleet: compare alone, leased
// (the fleet is there) and away (its Redis is not).
func BenchmarkDecideRecord(b *testing.B) {
	gone := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", ContextTimeoutEnabled: true, MaxRetries: -1})
	b.Cleanup(func() { _ = gone.Close() })
	b.Run("alone", func(b *testing.B) { decideRecord(b, newAgent(b, quick())) })
	b.Run("leased", func(b *testing.B) {
		a := join(b, redistest.Start(b).Client(), hasty("bench"))
		a.connected(true)
		decideRecord(b, a)
	})
	b.Run("away", func(b *testing.B) { decideRecord(b, join(b, gone, hasty("bench"))) })
}

func decideRecord(b *testing.B, a *agent) {
	b.Helper()
	now := time.Now()
	a.record(a.decide("Grep").Call, expediter.Success())
	b.ReportAllocs()
	for b.Loop() {
		d := a.Decide("Grep", expediter.NoStep, now)
		if _, err := a.Record(d.Call, expediter.Success(), expediter.NoStep, now); err != nil {
			b.Fatal(err)
		}
	}
}
