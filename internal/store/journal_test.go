package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestBound fills a journal past its bound: what is kept stays, what goes is out of
// sight at once, and is dropped by and by, so that the file stops to grow.
func TestBound(t *testing.T) {
	const perSegment, size, limit = 200, 1000, 500_000
	s := Open(folder(t))
	s.keep = limit
	id, line := theSession, strings.Repeat("x", size-8)
	var sizes []int64
	for n := range 12 {
		err := s.Update(t.Context(), id, func(tx *Tx) error {
			errs := []error{tx.NewSegment()}
			for i := range perSegment {
				errs = append(errs, tx.Append(fmt.Appendf(nil, "%4d%4d%s", n, i, line)))
			}
			return errors.Join(errs...)
		})
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(s.paths(id).session)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	if last := sizes[len(sizes)-1]; last > 3*limit+growth || last != sizes[len(sizes)/2] {
		t.Errorf("the file grows on: %v", sizes)
	}
	err := s.View(t.Context(), id, func(tx *Tx) error {
		want := uint64(10) // two segments are within the bound, and the present one
		for n, lines := range tx.Segments() {
			if n != want {
				t.Errorf("segment %d, want %d", n, want)
			}
			i := 0
			for line := range lines {
				if got, want := string(line[:8]), fmt.Sprintf("%4d%4d", n-1, i); got != want {
					t.Fatalf("segment %d has %q, want %q", n, got, want)
				}
				i++
			}
			if i != perSegment {
				t.Errorf("segment %d has %d lines", n, i)
			}
			want++
		}
		if want != 13 {
			t.Errorf("ends before segment %d", want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDropIsBounded gives up a long segment at once: no transaction drops much of it.
func TestDropIsBounded(t *testing.T) {
	const long = 2000
	s := Open(folder(t))
	s.keep = 10_000
	err := s.Update(t.Context(), theSession, func(tx *Tx) error {
		errs := []error{tx.NewSegment()}
		for range long {
			errs = append(errs, tx.Append(make([]byte, 100)))
		}
		return errors.Join(append(errs, tx.NewSegment())...)
	})
	if err != nil {
		t.Fatal(err)
	}
	left := func() (n int) {
		err := s.View(t.Context(), theSession, func(tx *Tx) error {
			n = tx.lines.Stats().KeyN
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	was := left()
	for was > 0 {
		if err := s.Update(t.Context(), theSession, func(tx *Tx) error { return nil }); err != nil {
			t.Fatal(err)
		}
		now := left()
		if dropped := was - now; dropped < 1 || dropped > dropLines {
			t.Fatalf("dropped %d lines, want 1 to %d", dropped, dropLines)
		}
		was = now
	}
}

func TestLeavingEarly(t *testing.T) {
	s, _ := session(t, folder(t), 1)
	err := s.Update(t.Context(), theSession, func(tx *Tx) error {
		for i := range 3 {
			if err := errors.Join(tx.NewSegment(), tx.Append(fmt.Append(nil, i)), tx.Append([]byte("more"))); err != nil {
				return err
			}
		}
		var got []string
		for n, lines := range tx.Segments() {
			for line := range lines {
				got = append(got, fmt.Sprint(n, " ", string(line)))
				break
			}
			if n == 3 {
				break
			}
		}
		if want := "[1 p-0 2 0 3 1]"; fmt.Sprint(got) != want {
			t.Errorf("got %v, want %v", got, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
