package trace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// plainFormat is a small format for tests of the core: lines {"s","do","id"}.
var plainFormat = &format{
	name: "plain",
	sniff: func(h *head) bool {
		return len(h.first) > 0 && !h.keys["plain"] && strings.Contains(string(h.first[0]), `"do"`)
	},
	open: func(s *sink) decoder { return plainDecoder{s} },
}

var plainDocument = &format{
	name:   "plain-document",
	sniff:  func(h *head) bool { return h.keys["plain"] },
	stream: []string{"samples.lines"},
	keep:   []string{"samples.id"},
	open:   func(s *sink) decoder { return plainDecoder{s} },
}

type plainDecoder struct{ *sink }

func (d plainDecoder) record(path string, raw json.RawMessage) error {
	var line struct {
		S, Do, ID, Tool, Text string
		Failed                bool
		Tokens                int64
	}
	if path == "samples.id" || raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &line); err != nil {
		return err
	}
	s := d.session(line.S)
	switch line.Do {
	case "prompt":
		s.promptOf(line.ID, time.Time{})
	case "turn":
		s.turn()
	case "spent":
		s.spent(line.Tokens)
	case "call":
		s.issue(issued{id: line.ID, tool: line.Tool})
	case "result":
		r := resulted{id: line.ID, how: Flagged}
		r.obs.Failed, r.obs.Result = line.Failed, line.Text
		s.result(r)
	default:
		d.foreign()
	}
	return nil
}

func TestMain(m *testing.M) {
	formats = append(formats, plainFormat, plainDocument)
	m.Run()
}

// script reads source and writes each event as one short line.
func script(t *testing.T, source string) ([]string, Stats) {
	t.Helper()
	var got []string
	stats, err := Read(t.Context(), "test", strings.NewReader(source), Options{}, func(e *Event) error {
		got = append(got, short(e))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, stats
}

func short(e *Event) string {
	switch e.Kind {
	case Prompt:
		return fmt.Sprintf("%s prompt", e.Session)
	case Issue:
		return fmt.Sprintf("%s.%d issue %d %s", e.Session, e.Step, e.Call, e.Key)
	case Result:
		return fmt.Sprintf("%s.%d result %d %s %d", e.Session, e.Step, e.Call, e.Verdict.Class, e.Tokens)
	}
	return e.Session + " end"
}

func TestRead(t *testing.T) {
	tests := []struct {
		name, source string
		want         []string
		stats        Stats
	}{
		{
			name: "parallel calls, results out of order, cost divided",
			source: `{"s":"a","do":"prompt"}
{"s":"a","do":"call","id":"1","tool":"X"}
{"s":"a","do":"call","id":"2","tool":"Y"}
{"s":"a","do":"result","id":"2"}
{"s":"a","do":"result","id":"1","failed":true,"text":"dial tcp 10.0.0.1:80: connection refused"}
{"s":"a","do":"spent","tokens":100}
{"s":"a","do":"turn"}
{"s":"a","do":"call","tool":"X"}
{"s":"a","do":"result"}
`,
			want: []string{"a prompt", "a.1 issue 0 X", "a.1 issue 1 Y", "a.1 result 1 ok 50", "a.1 result 0 network 50",
				"a.2 issue 2 X", "a.2 result 2 ok 0", "a end"},
			stats: Stats{Records: 9, Sessions: 1, Prompts: 1, Calls: 3, Failures: 1},
		},
		{
			name: "interleaved sessions, an orphan, an open call, foreign and broken lines, torn",
			source: "\xef\xbb\xbf" + `{"s":"a","do":"call","id":"1","tool":"X"}
{"s":"b","do":"call","id":"1","tool":"X"}
{"s":"b","do":"result","id":"1"}
{"s":"b","do":"result","id":"1"}
{"s":"b","do":"result","id":"9"}
nonsense

[1]
{"do":"dance"}
{"do":"result`,
			want:  []string{"a.1 issue 0 X", "b.1 issue 0 X", "a end", "b.1 result 0 ok 0", "b end"},
			stats: Stats{Records: 8, Sessions: 2, Calls: 2, Open: 1, Orphans: 1, Foreign: 1, Broken: 2, Torn: true},
		},
		{
			name: "a call told again",
			source: `{"s":"a","do":"call","id":"call-0123456789ab","tool":"X"}
{"s":"a","do":"result","id":"call-0123456789ab"}
{"s":"b","do":"call","id":"call-0123456789ab","tool":"X"}
{"s":"b","do":"result","id":"call-0123456789ab"}
{"s":"b","do":"call","id":"call-0123456789ac","tool":"X"}
`,
			want:  []string{"a.1 issue 0 X", "a.1 result 0 ok 0", "a end", "b.1 issue 1 X", "b end"},
			stats: Stats{Records: 5, Sessions: 2, Calls: 2, Repeated: 1, Open: 1},
		},
		{
			name:   "a document",
			source: `{"plain":{"deep":[{"samples":1}]},"samples":[{"id":1,"lines":[{"s":"a","do":"call","tool":"X"},{"s":"a","do":"result"}]},{"lines":[{"s":"b","do":"prompt"}`,
			want:   []string{"a.1 issue 0 X", "b prompt", "a.1 result 0 ok 0", "a end", "b end"},
			stats:  Stats{Format: "plain-document", Records: 4, Sessions: 2, Prompts: 1, Calls: 1, Torn: true},
		},
		{
			name:   "nothing known",
			source: `{"hello":"world"}`,
			stats:  Stats{Problem: NotRecognised},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, stats := script(t, tt.source)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
			want := tt.stats
			want.File, want.Bytes = "test", int64(len(tt.source))
			if want.Format == "" && want.Problem == "" {
				want.Format = "plain"
			}
			if d := cmp.Diff(want, stats); d != "" {
				t.Errorf("stats (-want +got):\n%s", d)
			}
		})
	}
}

func TestReadEnds(t *testing.T) {
	source := `{"s":"a","do":"prompt"}` + "\n" + `{"s":"a","do":"prompt"}` + "\n"
	enough := errors.New("enough")
	_, err := Read(t.Context(), "test", strings.NewReader(source), Options{}, func(*Event) error { return enough })
	if err != enough {
		t.Errorf("of yield: got %v, want %v", err, enough)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Read(ctx, "test", strings.NewReader(strings.Repeat(source, 200)), Options{}, func(*Event) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("of the context: got %v", err)
	}
}
