package a2apeer_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/executor"
	a2apeer "github.com/expediter-go/expediter/integration/a2a"
)

// A peer that is down, and the one that the map declares in its place.
func TestAnotherPeerStandsIn(t *testing.T) {
	each(t, func(t *testing.T, bind binding) {
		b := newBench(t, capability.Map{{Tool: "travel", Provides: "bookings", Fallback: "ask the user to book",
			Alternatives: []capability.Alternative{{Tool: "agency/train", Degradation: "trains only"}}}})
		down, stop := listen(t, "", bind.serve(newAgent(t)))
		stop()
		up, _ := listen(t, "", bind.serve(newAgent(t)))
		clients := map[string]*a2aclient.Client{"travel": b.guarded(t, bind, down, "travel"), "agency": b.guarded(t, bind, up, "agency")}
		flight := a2apeer.WithSkill(t.Context(), "flight")
		_, err := send(flight, clients["travel"], "completed")
		if _, _, ok := a2apeer.Routed(flight, err, clients); ok {
			t.Errorf("%v is no refusal, but was routed", err)
		}
		_, err = send(flight, clients["travel"], "completed")
		ctx, client, ok := a2apeer.Routed(flight, err, clients)
		if !ok || client != clients["agency"] {
			t.Fatalf("%v: got %v, want the agency's client", err, ok)
		}
		if got, err := send(ctx, client, "message by train"); err != nil || got.(*a2a.Message).Parts[0].Text() != "by train" {
			t.Errorf("got %v, %v", got, err)
		}
		b.tell(t, "CALL travel/flight", "failure network", "SKIP travel/flight", "CALL agency/train", "success")
	})
}

func TestRouted(t *testing.T) {
	agency := &a2aclient.Client{}
	clients := map[string]*a2aclient.Client{"agency": agency, "gone": nil}
	use := func(tool string) *capability.Route {
		return &capability.Route{Kind: capability.UseAlternative, Tool: tool}
	}
	refused := func(r *capability.Route) error {
		return fmt.Errorf("booking: %w", &executor.Refused{Tool: "travel", Decision: expediter.Decision{Verb: expediter.Skip, Route: r}})
	}
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"a peer", refused(use("agency")), true},
		{"a peer's skill", refused(use("agency/train")), true},
		{"a peer that we have no client of", refused(use("taxi")), false},
		{"a name that only begins alike", refused(use("agency2")), false},
		{"a client that is nil", refused(use("gone")), false},
		{"the user", refused(&capability.Route{Kind: capability.UseFallback, Ask: "ask"}), false},
		{"nothing", refused(capability.Reduced()), false},
		{"a pause", refused(nil), false},
		{"another error", errors.New("boom"), false},
		{"no error", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, got, ok := a2apeer.Routed(t.Context(), tt.err, clients)
			if ok != tt.want || (got == agency) != tt.want || ctx == nil {
				t.Errorf("got %v, %v", got, ok)
			}
		})
	}
}
