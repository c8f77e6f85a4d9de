package trace

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/cascade/classify"
	"github.com/expediter-go/expediter/expediter"
)

// journal reads our own journals (docs/journal.md). A line that is wrong costs
// only itself; replay.Reader is for those who need to know that none is.
// Requests that were answered SKIP or PAUSE are no calls.
var journal = &format{name: "journal", sniff: sniffJournal, open: func(s *sink) decoder { return &journalDecoder{sink: s} }}

func sniffJournal(h *head) bool {
	if len(h.first) == 0 {
		return false
	}
	var ev struct {
		Seq   uint64
		Op    expediter.Op
		Start json.RawMessage
	}
	return json.Unmarshal(h.first[0], &ev) == nil && ev.Seq > 0 && ev.Op == expediter.OpStart && len(ev.Start) > 0
}

type journalDecoder struct {
	*sink
	runs     int
	stepless bool
}

func (d *journalDecoder) record(_ string, raw json.RawMessage) error {
	var ev expediter.Event
	if err := json.Unmarshal(raw, &ev); err != nil {
		return err
	}
	if ev.Op == "" {
		d.foreign()
		return nil
	}
	if ev.Op == expediter.OpStart {
		d.runs++
		d.stepless = ev.Start != nil && ev.Start.Stepless
	}
	if ev.Error != "" {
		return nil
	}
	s, at := d.session(fmt.Sprintf("run %d", max(d.runs, 1))), moment(ev.At)
	switch ev.Op {
	case expediter.OpBeginCycle:
		s.prompt(at)
	case expediter.OpDecide:
		if ev.Decided == nil || !ev.Decided.Decision.Go() {
			return nil
		}
		if d.stepless {
			s.turn()
		} else {
			s.turnOf(strconv.FormatInt(ev.Step, 10))
		}
		s.issue(issued{id: ev.Call.String(), tool: ev.Tool, key: ev.Tool, at: at})
	case expediter.OpRecord:
		s.result(recorded(&ev, at))
	case expediter.OpRefuse: // it was not made
		ignored := cascade.Ignored
		ev.Result, ev.Text = &ignored, ev.Reason
		s.result(recorded(&ev, at))
	}
	return nil
}

// recorded takes the judgement over that the engine was given.
func recorded(ev *expediter.Event, at time.Time) resulted {
	v := classify.Verdict{Category: ev.Category, Class: ev.Category.String(), Signature: ev.Signature, Rule: "journal",
		RetryAfter: time.Duration(min(max(ev.RetryMS, 0), maxMillis)) * time.Millisecond}
	if ev.Result != nil {
		v.Outcome = *ev.Result
	}
	switch v.Outcome {
	case cascade.Succeeded:
		v.Class = classOK
	case cascade.Ignored:
		v.Class = "none"
	}
	if v.Signature == "" && v.Outcome == cascade.Failed {
		v.Signature = classify.Signature(ev.Text)
	}
	r := resulted{id: ev.Call.String(), how: Flagged, at: at, verdict: &v,
		duration: time.Duration(min(max(ev.DurationMS, 0), maxMillis)) * time.Millisecond}
	r.obs.Result = ev.Text
	return r
}

// maxMillis is the longest duration that is believed: ten years.
const maxMillis = 10 * 365 * 24 * 3600 * 1000
