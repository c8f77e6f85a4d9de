package cascade

import "slices"

// Moment is a point of a run.
type Moment struct {
	Step int64 `json:"step"`
	At   int64 `json:"at"` // milliseconds
}

// Window is how far back a failure still belongs to the same event: both
// bounds hold (SPEC section 7).
type Window struct {
	Steps int64
	MS    int64
}

// Holds reports whether then is at most the window before now.
func (w Window) Holds(then, now Moment) bool {
	return now.Step-then.Step <= w.Steps && now.At-then.At <= w.MS
}

// View is what the detector sees of one tool. Views are given in table order.
type View struct {
	Source
	Closed    bool
	Tripped   bool    // it has opened by itself or in a declared outage
	Outage    int     // the declared outage whose tools count as one; 0: none
	Trip      Failure // of its last CLOSED→OPEN
	TripAt    Moment
	Failing   bool // its latest outcome is a failure (not a slow call)
	Latest    Failure
	LatestAt  Moment
	Succeeded bool // it has had a success before
}

// Causes that are no category.
const (
	CauseSignature = "signature" // the same text, no common category
	CauseMixed     = "mixed"     // simultaneous openings with different faces
)

// Finding is a common cause that the detector sees.
type Finding struct {
	Cause    string
	Members  []int // Source.Tool of the tool, then of its peers and suspects
	Suspects []int // those Members that are CLOSED and open at once
}

// Detector applies the rules of SPEC section 7 to a table.
type Detector struct {
	Window   Window
	MinTools int
}

// Opened looks at an opening of tool with failure f: rule 1 (shared), else
// rule 3 (simultaneous). ok is false when the opening stands alone.
func (d Detector) Opened(tool Source, f Failure, now Moment, others []View) (found Finding, ok bool) {
	peers, matching, events := d.peers(tool, f, now, others)
	if len(matching) > 0 {
		return d.shared(tool, f, now, matching, others), true
	}
	if 1+events >= d.MinTools {
		return Finding{Cause: CauseMixed, Members: append([]int{tool.Tool}, peers...)}, true
	}
	return Finding{}, false
}

// Verge looks at a failure that leaves the budget exhausted without opening
// its tool (rule 2): with at least one matching peer or suspect it is systemic.
func (d Detector) Verge(tool Source, f Failure, now Moment, others []View) (found Finding, ok bool) {
	_, matching, _ := d.peers(tool, f, now, others)
	found = d.shared(tool, f, now, matching, others)
	return found, len(found.Members) > 1
}

// Suspected looks for MinTools tools, each with an earlier success, whose
// latest outcomes are matching failures within the window (rule 4). views
// holds the failing tool itself too.
func (d Detector) Suspected(tool Source, f Failure, now Moment, views []View) (found Finding, ok bool) {
	found.Cause = CauseSignature
	for _, v := range views {
		if !v.Succeeded || !v.Failing || !d.Window.Holds(v.LatestAt, now) || !Match(f, tool, v.Latest, v.Source) {
			continue
		}
		found.Members = append(found.Members, v.Tool)
		if v.Tool != tool.Tool && v.Latest.Category == f.Category && f.Category != Unknown {
			found.Cause = f.Category.String()
		}
	}
	return found, len(found.Members) >= d.MinTools
}

// peers returns the other tools that are not CLOSED and opened within the
// window, those of them whose tripping failure matches f, and as how many tools
// the peers count.
func (d Detector) peers(tool Source, f Failure, now Moment, others []View) (peers, matching []int, events int) {
	var outages []int
	for _, v := range others {
		if v.Tool == tool.Tool || v.Closed || !v.Tripped || !d.Window.Holds(v.TripAt, now) {
			continue
		}
		peers = append(peers, v.Tool)
		if v.Outage == 0 || !slices.Contains(outages, v.Outage) {
			events++
		}
		if v.Outage != 0 {
			outages = append(outages, v.Outage)
		}
		if Match(f, tool, v.Trip, v.Source) {
			matching = append(matching, v.Tool)
		}
	}
	return peers, matching, events
}

// shared is the finding of rules 1 and 2: the tool, its matching peers and its
// suspects; the cause is the category if another member's tripping failure has
// it.
func (d Detector) shared(tool Source, f Failure, now Moment, matching []int, others []View) Finding {
	found := Finding{Cause: CauseSignature, Members: append([]int{tool.Tool}, matching...)}
	i := 0
	for _, v := range others {
		other := v.Trip
		switch {
		case i < len(matching) && v.Tool == matching[i]:
			i++
		case v.Tool != tool.Tool && v.Closed && v.Failing && d.Window.Holds(v.LatestAt, now) && Match(f, tool, v.Latest, v.Source):
			found.Members = append(found.Members, v.Tool)
			found.Suspects = append(found.Suspects, v.Tool)
			other = v.Latest
		default:
			continue
		}
		if other.Category == f.Category && f.Category != Unknown {
			found.Cause = f.Category.String()
		}
	}
	return found
}
