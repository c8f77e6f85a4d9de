package redisfleet_test

import (
	"context"
	"testing"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/integration/redisfleet/redistest"
)

func TestSettle(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	o := hasty("settle")
	a := join(t, server.Client(), o)
	a.connected(true)
	a.fail("Grep", 2, cascade.Network)
	a.fleet.Settle(t.Context())
	if got := a.fleet.Status(); got.Counts.Published != 1 || got.Buffered != 0 {
		t.Errorf("published %d, %d wait; want the opening told", got.Counts.Published, got.Buffered)
	}
	await(t, "a request that wants a lease", func() bool {
		a.decide("Grep")
		a.fleet.Settle(t.Context())
		row, _ := a.Tool("Grep")
		return row.State == breaker.Open && row.Leased > 0
	})
	if d := a.decide("Grep"); d.Verb != expediter.Probe {
		t.Errorf("got %v, want PROBE: the lease is there when Settle returns", d.Verb)
	}

	server.Kill()
	a.connected(false)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a.fleet.Settle(ctx)
	if ctx.Err() != nil {
		t.Error("it waited for a Redis that is away")
	}
	if err := a.fleet.Close(); err != nil {
		t.Fatal(err)
	}
	a.fleet.Settle(ctx)
}
