package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability"
	"github.com/expediter-go/expediter/cascade"
	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/breaker"
)

var tools = capability.Map{
	{Tool: "Grep", Fallback: "ask", Alternatives: []capability.Alternative{{Tool: "Bash", Degradation: "loses formatting"}, {Tool: "Read", Level: capability.High}}},
	{Tool: "Bash", Fallback: "report the commands", Shares: []string{"host"}},
	{Tool: "Web", Shares: []string{"host", "vpn"}},
	{Tool: "Gate", NoSubstitute: true, Initial: capability.Degraded},
}

// journaled makes an engine that writes its journal.
func journaled(t testing.TB, cfg expediter.Config, s *expediter.Snapshot) (*expediter.Engine, *bytes.Buffer) {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	cfg.Events.Journal = w.Event
	t.Cleanup(func() {
		if w.Err() != nil {
			t.Error(w.Err())
		}
	})
	var x *expediter.Engine
	var err error
	if s == nil {
		x, err = expediter.New(cfg)
	} else {
		x, err = expediter.Restore(cfg, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x, &b
}

// a time of a run
func at(ms int64) time.Time { return time.UnixMilli(1_700_000_000_000 + ms) }

// short is a run of every kind of event.
func short(t testing.TB) (*expediter.Engine, *bytes.Buffer) {
	x, b := journaled(t, expediter.Config{Tools: tools}, nil)
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(x.Note(expediter.OpTask, map[string]any{"name": "audit", "subtasks": 2}, 1, at(0)))
	for step := int64(1); step <= 3; step++ {
		d := x.Decide("Grep", step, at(step))
		_, err := x.Record(d.Call, expediter.Failure(cascade.Network, "connection refused\x1b[31m"), step, at(step))
		try(err)
	}
	x.Decide("Grep", 4, at(40))
	x.SetAvailability("Web", capability.Degraded, 4, at(41))
	d := x.DecideScored("Web", capability.Degraded, 4, at(42))
	_, err := x.Record(d.Call, expediter.Outcome{Category: cascade.Network, Duration: 2 * time.Second, RetryAfter: time.Minute}, 4, at(43))
	try(err)
	_, err = x.Record(d.Call, expediter.Success(), 4, at(44))
	if !errors.Is(err, expediter.ErrAlreadyRecorded) {
		t.Fatalf("recorded twice: %v", err)
	}
	_, err = x.DeclareOutage(cascade.Auth, []string{"mcp/a", "mcp/b"}, 5, at(50))
	try(err)
	x.BeginCycle(6, at(60))
	_, err = x.ConfirmRecovery("restarted it", 6, at(61))
	if err != nil && !errors.Is(err, expediter.ErrNoSystemicFailure) {
		t.Fatal(err)
	}
	try(x.ForceOpen("Bash", "broken build", 6, at(62)))
	try(x.Reset("Bash", "built again", 6, at(63)))
	try(x.Disable("Read", "trusted", 6, at(64)))
	_, err = x.Refuse(x.Decide("Read", 6, at(65)).Call, "the bulkhead is full", 6, at(65))
	try(err)
	o := expediter.Failure(cascade.Timeout, "no answer in 60s")
	o.MayHaveTakenEffect = true
	_, err = x.Record(x.Decide("Bash", 6, at(66)).Call, o, 6, at(66))
	try(err)
	try(x.External("Bash", breaker.Open, "5 failures there", 6, at(67)))
	try(x.Verified("Bash", "it was done", 6, at(68)))
	try(x.External("Bash", breaker.Closed, "", 6, at(69)))
	x.ObserveOnly(true, "a trial", 7, at(70))
	x.Decide("Grep", 7, at(71))
	x.ObserveOnly(false, "", 7, at(72))
	try(x.Note(expediter.OpSubtask, map[string]any{"id": "one", "state": "deferred"}, 7, at(73)))
	try(x.Note(expediter.OpRouteTaken, map[string]any{"tool": "Grep", "to": "Bash"}, 7, at(74)))
	try(x.Note(expediter.OpNote, nil, 7, time.Time{}))
	return x, b
}

// same requires a fold to be the engine that wrote the journal.
func same(t testing.TB, s State, x *expediter.Engine) {
	t.Helper()
	want, err := json.Marshal(x.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(s.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("snapshot (-live +replayed):\n%s", diff)
	}
	if diff := cmp.Diff(x.Status(), s.Status); diff != "" {
		t.Errorf("status (-live +replayed):\n%s", diff)
	}
}

func TestJournal(t *testing.T) {
	x, b := short(t)
	ops := map[string]bool{}
	n := 0
	for line := range strings.Lines(b.String()) {
		var ev struct{ Op string }
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatal(err)
		}
		ops[ev.Op] = true
		n++
	}
	if len(ops) != 18 {
		t.Errorf("the run has %d kinds of events, want all 18: %v", len(ops), ops)
	}
	s, err := Journal(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if s.Events != n || s.Torn != "" {
		t.Errorf("got %d events, torn %q, want %d", s.Events, s.Torn, n)
	}
	same(t, s, x)
}

// A resumed run's journal begins with the snapshot that it goes on from.
func TestJournalOfAResumedRun(t *testing.T) {
	x, _ := short(t)
	open := x.Decide("Web", 8, at(80)) // recorded only after the restore
	y, b := journaled(t, expediter.Config{Tools: tools, Strict: true, UserUnavailable: true}, x.Snapshot())
	if _, err := y.Record(open.Call, expediter.Failure(cascade.Timeout, "no answer"), 8, at(81)); err != nil && open.Call != 0 {
		t.Fatal(err)
	}
	y.Decide("Grep", 9, at(90))
	y.Decide("nobody", 9, at(91))
	s, err := Journal(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	same(t, s, y)
	if !strings.HasPrefix(b.String(), fmt.Sprintf(`{"seq":%d,"op":"start"`, x.Snapshot().EventSeq+1)) {
		t.Errorf("the first event does not follow the snapshot's last: %.60s", b)
	}
}

func TestJournalDiffers(t *testing.T) {
	_, b := short(t)
	var first, second expediter.Event
	all := strings.SplitAfter(b.String(), "\n")
	for i, ev := range map[int]*expediter.Event{2: &first, 4: &second} {
		if err := json.Unmarshal([]byte(all[i]), ev); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, old, new string
		field          string
		line           int
	}{
		{"a decision", `"decision":"SKIP","reason":"open"`, `"decision":"CALL"`, "decided", 9},
		{"a call", `"call":"` + second.Call.String() + `","decided"`, `"call":"` + first.Call.String() + `","decided"`, "call", 5},
		{"a transition", `"Grep:CLOSED->OPEN@3"`, `"Grep:CLOSED->OPEN@2"`, "transitions", 8},
		{"the budget", `"budget":"2/5"`, `"budget":"1/5"`, "budget", 6},
		{"an error", `"error":"already_recorded"`, `"error":"unknown_call"`, "error", 13},
		{"an input", `"result":"failure","category":"network"`, `"result":"success","category":"network"`, "budget", 4},
		{"an output too many", `"op":"begin_cycle","step":6`, `"paused":"budget","op":"begin_cycle","step":6`, "paused", 15},
	}
	text := strings.ReplaceAll(b.String(), `-\u003e`, "->")
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if !strings.Contains(text, tc.old) {
				t.Fatalf("%s is not in\n%s", tc.old, text)
			}
			_, err := Journal(strings.NewReader(strings.Replace(text, tc.old, tc.new, 1)))
			var diff *Difference
			if !errors.As(err, &diff) {
				t.Fatalf("got %v, want a Difference", err)
			}
			if diff.Field != tc.field || diff.Line != tc.line || diff.Recorded == diff.Replayed {
				t.Errorf("got %v; want %s in line %d", diff, tc.field, tc.line)
			}
		})
	}
}

func TestJournalTorn(t *testing.T) {
	_, b := short(t)
	all := strings.SplitAfter(strings.TrimSuffix(b.String(), "\n"), "\n")
	n := len(all)
	whole := strings.Join(all[:n-1], "")
	last := all[n-1]
	tests := []struct {
		name, tail string
		events     int
		torn       string
	}{
		{"whole", last + "\n", n, ""},
		{"blank lines at the end", last + "\n\n  \n", n, ""},
		{"no line end", last, n, fmt.Sprintf("line %d has no line end", n)},
		{"cut", last[:len(last)/2], n - 1, fmt.Sprintf("line %d is cut short and was left out", n)},
		{"cut, with a line end", last[:len(last)/2] + "\n", n - 1, fmt.Sprintf("line %d is cut short and was left out", n)},
		{"cut after one byte", "{", n - 1, fmt.Sprintf("line %d is cut short and was left out", n)},
		{"filled up with NUL", last[:20] + strings.Repeat("\x00", 5000), n - 1, fmt.Sprintf("line %d is cut short and was left out", n)},
		{"nothing of it", "", n - 1, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s, err := Journal(strings.NewReader(whole + tc.tail))
			if err != nil {
				t.Fatal(err)
			}
			if s.Events != tc.events || s.Torn != tc.torn {
				t.Errorf("got %d events, %q; want %d, %q", s.Events, s.Torn, tc.events, tc.torn)
			}
		})
	}
}

