package store

import (
	"encoding/binary"
	"errors"
	"iter"
)

const (
	keep     = 32 << 20 // bytes of the journal beyond which NewSegment gives up the oldest segments
	overhead = 40       // bytes that a line takes beside its own

	dropLines = 64        // the most that one transaction drops
	dropBytes = 256 << 10 // it stops after the line that reaches this
)

// place is where the journal is, kept in the head of the file.
type place struct {
	Segment uint64 // the present one; 0: none
	Lines   uint64 // in it
	Bytes   uint64 // in it
	Closed  uint64 // bytes in the segments before it that are kept
	First   uint64 // the oldest segment that is kept
}

func (t *Tx) readPlace() error {
	sealed := t.head.Get(keyJournal)
	if sealed == nil {
		return nil
	}
	b, d := unseal(sealed)
	if d == nil && len(b) != binary.Size(t.at) {
		d = &damage{"the journal's place is not one"}
	}
	if t.found(d) != nil {
		return nil
	}
	_, err := binary.Decode(b, binary.BigEndian, &t.at)
	return err
}

func (t *Tx) writePlace() error {
	if t.at == (place{}) {
		return nil
	}
	b, err := binary.Append(nil, binary.BigEndian, t.at)
	if err != nil {
		return err
	}
	return t.head.Put(keyJournal, seal(b))
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func lineKey(segment, line uint64) []byte {
	return binary.BigEndian.AppendUint64(number(segment), line)
}

var errReadOnly = errors.New("a view changes nothing; use Update")

// NewSegment lets the journal go on in a new segment. The oldest segments go where
// the journal is longer than 32 MiB, never the present one.
func (t *Tx) NewSegment() error {
	return t.guard(func() error {
		if !t.write {
			return errReadOnly
		}
		if t.at.Segment == 0 {
			t.at.First = 1
		} else if err := t.ends.Put(number(t.at.Segment), number(t.at.Bytes)); err != nil {
			return err
		}
		t.at = place{Segment: t.at.Segment + 1, Closed: t.at.Closed + t.at.Bytes, First: t.at.First}
		return t.retire()
	})
}

// retire gives up the oldest segments beyond the bound. Their lines are dropped
// little by little, by this and later transactions.
func (t *Tx) retire() error {
	for t.at.Closed > keep && t.at.First < t.at.Segment {
		size := t.ends.Get(number(t.at.First))
		if len(size) != 8 || binary.BigEndian.Uint64(size) > t.at.Closed {
			t.found(&damage{"a segment's size is not one"})
			return nil
		}
		t.at.Closed -= binary.BigEndian.Uint64(size)
		if err := t.ends.Delete(number(t.at.First)); err != nil {
			return err
		}
		t.at.First++
	}
	return nil
}

// drop removes lines of segments that were given up, a bounded number at a time.
func (t *Tx) drop() error {
	freed := 0
	for range dropLines {
		k, v := t.lines.Cursor().First()
		if len(k) != 16 || binary.BigEndian.Uint64(k) >= t.at.First || freed >= dropBytes {
			return nil
		}
		freed += len(v)
		if err := t.lines.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

// Append adds one event to the present segment.
func (t *Tx) Append(line []byte) error {
	return t.guard(func() error {
		if t.at.Segment == 0 {
			return errors.New("the journal has no segment; call NewSegment first")
		}
		err := t.lines.Put(lineKey(t.at.Segment, t.at.Lines), seal(line))
		if err == nil {
			t.at.Lines++
			t.at.Bytes += uint64(len(line)) + overhead
		}
		return err
	})
}

// SegmentLen is how many events the present segment has; 0: none, or there is no
// segment and NewSegment is to be called first.
func (t *Tx) SegmentLen() int { return int(t.at.Lines) }

// Segments are the segments that have events, oldest first, by their numbers, which
// rise by 1. The lines are copies.
func (t *Tx) Segments() iter.Seq2[uint64, iter.Seq[[]byte]] {
	return func(yield func(uint64, iter.Seq[[]byte]) bool) {
		for n := max(t.at.First, 1); n <= t.at.Segment; n++ {
			if n == t.at.Segment && t.at.Lines == 0 {
				return
			}
			if !yield(n, t.segment(n)) {
				return
			}
		}
	}
}

// segment are the lines of one segment.
func (t *Tx) segment(n uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		c := t.lines.Cursor()
		next := func() (k, v []byte) { return c.Seek(lineKey(n, 0)) }
		for {
			var line []byte
			_ = t.guard(func() error {
				k, v := next()
				if len(k) == 16 && binary.BigEndian.Uint64(k) == n {
					var d *damage
					line, d = unseal(v)
					t.found(d)
				}
				return nil
			})
			if line == nil || !yield(line) {
				return
			}
			next = c.Next
		}
	}
}
