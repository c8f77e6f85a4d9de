package trace

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func pack(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch filepath.Ext(name) {
	case ".gz":
		w = gzip.NewWriter(&b)
	case ".zst":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return []byte(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, pack(t, name, text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// calls is a source of n calls of a session.
func calls(session string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"s":%q,"do":"call","id":"%s-%012d","tool":"T"}`+"\n", session, session, i)
		fmt.Fprintf(&b, `{"s":%q,"do":"result","id":"%s-%012d"}`+"\n", session, session, i)
	}
	return b.String()
}

func TestSources(t *testing.T) {
	dir := written(t, map[string]string{"b.jsonl": "{}", "a/2.jsonl": "{}", "a/1.jsonl": "{}", "c.txt": "x"})
	if err := os.Symlink(filepath.Join(dir, "b.jsonl"), filepath.Join(dir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	linked := filepath.Join(t.TempDir(), "linked")
	if err := os.Symlink(at("a"), linked); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		paths []string
		want  []string
		bad   string
	}{
		{"a directory", []string{dir}, []string{at("a/1.jsonl"), at("a/2.jsonl"), at("b.jsonl"), at("c.txt")}, ""},
		{"a link to a directory", []string{linked}, []string{filepath.Join(linked, "1.jsonl"), filepath.Join(linked, "2.jsonl")}, ""},
		{"a file twice, once by a link", []string{at("link.jsonl"), at("b.jsonl"), at("./b.jsonl")}, []string{at("link.jsonl")}, ""},
		{"a pattern", []string{at("a/*.jsonl")}, []string{at("a/1.jsonl"), at("a/2.jsonl")}, ""},
		{"standard input, once", []string{"-", "-"}, []string{"-"}, ""},
		{"nothing there", []string{at("none"), at("c.txt")}, []string{at("c.txt")}, "name a file, a directory, a pattern"},
		{"a pattern of nothing", []string{at("*.log")}, nil, "no file has such a name"},
		{"a bad pattern", []string{at("[")}, nil, "write the pattern as for a shell"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sources, err := Sources(tt.paths, strings.NewReader(""))
			var got []string
			for _, s := range sources {
				got = append(got, s.Name)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if (err != nil) != (tt.bad != "") || err != nil && !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("got the error %v, want %q", err, tt.bad)
			}
		})
	}
}

// A directory that cannot be looked into does not keep the rest from being read.
func TestSourcesClosedDirectory(t *testing.T) {
	var c collection
	if err := c.visit("closed", nil, fs.ErrPermission); err != nil {
		t.Fatal(err)
	}
	stats, err := ReadAll(t.Context(), append(c.sources, memory("open", []byte(calls("a", 1)))), Options{}, func(*Event) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(stats) != 2 || stats[0].File != "closed" || stats[0].Problem != "permission denied" || stats[1].Calls != 1 {
		t.Errorf("got %+v, want a problem and a call", stats)
	}
}

func TestReadAll(t *testing.T) {
	dir := written(t, map[string]string{
		"1.jsonl": calls("one", 6000), "2.jsonl.gz": calls("two", 300), "3.jsonl.zst": calls("three", 300),
		"4.txt": "hello", "5.jsonl": calls("two", 300) + calls("five", 1),
	})
	sources, err := Sources([]string{dir, "-"}, bytes.NewReader(pack(t, ".gz", calls("six", 2))))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	var done, total int64
	o := Options{Progress: func(d, n int64) {
		if d < done {
			t.Errorf("progress went back from %d to %d", done, d)
		}
		done, total = d, n
	}}
	stats, err := ReadAll(t.Context(), sources, o, func(e *Event) error {
		if e.Kind == End {
			order = append(order, filepath.Base(e.File)+" "+e.Session)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1.jsonl one", "2.jsonl.gz two", "3.jsonl.zst three", "5.jsonl five", "- six"}, order); d != "" {
		t.Errorf("sessions (-want +got):\n%s", d)
	}
	if done <= total || total == 0 { // standard input has no size
		t.Errorf("progress ended at %d of %d", done, total)
	}
	type counts struct {
		Calls, Repeated int
		Problem         string
	}
	var got []counts
	for _, s := range stats {
		got = append(got, counts{s.Calls, s.Repeated, s.Problem})
	}
	want := []counts{{6000, 0, ""}, {300, 0, ""}, {300, 0, ""}, {0, 0, NotRecognised}, {1, 300, ""}, {2, 0, ""}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("stats (-want +got):\n%s", d)
	}
}

// TestReadAllLongRecords: sources that wait for their turn get it.
func TestReadAllLongRecords(t *testing.T) {
	var sources []Source
	for i := range 6 {
		long := fmt.Sprintf(`{"s":"%d","do":"turn","text":%q}`+"\n", i, strings.Repeat("x", 2*longRecord))
		name := fmt.Sprint(i)
		sources = append(sources, memory(name, []byte(calls(name, 2000)+long+calls(name+"+", 6000)+long)))
	}
	sources = append(sources, memory("document", []byte(`{"plain":1,"samples":[{"lines":[{"do":"prompt","text":"`+strings.Repeat("x", 2*longRecord)+`"}]}]}`)))
	stats, err := ReadAll(t.Context(), sources, Options{}, func(*Event) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range stats {
		if s.Problem != "" || s.Broken > 0 || i < 6 && s.Calls != 8000 || i == 6 && s.Prompts != 1 {
			t.Errorf("got %+v", s)
		}
	}
}

func TestReadAllEnds(t *testing.T) {
	files := map[string]string{}
	for i := range 6 {
		files[fmt.Sprintf("%02d.jsonl", i)] = calls(fmt.Sprint(i), 8000)
	}
	sources, err := Sources([]string{written(t, files)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	n := 0
	if _, err := ReadAll(t.Context(), sources, Options{}, func(*Event) error {
		if n++; n == 20000 {
			return enough
		}
		return nil
	}); err != enough {
		t.Errorf("of yield: got %v, want %v", err, enough)
	}
	for _, after := range []int{0, 1, 20000} {
		ctx, cancel := context.WithCancel(t.Context())
		if after == 0 {
			cancel()
		}
		n = 0
		_, err = ReadAll(ctx, sources, Options{}, func(*Event) error {
			if n++; n == after {
				cancel()
			}
			return nil
		})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d events: got %v", after, err)
		}
	}
}

// TestReadAllHangs: a read that never returns does not keep the caller from
// ending, and what came before it is counted.
func TestReadAllHangs(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	var text strings.Builder
	for i := range 40 {
		text.WriteString(calls(fmt.Sprint(i), 100) + fmt.Sprintf(`{"s":"%d","do":"turn"}`+"\n", i))
	}
	hanging := Source{Name: "hanging", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(text.String()), in)), nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	stats, err := ReadAll(ctx, []Source{memory("whole", []byte(calls("a", 1))), hanging, memory("later", nil)}, Options{}, func(e *Event) error {
		if n++; n == 5000 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if len(stats) != 2 || stats[0].Calls != 1 || stats[1].Calls < 2000 || stats[1].Format != stats[0].Format || stats[1].Problem == "" {
		t.Errorf("got %+v, want those of two sources, with calls and a format, the second one ended early", stats)
	}
}

func TestUnpackDamaged(t *testing.T) {
	for _, ext := range []string{".gz", ".zst"} {
		packed := pack(t, ext, calls("a", 5000))
		stats, err := Read(t.Context(), "cut"+ext, bytes.NewReader(packed[:len(packed)/2]), Options{}, func(*Event) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if !stats.Torn || stats.Problem == "" || stats.Calls == 0 {
			t.Errorf("%s: got %+v, want some calls, torn, and a problem", ext, stats)
		}
	}
}

// memory is a source that lies in memory.
func memory(name string, data []byte) Source {
	return Source{Name: name, Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}
