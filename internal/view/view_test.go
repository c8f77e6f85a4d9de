package view_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/expediter-go/expediter/cascade/redact"
	"github.com/expediter-go/expediter/internal/analysis"
	"github.com/expediter-go/expediter/internal/view"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func text(t *testing.T, r *analysis.Result, width int, colour bool) string {
	t.Helper()
	return render(t, func(w io.Writer) error { return view.Text(w, r, width, colour) })
}

func TestGolden(t *testing.T) {
	tests := []struct {
		file  string
		write func(io.Writer) error
	}{
		{"full.txt", func(w io.Writer) error { return view.Text(w, full(), 100, false) }},
		{"narrow.txt", func(w io.Writer) error { return view.Text(w, full(), 48, false) }},
		{"colour.txt", func(w io.Writer) error { return view.Text(w, cascade(), 80, true) }},
		{"quiet.txt", func(w io.Writer) error { return view.Text(w, quiet(), 0, false) }},
		{"hostile.txt", func(w io.Writer) error { return view.Text(w, hostile(), 80, true) }},
		{"full.json", func(w io.Writer) error { return view.JSON(w, full()) }},
		{"hostile.json", func(w io.Writer) error { return view.JSON(w, hostile()) }},
		{"full.csv", func(w io.Writer) error { return view.CSV(w, full()) }},
		{"hostile.csv", func(w io.Writer) error { return view.CSV(w, hostile()) }},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			got, path := render(t, tt.write), "testdata/"+tt.file
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, diff)
			}
		})
	}
}

func TestTextKeepsToItsWidth(t *testing.T) {
	for _, width := range []int{40, 60, 80, 132} {
		for name, r := range map[string]*analysis.Result{"full": full(), "hostile": hostile(), "long": long()} {
			if r.Suggested != nil {
				r.Suggested.PolicyYAML = "" // it must stay as it is, to be copied
			}
			for line := range strings.Lines(text(t, r, width, false)) {
				if n := redact.Width(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s at %d columns: a line of %d: %s", name, width, n, line)
				}
			}
		}
	}
}

func TestColourChangesNoWord(t *testing.T) {
	got := text(t, full(), 100, true)
	if !strings.Contains(got, "\x1b[1m") {
		t.Error("no colour at all")
	}
	for _, esc := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m"} {
		got = strings.ReplaceAll(got, esc, "")
	}
	if diff := cmp.Diff(text(t, full(), 100, false), got); diff != "" {
		t.Errorf("without its escapes the coloured text differs (-want +got):\n%s", diff)
	}
}

func TestJSONReadsBack(t *testing.T) {
	var got analysis.Result
	dec := json.NewDecoder(strings.NewReader(render(t, func(w io.Writer) error { return view.JSON(w, full()) })))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*full(), got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
}

func TestCSVHasNoFormula(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(render(t, func(w io.Writer) error { return view.CSV(w, hostile()) }))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	guarded := 0
	for _, rec := range records {
		for _, field := range rec[:3] {
			if strings.HasPrefix(field, "'=") {
				guarded++
			}
			if field != "" && strings.ContainsAny(field[:1], "=+-@") {
				t.Errorf("a spreadsheet would run %q", field)
			}
		}
	}
	if guarded != 3 {
		t.Errorf("guarded names: got %d, want the tool's, the category's and the file's", guarded)
	}
}

func TestViewsLeaveTheResultAlone(t *testing.T) {
	r := full()
	for _, write := range []func(io.Writer) error{
		func(w io.Writer) error { return view.Text(w, r, 80, true) },
		func(w io.Writer) error { return view.JSON(w, r) },
		func(w io.Writer) error { return view.CSV(w, r) },
	} {
		render(t, write)
	}
	if diff := cmp.Diff(full(), r); diff != "" {
		t.Errorf("a view changed its result (-want +got):\n%s", diff)
	}
}
