package view

import (
	"encoding/json"
	"slices"

	"github.com/expediter-go/expediter/internal/analysis"
)

// Bounds of the timelines in a page.
const (
	maxTimelines     = 500
	maxTimelineBytes = 3 << 20
)

// drawn is a timeline as the page's script reads it: short names, and
// differences instead of positions, since it is most of the page.
type drawn struct {
	Name      string      `json:"name"`
	File      string      `json:"file"`
	Format    string      `json:"format"`
	Start     int64       `json:"start,omitempty"` // milliseconds since 1970
	End       int64       `json:"end,omitempty"`
	Calls     int         `json:"calls"`
	Cut       int         `json:"cut,omitempty"` // calls left out at the end, here or by the analysis
	Width     int         `json:"width"`
	Limit     int         `json:"limit"`
	Denied    int         `json:"denied"`
	Failures  int         `json:"failures"`
	Lanes     []drawnLane `json:"lanes"`
	Budget    [][2]int    `json:"budget"`
	Prompts   []int       `json:"prompts"`
	Incidents []drawnBand `json:"incidents"`
	Pauses    []drawnBand `json:"pauses"`
	Notes     []string    `json:"notes"`
}

type drawnLane struct {
	Tool  string   `json:"tool"`
	Spans [][3]int `json:"spans"` // from, to, 1 for OPEN or 2 for HALF_OPEN
	X     []int    `json:"x"`     // of each tick, from the one before
	Kinds string   `json:"kinds"` // a letter for each tick: verb and outcome
	Notes []int    `json:"notes"` // of each tick, place in the notes from 1; 0: none. Empty: none at all
	At    []int64  `json:"at"`    // milliseconds, from the one before, the first from Start. Empty: unknown
}

type drawnBand struct {
	From    int      `json:"from"`
	To      int      `json:"to"`
	Cause   string   `json:"cause"`
	Members []string `json:"members"`
}

var (
	verbs    = []string{"CALL", "SKIP", "PROBE", "PAUSE"}
	outcomes = []string{"ok", "answered", "failure", "ignored", "open"}
)

// timelines is the JSON of the sessions that a page draws, in their order, and
// how many it leaves out. Empty: there is none.
func timelines(list []analysis.Timeline) (data string, omitted int, err error) {
	var sessions []json.RawMessage
	size := 0
	for i := range list {
		one, err := json.Marshal(drawnOf(&list[i]))
		if err != nil {
			return "", 0, err
		}
		if len(sessions) == maxTimelines || size+len(one) > maxTimelineBytes {
			omitted++
			continue
		}
		sessions, size = append(sessions, one), size+len(one)
	}
	if len(sessions) == 0 {
		return "", omitted, nil
	}
	all, err := json.Marshal(sessions)
	return string(all), omitted, err
}

func drawnOf(t *analysis.Timeline) drawn {
	end := cutAt(t)
	d := drawn{Name: named(t.Session), File: t.File, Format: t.Format, Start: t.Start, End: t.End, Calls: t.Calls, Width: min(t.Width, end), Limit: t.Limit, Cut: t.Calls,
		Denied: t.Counts.Skipped + t.Counts.Paused, Failures: t.Counts.Failures, Lanes: []drawnLane{}, Budget: [][2]int{}, Prompts: []int{}, Notes: []string{}}
	places := map[string]int{}
	for _, l := range t.Lanes {
		lane := d.lane(t, l, end, places)
		d.Cut -= len(lane.Kinds)
		if len(lane.Kinds) > 0 || end == whole {
			d.Lanes = append(d.Lanes, lane)
		}
	}
	for _, m := range t.Budget {
		if m.X < end {
			d.Budget = append(d.Budget, [2]int{m.X, m.Consumed})
		}
	}
	for _, x := range t.Prompts {
		if x < end {
			d.Prompts = append(d.Prompts, x)
		}
	}
	d.Incidents, d.Pauses = bands(t.Incidents, end), bands(t.Pauses, end)
	return d
}

// whole is the end of a timeline that is drawn in full.
const whole = 1 << 40

// cutAt is the position from which a very long session is not drawn.
func cutAt(t *analysis.Timeline) int {
	var all []int
	for _, l := range t.Lanes {
		for _, k := range l.Ticks {
			all = append(all, k.X)
		}
	}
	if len(all) <= analysis.MaxTicks {
		return whole
	}
	slices.Sort(all)
	return all[analysis.MaxTicks]
}

func (d *drawn) lane(t *analysis.Timeline, l analysis.Lane, end int, places map[string]int) drawnLane {
	lane := drawnLane{Tool: named(l.Tool), Spans: [][3]int{}, X: []int{}, Notes: []int{}, At: []int64{}}
	for _, s := range l.Spans {
		if s.From < end {
			lane.Spans = append(lane.Spans, [3]int{s.From, min(s.To, end), 1 + bit(s.State == "HALF_OPEN")})
		}
	}
	x, at, noted, timed := 0, t.Start, false, true
	var kinds []byte
	for _, k := range l.Ticks {
		if k.X >= end {
			continue
		}
		lane.X, lane.At = append(lane.X, k.X-x), append(lane.At, k.At-at)
		x, at, timed = k.X, k.At, timed && k.At != 0
		kinds = append(kinds, kind(k))
		lane.Notes = append(lane.Notes, d.note(k.Note, places))
		noted = noted || k.Note != ""
	}
	lane.Kinds = string(kinds)
	if !noted {
		lane.Notes = []int{}
	}
	if !timed {
		lane.At = []int64{}
	}
	return lane
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// kind is the letter of a tick. What is unknown reads as a call without result.
func kind(k analysis.Tick) byte {
	verb, outcome := max(slices.Index(verbs, k.Verb), 0), slices.Index(outcomes, k.Outcome)
	if outcome < 0 {
		outcome = slices.Index(outcomes, "open")
	}
	return byte('a' + verb*len(outcomes) + outcome)
}

func (d *drawn) note(text string, places map[string]int) int {
	if text == "" {
		return 0
	}
	if places[text] == 0 {
		d.Notes = append(d.Notes, text)
		places[text] = len(d.Notes)
	}
	return places[text]
}

func bands(list []analysis.Band, end int) []drawnBand {
	out := []drawnBand{}
	for _, b := range list {
		if b.From < end {
			out = append(out, drawnBand{b.From, min(b.To, end), b.Cause, b.Members})
		}
	}
	return out
}
