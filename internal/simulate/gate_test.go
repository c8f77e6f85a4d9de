package simulate

import (
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
)

// gap draws the time between two calls: mostly short, some around the timeout,
// which counts to the millisecond.
func gap(r *rand.Rand) int64 {
	switch r.IntN(8) {
	case 0:
		return gateTimeoutMS - 1 + r.Int64N(3)
	case 1:
		return r.Int64N(2 * gateTimeoutMS)
	}
	return r.Int64N(5_000)
}

// The gate answers as the library does when its wall clock is the virtual one.
func TestGateIsGobreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 1))
			g, err := newGate("fetch")
			if err != nil {
				t.Fatal(err)
			}
			plain := gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{Name: "fetch"})
			now := int64(0)
			for step := range 500 {
				wait, took, ok := gap(r), r.Int64N(31_000), r.IntN(3) == 0
				time.Sleep(time.Duration(wait) * time.Millisecond)
				now += wait
				want := false
				_, _ = plain.Execute(func() (struct{}, error) {
					want = true
					time.Sleep(time.Duration(took) * time.Millisecond)
					if !ok {
						return struct{}{}, errors.New("broken")
					}
					return struct{}{}, nil
				})
				got := g.do(&now, func() bool {
					now += took
					return ok
				})
				if got != want {
					t.Fatalf("seed %d, step %d: made %v, the library says %v", seed, step, got, want)
				}
				if !got {
					refused++
				}
			}
		}
		if refused == 0 {
			t.Error("no call was ever refused, which proves nothing")
		}
	})
}

func TestGateOpensAtTheSixthFailure(t *testing.T) {
	g, err := newGate("fetch")
	if err != nil {
		t.Fatal(err)
	}
	now, made := int64(0), 0
	for range 20 {
		if g.do(&now, func() bool { return false }) {
			made++
		}
		now += 1_000
	}
	if made != 6 {
		t.Errorf("calls before it opened: got %d, want 6", made)
	}
	now += gateTimeoutMS
	first, second := g.do(&now, func() bool { return true }), g.do(&now, func() bool { return true })
	if !first || !second {
		t.Error("after its timeout and a good trial the breaker still refuses")
	}
}
