package store

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUpdate(t *testing.T) {
	s, id := Open(t.TempDir()), ID{"claude-code", "abc"}
	for i := range 3 {
		err := s.Update(t.Context(), id, func(tx *Tx) error {
			if got, want := tx.SegmentLen(), i; got != want {
				t.Errorf("segment has %d lines, want %d", got, want)
			}
			if i == 0 {
				if err := tx.NewSegment(); err != nil {
					return err
				}
			}
			if err := tx.Put("state", fmt.Append(nil, string(tx.Get("state")), i)); err != nil {
				return err
			}
			return tx.Append(fmt.Append(nil, "line ", i))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err := s.View(t.Context(), id, func(tx *Tx) error {
		got = append(got, string(tx.Get("state")))
		for n, lines := range tx.Segments() {
			for line := range lines {
				got = append(got, fmt.Sprint(n, " ", string(line)))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"012", "1 line 0", "1 line 1", "1 line 2"}, got); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
	all, err := s.Sessions(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != id {
		t.Errorf("sessions %v, %v", all, err)
	}
}
