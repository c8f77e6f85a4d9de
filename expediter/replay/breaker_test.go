package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// jsonl calls do for each line of a file.
func jsonl(t testing.TB, path string, do func(n int, line []byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, MaxLine)
	n := 0
	for in.Scan() {
		n++
		do(n, in.Bytes())
	}
	if in.Err() != nil || n == 0 {
		t.Fatalf("%d lines, then %v", n, in.Err())
	}
}

// TestSeedSample is the sample of seed 000.
func TestSeedSample(t *testing.T) {
	events, err := ReadEvents(strings.NewReader(`[{"t": 1, "result": "failure"}, {"t": 2, "result": "failure"},
          {"t": 3, "result": "failure"}, {"t": 4, "result": "success"}]`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Breaker(events, Params{FailureThreshold: 2, Cooldown: 10, HalfOpenSuccesses: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.MarshalJSON()
	want := `{"final_state":"open","rejected":[3,4],"transitions":["closed->open@2"]}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestBreakerConformance(t *testing.T) {
	jsonl(t, "testdata/breaker.jsonl", func(n int, line []byte) {
		var c struct{ Want any }
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if bad, err := BreakerLines(&out, bytes.NewReader(line)); bad != 0 || err != nil {
			t.Errorf("line %d: %d bad, %v: %s", n, bad, err, &out)
			return
		}
		var got any
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Want, got); diff != "" {
			t.Errorf("line %d (-want +got):\n%s", n, diff)
		}
	})
}

func TestBreakerAtTheEndOfTime(t *testing.T) {
	events := []Event{{math.MinInt64, true}, {math.MaxInt64 - 1, false}, {math.MaxInt64, true}, {math.MaxInt64, false}}
	tests := []struct {
		name     string
		cooldown int64
		want     string
	}{
		{"the wait never ends", math.MaxInt64, `{"final_state":"open","rejected":[9223372036854775807],"transitions":["closed->open@-9223372036854775808","open->half_open@9223372036854775806","half_open->closed@9223372036854775806","closed->open@9223372036854775807"]}`},
		{"no wait", 0, `{"final_state":"closed","rejected":[],"transitions":["closed->open@-9223372036854775808","open->half_open@9223372036854775806","half_open->closed@9223372036854775806","closed->open@9223372036854775807","open->half_open@9223372036854775807","half_open->closed@9223372036854775807"]}`},
	}
	for _, tc := range tests {
		r, err := Breaker(events, Params{1, tc.cooldown, 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.append(nil)); got != tc.want {
			t.Errorf("%s: got  %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

func TestReadEvents(t *testing.T) {
	tests := []struct {
		name, give string
		want       []Event
		wantErr    string // contained; empty: none
	}{
		{"none", ` [ ] `, nil, ""},
		{"members in any order, others ignored", `[{"result":"failure","why":[{"a":-1.5e+3,"b":null}],"t":-7},{"t":0,"T":9,"result":"success"}]`, []Event{{-7, true}, {0, false}}, ""},
		{"escapes", `[{"\u0074":1,"result":"\u0066ailure"}]`, []Event{{1, true}}, ""},
		{"the last of a repeated member", `[{"t":1,"t":2,"result":"success","result":"failure"}]`, []Event{{2, true}}, ""},
		{"the smallest and the largest", `[{"t":-9223372036854775808,"result":"failure"},{"t":9223372036854775807,"result":"failure"}]`, []Event{{math.MinInt64, true}, {math.MaxInt64, true}}, ""},
		{"too large", `[{"t":1,"result":"failure"},{"t":9223372036854775808,"result":"failure"}]`, nil, "event 1 (counting from 0): t is 9223372036854775808, which does not fit 64 bits; give an integer"},
		{"float", `[{"t":1.0,"result":"failure"}]`, nil, "event 0 (counting from 0): t is 1.0, which is no integer"},
		{"exponent", `[{"t":1e3,"result":"failure"}]`, nil, "event 0 (counting from 0): t is 1e3, which is no integer"},
		{"text", `[{"t":"1","result":"failure"}]`, nil, `event 0 (counting from 0): t is "1", which is no integer`},
		{"bool", `[{"t":true,"result":"failure"}]`, nil, "t is true, which is no integer"},
		{"null", `[{"t":null,"result":"failure"}]`, nil, "t is null, which is no integer"},
		{"no t", `[{"t":1,"result":"failure"},{"result":"failure"}]`, nil, "event 1 (counting from 0): t is missing"},
		{"no result", `[{"t":1}]`, nil, "event 0 (counting from 0): result is missing"},
		{"another word", `[{"t":1,"result":"Failure"}]`, nil, `event 0 (counting from 0): result is "Failure"; give "success" or "failure"`},
		{"ignored is no word of the seed", `[{"t":1,"result":"ignored"}]`, nil, `result is "ignored"`},
		{"result null", `[{"t":1,"result":null}]`, nil, "result is null"},
		{"no object", `[[1,"failure"]]`, nil, "event 0 (counting from 0): found ["},
		{"hostile word", "[{\"t\":1,\"result\":\"\u009b2J\"}]", nil, `result is "\"\u009b2J\""`},
		{"long word", `[{"t":1,"result":"` + strings.Repeat("x", 1000) + `"}]`, nil, `result is "xxxxxxxxxxxxxxxxxxxxxxx; give`},
		{"no list", `{"t":1}`, nil, "byte 0: found {; want a list of events"},
		{"nothing", ``, nil, "the JSON ends at byte 0; want a list of events"},
		{"cut short", `[{"t":1,"result":"fail`, nil, "event 0 (counting from 0): the JSON ends at byte 22"},
		{"something behind", `[] []`, nil, "byte 3: found [; want nothing more"},
		{"no comma", `[{"t":1 "result":"failure"}]`, nil, "want a comma or }"},
		{"dangling comma", `[{"t":1,"result":"failure"},]`, nil, "event 1 (counting from 0): byte 28"},
		{"NUL", "[\x00]", nil, "found \"\\x00\""},
		{"raw escape in a text", "[{\"t\":1,\"result\":\"\x1b[31m\"}]", nil, "no control characters"},
		{"deep", `[{"t":1,"result":"failure","x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}]`, nil, "nested more than 1000 levels"},
		{"leading zero", `[{"t":01,"result":"failure"}]`, nil, "event 0"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ReadEvents(strings.NewReader(tc.give))
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("got error %v, want %q", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBreakerRefuses(t *testing.T) {
	back := []Event{{5, true}, {5, true}, {4, false}}
	_, err := Breaker(back, Params{1, 0, 1})
	var event *EventError
	if !errors.As(err, &event) || event.Index != 2 {
		t.Errorf("back in time: got %v, want an EventError of event 2", err)
	}
	// Rejected events are events too.
	if _, err := Breaker([]Event{{5, true}, {9, true}, {8, true}}, Params{1, 100, 1}); !errors.As(err, &event) || event.Index != 2 {
		t.Errorf("back in time while open: got %v, want an EventError of event 2", err)
	}
	for _, p := range []Params{{0, 0, 1}, {1, -1, 1}, {1, 0, 0}, {-1 << 63, 0, 1}, {}} {
		if r, err := Breaker(nil, p); err == nil {
			t.Errorf("%+v: got %+v, want an error", p, r)
		}
	}
}

func TestBreakerLines(t *testing.T) {
	const events = `"events":[{"t":1,"result":"failure"}]`
	tests := []struct{ name, give, want string }{
		{"good", `{` + events + `,"failure_threshold":1,"cooldown":0,"half_open_successes":1}`, `{"final_state":"open","rejected":[],"transitions":["closed->open@1"]}`},
		{"empty lists are no null", `{"events":[],"failure_threshold":1,"cooldown":0,"half_open_successes":1}` + "\r", `{"final_state":"closed","rejected":[],"transitions":[]}`},
		{"no threshold", `{` + events + `,"cooldown":0,"half_open_successes":1}`, `{"error":"failure_threshold is missing; every case needs it"}`},
		{"no events", `{"failure_threshold":1,"cooldown":0,"half_open_successes":1}`, `{"error":"events is missing; every case needs it"}`},
		{"other case of letters", `{"Events":[],"failure_threshold":1,"cooldown":0,"half_open_successes":1}`, `{"error":"events is missing; every case needs it"}`},
		{"null", `{` + events + `,"failure_threshold":null,"cooldown":0,"half_open_successes":1}`, `{"error":"failure_threshold is null, which is no integer; give an integer"}`},
		{"float", `{` + events + `,"failure_threshold":1,"cooldown":0.5,"half_open_successes":1}`, `{"error":"cooldown is 0.5, which is no integer; give an integer"}`},
		{"out of bounds", `{` + events + `,"failure_threshold":0,"cooldown":0,"half_open_successes":1}`, `{"error":"failure_threshold is 0; give 1 or more"}`},
		{"events null", `{"events":null,"failure_threshold":1,"cooldown":0,"half_open_successes":1}`, `{"error":"byte 10: found null; want a list of events"}`},
		{"bad event", `{"events":[{"t":1,"result":"failure"},{"t":0,"result":"failure"}],"failure_threshold":1,"cooldown":0,"half_open_successes":1}`, `{"error":"event 1 (counting from 0): t is 0, before the 1 of the event before it; put the events in the order of time"}`},
		{"no JSON", `{"events":[`, `{"error":"event 0 (counting from 0): the JSON ends at byte 11; want a value"}`},
		{"no object", `[]`, `{"error":"byte 0: found [; want an object, the case"}`},
		{"something behind", `{` + events + `,"failure_threshold":1,"cooldown":0,"half_open_successes":1}}`, `{"error":"byte 98: found }; want nothing more"}`},
	}
	var in, want strings.Builder
	wantBad := 0
	for _, tc := range tests {
		fmt.Fprintf(&in, "%s\n \n", tc.give)
		fmt.Fprintln(&want, tc.want)
		if strings.Contains(tc.want, "error") {
			wantBad++
		}
	}
	var out strings.Builder
	bad, err := BreakerLines(&out, strings.NewReader(in.String()))
	if bad != wantBad || err != nil {
		t.Errorf("got %d bad, %v, want %d", bad, err, wantBad)
	}
	if diff := cmp.Diff(strings.Split(want.String(), "\n"), strings.Split(out.String(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// repeat is n bytes of the same.
type repeat struct {
	b byte
	n int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := min(len(p), r.n)
	for i := range p[:n] {
		p[i] = r.b
	}
	r.n -= n
	return n, nil
}

// A line of 100 MB is an error in its place, in bounded memory, and the lines
// around it are read.
func TestHugeLine(t *testing.T) {
	const good = `{"events":[],"failure_threshold":1,"cooldown":0,"half_open_successes":1}`
	in := io.MultiReader(strings.NewReader(good+"\n"), &repeat{'[', 100 << 20}, strings.NewReader("\n"+good))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var out strings.Builder
	bad, err := BreakerLines(&out, in)
	runtime.ReadMemStats(&after)
	if bad != 1 || err != nil {
		t.Errorf("got %d bad, %v, want 1", bad, err)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != 3 || !strings.Contains(got[1], "longer than 64 MiB") || got[0] != got[2] {
		t.Errorf("got %q, want an error between two results", got)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 6*MaxLine {
		t.Errorf("took %d MiB, want at most %d", used>>20, 6*MaxLine>>20)
	}
}

func TestListTooLarge(t *testing.T) {
	const limit = 1 << 20
	for size, want := range map[int]string{limit: "want a list", limit + 1: "larger than 1 MiB"} {
		if _, err := readEvents(&repeat{' ', size}, limit); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: got %v, want %q", size, err, want)
		}
	}
}

func TestLinesAtTheLimit(t *testing.T) {
	for _, size := range []int{16, 100, 64 << 10, 64<<10 + 1, 200_000} {
		for _, over := range []int{-1, 0, 1} {
			line := strings.Repeat("x", size+over)
			l := newLines(strings.NewReader(line + "\nafter\nlast"))
			l.limit = size
			got, ended, err := l.next()
			if over > 0 && size >= 64<<10 { // shorter ones fit the buffer
				if err != ErrTooLong || !ended {
					t.Errorf("limit %d%+d: got %v, want ErrTooLong", size, over, err)
				}
			} else if err != nil || string(got) != line || !ended {
				t.Errorf("limit %d%+d: got %d bytes, %v", size, over, len(got), err)
			}
			if got, ended, err := l.next(); err != nil || string(got) != "after" || !ended {
				t.Errorf("limit %d%+d: then got %q, %v", size, over, got, err)
			}
			if got, ended, err := l.next(); err != nil || string(got) != "last" || ended || l.n != 3 {
				t.Errorf("limit %d%+d: at last got %q, %v, line %d", size, over, got, err, l.n)
			}
			if _, _, err := l.next(); err != io.EOF {
				t.Errorf("limit %d%+d: at the end got %v", size, over, err)
			}
		}
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after -= len(p); f.after < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestErrorsOfReadingAndWriting(t *testing.T) {
	line := `{"events":[],"failure_threshold":1,"cooldown":0,"half_open_successes":1}` + "\n"
	if _, err := BreakerLines(&failing{}, strings.NewReader(line)); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("writing at the end: got %v", err)
	}
	if _, err := BreakerLines(&failing{100_000}, strings.NewReader(strings.Repeat(line, 10_000))); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("writing: got %v", err)
	}
	var out strings.Builder
	broken := io.MultiReader(strings.NewReader(line+"{"), &brokenReader{})
	if _, err := BreakerLines(&out, broken); !errors.Is(err, io.ErrClosedPipe) || strings.Count(out.String(), "\n") != 1 || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("reading: got %v after %q, want one whole line", err, &out)
	}
	if _, err := ReadEvents(&brokenReader{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("reading a list: got %v", err)
	}
}

type brokenReader struct{}

func (*brokenReader) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
