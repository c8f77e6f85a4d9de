package analysis

import (
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/replay"
	"github.com/expediter-go/expediter/internal/trace"
)

// layer is one policy laid over all sessions. One goroutine owns it.
type layer struct {
	policy  Policy
	idle    []*replay.WhatIf
	open    map[*session]*laid
	current *laid // whose events are being applied
	total   Counts

	// Nil where nobody asks for the table.
	tools, categories, files *parts
	timelines                *keeper
	watch                    *watch // of the session with an outage whose chunk is applied
}

// laid is one session under the policy.
type laid struct {
	w          *replay.WhatIf
	counts     Counts
	tools      map[string]*Counts // rows of the tables that the session has a part in
	categories map[string]*Counts
	draw       *drawing // nil: none
}

func newLayer(p Policy, tables bool) (*layer, error) {
	l := &layer{policy: p, open: map[*session]*laid{}}
	l.policy.Config.Events = expediter.Events{Transition: l.moved, Incident: l.told, Paused: l.paused}
	if tables {
		l.tools, l.categories, l.files = newParts(), newParts(), newParts()
	}
	w, err := replay.NewWhatIf(l.policy.Config)
	if err != nil {
		return nil, err
	}
	l.idle = append(l.idle, w)
	return l, nil
}

// lay applies a chunk.
func (l *layer) lay(c chunk) {
	s := l.session(c.session)
	l.current = s
	for i := range c.events {
		e := &c.events[i]
		switch e.kind {
		case trace.Prompt:
			s.draw.next()
			s.w.Prompt(e.step, e.at)
			s.draw.prompt(s.w)
		case trace.Issue:
			l.watch.issued(i, e, l.issue(s, e), s.w)
		case trace.Result:
			l.watch.resulted(e, l.result(s, e))
		}
	}
	if c.last {
		l.end(c.session, s)
	}
	l.current = nil
}

func (l *layer) session(o *session) *laid {
	s := l.open[o]
	if s != nil {
		return s
	}
	s = &laid{}
	if n := len(l.idle); n > 0 {
		s.w, l.idle = l.idle[n-1], l.idle[:n-1]
	} else {
		w, err := replay.NewWhatIf(l.policy.Config)
		if err != nil {
			panic("analysis: a policy that was valid is so no more: " + err.Error())
		}
		s.w = w
	}
	if l.tools != nil {
		s.tools, s.categories = map[string]*Counts{}, map[string]*Counts{}
	}
	if l.timelines != nil {
		s.draw = newDrawing(o)
	}
	l.open[o] = s
	return s
}

func (l *layer) issue(s *laid, e *event) expediter.Verb {
	name := e.name(l.policy.Keys)
	s.draw.next()
	d := s.w.Issue(e.call, name, e.step, e.at)
	s.counts.issued(d.Verb)
	if l.tools != nil {
		share(l.tools, s.tools, name).issued(d.Verb)
	}
	s.draw.call(name, e, d.Verb)
	return d.Verb
}

// result counts a result and returns what was decided for its call.
func (l *layer) result(s *laid, e *event) expediter.Verb {
	s.draw.next()
	verb, known := s.w.Result(e.call, l.policy.Filter.hears(e.outcome, e.answered), e.step, e.at)
	if !known {
		return expediter.Pause
	}
	s.counts.resulted(verb, e)
	if l.tools != nil {
		share(l.tools, s.tools, e.name(l.policy.Keys)).resulted(verb, e)
		c := share(l.categories, s.categories, e.category())
		c.issued(verb)
		c.resulted(verb, e)
	}
	s.draw.result(e, s.w)
	return verb
}

// category is the row of a result in the table of categories.
func (e *event) category() string {
	switch {
	case e.outcome.Result == cascade.Failed:
		return e.outcome.Category.String()
	case e.outcome.Result == cascade.Ignored:
		return "ignored"
	case e.answered:
		return "answered"
	}
	return "success"
}

// maxShares bounds the rows that one session may have a part in.
const maxShares = 4096

// share finds a row, and counts the session the first time it has a part in it.
func share(p *parts, mine map[string]*Counts, name string) *Counts {
	if c := mine[name]; c != nil {
		return c
	}
	if name != Others && (len(mine) >= maxShares || p.full(name)) {
		return share(p, mine, Others)
	}
	c := p.of(name)
	mine[name] = c
	c.Sessions++
	return c
}

// end counts the session and takes its WhatIf back.
func (l *layer) end(o *session, s *laid) {
	s.counts.ended(s.w.Tally())
	l.total.add(&s.counts)
	if l.files != nil {
		l.files.of(o.file).add(&s.counts)
	}
	if l.timelines != nil {
		l.timelines.offer(s.draw.finish(&s.counts))
	}
	s.w.End()
	l.idle = append(l.idle, s.w)
	delete(l.open, o)
}

func (l *layer) moved(t expediter.Transition) {
	s := l.current
	if s == nil {
		return
	}
	if s.tools != nil && t.From == breaker.Closed && t.To == breaker.Open {
		share(l.tools, s.tools, t.Tool).Openings++
	}
	s.draw.moved(t)
}

func (l *layer) told(e expediter.IncidentEvent) {
	if l.current != nil {
		l.current.draw.told(e)
	}
}

func (l *layer) paused(e expediter.PauseEvent) {
	if l.current != nil {
		l.current.draw.paused(e)
	}
}

// row is the layer's part of the result.
func (l *layer) row() Row {
	l.total.settle()
	r := Row{Policy: l.policy.Name, Counts: l.total}
	if l.tools == nil {
		return r
	}
	r.ByTool, r.ByFile = l.tools.list(), l.files.list()
	r.ByCategory = l.rest().list()
	return r
}

// rest completes the categories by the calls that have no result.
func (l *layer) rest() *parts {
	p := newParts()
	none := Counts{Calls: l.total.Calls, Probes: l.total.Probes, Skipped: l.total.Skipped, Paused: l.total.Paused}
	for name, c := range l.categories.byName {
		p.byName[name] = c
		none.Calls -= c.Calls
		none.Probes -= c.Probes
		none.Skipped -= c.Skipped
		none.Paused -= c.Paused
	}
	if none.Calls > 0 {
		p.byName["no result"] = &none
	}
	return p
}
