package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// plan is what happens in a run, whatever stands between the orchestrator and
// its peers. All times count from the beginning of the run.
type plan struct {
	slots    int // worker slots of the orchestrator
	peers    int
	ill      int           // peers that turn slow, the first ones; the summarizer is the first
	rate     float64       // requests per second for all peers together
	quick    time.Duration // a call of a healthy peer, give or take a fifth
	slow     time.Duration // a call that reaches an ill peer in the outage; 0: there is no outage
	begin    time.Duration // of the outage
	end      time.Duration // of the outage
	length   time.Duration // of the run: nothing arrives after it
	patience time.Duration // how long a caller waits for a slot before it gives up

	deadline  time.Duration // of a call; 0: none
	limit     int           // calls of one peer at a time, where there is a bulkhead
	threshold int           // failures in a row that open a breaker
	cooldown  time.Duration // from opening to the trial
	seed      uint64
}

// summarizer is the number of the peer that turns slow.
const summarizer = 0

var defaults = plan{
	slots: 20, peers: 5, ill: 1, rate: 100, quick: 50 * time.Millisecond, slow: 10 * time.Second,
	begin: 20 * time.Second, end: 140 * time.Second, length: 200 * time.Second, patience: 5 * time.Second,
	deadline: time.Second, limit: 8, threshold: 3, cooldown: 30 * time.Second, seed: 1,
}

// request is one caller of the orchestrator.
type request struct {
	number   int
	peer     int
	document int // that it asks about; callers ask about the same ones
	arrives  time.Duration
	takes    time.Duration // at a healthy peer
	drags    time.Duration // at an ill one in the outage
}

const documents = 200

// requests draws the load: arrivals at random, however busy the orchestrator
// is. No two things happen in the same nanosecond, so the order is certain.
func (p plan) requests() []request {
	r := rand.New(rand.NewPCG(p.seed, 1))
	var list []request
	for at := time.Duration(0); ; {
		at += 1 + time.Duration(r.ExpFloat64()/p.rate*float64(time.Second))
		if at >= p.length {
			return list
		}
		spread := 0.8 + 0.4*r.Float64()
		list = append(list, request{number: len(list), peer: r.IntN(p.peers), document: r.IntN(documents), arrives: at,
			takes: time.Duration(float64(p.quick) * spread), drags: time.Duration(float64(p.slow) * spread)})
	}
}

// serves is how long a peer takes for a request that reaches it at a time.
func (p plan) serves(r request, at time.Duration) time.Duration {
	if r.peer < p.ill && p.slow > 0 && p.begin <= at && at < p.end {
		return r.drags
	}
	return r.takes
}

// faster is the same plan with less time for everything.
func (p plan) faster(times float64) plan {
	p.rate *= times
	for _, d := range []*time.Duration{&p.quick, &p.slow, &p.begin, &p.end, &p.length, &p.patience, &p.deadline, &p.cooldown} {
		*d = time.Duration(float64(*d) / times)
	}
	return p
}

// name is what the tools, the breakers and the agent cards call a peer.
func name(peer int) string {
	return [...]string{"summarizer", "translator", "searcher", "planner", "reviewer"}[peer]
}

func (p plan) String() string {
	return fmt.Sprintf("%d worker slots, %g requests/s for %d peers, %v a call. A caller waits %v for a slot.\n"+
		"From second %.0f to %.0f the summarizer takes %v. Where used: a deadline of %v, a breaker that opens\n"+
		"at %d failures in a row for %v, a bulkhead of %d calls a peer.",
		p.slots, p.rate, p.peers, p.quick, p.patience, p.begin.Seconds(), p.end.Seconds(), p.slow, p.deadline, p.threshold, p.cooldown, p.limit)
}
