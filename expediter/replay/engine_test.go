package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestEngineConformance(t *testing.T) {
	jsonl(t, "testdata/engine.jsonl", func(n int, line []byte) {
		var c struct {
			Name string
			Want Run
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		got, err := Engine(line)
		if err != nil {
			t.Errorf("line %d, %s: %v", n, c.Name, err)
			return
		}
		// As others read it.
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		got = Run{}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("line %d, %s (-want +got):\n%s", n, c.Name, diff)
		}
	})
}

// scenario puts events and a config into a line.
func scenario(config, events string) string {
	return `{"config":` + config + `,"capability_map":[{"tool":"Grep","fallback":"ask"}],"events":[` + events + `]}`
}

func TestEngineRefuses(t *testing.T) {
	const call = `{"op":"decide","tool":"Grep","step":1,"id":"c1"}`
	tests := []struct{ name, give, want string }{
		{"no JSON", `{`, "the scenario is no JSON object: unexpected end"},
		{"a list", `[]`, "the scenario is no JSON object: found array; give an object"},
		{"no events", `{}`, "events is missing"},
		{"events null", `{"events":null}`, "events is missing"},
		{"unknown key of config", scenario(`{"budgt":1}`, ``), `config:1:2: unknown key "budgt"; did you mean "budget"?`},
		{"zero", scenario(`{"probe":{"every":0},"failure_threshold":0}`, ``), "config:1:19: probe.every is 0; give 1 or more, or leave it out"},
		{"zero, too", scenario(`{"probe":{"every":0},"failure_threshold":0}`, ``), "failure_threshold is 0; give 1 or more, or leave it out"},
		{"out of bounds", scenario(`{"trip":{"rate":2}}`, ``), "config: policy: trip.rate: 2"},
		{"unit", scenario(`{"probe":{"unit":"days"}}`, ``), `unknown unit "days"`},
		{"map", `{"capability_map":[{"tol":"Grep"}],"events":[]}`, `capability_map:1:3: unknown key "tol"; did you mean "tool"?`},
		{"own alternative", `{"capability_map":[{"tool":"A","alternatives":[{"tool":"A"}]}],"events":[]}`, `tool "A" is its own alternative`},
		{"null event", scenario(`{}`, call+`,null`), "event 1 (counting from 0): found null instead of an event"},
		{"number", scenario(`{}`, `7`), "event 0 (counting from 0): found number; give an object"},
		{"unknown op", scenario(`{}`, call+`,{"op":"reboot","step":2}`), `event 1 (counting from 0): unknown op "reboot"; use availability, begin_cycle,`},
		{"no op", scenario(`{}`, `{"step":2}`), "event 0 (counting from 0): op is missing"},
		{"no step", scenario(`{}`, `{"op":"begin_cycle"}`), "event 0 (counting from 0): step is missing; begin_cycle needs it"},
		{"no id", scenario(`{}`, `{"op":"decide","tool":"Grep","step":1}`), "event 0 (counting from 0): id is missing; decide needs it"},
		{"no tools", scenario(`{}`, `{"op":"declare_outage","cause":"network","tools":[],"step":1}`), "tools is missing"},
		{"half a step", scenario(`{}`, `{"op":"begin_cycle","step":1.5}`), "event 0 (counting from 0): step: found number 1.5; give an integer of 64 bits"},
		{"step beyond 64 bits", scenario(`{}`, `{"op":"begin_cycle","step":9223372036854775808}`), "step: found number 9223372036854775808"},
		{"tool is no text", scenario(`{}`, `{"op":"decide","tool":["Grep"],"step":1,"id":"c1"}`), "tool: found array; give a text"},
		{"result", scenario(`{}`, `{"op":"record","id":"c1","step":1,"result":"boom"}`), `unknown result "boom"; use success, failure or ignored`},
		{"category", scenario(`{}`, call+`,{"op":"record","id":"c1","step":1,"result":"failure","category":"gremlins"}`), `event 1 (counting from 0): unknown category "gremlins"`},
		{"score", scenario(`{}`, `{"op":"availability","tool":"Grep","score":"poor","step":1}`), `unknown score "poor"`},
		{"duration", scenario(`{}`, call+`,{"op":"record","id":"c1","step":1,"result":"success","duration_ms":-1}`), "duration_ms or retry_after_ms is negative"},
		{"id twice", scenario(`{}`, call+`,`+call), `event 1 (counting from 0): id "c1" was used before`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Engine([]byte(tc.give))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			var event *EventError
			if got, want := errors.As(err, &event), strings.HasPrefix(tc.want, "event "); want && !got {
				t.Errorf("%v is no EventError", err)
			}
		})
	}
}

