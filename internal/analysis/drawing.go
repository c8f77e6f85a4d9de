package analysis

import (
	"slices"
	"strings"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
	"github.com/expediter-go/expediter/expediter/replay"
)

// MaxTicks bounds the calls that a Timeline has ticks for; those that follow
// are counted and not drawn.
const MaxTicks = 20_000

const (
	maxLanes = 300 // of one timeline; further tools share one lane
	maxNote  = 160 // characters of a tick's note
)

// drawing gathers a Timeline while its session is laid under the first policy.
// A nil drawing draws nothing.
type drawing struct {
	t     Timeline
	x     int // the position of the event being applied; -1 before the first
	lanes map[string]int
	open  map[int]tickAt  // calls without a result
	spans map[string]Span // tools that are not CLOSED
	flags []openBand      // incidents that have not ended
	pause *Band           // nil: not pausing
	last  int             // the budget's last mark
	full  bool            // MaxTicks is reached
}

type tickAt struct{ lane, tick int }

type openBand struct {
	Band
	flagged []string // whom it was flagged with
}

func newDrawing(s *session) *drawing {
	return &drawing{
		t: Timeline{Session: s.name, File: s.file, Format: s.format, Lanes: []Lane{}, Budget: []Mark{}},
		x: -1, lanes: map[string]int{}, open: map[int]tickAt{}, spans: map[string]Span{},
	}
}

// next moves on to the next event.
func (d *drawing) next() {
	if d != nil && !d.full {
		d.x++
	}
}

func (d *drawing) prompt(w *replay.WhatIf) {
	if d == nil || d.full {
		return
	}
	d.t.Prompts = append(d.t.Prompts, d.x)
	d.mark(w)
}

func (d *drawing) call(tool string, e *event, verb expediter.Verb) {
	if d == nil || d.full {
		return
	}
	d.when(e.at)
	lane := d.lane(tool)
	l := &d.t.Lanes[lane]
	d.open[e.call] = tickAt{lane, len(l.Ticks)}
	l.Ticks = append(l.Ticks, Tick{X: d.x, Verb: verb.String(), Outcome: "open", At: e.at})
	d.t.Calls++
	d.full = d.t.Calls >= MaxTicks
}

func (d *drawing) lane(tool string) int {
	i, known := d.lanes[tool]
	if known {
		return i
	}
	if len(d.t.Lanes) >= maxLanes {
		return len(d.t.Lanes) - 1
	}
	if len(d.t.Lanes) == maxLanes-1 {
		tool = Others
	}
	d.t.Lanes = append(d.t.Lanes, Lane{Tool: tool, Spans: []Span{}, Ticks: []Tick{}})
	d.lanes[tool] = len(d.t.Lanes) - 1
	return len(d.t.Lanes) - 1
}

func (d *drawing) when(at int64) {
	if at == 0 {
		return
	}
	if d.t.Start == 0 {
		d.t.Start = at
	}
	d.t.End = max(d.t.End, at)
}

// result completes the call's tick.
func (d *drawing) result(e *event, w *replay.WhatIf) {
	if d == nil {
		return
	}
	if at, known := d.open[e.call]; known {
		delete(d.open, e.call)
		tick := &d.t.Lanes[at.lane].Ticks[at.tick]
		tick.Outcome, tick.Note = e.drawn(), e.note
	}
	if !d.full {
		d.when(e.at)
	}
	if e.outcome.Result == cascade.Failed || e.answered {
		d.mark(w)
	}
}

// drawn is the outcome's word on a tick.
func (e *event) drawn() string {
	switch c := e.category(); c {
	case "success":
		return "ok"
	case "answered", "ignored":
		return c
	}
	return "failure"
}

// note is what a tick says of a result that is no plain success.
func note(v *classify.Verdict, text string) string {
	if text == "" {
		text = v.Signature
	}
	if v.Outcome == cascade.Failed {
		text = strings.TrimSuffix(v.Category.String()+": "+text, ": ")
	}
	if r := []rune(text); len(r) > maxNote {
		text = string(r[:maxNote]) + "…"
	}
	return text
}

// mark notes the budget where it has changed.
func (d *drawing) mark(w *replay.WhatIf) {
	st := w.Status()
	d.t.Limit = max(st.Limit, 0)
	if !d.full && st.Consumed != d.last {
		d.t.Budget = append(d.t.Budget, Mark{X: max(d.x, 0), Consumed: st.Consumed})
		d.last = st.Consumed
	}
}

func (d *drawing) moved(t expediter.Transition) {
	if d == nil || d.full {
		return
	}
	d.endSpan(t.Tool)
	if t.To != breaker.Closed {
		d.spans[t.Tool] = Span{From: d.x, State: t.To.String()}
	}
}

func (d *drawing) endSpan(tool string) {
	span, open := d.spans[tool]
	if !open {
		return
	}
	delete(d.spans, tool)
	span.To = d.x
	l := &d.t.Lanes[d.lane(tool)]
	l.Spans = append(l.Spans, span)
}

func (d *drawing) told(e expediter.IncidentEvent) {
	if d == nil || d.full {
		return
	}
	switch e.Kind {
	case expediter.IncidentFlagged:
		d.flags = append(d.flags, openBand{Band{From: d.x, Cause: e.Cause, Members: slices.Clone(e.Members)}, e.Members})
	case expediter.IncidentJoined:
		if n := len(d.flags); n > 0 {
			d.flags[n-1].Members = append(d.flags[n-1].Members, e.Members...)
		}
	case expediter.IncidentEnded:
		for i, b := range d.flags {
			if b.Cause == e.Cause && slices.Equal(b.flagged, e.Members) {
				d.endFlag(i)
				return
			}
		}
	}
}

func (d *drawing) endFlag(i int) {
	b := d.flags[i].Band
	b.To = d.x
	d.t.Incidents = append(d.t.Incidents, b)
	d.flags = slices.Delete(d.flags, i, i+1)
}

func (d *drawing) paused(e expediter.PauseEvent) {
	if d == nil || d.full {
		return
	}
	if d.pause != nil {
		d.pause.To = d.x
		d.t.Pauses = append(d.t.Pauses, *d.pause)
		d.pause = nil
	}
	if e.Reason != expediter.NoReason {
		d.pause = &Band{From: d.x, Cause: e.Reason.String()}
	}
}

// finish ends what is still open and gives the timeline.
func (d *drawing) finish(c *Counts) Timeline {
	tools := make([]string, 0, len(d.spans))
	for tool := range d.spans {
		tools = append(tools, tool)
	}
	slices.Sort(tools)
	for _, tool := range tools {
		d.endSpan(tool)
	}
	for len(d.flags) > 0 {
		d.endFlag(0)
	}
	if d.pause != nil {
		d.full = false
		d.paused(expediter.PauseEvent{})
	}
	counts := *c
	counts.settle()
	d.t.Counts, d.t.Calls, d.t.Width = &counts, c.Calls, d.x+1
	return d.t
}
