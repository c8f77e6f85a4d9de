package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/capability/document"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
)

// readScenario takes a scenario apart. The events are read one by one later.
func readScenario(line []byte) (cfg expediter.Config, events []byte, err error) {
	var s struct {
		Config json.RawMessage `json:"config"`
		Map    json.RawMessage `json:"capability_map"`
		Events json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal(line, &s); err != nil {
		return cfg, nil, fmt.Errorf("the scenario is no JSON object: %w", explain(err))
	}
	if len(s.Events) == 0 || s.Events[0] != '[' {
		return cfg, nil, errors.New("events is missing or no list; give the events of the scenario")
	}
	if cfg, err = readConfig(s.Config); err != nil {
		return cfg, nil, err
	}
	if len(s.Map) > 0 {
		n, err := document.Parse("capability_map", s.Map)
		if err == nil {
			err = n.Decode(&cfg.Tools)
		}
		if err != nil {
			return cfg, nil, err
		}
	}
	return cfg, s.Events, nil
}

// readConfig reads a policy by the names of its json tags, with strict and
// user_available beside them.
func readConfig(raw []byte) (expediter.Config, error) {
	cfg := expediter.Config{Replay: true}
	if len(raw) == 0 {
		return cfg, nil
	}
	c := struct {
		expediter.Policy
		Strict bool  `json:"strict"`
		User   *bool `json:"user_available"`
	}{Policy: expediter.Faithful()} // every and max have the same defaults in every unit here
	n, err := document.Parse("config", raw)
	if err == nil {
		problems, _ := n.Decode(&c).(document.Problems)
		err = append(problems, zeros(n)...).Err()
	}
	if err != nil {
		return cfg, err
	}
	if rate := n.Key("trip").Key("rate"); rate != nil && c.Trip.Rate == 0 {
		c.Trip.Rate = math.SmallestNonzeroFloat64 // zero would be the default
	}
	cfg.Policy, cfg.Strict, cfg.UserUnavailable = c.Policy, c.Strict, c.User != nil && !*c.User
	return cfg, nil
}

// counts are the members of config that cannot be 0. In a Policy a zero would
// be read as the default.
var counts = []string{"failure_threshold", "half_open_successes", "budget", "probe_ttl_ms", "probe_ttl_steps",
	"probe.every", "probe.max", "trip.window", "trip.min_calls", "cascade.min_tools"}

func zeros(config *document.Node) document.Problems {
	var problems document.Problems
	for _, path := range counts {
		n := config
		for key := range strings.SplitSeq(path, ".") {
			n = n.Key(key)
		}
		if strings.Trim(n.Text(), "-0") == "" && n.Text() != "" {
			problems = append(problems, n.Problem(path+" is 0", "give 1 or more, or leave it out"))
		}
	}
	return problems
}

// event is one event of a scenario.
type event struct {
	Op         *expediter.Op     `json:"op"`
	Step       *int64            `json:"step"`
	At         int64             `json:"at"` // milliseconds
	Tool       *string           `json:"tool"`
	ID         *string           `json:"id"`
	Result     *cascade.Outcome  `json:"result"`
	Category   cascade.Category  `json:"category"`
	Signature  string            `json:"signature"`
	DurationMS int64             `json:"duration_ms"`
	RetryMS    int64             `json:"retry_after_ms"`
	Score      *capability.Score `json:"score"`
	Cause      *cascade.Category `json:"cause"`
	Tools      []string          `json:"tools"`
}

// ops lists the members that each event must have, beside op and step.
var ops = map[expediter.Op][]string{
	expediter.OpDecide:          {"tool", "id"},
	expediter.OpRecord:          {"id", "result"},
	expediter.OpAvailability:    {"tool", "score"},
	expediter.OpDeclareOutage:   {"cause", "tools"},
	expediter.OpBeginCycle:      nil,
	expediter.OpConfirmRecovery: nil,
}

func (ev *event) check() error {
	if ev.Op == nil {
		return errors.New("op is missing; give " + opNames())
	}
	need, ok := ops[*ev.Op]
	if !ok {
		return fmt.Errorf("unknown op %.40q; use %s", *ev.Op, opNames())
	}
	has := map[string]bool{"step": ev.Step != nil, "tool": ev.Tool != nil, "id": ev.ID != nil,
		"result": ev.Result != nil, "score": ev.Score != nil, "cause": ev.Cause != nil, "tools": len(ev.Tools) > 0}
	for _, member := range append([]string{"step"}, need...) {
		if !has[member] {
			return fmt.Errorf("%s is missing; %s needs it", member, *ev.Op)
		}
	}
	if ev.DurationMS < 0 || ev.RetryMS < 0 {
		return errors.New("duration_ms or retry_after_ms is negative; give 0 or more")
	}
	return nil
}

func opNames() string {
	var names []string
	for op := range ops {
		names = append(names, string(op))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// eventReader reads a list of events one at a time, so that a long list costs
// no memory of its own.
type eventReader struct {
	dec *json.Decoder
	n   int
}

// newEventReader reads from a valid JSON list.
func newEventReader(list []byte) *eventReader {
	r := &eventReader{dec: json.NewDecoder(bytes.NewReader(list))}
	if _, err := r.dec.Token(); err != nil {
		panic("replay: the list was valid a moment ago: " + err.Error())
	}
	return r
}

// next returns the next event with all that its op needs, io.EOF at the end,
// or an *EventError.
func (r *eventReader) next() (*event, error) {
	if !r.dec.More() {
		return nil, io.EOF
	}
	var ev *event
	err := r.dec.Decode(&ev)
	if err == nil && ev == nil {
		err = errors.New("found null instead of an event; give an object")
	}
	if err == nil {
		err = ev.check()
	}
	if err != nil {
		return nil, &EventError{r.n, explain(err).Error()}
	}
	r.n++
	return ev, nil
}

// explain says what encoding/json found in the words of a file.
func explain(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	want := map[string]string{"int64": "an integer of 64 bits", "uint64": "an integer of 64 bits", "int": "an integer",
		"string": "a text", "bool": "true or false", "slice": "a list"}[wrong.Type.Kind().String()]
	if want == "" {
		want = "an object"
		if wrong.Field != "" && wrong.Type.Kind().String() != "struct" {
			want = "one of its words"
		}
	}
	field := ""
	if wrong.Field != "" {
		field = wrong.Field + ": "
	}
	return fmt.Errorf("%sfound %s; give %s", field, wrong.Value, want)
}
