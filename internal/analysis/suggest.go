package analysis

import "fmt"

// What a suggested policy may cost at most.
const (
	lostOnePer     = 5000 // calls
	maxPausedShare = 0.02 // of the sessions
)

// suggest chooses the point that keeps the most doomed requests from being
// made, among those that a file can set and that cost little. It is nil where
// every point costs too much.
func suggest(list []Point, points []*point) *Suggestion {
	best := -1
	for i := range list {
		if points[i].affordable() && (best < 0 || list[i].better(&list[best], points[i], points[best])) {
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
		c.Lost*lostOnePer <= c.Calls && float64(c.SessionsPaused) <= maxPausedShare*float64(c.Sessions)
}

// better compares two affordable points: what is saved and avoided, then the
// requests lost in outages, then pauses.
func (a *Point) better(b *Point, of, than *point) bool {
	if x, y := a.Saved+a.Avoided, b.Saved+b.Avoided; x != y {
		return x > y
	}
	if x, y := of.lostInOutages(), than.lostInOutages(); x != y {
		return x < y
	}
	return a.Paused < b.Paused
}

func (p *point) lostInOutages() int {
	if p.spliced == nil {
		return 0
	}
	return p.spliced.total.Lost
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
		fmt.Sprintf("Of %d policies tried, %d lose at most 1 call in %d and pause at most %.0f %% of the sessions; this one keeps the most failing calls from being made.",
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
