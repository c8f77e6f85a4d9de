package simulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sony/gobreaker/v2"
)

// gate is gobreaker with its defaults in virtual time. The library reads the
// wall clock and takes no other; but its distributed breaker is the same
// machine with its state in a store of the caller's. The gate is that store: it
// hands out an open state as expired or not by the virtual clock. A test holds
// it against the plain breaker under a fake wall clock.
type gate struct {
	breaker *gobreaker.DistributedCircuitBreaker[struct{}]
	data    []byte
	now     *int64 // ms; the agent's
	isOpen  bool
	opened  int64 // ms
}

// gateTimeoutMS is gobreaker's default time from open to half-open.
const gateTimeoutMS = 60_000

var (
	longAgo = time.Unix(0, 0)
	never   = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	errDown = errors.New("the call failed")
)

func newGate(tool string) (*gate, error) {
	g := &gate{now: new(int64)}
	var err error
	g.breaker, err = gobreaker.NewDistributedCircuitBreaker[struct{}](g, gobreaker.Settings{Name: tool, OnStateChange: g.changed})
	if err != nil {
		return nil, fmt.Errorf("gobreaker for %s: %w", tool, err)
	}
	return g, nil
}

// do makes the call unless the breaker refuses it. call moves the clock on.
func (g *gate) do(now *int64, call func() (ok bool)) (made bool) {
	g.now = now
	_, _ = g.breaker.Execute(func() (struct{}, error) {
		made = true
		if !call() {
			return struct{}{}, errDown
		}
		return struct{}{}, nil
	})
	return made
}

func (g *gate) changed(_ string, _, to gobreaker.State) {
	g.isOpen = to == gobreaker.StateOpen
	g.opened = *g.now
}

// Lock has nothing to do: an agent makes one call at a time.
func (g *gate) Lock(string) error { return nil }

// Unlock has nothing to do.
func (g *gate) Unlock(string) error { return nil }

// SetData keeps the breaker's state.
func (g *gate) SetData(_ string, data []byte) error {
	g.data = data
	return nil
}

// GetData returns the state with its expiry by the virtual clock.
func (g *gate) GetData(string) ([]byte, error) {
	if !g.isOpen {
		return g.data, nil
	}
	var s gobreaker.SharedState
	if err := json.Unmarshal(g.data, &s); err != nil {
		return nil, err
	}
	s.Expiry = never
	if *g.now > g.opened+gateTimeoutMS {
		s.Expiry = longAgo
	}
	return json.Marshal(s)
}

// newGates makes one breaker for each tool.
func newGates() ([]*gate, error) {
	gates := make([]*gate, len(devices))
	for i, d := range devices {
		g, err := newGate(d.name)
		if err != nil {
			return nil, err
		}
		gates[i] = g
	}
	return gates, nil
}
