package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/integration/hook"
	"github.com/expediter-go/expediter/integration/redisfleet"
)

// A hook waits for Redis no longer than hookWithin, unless the fleet's URL says so.
// Its trials have hookLease: the process that has begun one ends, and nobody renews
// it.
const (
	hookWithin = 100 * time.Millisecond
	hookLease  = 5 * time.Minute
)

// hookMemory is what a session remembers of its fleet, as the hook keeps it.
type hookMemory struct {
	Member string            `json:"member"`
	View   redisfleet.Memory `json:"view"`
}

// fleetOfHooks is the fleet at a URL.
func fleetOfHooks(url string) (hook.Fleet, error) {
	client, o, err := redisfleet.Parse(url)
	if err != nil {
		return hook.Fleet{}, err
	}
	_ = client.Close() // one is made for each visit: most hooks make none
	if o.Timeout == 0 {
		o.Timeout = hookWithin
	}
	if o.LeaseTTL == 0 {
		o.LeaseTTL = hookLease
	}
	o.Brief = true
	id := fnv.New128a()
	_, _ = id.Write([]byte(url))
	return hook.Fleet{ID: fmt.Sprintf("%x", id.Sum(nil)), Visit: func(engine *expediter.Engine, memory []byte, at time.Time) hook.Visit {
		return visitFleet(url, o, engine, memory, at)
	}}, nil
}

// visitFleet makes an engine a member for a moment.
func visitFleet(url string, o redisfleet.Options, engine *expediter.Engine, memory []byte, at time.Time) hook.Visit {
	var known hookMemory
	if memory != nil {
		_ = json.Unmarshal(memory, &known) // what cannot be read is not remembered
	}
	if known.Member == "" {
		known.Member = fmt.Sprintf("%.40s_%s", cmp.Or(o.Member, "hook"), rand.Text()[:16])
	}
	client, _, err := redisfleet.Parse(url)
	nothing := hook.Visit{Settle: func() {}, Leave: func() []byte { return memory }}
	if err != nil { // it was parsed before
		return nothing
	}
	o.Member, o.Memory, o.Now = known.Member, known.View, func() time.Time { return at }
	fleet, err := redisfleet.Join(context.Background(), client, engine, o)
	if err != nil {
		_ = client.Close()
		return hook.Visit{Settle: nothing.Settle, Leave: func() []byte { return nil }} // a memory that is none
	}
	return hook.Visit{Reached: fleet.Status().Connected,
		Settle: func() {
			ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
			defer cancel()
			fleet.Settle(ctx)
		},
		Leave: func() []byte {
			_ = fleet.Close()
			_ = client.Close()
			known.View = fleet.Memory()
			data, _ := json.Marshal(known) // texts and maps of texts
			return data
		}}
}
