package analysis

import (
	"slices"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/replay"
)

// spliced is one policy over the sessions that outages are laid over. One
// goroutine owns it.
type spliced struct {
	*layer
	figures   map[string]*Avoidance // by kind of outage
	threshold int
	watched   map[*session]*watch
}

func newSpliced(p Policy) (*spliced, error) {
	l, err := newLayer(p, false)
	if err != nil {
		return nil, err
	}
	threshold := p.Config.Policy.Over(expediter.Faithful()).FailureThreshold
	return &spliced{layer: l, threshold: threshold, figures: map[string]*Avoidance{}, watched: map[*session]*watch{}}, nil
}

func (s *spliced) task(j job) {
	if j.spliced.session != nil {
		s.lay(j.spliced)
	}
}

// lay applies a chunk of a session that has an outage.
func (s *spliced) lay(c chunk) {
	w := s.watched[c.session]
	if w == nil {
		w = &watch{spliced: s, figures: s.of(c.outage.kind), outage: c.outage, failed: map[string]int{}}
		s.watched[c.session] = w
	}
	s.watch = w
	s.layer.lay(c)
	s.watch = nil
	w.past = true
	if c.last {
		for _, n := range w.waits {
			w.figures.Unresolved++
			if n.late {
				w.figures.Overdue++
			}
			w.figures.MaxWait = max(w.figures.MaxWait, n.denied)
		}
		delete(s.watched, c.session)
	}
}

func (s *spliced) of(kind string) *Avoidance {
	if s.figures[kind] == nil {
		s.figures[kind] = &Avoidance{}
	}
	return s.figures[kind]
}

func (s *spliced) row() SpliceRow {
	r := SpliceRow{Counts: s.layer.row().Counts, Policy: s.policy.Name, ByKind: map[string]Avoidance{}}
	for kind, f := range s.figures {
		f.settle()
		r.ByKind[kind] = *f
		r.Avoidance.add(f)
	}
	r.Avoidance.settle()
	return r
}

// settle sets what follows from the other figures.
func (a *Avoidance) settle() {
	a.Avoided = a.After - a.Made
	if a.AvoidedPct = 1; a.After > 0 {
		a.AvoidedPct = float64(a.Avoided) / float64(a.After)
	}
}

func (a *Avoidance) add(b *Avoidance) {
	a.Doomed += b.Doomed
	a.After += b.After
	a.Made += b.Made
	a.MadeProbes += b.MadeProbes
	a.Recovered += b.Recovered
	a.WithinOne += b.WithinOne
	a.MaxWait = max(a.MaxWait, b.MaxWait)
	a.Unresolved += b.Unresolved
	a.Overdue += b.Overdue
}

// watch follows one outage. A nil watch follows none.
type watch struct {
	*spliced
	figures *Avoidance // of its kind
	outage  *outage
	failed  map[string]int   // calls in a row that were made and failed, by key
	past    bool             // the outage's chunk was applied
	waits   map[string]*wait // after its end: the tools that were not tried again yet
	ended   bool
}

// wait is a tool between an outage's end and its next call.
type wait struct {
	denied   int   // as SKIP or PAUSE
	skipped  int64 // of them, as SKIP: a PAUSE is no attempt (SPEC section 4)
	interval int64 // the distance to the next probe, in unit
	unit     breaker.Unit
	step, at int64 // of the end
	late     bool  // a SKIP after the interval was over
}

func (w *watch) issued(i int, e *event, verb expediter.Verb, x *replay.WhatIf) {
	if w == nil {
		return
	}
	if !w.ended && (w.past || i >= w.outage.end) {
		w.end(e, x)
	}
	switch key := e.name(FullKeys); {
	case e.doomed:
		w.doomed(key, verb)
	case w.ended && w.waits[key] != nil:
		w.tried(key, e, verb)
	}
}

func (w *watch) resulted(e *event, verb expediter.Verb) {
	switch {
	case w == nil || !verb.Go():
	case e.doomed:
		w.failed[e.name(FullKeys)]++
	case e.outcome.Result == cascade.Succeeded:
		w.failed[e.name(FullKeys)] = 0 // between two runs of a flapping tool
	}
}

// doomed counts a request of the outage. From the threshold on, or as soon as
// the policy knows better than CALL, it is one that a breaker could avoid.
func (w *watch) doomed(key string, verb expediter.Verb) {
	f := w.figures
	f.Doomed++
	if verb == expediter.Call && w.failed[key] < w.threshold {
		return
	}
	f.After++
	if verb.Go() {
		f.Made++
	}
	if verb == expediter.Probe {
		f.MadeProbes++
	}
}

// end begins to wait for the tools of the outage.
func (w *watch) end(e *event, x *replay.WhatIf) {
	w.ended, w.waits = true, map[string]*wait{}
	st := x.Status()
	for _, hit := range w.outage.hits {
		name := hit.key
		if w.policy.Keys == ToolKeys {
			name = hit.tool
		}
		n := &wait{step: e.step, at: e.at}
		n.interval, n.unit = interval(st, name)
		w.waits[hit.key] = n
	}
}

// interval is the distance between a tool's probes as it stands.
func interval(st expediter.Status, name string) (int64, breaker.Unit) {
	i := slices.IndexFunc(st.Tools, func(t expediter.ToolStatus) bool { return t.Tool == name })
	if i < 0 {
		return st.Policy.Probe.Every, st.Policy.Probe.Unit
	}
	t := &st.Tools[i]
	p := t.Policy.Probe
	for _, inc := range st.Incidents {
		if slices.Contains(inc.Members, name) && inc.Active {
			return p.Every, t.Unit // confirmation begins anew
		}
		if slices.Contains(inc.Members, name) {
			return inc.Interval, t.Unit
		}
	}
	if p.Backoff == breaker.On {
		return cascade.NewBackoff(p.Every, p.Max).Interval(t.FailedProbes), t.Unit
	}
	return p.Every, t.Unit
}

// tried looks at a request for a tool whose outage is over.
func (w *watch) tried(key string, e *event, verb expediter.Verb) {
	n := w.waits[key]
	if verb.Go() {
		delete(w.waits, key)
		w.figures.Recovered++
		if !n.late {
			w.figures.WithinOne++
		}
		w.figures.MaxWait = max(w.figures.MaxWait, n.denied)
		return
	}
	n.denied++
	if verb == expediter.Pause {
		return
	}
	n.skipped++
	switch n.unit {
	case breaker.Attempts:
		n.late = n.late || n.skipped >= n.interval
	case breaker.Steps:
		n.late = n.late || e.step-n.step >= n.interval
	case breaker.Time:
		n.late = n.late || e.at-n.at >= n.interval
	}
}
