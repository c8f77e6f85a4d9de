package mcpproxy

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

// TestFirstCallKnowsWhatTheFleetDoes has a client call a tool while it is joining.
func TestFirstCallKnowsWhatTheFleetDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, two, twoTools)
		var left atomic.Int32
		b.env.Fleet = func(engine *expediter.Engine) Membership {
			time.Sleep(80 * time.Millisecond)
			_, err := engine.Adopt(expediter.Change{Kind: expediter.ChangeOpened, Tool: "hub/search", Text: "no route",
				Failure: cascade.Failure{Category: cascade.Network}}, expediter.NoStep, b.env.Now())
			if err != nil {
				t.Error(err)
			}
			return Membership{Stands: func() string { return "fleet: scope x, 3 members" }, Leave: func() { left.Add(1) }}
		}
		c := b.newClient("s", human{})
		if got := readTold(t, call(t, c, b.target(t, "hub/search"), never(t))); got.Decision != expediter.Skip {
			t.Errorf("got %v, want SKIP: the fleet has opened it", got.Decision)
		}
		for name, text := range map[string][]byte{"status": c.statusResult(), "report": must(c.callOwn(ownReport, nil))} {
			if !strings.Contains(string(text), "fleet: scope x, 3 members") {
				t.Errorf("%s does not say how the client stands to its fleet: %s", name, text)
			}
		}
		c.close()
		b.leaving.Wait()
		if got := left.Load(); got != 1 {
			t.Errorf("left %d times, want once", got)
		}
	})
}

func must[T, E any](v T, _ E) T { return v }

func TestCallThatIsCancelledWaitsForNoFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, two, twoTools)
		joined := make(chan struct{})
		b.env.Fleet = func(*expediter.Engine) Membership { <-joined; return Membership{} }
		c := b.newClient("s", human{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		c.fleet.await(ctx)
		if took := time.Since(began); took != time.Second {
			t.Errorf("waited %v, want until the call is cancelled", took)
		}
		close(joined)
		c.close()
		b.leaving.Wait()
	})
}
