package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

const (
	// keep bounds the closed segments of a journal, in bytes. A hundred thousand
	// events of the usual size fit, which is more than one session has.
	keep = 32 << 20
	// overhead is what a line takes beside its own bytes: its key, its checksum, and
	// bbolt's entry.
	overhead = 40

	// A transaction drops this many lines that were given up, and two more for
	// each that it appends: always more than come, and never many at once.
	dropLines = 64
	// dropBytes ends that early, after the line that reaches it.
	dropBytes = 1 << 20
)

// place is where the journal stands, and how much state there is. It is kept in the
// bucket "expediter".
type place struct {
	Values  uint64 // keys of the state
	Segment uint64 // the present one; 0: none
	Lines   uint64 // in it
	Bytes   uint64 // in it
	First   uint64 // the oldest segment that is kept
	Closed  uint64 // bytes from that one up to the present one
}

func (t *Tx) readPlace() {
	b := t.value(keyJournal, t.head.Get(keyJournal))
	if t.damage != nil {
		return
	}
	if n, err := binary.Decode(b, binary.BigEndian, &t.at); err != nil || n != len(b) || t.at.First > t.at.Segment {
		t.found(damaged("it does not say where its journal stands"))
	}
}

func (t *Tx) writePlace() error {
	b, err := binary.Append(nil, binary.BigEndian, t.at)
	if err != nil {
		return err
	}
	return t.head.Put(keyJournal, summed(keyJournal, b))
}

// checkJournal looks whether all lines are there, and as they were appended.
func (t *Tx) checkJournal() {
	segment, line := t.at.First, uint64(0) // the next that is to come
	c := t.lines.Cursor()
	for k, v := c.Seek(lineKey(t.at.First, 0)); k != nil && t.damage == nil; k, v = c.Next() {
		if line > 0 && bytes.Equal(k, lineKey(segment+1, 0)) {
			segment, line = segment+1, 0
		}
		if !bytes.Equal(k, lineKey(segment, line)) {
			t.found(damaged("an event of the journal is missing"))
		}
		t.found(checkSum(k, v))
		line++
	}
	if segment+1 == t.at.Segment && t.at.Lines == 0 { // the present one is empty
		segment, line = t.at.Segment, 0
	}
	if segment != t.at.Segment || line != t.at.Lines {
		t.found(damaged("the end of the journal is missing"))
	}
	t.checkSizes()
}

func (t *Tx) checkSizes() {
	sum, n := uint64(0), t.at.First
	c := t.sizes.Cursor()
	for k, v := c.First(); k != nil && bytes.Equal(k, number(n)) && len(v) == 8; k, v = c.Next() {
		sum += binary.BigEndian.Uint64(v)
		n++
	}
	if n != t.at.Segment || sum != t.at.Closed {
		t.found(damaged("the sizes of its journal's segments are wrong"))
	}
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func lineKey(segment, line uint64) []byte {
	return binary.BigEndian.AppendUint64(number(segment), line)
}

// NewSegment lets the journal go on in a new segment, unless the present one is
// empty. The oldest segments go while all before the new one have more than
// 32 MiB together.
func (t *Tx) NewSegment() error {
	return t.guard(true, func() error {
		switch {
		case t.at.Segment == 0:
			t.at.Segment, t.at.First = 1, 1
			return nil
		case t.at.Lines == 0:
			return nil
		}
		if err := t.sizes.Put(number(t.at.Segment), number(t.at.Bytes)); err != nil {
			return err
		}
		t.at.Closed += t.at.Bytes
		t.at.Segment, t.at.Lines, t.at.Bytes = t.at.Segment+1, 0, 0
		return t.retire(t.keep)
	})
}

// Forget gives up all events, and lets the journal go on in a new segment: what
// comes next does not follow from what was there.
func (t *Tx) Forget() error {
	if err := t.NewSegment(); err != nil {
		return err
	}
	return t.guard(true, func() error { return t.retire(0) })
}

// retire gives up the oldest segments while the closed ones have more than keep
// bytes. Their lines can no longer be seen, and are dropped little by little.
func (t *Tx) retire(keep uint64) error {
	for t.at.Closed > keep && t.at.First < t.at.Segment {
		size := t.sizes.Get(number(t.at.First))
		if len(size) != 8 || binary.BigEndian.Uint64(size) > t.at.Closed {
			t.found(damaged("it does not say the size of a segment"))
			return nil
		}
		t.at.Closed -= binary.BigEndian.Uint64(size)
		if err := t.sizes.Delete(number(t.at.First)); err != nil {
			return err
		}
		t.at.First++
	}
	return nil
}

// drop removes lines of segments that were given up.
func (t *Tx) drop() error {
	freed := 0
	for range dropLines + 2*t.appended {
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

// Append adds one event to the present segment, of 16 MiB at most. It may hold any
// bytes. Without a segment it is an error: NewSegment comes first.
func (t *Tx) Append(line []byte) error {
	if len(line) > maxLine {
		return fmt.Errorf("an event has %d bytes, and the journal takes %d at most", len(line), maxLine)
	}
	return t.guard(true, func() error {
		if t.at.Segment == 0 {
			return errors.New("the journal has no segment yet; call NewSegment first")
		}
		k := lineKey(t.at.Segment, t.at.Lines)
		if err := t.lines.Put(k, summed(k, line)); err != nil {
			return err
		}
		t.at.Lines++
		t.at.Bytes += uint64(len(line)) + overhead
		t.appended++
		return nil
	})
}

// SegmentLen is how many events the present segment has. 0: none, or the journal
// has no segment, and NewSegment comes first.
func (t *Tx) SegmentLen() int { return int(t.at.Lines) }

// Segments are the segments that have events, oldest first, by their numbers. The
// lines are copies, in the order in which they were appended.
func (t *Tx) Segments() iter.Seq2[uint64, iter.Seq[[]byte]] {
	return func(yield func(uint64, iter.Seq[[]byte]) bool) {
		for n, ok := t.segmentFrom(t.at.First); ok && yield(n, t.segment(n)); {
			n, ok = t.segmentFrom(n + 1)
		}
	}
}

// segmentFrom is the first segment from n on that has a line.
func (t *Tx) segmentFrom(n uint64) (segment uint64, ok bool) {
	_ = t.guard(false, func() error {
		k, _ := t.lines.Cursor().Seek(lineKey(n, 0))
		if ok = len(k) == 16; ok {
			segment = binary.BigEndian.Uint64(k)
		}
		return nil
	})
	return segment, ok
}

// segment are the lines of one segment. Each is sought, so that f may append and put
// meanwhile.
func (t *Tx) segment(n uint64) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := uint64(0); ; i++ {
			var line []byte
			_ = t.guard(false, func() error {
				key := lineKey(n, i)
				if kept := t.lines.Get(key); kept != nil {
					line = t.value(key, kept)
				}
				return nil
			})
			if line == nil || !yield(line) {
				return
			}
		}
	}
}
