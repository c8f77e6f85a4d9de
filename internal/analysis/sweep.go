package analysis

import (
	"fmt"
	"slices"

	"github.com/expediter-go/expediter/budget"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

// point is one policy of a sweep, over the sessions as they were and, where
// outages are wanted, with those.
type point struct {
	policy  Policy
	plain   *layer
	spliced *spliced // nil: none
}

func (p *point) task(j job) {
	p.plain.lay(j.plain)
	if p.spliced != nil {
		p.spliced.task(j)
	}
}

func (a *analysis) addPoints(policies []Policy) error {
	for _, p := range policies {
		l, err := newLayer(p, false)
		if err != nil {
			return fmt.Errorf("policy %q: %w", p.Name, err)
		}
		n := &point{policy: p, plain: l}
		if a.Splice {
			if n.spliced, err = newSpliced(p); err != nil {
				return fmt.Errorf("policy %q: %w", p.Name, err)
			}
		}
		a.points = append(a.points, n)
	}
	return nil
}

// What a sweep tries.
var (
	thresholds = []int{2, 3, 4, 5, 6}
	budgets    = []int{3, 5, 8, budget.Unlimited}
	everies    = []int64{3, 6, 10}
	rates      = []float64{0.3, 0.5, 0.7}
	windows    = []int{10, 20}
	perTool    = []int{breaker.Off, 3}
	switches   = []breaker.Switch{breaker.No, breaker.On}
)

// grid is the policies of a sweep: what opens a circuit against what pauses,
// for both kinds of keys and filters; then pacing; then what closes a circuit;
// then trip by rate; then our two named ones.
func grid() []Policy {
	var all []Policy
	for _, keys := range []Keys{FullKeys, ToolKeys} {
		for _, filter := range []Filter{Judged, Remote} {
			for _, threshold := range thresholds {
				for _, limit := range budgets {
					for _, per := range perTool {
						p := sweepBase()
						p.FailureThreshold, p.Budget, p.ChargePerTool = threshold, limit, per
						all = append(all, Policy{Config: expediter.Config{Policy: p}, Keys: keys, Filter: filter})
					}
				}
			}
		}
	}
	all = append(append(append(all, pacings()...), slowToClose()...), byRate()...)
	return named(append(all, Baselines()[2:]...))
}

// sweepBase is what the points of a sweep have in common: the faithful policy
// with probes that become rarer.
func sweepBase() expediter.Policy {
	p := expediter.Faithful()
	p.Probe.Backoff = breaker.On
	return p
}

func pacings() []Policy {
	var all []Policy
	for _, threshold := range []int{2, 3, 4} {
		for _, limit := range []int{budget.Default, budget.Unlimited} {
			for _, every := range everies {
				for _, backoff := range switches {
					p := sweepBase()
					p.FailureThreshold, p.Budget, p.Probe.Every, p.Probe.Backoff = threshold, limit, every, backoff
					all = append(all, Policy{Config: expediter.Config{Policy: p}})
				}
			}
		}
	}
	return all
}

func slowToClose() []Policy {
	var all []Policy
	for _, threshold := range []int{2, 3} {
		for _, limit := range []int{budget.Default, budget.Unlimited} {
			for _, every := range []int64{3, 6} {
				for _, successes := range []int{2, 3} {
					p := sweepBase()
					p.FailureThreshold, p.Budget, p.Probe.Every, p.HalfOpenSuccesses = threshold, limit, every, successes
					all = append(all, Policy{Config: expediter.Config{Policy: p}})
				}
			}
		}
	}
	return all
}

func byRate() []Policy {
	var all []Policy
	for _, rate := range rates {
		for _, window := range windows {
			for _, limit := range []int{budget.Default, budget.Unlimited} {
				p := sweepBase()
				p.Trip = breaker.Trip{Policy: breaker.Rate, Window: window, MinCalls: window / 2, Rate: rate}
				p.Budget = limit
				all = append(all, Policy{Config: expediter.Config{Policy: p}})
			}
		}
	}
	return all
}

// named gives each policy its words, and drops those that were there before.
func named(all []Policy) []Policy {
	seen := map[string]bool{}
	distinct := all[:0]
	for _, p := range all {
		if p.Name == "" {
			p.Name = words(p)
		}
		if !seen[p.Name] {
			seen[p.Name] = true
			distinct = append(distinct, p)
		}
	}
	return distinct
}

// frontier makes the points and marks those that none other beats.
func frontier(points []*point) []Point {
	list := make([]Point, len(points))
	for i, p := range points {
		c := p.plain.row().Counts
		list[i] = Point{Policy: p.policy.Name, Saved: c.Saved, Lost: c.Lost, Paused: c.Paused,
			Precision: c.Precision, PolicyYAML: policyYAML(p.policy)}
		if p.spliced != nil {
			row := p.spliced.row()
			list[i].Made, list[i].Avoided = row.Made, row.Avoided
		}
	}
	for i := range list {
		list[i].Frontier = !slices.ContainsFunc(list, func(o Point) bool { return o.beats(&list[i]) })
	}
	return list
}

// beats reports whether o saves more without losing more, or loses less for
// the same; where both are equal, whether it pauses less, or avoids more of the
// spliced outages.
func (o *Point) beats(p *Point) bool {
	switch {
	case o.Saved != p.Saved:
		return o.Saved > p.Saved && o.Lost <= p.Lost
	case o.Lost != p.Lost:
		return o.Lost < p.Lost
	case o.Paused != p.Paused:
		return o.Paused < p.Paused
	}
	return o.Avoided > p.Avoided
}
