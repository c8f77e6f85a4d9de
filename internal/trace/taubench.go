package trace

import (
	"bytes"
	"encoding/json"
	"time"
)

// tauBench reads results of tau-bench: an array of runs, or one run alone.
// A run is a session; its traj is an OpenAI chat. The user is simulated.
// Tools answer "Error: …" where they fail, or "Unknown action …" where there is
// no such tool; nothing else marks it.
var tauBench = &format{
	name:   "tau-bench",
	sniff:  sniffTauBench,
	stream: []string{"", "traj"},
	keep:   []string{"task_id", "trial"},
	open:   func(s *sink) decoder { return &tauBenchDecoder{sink: s} },
}

func sniffTauBench(h *head) bool {
	if !h.array {
		return h.keys["traj"] && (h.keys["task_id"] || h.keys["reward"])
	}
	var run struct{ Traj, Reward json.RawMessage }
	if len(h.element) > 0 {
		return json.Unmarshal(h.element, &run) == nil && len(run.Traj) > 0 && len(run.Reward) > 0
	}
	// The first run is longer than what sniffing sees.
	return bytes.Contains(h.raw, []byte(`"task_id"`)) && bytes.Contains(h.raw, []byte(`"reward"`)) &&
		bytes.Contains(h.raw, []byte(`"traj"`))
}

type tauBenchDecoder struct {
	sink *sink
	task string   // of a run alone
	one  *session // the same
}

func (d *tauBenchDecoder) record(path string, raw json.RawMessage) error {
	switch path {
	case "":
		return d.run(raw)
	case "traj":
		if d.one == nil {
			d.one = d.sink.session(runName(d.task, "0"))
		}
		return d.message(d.one, raw)
	case "task_id":
		d.task = scalar(raw)
	}
	return nil
}

func (d *tauBenchDecoder) run(raw json.RawMessage) error {
	var run struct {
		TaskID json.RawMessage `json:"task_id"`
		Trial  json.RawMessage `json:"trial"`
		Traj   []json.RawMessage
	}
	if err := json.Unmarshal(raw, &run); err != nil {
		return err
	}
	if run.Traj == nil {
		d.sink.foreign()
		return nil
	}
	s := d.sink.session(runName(scalar(run.TaskID), scalar(run.Trial)))
	var broken error
	for _, m := range run.Traj {
		if err := d.message(s, m); err != nil {
			broken = err
		}
	}
	return broken
}

func (d *tauBenchDecoder) message(s *session, raw json.RawMessage) error {
	var m chatMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	switch {
	case m.Role == "tool":
		r := m.result(time.Time{})
		r.obs.Failed = m.Name != "" && r.obs.Result == "Unknown action "+m.Name
		s.result(r)
	case !m.tell(s, time.Time{}):
		d.sink.foreign()
	}
	return nil
}

// runName names the session of one run of a task.
func runName(task, run string) string {
	return orZero(task) + "/" + orZero(run)
}

func orZero(s string) string {
	if s == "" {
		return "0"
	}
	return s
}
