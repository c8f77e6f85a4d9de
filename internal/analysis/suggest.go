package analysis

import "fmt"

// What a suggested policy may cost at most.
const (
	lostOnePer     = 5000 // calls
	maxPausedShare = 0.02 // of the sessions
	minPrecision   = 0.9  // good calls lost for failing ones saved: at most one for nine
)

// suggest chooses the point that is worth most, among those that a file can set
// and that cost little. It is nil where every point costs too much.
func suggest(list []Point, points []*point) *Suggestion {
	best := -1
	for i := range list {
		p := points[i]
		if p.affordable() && (best < 0 || p.worth() > points[best].worth() ||
			p.worth() == points[best].worth() && list[i].Paused < list[best].Paused) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &Suggestion{Point: list[best], Why: points[best].why(list, points)}
}

// affordable reports whether a file can set the point, and whether it stays
// within what may be lost.
func (p *point) affordable() bool {
	c := &p.plain.total
	return p.policy.Keys == FullKeys && p.policy.Filter == Judged &&
		c.Lost*lostOnePer <= c.Calls && precision(c.Saved, c.Lost) >= minPrecision && float64(c.SessionsPaused) <= maxPausedShare*float64(c.Sessions)
}

// worth is the failing calls that the point keeps from being made, less the
// good ones that it takes away, in the recording and in the outages.
func (p *point) worth() int {
	w := p.plain.total.Saved - p.plain.total.Lost
	if p.spliced != nil {
		r := p.spliced.row()
		w += r.Avoided - r.Lost
	}
	return w
}

// why is the figures behind the choice.
func (p *point) why(list []Point, points []*point) []string {
	c, affordable := &p.plain.total, 0
	for _, o := range points {
		if o.affordable() {
			affordable++
		}
	}
	why := []string{
		fmt.Sprintf("Of %d policies tried, %d lose at most 1 call in %d, save nine for each one lost, pause at most %.0f %% of the sessions, and can be set in a file; of those, this one keeps the most failing calls from being made, less the good ones that it takes away.",
			len(list), affordable, lostOnePer, maxPausedShare*100),
		fmt.Sprintf("In %d recorded calls of %d sessions it saves %d failing calls and loses %d good ones.", c.Calls, c.Sessions, c.Saved, c.Lost),
		fmt.Sprintf("It pauses %d sessions (%d calls).", c.SessionsPaused, c.Paused),
	}
	if p.spliced != nil {
		r := p.spliced.row()
		why = append(why, fmt.Sprintf("With outages spliced in, it avoids %d of %d doomed requests after the threshold (%d of the others are probes) and loses %d good ones.",
			r.Avoided, r.After, r.MadeProbes, r.Lost))
	}
	return why
}
