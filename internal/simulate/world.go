package simulate

import (
	"math"
	"math/rand/v2"
	"sort"

	"github.com/expediter-go/expediter/expediter"
)

// Streams of random numbers, so that no two uses share draws.
const (
	planStream uint64 = iota + 1
	callStream
	timeStream
	seedStream
)

// stream returns the random numbers that belong to a key. Keys that differ in
// one bit give unrelated numbers.
func stream(key ...uint64) *rand.Rand {
	a, b := uint64(0x9e3779b97f4a7c15), uint64(0xd1b54a32d192ed03)
	for _, k := range key {
		a = mix(a ^ k)
		b = mix(b + k)
	}
	return rand.New(rand.NewPCG(a, b))
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// request is one attempt of one call. With the time it decides what happens,
// whoever makes it and whatever came before: all ways of working meet the same
// faults.
type request struct {
	agent, subtask, place int
	tool                  int // index in devices
	attempt               int // at this tool, from 0
}

// fate is what happens to a request.
type fate struct {
	down   bool // it fails
	wrong  bool // it returns wrong data, and nothing says so
	took   int64
	tokens int64
}

// world is what goes wrong in one run. It is not safe for concurrent use.
type world struct {
	seed    uint64
	model   Model
	rate    float64
	horizon int64 // ms within which tools may die
	fault   fault
	// ownWords: the error of a tool names it, so that errors of two tools differ.
	ownWords bool
	outages  [][]outage // by tool, as far as they have been drawn
	sources  []*renewal // by tool; nil: never down by the clock
}

// outage is a time in which a tool is down, [from, to) in ms.
type outage struct{ from, to int64 }

// forever is the end of a time that does not end.
const forever = math.MaxInt64

// Mean lengths of one time down, in ms.
const (
	spellMS   = 120_000 // slow
	episodeMS = 120_000 // correlated
	flapMS    = 15_000  // flapping
)

func newWorld(seed uint64, model Model, rate float64, horizon int64) *world {
	w := &world{seed: seed, model: model, rate: rate, horizon: horizon, fault: faults[model],
		outages: make([][]outage, len(devices)), sources: make([]*renewal, len(devices))}
	if rate == 0 {
		return w
	}
	for i, d := range devices {
		switch model {
		case Permanent:
			w.outages[i] = w.death(i)
		case Slow:
			w.sources[i] = newRenewal(w.timeline(i), rate, spellMS)
		case Flapping:
			w.sources[i] = newRenewal(w.timeline(i), rate, flapMS)
		case Correlated:
			if d.network {
				w.sources[i] = newRenewal(w.timeline(0), rate, episodeMS)
			}
		}
	}
	return w
}

func (w *world) timeline(tool int) *rand.Rand { return stream(w.seed, timeStream, uint64(tool)) }

// death draws whether and when a tool dies: twice as many die as the rate says,
// since they do so half-way on average.
func (w *world) death(tool int) []outage {
	r := w.timeline(tool)
	dies, when := r.Float64() < 2*w.rate, r.Float64()
	if !dies {
		return nil
	}
	return []outage{{from: int64(when * float64(w.horizon)), to: forever}}
}

// failure is what the engine is told when a tool fails.
func (w *world) failure(tool string) expediter.Outcome {
	if w.ownWords {
		return outcome(tool+": "+w.fault.text, w.fault.late)
	}
	return outcome(w.fault.text, w.fault.late)
}

// fate says what happens to a request that is made at a time.
func (w *world) fate(q request, at int64) fate {
	r := stream(w.seed, callStream, uint64(q.agent), uint64(q.subtask), uint64(q.place), uint64(q.tool), uint64(q.attempt))
	luck := r.Float64()
	f := fate{took: 500 + r.Int64N(3001), tokens: 500 + r.Int64N(1501)}
	switch w.model {
	case Transient:
		f.down = luck < w.rate
	case Silent:
		f.wrong = luck < w.rate
	default:
		f.down = w.isDown(q.tool, at)
	}
	if f.down && w.fault.took > 0 {
		f.took = w.fault.took
	}
	return f
}

// isDown reports whether the clock has a tool down.
func (w *world) isDown(tool int, at int64) bool {
	if src := w.sources[tool]; src != nil {
		for src.until <= at {
			w.outages[tool] = append(w.outages[tool], src.next())
		}
	}
	list := w.outages[tool]
	i := sort.Search(len(list), func(i int) bool { return list[i].to > at })
	return i < len(list) && list[i].from <= at
}

// renewal draws times up and down in turn, both of exponential length.
type renewal struct {
	r        *rand.Rand
	up, down float64 // mean lengths in ms
	until    int64   // the end of the last time down that was drawn
	begins   bool    // the first time down begins at once
}

// newRenewal makes a process that is down for the given share of time in the
// long run, from its beginning on.
func newRenewal(r *rand.Rand, share, down float64) *renewal {
	return &renewal{r: r, up: down * (1 - share) / share, down: down, begins: r.Float64() < share}
}

func (n *renewal) next() outage {
	from := n.until
	if !n.begins {
		from += n.length(n.up)
	}
	n.begins = false
	n.until = from + n.length(n.down)
	return outage{from: from, to: n.until}
}

func (n *renewal) length(mean float64) int64 { return 1 + int64(n.r.ExpFloat64()*mean) }