func TestEngineAnswersErrors(t *testing.T) {
	run, err := Engine([]byte(scenario(`{"failure_threshold":1}`, strings.Join([]string{
		`{"op":"record","id":"never","step":1,"result":"success"}`,
		`{"op":"decide","tool":"Grep","step":1,"id":"a"}`,
		`{"op":"record","id":"a","step":1,"result":"failure"}`,
		`{"op":"record","id":"a","step":1,"result":"failure"}`,
		`{"op":"decide","tool":"Grep","step":2,"id":"skipped"}`,
		`{"op":"record","id":"skipped","step":2,"result":"failure"}`,
		`{"op":"confirm_recovery","step":2}`,
		`{"op":"availability","tool":"Grep","score":"degraded","step":2}`,
	}, ","))))
	if err != nil {
		t.Fatal(err)
	}
	want := []Answer{
		{Error: "unknown_call"},
		{Decision: "CALL"},
		{Transitions: []string{"Grep:CLOSED->OPEN@1"}, Budget: "1/5"},
		{Error: "already_recorded"},
		{Decision: "SKIP", Reason: "open", Route: run.Results[4].Route},
		{Error: "unknown_call"},
		{Error: "no_systemic_failure"},
		{},
	}
	if diff := cmp.Diff(want, run.Results, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text, err := json.Marshal(run.Results)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`[{"error":"unknown_call"},{"decision":"CALL","caution":[]},{"transitions":["Grep:`,
		`"route":{"kind":"fallback","label":"FALLBACK"}`,
		`{"error":"no_systemic_failure"},{}]`,
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("got %s, want %s in it", text, want)
		}
	}
}

// A rate of 0 opens at any failure; it is not the default.
func TestEngineRateZero(t *testing.T) {
	run, err := Engine([]byte(scenario(`{"trip":{"policy":"rate","rate":0,"min_calls":1}}`,
		`{"op":"decide","tool":"Grep","step":1,"id":"a"},{"op":"record","id":"a","step":1,"result":"failure"}`)))
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Final.Tools[0].State; got != "OPEN" {
		t.Errorf("got %s, want OPEN", got)
	}
}

func TestEngineLines(t *testing.T) {
	in := scenario(`{"budget":2}`, ``) + "\n\nnonsense\n" + scenario(`{}`, `{"op":"x","step":1}`) + "\n" +
		scenario(`{}`, `{"op":"decide","tool":"a\u001b[2J<b>\u0000","step":1,"id":"c1"}`)
	var out strings.Builder
	bad, err := EngineLines(&out, strings.NewReader(in))
	if bad != 2 || err != nil {
		t.Errorf("got %d bad, %v, want 2", bad, err)
	}
	want := `{"results":[],"final":{"tools":[{"tool":"Grep","state":"CLOSED","consecutive_failures":0}],"budget":"0/2","cycle":1,"paused":""}}
{"error":"the scenario is no JSON object: invalid character 'o' in literal null (expecting 'u')"}
{"error":"event 0 (counting from 0): unknown op \"x\"; use availability, begin_cycle, confirm_recovery, decide, declare_outage, record"}
{"results":[{"decision":"CALL","caution":[]}],"final":{"tools":[{"tool":"Grep","state":"CLOSED","consecutive_failures":0},{"tool":"a\u001b[2J<b>\u0000","state":"CLOSED","consecutive_failures":0}],"budget":"0/5","cycle":1,"paused":""}}
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(out.String(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
