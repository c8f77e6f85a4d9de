package analysis

import (
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/internal/trace"
)

// Kinds of outages.
const (
	OneTool     = "one_tool"     // one tool fails, without a break
	CommonCause = "common_cause" // several tools fail at once, of one cause
	Flapping    = "flapping"     // one tool fails in short runs
)

const (
	minSpliced = 20 // calls of a session that an outage is laid over
	minOutage  = 5  // requests that an outage hits, at least
	maxOutage  = 50
)

// outage is one seeded outage over the first chunk of a session.
type outage struct {
	kind string
	hits []target // the tools that it hits
	end  int      // the index of the first event after it
}

// target is a tool of an outage.
type target struct{ tool, key string }

// splice lays a seeded outage over the first chunk of a session. The events of
// the chunk stay as they are; those of the result are its own. It is false for
// a session that is too short.
func splice(c chunk, seed uint64, sigs *signatures) (chunk, bool) {
	rng := rand.New(rand.NewPCG(seed, c.session.hash()))
	r := requestsOf(c.events)
	if !c.first || len(r.all) < minSpliced {
		return chunk{}, false
	}
	kinds := []string{OneTool, CommonCause, Flapping}
	rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for _, kind := range kinds {
		if hit, keys := r.choose(kind, rng); len(hit) > 0 {
			o := &outage{kind: kind, hits: r.targets(keys), end: hit[len(hit)-1] + 1}
			c.events, c.outage = o.strike(c.events, hit, newFaces(o, sigs, rng)), o
			return c, true
		}
	}
	return chunk{}, false
}

// hash is the session's own share of the seed. It leaves out the folder that
// the recording lies in.
func (s *session) hash() uint64 {
	h := fnv.New64a()
	h.Write([]byte(filepath.Base(s.file)))
	h.Write([]byte{0})
	h.Write([]byte(s.name))
	return h.Sum64()
}

// requests are the calls of a chunk that have a result in it, by the index of
// their Issue.
type requests struct {
	events []event
	all    []int
	keys   []string         // in order of first request
	of     map[string][]int // by key
}

func requestsOf(events []event) *requests {
	resulted := map[int]bool{}
	for i := range events {
		if events[i].kind == trace.Result {
			resulted[events[i].call] = true
		}
	}
	r := &requests{events: events, of: map[string][]int{}}
	for i := range events {
		if e := &events[i]; e.kind == trace.Issue && resulted[e.call] {
			key := e.name(FullKeys)
			if r.of[key] == nil {
				r.keys = append(r.keys, key)
			}
			r.all = append(r.all, i)
			r.of[key] = append(r.of[key], i)
		}
	}
	return r
}

func (r *requests) targets(keys []string) []target {
	hits := make([]target, len(keys))
	for i, k := range keys {
		hits[i] = target{r.events[r.of[k][0]].tool, k}
	}
	return hits
}

// choose picks the requests that an outage of the kind hits, and its tools. It
// is empty where the session has no room for one.
func (r *requests) choose(kind string, rng *rand.Rand) (hit []int, keys []string) {
	if kind == CommonCause {
		keys = r.group(rng)
	} else {
		keys = r.busy(rng)
	}
	var of []int
	for _, k := range keys {
		of = append(of, r.of[k]...)
	}
	slices.Sort(of)
	if len(of) < minOutage {
		return nil, nil
	}
	n := minOutage + rng.IntN(min(maxOutage, len(of))-minOutage+1)
	start := rng.IntN(len(of) - n + 1)
	hit = of[start : start+n]
	if kind == Flapping {
		hit = flaps(hit, rng)
	}
	return hit, keys
}

// busy picks one tool that is asked for often enough.
func (r *requests) busy(rng *rand.Rand) []string {
	var fit []string
	for _, k := range r.keys {
		if len(r.of[k]) >= minOutage+3 {
			fit = append(fit, k)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return []string{fit[rng.IntN(len(fit))]}
}

// group picks two to four tools that one cause could take down together.
func (r *requests) group(rng *rand.Rand) []string {
	groups := map[string][]string{}
	var names []string
	for _, k := range r.keys {
		e := &r.events[r.of[k][0]]
		name := kindOf(e.tool, k).ground(e.tool)
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], k)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return len(groups[n]) < 2 })
	if len(names) == 0 {
		return nil
	}
	keys := groups[names[rng.IntN(len(names))]]
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys[:min(len(keys), 2+rng.IntN(3))]
}

// flaps leaves runs of two to six failures with one to three requests between
// them that go well.
func flaps(hit []int, rng *rand.Rand) []int {
	var on []int
	for len(hit) > 0 {
		n := min(2+rng.IntN(5), len(hit))
		on = append(on, hit[:n]...)
		hit = hit[n:]
		hit = hit[min(1+rng.IntN(3), len(hit)):]
	}
	return on
}

// strike gives the events with the requests that are hit failing.
func (o *outage) strike(events []event, hit []int, faces *faces) []event {
	struck := slices.Clone(events)
	doomed := make(map[int]bool, len(hit))
	for _, i := range hit {
		struck[i].doomed = true
		doomed[struck[i].call] = true
	}
	for i := range struck {
		e := &struck[i]
		if e.kind == trace.Result && doomed[e.call] {
			e.doomed, e.answered = true, false
			e.outcome = faces.outcome(e)
		}
	}
	return struck
}

// ground is what tools of the kind have in common: a network, a machine, or
// one server.
func (k toolKind) ground(tool string) string {
	switch k {
	case fileTool, localProgram:
		return "machine"
	case serverTool:
		if server, _, ok := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__"); ok {
			return "server " + server
		}
	}
	return "network"
}
