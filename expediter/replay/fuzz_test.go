package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/expediter-go/expediter/expediter"
)

var integer = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// reference reads a list of events with encoding/json, the last of a repeated
// member, and writes it anew without repeats. ok says that it is good.
func reference(data []byte) (events []Event, anew []byte, ok bool) {
	var list []map[string]json.RawMessage
	if json.Unmarshal(data, &list) != nil || list == nil {
		return nil, nil, false
	}
	for _, m := range list {
		t, err := strconv.ParseInt(string(m["t"]), 10, 64)
		var word string
		if err != nil || !integer.Match(m["t"]) || !bytes.HasPrefix(m["result"], []byte(`"`)) || json.Unmarshal(m["result"], &word) != nil {
			return nil, nil, false
		}
		if word != "success" && word != "failure" {
			return nil, nil, false
		}
		events = append(events, Event{t, word == "failure"})
	}
	anew, err := json.Marshal(list)
	return events, anew, err == nil
}

// readable fails for an error text that is not fit to print on one line each.
func readable(t *testing.T, err error) {
	t.Helper()
	if text := err.Error(); !utf8.ValidString(text) || len(text) > 60_000 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' }) {
		t.Errorf("bad message %q", text)
	}
}

func FuzzBreakerEvents(f *testing.F) {
	for _, seed := range []string{
		`[]`, `[{"t":1,"result":"failure"},{"t":2,"result":"success","x":[{"y":null}]}]`, `[{"t":-0,"result":"failure"}]`,
		`[{"t":1.0,"result":"failure"}]`, `[{"t":9223372036854775808,"result":"failure"}]`, `[{"t":1,"result":"\u0066ailure"}]`,
		`[{"t":"x","t":1,"result":"success"}]`, `[null]`, `{}`, `[{"t":1,"result":"failure"`, "[\x00]", "\xff", `[{"t":1e2,"result":"\ud800"}]`,
		"[ {\t\"result\" :\r\n\"success\", \"t\" : 5 } ] ", `[{"t":1,"result":"failure","\t":1}]`, `[{"t":01,"result":"failure"}]`,
	} {
		f.Add([]byte(seed), int64(1), int64(0), int64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, threshold, cooldown, successes int64) {
		want, anew, ok := reference(data)
		got, err := ReadEvents(bytes.NewReader(data))
		if err != nil {
			readable(t, err)
		} else if !ok || !slices.Equal(got, want) {
			t.Fatalf("got %v; encoding/json has %v, %v", got, want, ok)
		}
		if !ok {
			return
		}
		if got, err = ReadEvents(bytes.NewReader(anew)); err != nil && !strings.Contains(err.Error(), "nested") || err == nil && !slices.Equal(got, want) {
			t.Fatalf("%s: got %v, %v, want %v", anew, got, err, want)
		}
		r, err := Breaker(want, Params{threshold, cooldown, successes})
		if err != nil {
			readable(t, err)
			return
		}
		if text, err := json.Marshal(r); err != nil || !utf8.Valid(text) {
			t.Errorf("got %s, %v", text, err)
		}
	})
}

func FuzzBreakerLines(f *testing.F) {
	f.Add([]byte(`{"events":[{"t":1,"result":"failure"}],"failure_threshold":1,"cooldown":0,"half_open_successes":1}` + "\n\n{\n"))
	f.Add([]byte("{\"events\":[],\"failure_threshold\":1.5}\r\n\x1b[2J\n"))
	f.Add([]byte(`{"failure_threshold":"1","want":{"a":[true,false,"\\"]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := 0
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if !blank(line) {
				lines++
			}
		}
		var out bytes.Buffer
		bad, err := BreakerLines(&out, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		got, errs := 0, 0
		for line := range bytes.Lines(out.Bytes()) {
			var r map[string]any
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("line %d is %q: %v", got, line, err)
			}
			got++
			if r["error"] != nil {
				errs++
			}
		}
		if got != lines || errs != bad {
			t.Errorf("got %d lines with %d errors, want %d with %d", got, errs, lines, bad)
		}
	})
}

func FuzzScenario(f *testing.F) {
	jsonl(f, "testdata/engine.jsonl", func(n int, line []byte) {
		if len(line) < 3000 {
			f.Add(bytes.Clone(line))
		}
	})
	for _, seed := range []string{
		``, `{}`, `[]`, scenario(`{}`, `null`), scenario(`{"trip":{"policy":"rate","rate":0}}`, `{"op":"decide","step":-1,"at":-9223372036854775808,"tool":"","id":""}`),
		scenario(`{"probe":{"unit":"time","every":1000000000000},"slow_call_ms":1}`, `{"op":"declare_outage","step":9223372036854775807,"at":9223372036854775807,"cause":"auth","tools":["a","a","Grep"]},{"op":"begin_cycle","step":0}`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		run, err := Engine(line)
		if err != nil {
			readable(t, err)
			return
		}
		text, err := json.Marshal(run)
		if err != nil || !utf8.Valid(text) {
			t.Errorf("got %q, %v", text, err)
		}
		again, err := Engine(line)
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := json.Marshal(again); !bytes.Equal(text, second) {
			t.Errorf("got %s, then %s", text, second)
		}
	})
}

func FuzzJournal(f *testing.F) {
	x, b := short(f)
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-30])
	y, resumed := journaled(f, expediter.Config{Tools: tools}, x.Snapshot())
	y.Decide("Grep", 20, at(90_000))
	f.Add(resumed.Bytes())
	f.Add([]byte(`{"seq":1,"op":"start","start":{"format":1}}` + "\n" + `{"seq":2,"op":"decide","tool":"a"}`))
	f.Add([]byte(`{"seq":1,"op":"start","start":{"format":1,"snapshot":{"format":1,"step":-1}}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Journal(bytes.NewReader(data))
		var line *LineError
		var diff *Difference
		switch {
		case errors.As(err, &line), errors.As(err, &diff):
			readable(t, err)
		case err != nil:
			t.Errorf("%v is neither a LineError nor a Difference", err)
		case s.Events == 0 || s.Snapshot == nil:
			t.Errorf("got %d events and no error", s.Events)
		}
	})
}