func TestJournalBroken(t *testing.T) {
	_, b := short(t)
	all := strings.SplitAfter(b.String(), "\n")
	with := func(n int, line string) string {
		return strings.Join(all[:n-1], "") + line + strings.Join(all[n:], "")
	}
	tests := []struct {
		name, give string
		line       int
		is         error
		want       string
	}{
		{"empty", "", 1, ErrNoStart, "it is empty"},
		{"no journal", "hello\n", 1, nil, "it is empty"},
		{"other JSON", "[1]\n", 1, ErrNoStart, "check that it is the right file"},
		{"start is missing", strings.Join(all[1:], ""), 1, ErrNoStart, ""},
		{"start without its part", with(1, `{"seq":1,"op":"start","step":0,"at":0}`+"\n"), 1, ErrNoStart, ""},
		{"a later format", with(1, strings.Replace(all[0], `"format":1`, `"format":2`, 1)), 1, ErrFormat, `"2"; this version reads 1`},
		{"a format of another kind", with(1, strings.Replace(all[0], `"format":1`, `"format":"x"`, 1)), 1, ErrFormat, ""},
		{"a broken policy", with(1, strings.Replace(all[0], `"min_tools":3`, `"min_tools":1`, 1)), 1, nil, "min_tools"},
		{"broken in the middle", with(5, "{\"seq\":5,\"op\n"), 5, ErrBroken, "others follow it"},
		{"seq repeated", with(5, all[3]), 5, nil, "seq is 4 after 4; lines are missing or out of order"},
		{"a line is missing", with(5, ""), 5, nil, "seq is 6 after 4"},
		{"no seq", with(5, `{"op":"note","step":1,"at":0}`+"\n"), 5, nil, "seq is missing"},
		{"a second start", with(5, strings.Replace(all[0], `"seq":1`, `"seq":5`, 1)), 5, nil, "a second start"},
		{"another kind of value", with(5, `{"seq":"five"}`+"\n"), 5, nil, "seq: found string; give an integer"},
		{"unknown op", with(2, `{"seq":2,"op":"reboot\u001b","step":1,"at":0}`+"\n"), 2, nil, `unknown op "reboot\x1b"`},
		{"record without a result", with(4, `{"seq":4,"op":"record","step":1,"at":0}`+"\n"), 4, nil, "result is missing; record needs it"},
		{"outage without a cause", with(2, `{"seq":2,"op":"declare_outage","step":1,"at":0}`+"\n"), 2, nil, "cause is missing"},
		{"observe_only without on", with(2, `{"seq":2,"op":"observe_only","step":1,"at":0}`+"\n"), 2, nil, "on is missing"},
		{"too many objects", with(2, `{"seq":2,"op":"note","note":{"a":[`+strings.Repeat("{},", maxObjects)+`{}]}}`+"\n"), 2, nil, "more than 1048576 objects"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Journal(strings.NewReader(tc.give))
			var line *LineError
			if !errors.As(err, &line) || line.Line != tc.line || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v; want line %d: %s", err, tc.line, tc.want)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%v is no %v", err, tc.is)
			}
		})
	}
}

