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
