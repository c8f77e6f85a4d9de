package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestDocument(t *testing.T) {
	f := &format{stream: []string{"samples.lines"}, keep: []string{"samples.id", "name"}}
	top := &format{stream: []string{""}}
	tests := []struct {
		name, source string
		format       *format
		want         []string
		torn         bool
		problem      string
	}{
		{"records, kept values, ends of elements", ` {"name" : "x" , "skip":{"name":[1,"}\"]"]},"samples":[{"id":1,"lines":[{"a":1},2]},{"lines":[],"id":[3]}]} `, f,
			[]string{`name "x"`, `samples.id 1`, `samples.lines {"a":1}`, `samples.lines 2`, `samples `, `samples.id [3]`, `samples `}, false, ""},
		{"an array at the top", `[1, {"a":[]} ,"x"]`, top, []string{" 1", ` {"a":[]}`, ` "x"`}, false, ""},
		{"several documents", "[1]\n[2]\n", top, []string{" 1", " 2"}, false, ""},
		{"a number at the end", "[1]7", top, []string{" 1"}, false, ""},
		{"nothing", "  ", top, nil, false, ""},
		{"cut in a record", `[1,{"a":`, top, []string{" 1"}, true, ""},
		{"cut in what is passed over", `{"skip":{"a":"b\`, f, nil, true, ""},
		{"cut after a comma", `[1,`, top, []string{" 1"}, true, ""},
		{"no comma", `[1 2]`, top, []string{" 1"}, false, "no JSON at byte 4"},
		{"no colon", `{"name" 2}`, f, nil, false, "no JSON at byte 9"},
		{"brackets crossed", `[[{]]`, top, nil, false, "no JSON at byte 1"},
		{"other things for the arrays", `{"samples":{"lines":7},"name":null}`, f, []string{"name null"}, false, ""},
	}
	for _, tt := range tests {
		for how, reader := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader,
		} {
			t.Run(tt.name+", "+how, func(t *testing.T) {
				var got []string
				src := unhurried()
				err := src.readDocument(reader(strings.NewReader(tt.source)), tt.format, func(path string, raw json.RawMessage) error {
					got = append(got, path+" "+string(raw))
					return nil
				})
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("records (-want +got):\n%s", d)
				}
				if src.stats.Torn != tt.torn {
					t.Errorf("torn: got %v, want %v", src.stats.Torn, tt.torn)
				}
				if (err != nil) != (tt.problem != "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("got the problem %v, want %q", err, tt.problem)
				}
			})
		}
	}
}

// unhurried is a source that need not wait.
func unhurried() *source { return &source{wait: func() error { return nil }} }

func TestDocumentBounds(t *testing.T) {
	long := func(before, after string) io.Reader {
		return io.MultiReader(strings.NewReader(before), io.LimitReader(endlessly('x'), maxRecord+1), strings.NewReader(after))
	}
	f := &format{stream: []string{"list"}}
	n := 0
	count := func(string, json.RawMessage) error { n++; return nil }
	if err := unhurried().readDocument(long(`{"skip":["`, `"],"list":[1]}`), f, count); err != nil || n != 1 {
		t.Errorf("a long value that is passed over: got %v and %d records, want 1", err, n)
	}
	if err := unhurried().readDocument(long(`{"list":["`, `"]}`), f, count); !errors.Is(err, errTooLong) {
		t.Errorf("a long record: got %v, want %v", err, errTooLong)
	}
}

// endlessly is a reader of one byte again and again.
type endlessly byte

func (e endlessly) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestFixturesInSmallPieces: how a source is cut into reads does not matter.
func TestFixturesInSmallPieces(t *testing.T) {
	events := func(r io.Reader) (all []Event) {
		if _, err := Read(t.Context(), "test", r, Options{}, func(e *Event) error { all = append(all, *e); return nil }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, name := range fixtures(t) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(events(bytes.NewReader(data)), events(iotest.OneByteReader(bytes.NewReader(data)))); d != "" {
			t.Errorf("%s (-whole +byte by byte):\n%s", name, d)
		}
	}
}
