package trace

import (
	"bytes"
	"os"
	"testing"
	"unicode/utf8"
)

// FuzzRead: whatever the bytes, reading ends, and the events of a session are in
// order and fit to keep.
func FuzzRead(f *testing.F) {
	for _, name := range fixtures(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		next := map[string]int{}
		open := map[string]map[int]bool{}
		stats, err := Read(t.Context(), "fuzz", bytes.NewReader(data), Options{}, func(e *Event) error {
			if !utf8.ValidString(e.Session+e.Tool+e.Key+e.Text) || len(e.Text) > 4*maxText+8 || len(e.Session) > 4*maxName+8 {
				t.Errorf("not fit to keep: %q", []string{e.Session, e.Tool, e.Key, e.Text})
			}
			if open[e.Session] == nil {
				open[e.Session] = map[int]bool{}
			}
			switch e.Kind {
			case Issue:
				if e.Call < next[e.Session] {
					t.Errorf("call %d of %q after call %d", e.Call, e.Session, next[e.Session]-1)
				}
				next[e.Session] = e.Call + 1
				open[e.Session][e.Call] = true
			case Result:
				if !open[e.Session][e.Call] {
					t.Errorf("a result of call %d of %q, which is not open", e.Call, e.Session)
				}
				delete(open[e.Session], e.Call)
			case End:
				delete(next, e.Session)
				delete(open, e.Session)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(next) > 0 || len(open) > 0 {
			t.Errorf("sessions without an end: %v", open)
		}
		if stats.Open < 0 || stats.Open > stats.Calls {
			t.Errorf("%d calls are open of %d", stats.Open, stats.Calls)
		}
	})
}
