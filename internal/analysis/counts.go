package analysis

import (
	"cmp"
	"slices"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
)

// issued counts a call by what the policy decided for it.
func (c *Counts) issued(verb expediter.Verb) {
	c.Calls++
	switch verb {
	case expediter.Probe:
		c.Probes++
	case expediter.Skip:
		c.Skipped++
	case expediter.Pause:
		c.Paused++
	}
}

// resulted counts a result by what had been decided for its call.
func (c *Counts) resulted(verb expediter.Verb, e *event) {
	skipped := verb == expediter.Skip
	switch {
	case e.outcome.Result == cascade.Ignored:
		c.Ignored++
	case e.outcome.Result == cascade.Failed:
		c.Failures++
		if skipped {
			c.Saved++
			c.SavedMS += e.outcome.Duration.Milliseconds()
			c.SavedTokens += e.tokens
		}
	default:
		if e.answered {
			c.Answered++
		}
		if skipped {
			c.lose(e)
		}
	}
}

func (c *Counts) lose(e *event) {
	c.Lost++
	c.LostMS += e.outcome.Duration.Milliseconds()
	c.LostTokens += e.tokens
	if e.answered {
		c.LostAnswers++
	}
}

// ended counts what happened inside the engine over one session.
func (c *Counts) ended(t replay.Tally) {
	if c.Calls > 0 {
		c.Sessions++
	}
	c.Openings += t.Openings
	c.Pauses += t.Pauses
	c.Incidents += t.Incidents
	if t.Pauses > 0 {
		c.SessionsPaused++
	}
}

// add sums two counts of different calls.
func (c *Counts) add(o *Counts) {
	for _, f := range [...]struct {
		sum  *int
		more int
	}{
		{&c.Sessions, o.Sessions}, {&c.Calls, o.Calls}, {&c.Failures, o.Failures}, {&c.Answered, o.Answered},
		{&c.Ignored, o.Ignored}, {&c.Openings, o.Openings}, {&c.Skipped, o.Skipped}, {&c.Saved, o.Saved},
		{&c.Lost, o.Lost}, {&c.LostAnswers, o.LostAnswers}, {&c.Paused, o.Paused}, {&c.Probes, o.Probes},
		{&c.Pauses, o.Pauses}, {&c.SessionsPaused, o.SessionsPaused}, {&c.Incidents, o.Incidents},
	} {
		*f.sum += f.more
	}
	c.SavedMS += o.SavedMS
	c.LostMS += o.LostMS
	c.SavedTokens += o.SavedTokens
	c.LostTokens += o.LostTokens
}

// settle sets what follows from the other figures.
func (c *Counts) settle() { c.Precision = precision(c.Saved, c.Lost) }

func precision(saved, lost int) float64 {
	if saved+lost == 0 {
		return 1
	}
	return float64(saved) / float64(saved+lost)
}

// Others is the name of the part that holds what a table has no room for.
const Others = "(others)"

// maxParts bounds the names of one table.
const maxParts = 2000

// parts are the shares of tools, categories or files. The names that come
// first have rows of their own; those beyond maxParts share one.
type parts struct {
	byName map[string]*Counts
}

func newParts() *parts { return &parts{byName: map[string]*Counts{}} }

func (p *parts) of(name string) *Counts {
	if p.full(name) {
		name = Others
	}
	c := p.byName[name]
	if c == nil {
		c = &Counts{}
		p.byName[name] = c
	}
	return c
}

// full reports whether there is no room for a row of that name.
func (p *parts) full(name string) bool {
	return len(p.byName) >= maxParts && p.byName[name] == nil
}

// list gives the parts, most calls first, then by name.
func (p *parts) list() []Part {
	list := make([]Part, 0, len(p.byName))
	for name, c := range p.byName {
		c.settle()
		list = append(list, Part{Name: name, Counts: *c})
	}
	slices.SortFunc(list, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return list
}
