package trace

import "encoding/json"

// openHandsRuns reads the output.jsonl of OpenHands' benchmarks: a run a line,
// with its events, or in older ones pairs of an action and its observation. A
// run is a session.
var openHandsRuns = &format{
	name:  "openhands",
	sniff: sniffOpenHandsRuns,
	open:  func(s *sink) decoder { return openHandsRunsDecoder{sink: s} },
}

func sniffOpenHandsRuns(h *head) bool {
	for _, line := range h.first {
		var r openHandsRun
		if json.Unmarshal(line, &r) != nil || r.Instance == "" {
			continue
		}
		if events := r.events(); len(events) > 0 && isOpenHands(events[0]) {
			return true
		}
	}
	return false
}

type openHandsRun struct {
	Instance string            `json:"instance_id"`
	History  []json.RawMessage `json:"history"`
}

// events are those of the history, pairs taken apart.
func (r *openHandsRun) events() []json.RawMessage {
	var all []json.RawMessage
	for _, raw := range r.History {
		var pair []json.RawMessage
		if json.Unmarshal(raw, &pair) != nil {
			pair = []json.RawMessage{raw}
		}
		all = append(all, pair...)
	}
	return all
}

type openHandsRunsDecoder struct{ sink *sink }

func (d openHandsRunsDecoder) record(_ string, raw json.RawMessage) error {
	var r openHandsRun
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	if r.Instance == "" {
		d.sink.foreign()
		return nil
	}
	one := openHandsDecoder{sink: d.sink, name: r.Instance}
	var broken error
	for _, event := range r.events() {
		if err := one.record("", event); err != nil {
			broken = err
		}
	}
	d.sink.session(r.Instance).end()
	return broken
}