func TestJournalHugeLine(t *testing.T) {
	_, b := short(t)
	first, rest, _ := strings.Cut(b.String(), "\n")
	_, err := Journal(io.MultiReader(strings.NewReader(first+"\n"), &repeat{'{', MaxLine + 100}, strings.NewReader("\n"+rest)))
	var line *LineError
	if !errors.Is(err, ErrTooLong) || !errors.As(err, &line) || line.Line != 2 {
		t.Errorf("got %v, want ErrTooLong in line 2", err)
	}
	if _, err := Journal(io.MultiReader(strings.NewReader(first+"\n"), &brokenReader{})); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want the error of reading", err)
	}
}

// What a later version of the same format adds is ignored.
func TestJournalUnknownMembers(t *testing.T) {
	x, b := short(t)
	text := strings.ReplaceAll(b.String(), `{"seq":`, `{"later":{"x":[1]},"seq":`)
	s, err := Journal(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	same(t, s, x)
}

func TestWriterKeepsItsFirstError(t *testing.T) {
	w := NewWriter(&failing{after: 40})
	w.Event(&expediter.Event{Seq: 1, Op: expediter.OpNote})
	if w.Err() != nil {
		t.Fatal(w.Err())
	}
	w.Event(&expediter.Event{Seq: 2, Op: expediter.OpNote})
	first := w.Err()
	w.Event(&expediter.Event{Seq: 3, Op: expediter.OpNote})
	if first == nil || w.Err() != first || !strings.Contains(first.Error(), "event 2") || !errors.Is(first, io.ErrShortWrite) {
		t.Errorf("got %v, then %v", first, w.Err())
	}
	bad := NewWriter(io.Discard)
	bad.Event(&expediter.Event{Seq: 9, Op: expediter.OpNote, Note: map[string]any{"f": func() {}}})
	if bad.Err() == nil || !strings.Contains(bad.Err().Error(), "event 9") {
		t.Errorf("what is no JSON: got %v", bad.Err())
	}
}

// Many goroutines share an engine; its journal still folds to what it is.
func TestJournalOfAConcurrentRun(t *testing.T) {
	x, b := journaled(t, expediter.Config{Tools: tools, Policy: expediter.Policy{Budget: 40}}, nil)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			names := []string{"Grep", "Bash", "Web", "Gate", "Read", "other"}
			for i := range int64(200) {
				d := x.Decide(names[(int64(g)+i)%6], i, at(i))
				outcome := expediter.Success()
				if (int64(g)*7+i)%5 < 2 {
					outcome = expediter.Failure(cascade.Category(i%10), "failed")
				}
				if d.Call != 0 {
					_, _ = x.Record(d.Call, outcome, i, at(i))
				}
				switch {
				case d.Reason == expediter.Systemic:
					_, _ = x.ConfirmRecovery("go on", i, at(i))
				case d.Reason == expediter.Budget:
					x.BeginCycle(i, at(i))
				case i%50 == 0:
					_ = x.Note(expediter.OpNote, map[string]any{"g": g}, i, at(i))
				}
			}
		})
	}
	wg.Wait()
	s, err := Journal(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if s.Events < 8*200 {
		t.Errorf("got %d events, want at least one for each request", s.Events)
	}
	same(t, s, x)
}
