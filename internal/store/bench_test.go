package store

import (
	"bytes"
	"fmt"
	"testing"
)

// fill makes a session whose journal has so many lines, in segments of a thousand.
func fill(tb testing.TB, s *Store, id ID, lines int) {
	tb.Helper()
	line := bytes.Repeat([]byte("x"), 300)
	for done := 0; done < lines; {
		err := s.Update(tb.Context(), id, func(tx *Tx) error {
			for n := 0; n < 1000 && done < lines; n++ {
				if n == 0 {
					if err := tx.NewSegment(); err != nil {
						return err
					}
				}
				if err := tx.Append(line); err != nil {
					return err
				}
				done++
			}
			return tx.Put("state", bytes.Repeat([]byte("s"), 20_000))
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	line := bytes.Repeat([]byte("x"), 300)
	for _, lines := range []int{100, 10_000, 200_000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			s, id := Open(b.TempDir()), ID{"claude-code", "abc"}
			fill(b, s, id, lines)
			b.ReportAllocs()
			for b.Loop() {
				err := s.Update(b.Context(), id, func(tx *Tx) error {
					if tx.SegmentLen() >= 1000 {
						if err := tx.NewSegment(); err != nil {
							return err
						}
					}
					if err := tx.Put("state", tx.Get("state")); err != nil {
						return err
					}
					return tx.Append(line)
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDoubt is an update after something else wrote to the file: once, since it
// ends the doubt.
func BenchmarkDoubt(b *testing.B) {
	s, id := Open(b.TempDir()), theSession
	fill(b, s, id, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		later(b, s.paths(id).session)
		if err := s.Update(b.Context(), id, func(*Tx) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBegin is the first update of a session.
func BenchmarkBegin(b *testing.B) {
	s, n := Open(b.TempDir()), 0
	for b.Loop() {
		n++
		if err := s.Update(b.Context(), ID{"codex", fmt.Sprint(n)}, addLine("p-0")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSessions lists as many as are kept.
func BenchmarkSessions(b *testing.B) {
	s := Open(folder(b))
	for n := range 200 {
		if err := s.Update(b.Context(), ID{"codex", fmt.Sprint(n)}, addLine("p-0")); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := s.Sessions(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJournal reads a long one.
func BenchmarkJournal(b *testing.B) {
	s, id := Open(folder(b)), theSession
	fill(b, s, id, 90_000)
	for b.Loop() {
		lines := 0
		err := s.View(b.Context(), id, func(tx *Tx) error {
			for _, segment := range tx.Segments() {
				for range segment {
					lines++
				}
			}
			return nil
		})
		if err != nil || lines != 90_000 {
			b.Fatal(lines, err)
		}
	}
}
