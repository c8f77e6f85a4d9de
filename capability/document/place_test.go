package document_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/expediter-go/expediter/capability/document"
)

func TestPlace(t *testing.T) {
	root, err := document.Parse("a.yaml", []byte("budget: 0\nprobe:\n  every: -1\n"))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, line string
		want       string
	}{
		{"key", "budget: 0; give 1 or more", "a.yaml:1:9: budget: 0; give 1 or more"},
		{"key below a key", "probe.every: -1 is below 1; give more", "a.yaml:3:10: probe.every: -1 is below 1; give more"},
		{"nearest around it", "probe.max: 2 is below 3; raise it", "a.yaml:3:3: probe.max: 2 is below 3; raise it"},
		{"nothing like it", "trip.rate: 2; give less", "a.yaml:1:1: trip.rate: 2; give less"},
		{"no path", "all of it is wrong; begin anew", "a.yaml:1:1: all of it is wrong; begin anew"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, root.Place(errors.New(tt.line)).Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if got := root.Place(errors.Join(errors.New("budget: a; b"), errors.New("probe: c; d"))); len(got) != 2 {
		t.Errorf("two errors: got %d problems", len(got))
	}
	var missing *document.Node
	if got := append(root.Place(nil), missing.Place(errors.New("x"))...); len(got) != 0 {
		t.Errorf("no error, or no node: got %v", got)
	}
}
