package sonybreaker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sony/gobreaker/v2"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/sonybreaker"
)

// beside is a guard over a breaker that others use as well.
func beside(t *testing.T, st gobreaker.Settings) (rig, *plainBreaker) {
	t.Helper()
	others, x := newPlain(st), newEngine(t, expediter.Config{})
	g, err := sonybreaker.Over(others, sonybreaker.Config{Engine: x, Tool: "Search"})
	if err != nil {
		t.Fatal(err)
	}
	return rig{g, x}, others
}

func TestGuardTellsWhereABreakerStandsAlready(t *testing.T) {
	others := newPlain(naive())
	trip(t, others)
	x := newEngine(t, expediter.Config{})
	g, err := sonybreaker.Over(others, sonybreaker.Config{Engine: x, Tool: "Search"})
	if err != nil {
		t.Fatal(err)
	}
	if got := (rig{g, x}).state(); got != breaker.Open {
		t.Errorf("got %v, want OPEN", got)
	}
}

// The guard learns from a refusal what others have done.
func TestRefusalTellsWhatOthersDid(t *testing.T) {
	ours, others := beside(t, naive())
	trip(t, others)
	if got := ours.state(); got != breaker.Closed {
		t.Fatalf("nobody told, and the engine says %v", got)
	}
	refused(t, ours, gobreaker.ErrOpenState)
	if got := ours.state(); got != breaker.Open {
		t.Errorf("after the refusal: %v, want OPEN", got)
	}
}

// A trial of the guard holds nobody once the failed trial of another caller has
// opened the breaker again.
func TestTrialEndsWithThoseOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := naive()
		st.MaxRequests = 2
		ours, others := beside(t, st)
		trip(t, others)
		time.Sleep(2 * minute.Cooldown)
		late := let(t, ours)
		let(t, others)(errDown)
		ours.Look()
		time.Sleep(2 * minute.Cooldown)
		next := let(t, ours)
		late(errDown)
		next(nil)
		let(t, ours)(nil)
		if got := ours.state(); got != breaker.Closed {
			t.Errorf("got %v, want CLOSED", got)
		}
	})
}

// What a callback causes is told after the callback, in order.
func TestChangesAreToldOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *sonybreaker.Guard
		var heard []string
		st := naive()
		st.OnStateChange = func(_ string, from, to gobreaker.State) {
			heard = append(heard, to.String())
			if to == gobreaker.StateOpen {
				time.Sleep(2 * minute.Cooldown)
				let(t, g)(nil)
			}
			heard = append(heard, "after "+to.String())
		}
		g = ways[0].guard(t, st, sonybreaker.Config{Engine: newEngine(t, expediter.Config{}), Tool: "Search"})
		trip(t, g)
		want := []string{"open", "after open", "half-open", "after half-open", "closed", "after closed"}
		if diff := cmp.Diff(want, heard); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestEngineHearsInSpiteOfOnStateChange(t *testing.T) {
	st := naive()
	st.OnStateChange = func(string, gobreaker.State, gobreaker.State) { panic("of the program") }
	r := newRig(t, ways[0], st)
	let(t, r)(errDown)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		let(t, r)(errDown)
	}()
	if got := r.state(); got != breaker.Open {
		t.Errorf("got %v, want OPEN", got)
	}
}
