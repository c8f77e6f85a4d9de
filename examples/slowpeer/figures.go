package main

import (
	"slices"
	"time"
)

// figures are what a run comes to. They tell of the callers who arrived during
// the outage, if nothing else is said.
type figures struct {
	name      string
	callers   int
	endings   [own + 1]int
	healthy   int           // callers of a healthy peer that it answered
	share     float64       // of those that it answered when there was no outage
	p50, p99  time.Duration // of the healthy peers' callers; who gave up counts with its wait
	worst     time.Duration
	held      float64 // slots that calls of the summarizer held, on average
	heldMax   int
	reached   int           // calls that reached the summarizer
	probes    int           // of the whole run
	recovered time.Duration // from the outage's end; see recovery
	late      time.Duration // the worst of the machine's own delays
	bins      []bin         // of the whole run
}

// bin is one second of a run.
type bin struct {
	healthy    int     // answers of healthy peers to their callers
	summarizer int     // its own answers
	standIn    int     // answers instead of a peer's
	held       float64 // slots that calls of the summarizer held, on average
}

const binWidth = time.Second

// measure takes the figures of a run.
func measure(name string, p plan, visits []visit) figures {
	f := figures{name: name, bins: make([]bin, int(p.length/binWidth))}
	var waits []time.Duration
	for _, v := range visits {
		f.bin(v)
		if v.probe {
			f.probes++
		}
		if v.peer == summarizer && v.reached && p.begin <= v.started && v.started < p.end {
			f.reached++
		}
		f.late = max(f.late, v.late)
		if v.arrived < p.begin || v.arrived >= p.end {
			continue
		}
		f.callers++
		f.endings[v.end]++
		if v.peer >= p.ill {
			waits = append(waits, v.took())
			if v.end == own {
				f.healthy++
			}
		}
	}
	f.p50, f.p99, f.worst = percentile(waits, 50), percentile(waits, 99), percentile(waits, 100)
	f.recovered = recovery(p.end, visits)
	f.held, f.heldMax = held(visits, p.begin, p.end)
	return f
}

// prompt reports whether the caller got its peer's own answer within a second,
// as it does when all is well.
func (v visit) prompt() bool { return v.end == own && v.took() <= time.Second }

// calm is how long all must be well before a recovery is believed.
const calm = 10 * time.Second

// recovery is how long after the outage's end the last caller arrived who did
// not get a prompt answer, before all callers did for a while.
func recovery(end time.Duration, visits []visit) time.Duration {
	last := end
	for _, v := range visits { // in the order of their arrival
		switch {
		case v.arrived < end || v.prompt():
		case v.arrived >= last+calm:
			return last - end
		default:
			last = v.arrived
		}
	}
	return last - end
}

// bin adds a visit to the seconds that it belongs to.
func (f *figures) bin(v visit) {
	if i := int(v.ended / binWidth); i < len(f.bins) {
		switch {
		case v.end == standIn:
			f.bins[i].standIn++
		case v.end == own && v.peer == summarizer:
			f.bins[i].summarizer++
		case v.end == own:
			f.bins[i].healthy++
		}
	}
	if v.peer != summarizer || !v.reached {
		return
	}
	for at := v.started; at < v.ended; {
		i := int(at / binWidth)
		next := min(v.ended, time.Duration(i+1)*binWidth)
		if i < len(f.bins) {
			f.bins[i].held += float64(next-at) / float64(binWidth)
		}
		at = next
	}
}

// percentile is the least value that so many in a hundred do not exceed.
func percentile(values []time.Duration, percent int) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[max((len(values)*percent+99)/100-1, 0)]
}

// held is how many slots the summarizer's calls held from one time to another:
// the average, and the most at once.
func held(visits []visit, from, to time.Duration) (mean float64, most int) {
	type change struct {
		at time.Duration
		by int
	}
	var changes []change
	var sum time.Duration
	for _, v := range visits {
		start, end := max(v.started, from), min(v.ended, to)
		if v.peer == summarizer && v.reached && start < end {
			changes = append(changes, change{start, 1}, change{end, -1})
			sum += end - start
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		if a.at != b.at {
			return int(min(max(a.at-b.at, -1), 1))
		}
		return a.by - b.by // a slot is given back before it is taken
	})
	now := 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return float64(sum) / float64(to-from), most
}
