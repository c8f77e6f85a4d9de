package store

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden is a session of format 1, as some machine of the usual byte order made it:
// 130 lines p-0 to p-129.
const golden = "testdata/format1" + endSession

// TestFormat holds that what was written once can be read and gone on with. A change
// that breaks it needs another format, and the old one read.
func TestFormat(t *testing.T) {
	const lines = 130
	if *update {
		_, p := session(t, folder(t), lines)
		b := read(t, p.session)
		if err := os.WriteFile(golden, b[:latest(b).end*pageSize], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := Open(folder(t))
	if err := os.MkdirAll(s.sessions(), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, s.paths(theSession).session, read(t, golden))
	var want []string
	for n := range lines + 1 {
		if n == lines {
			if err := s.Update(t.Context(), theSession, addLine(fmt.Sprint("p-", n))); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, fmt.Sprint("p-", n))
	}
	got, counted := journal(t, s, theSession)
	if !slices.Equal(got, want) || counted != lines+1 {
		t.Errorf("%d counted, journal (-want +got):\n%s", counted, cmp.Diff(want, got))
	}
	if aside, _ := filepath.Glob(filepath.Join(s.sessions(), "*"+endAside+"*")); len(aside) > 0 {
		t.Errorf("set aside: %q", aside)
	}
}
