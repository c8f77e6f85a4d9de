package analysis

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/expediter-go/expediter/internal/trace"
)

// Stream hands the events of recordings to yield, those of one session in
// their order. An error of yield ends it and is returned.
type Stream func(ctx context.Context, yield func(*trace.Event) error) error

// Options say what to find out. The zero Options analyse nothing: give at
// least one policy.
type Options struct {
	Policies  []Policy // the first is the result's own row, and has the timelines
	Sweep     bool     // try a grid of policies: Result.Frontier
	Suggest   bool     // choose one of them: Result.Suggested; implies Sweep and Splice
	Splice    bool     // lay outages over the sessions: Result.Spliced
	Seed      uint64   // of the outages
	Timelines int      // sessions to draw at most; 0: none
}

// Run lays every policy over the recordings, in one pass. What it holds in
// memory is bounded, whatever the recordings hold. It fills all of the Result
// but Files. The events of one session must not be told twice.
//
// Where reading ends early, by ctx or by an error of stream, the Result of what
// was read until then comes with the error. It is nil where a policy is wrong.
func Run(ctx context.Context, stream Stream, o Options) (*Result, error) {
	a, err := newAnalysis(o)
	if err != nil {
		return nil, err
	}
	a.start()
	a.sessions.emit = func(c chunk) error {
		a.hand(c)
		return ctx.Err()
	}
	err = stream(ctx, a.sessions.add)
	a.sessions.emit = func(c chunk) error { // what was read counts, even after the end of ctx
		a.hand(c)
		return nil
	}
	a.early = err != nil
	err = errors.Join(err, a.sessions.end())
	a.stop()
	return a.result(), err
}

// analysis is one run.
type analysis struct {
	Options
	plain   []*layer
	spliced []*spliced
	points  []*point // of a sweep
	workers []worker
	wait    sync.WaitGroup

	sessions sessions
	outages  map[*session]*outage // of sessions that have not ended
	kinds    map[string]int       // outages by kind
	untimed  int                  // sessions without times
	early    bool                 // reading ended early
}

func newAnalysis(o Options) (*analysis, error) {
	a := &analysis{Options: o, outages: map[*session]*outage{}, kinds: map[string]int{}}
	a.sessions = sessions{open: map[[2]string]*session{}, texts: o.Timelines > 0}
	a.Sweep, a.Splice = o.Sweep || o.Suggest, o.Splice || o.Suggest
	if len(o.Policies) == 0 {
		return nil, errors.New("analysis: no policy; give at least one")
	}
	var errs []error
	for _, p := range o.Policies {
		errs = append(errs, a.addPlain(p))
	}
	if a.Splice {
		for _, p := range withBaselines(o.Policies) {
			errs = append(errs, a.addSpliced(p))
		}
	}
	if a.Sweep {
		errs = append(errs, a.addPoints(grid()))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	layers := len(a.plain) + len(a.spliced) + 2*len(a.points)
	a.sessions.most, a.sessions.names = max(maxEngines/layers, 8), max(maxEngineTools/layers, 1000)
	if o.Timelines > 0 {
		a.plain[0].timelines = &keeper{most: o.Timelines}
	}
	return a, nil
}

// withBaselines puts the baselines first that are not among the policies.
func withBaselines(policies []Policy) []Policy {
	named := map[string]bool{}
	for _, p := range policies {
		named[p.Name] = true
	}
	var all []Policy
	for _, p := range Baselines() {
		if !named[p.Name] {
			all = append(all, p)
		}
	}
	return append(all, policies...)
}

func (a *analysis) addPlain(p Policy) error {
	l, err := newLayer(p, true)
	if err != nil {
		return fmt.Errorf("policy %q: %w", p.Name, err)
	}
	a.plain = append(a.plain, l)
	return nil
}

func (a *analysis) addSpliced(p Policy) error {
	s, err := newSpliced(p)
	if err != nil {
		return fmt.Errorf("policy %q: %w", p.Name, err)
	}
	a.spliced = append(a.spliced, s)
	return nil
}

// withOutage is the chunk as the spliced runs see it; the zero chunk if its
// session has no outage.
func (a *analysis) withOutage(c chunk) chunk {
	if c.first {
		s, ok := splice(c, a.Seed, &a.sessions.signatures)
		if !ok {
			return chunk{}
		}
		a.kinds[s.outage.kind]++
		if !c.last {
			a.outages[c.session] = s.outage
		}
		return s
	}
	o := a.outages[c.session]
	if o == nil {
		return chunk{}
	}
	if c.last {
		delete(a.outages, c.session)
	}
	c.outage = o
	return c
}

func (a *analysis) result() *Result {
	r := &Result{Format: ResultFormat, Row: a.plain[0].row(), Files: []trace.Stats{}}
	if len(a.plain) > 1 {
		for _, l := range a.plain {
			r.Policies = append(r.Policies, l.row())
		}
	}
	if a.Splice {
		r.Spliced = &Splice{Seed: a.Seed, ByKind: a.kinds}
		for _, n := range a.kinds {
			r.Spliced.Outages += n
		}
		for _, s := range a.spliced {
			r.Spliced.Rows = append(r.Spliced.Rows, s.row())
		}
	}
	if a.Sweep {
		r.Frontier = frontier(a.points)
	}
	if a.Suggest {
		r.Suggested = suggest(r.Frontier, a.points)
	}
	if k := a.plain[0].timelines; k != nil {
		r.Timelines, r.Omitted = k.list()
	}
	r.Notes = a.notes(r)
	return r
}
