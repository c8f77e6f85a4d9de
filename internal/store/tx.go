package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	bolt "go.etcd.io/bbolt"
)

// format is the version of what a session's file holds. Every later one keeps the
// bucket "expediter" with the key "format", so that this one can tell.
const format = 1

// The buckets of a file, and the keys of the first.
var (
	bucketHead     = []byte("expediter")
	bucketState    = []byte("state")
	bucketJournal  = []byte("journal")
	bucketSegments = []byte("segments")

	keyFormat  = []byte("format")
	keyAgent   = []byte("agent")
	keySession = []byte("session")
	keyJournal = []byte("journal")
	keyValue   = []byte("value")
)

// The most that Put and Append take, so that no caller's fault fills the disk.
const (
	maxKey   = 256      // bytes
	maxValue = 16 << 20 // bytes of one value
	maxLine  = 16 << 20 // bytes of one event of the journal, which may hold the state
)

// Tx is a transaction on one session. It ends with the function that it was given
// to, and is used by one goroutine at a time.
type Tx struct {
	tx      *bolt.Tx
	write   bool
	doubt   bool // the file's values are to be checked before they are believed
	oneMeta bool // a copy of the file is to be kept before it is changed
	over    bool
	damage  *damage

	head, state, lines *bolt.Bucket
	sizes              *bolt.Bucket // bytes of the segments that are closed
	at                 place
	keep               uint64 // as the store's
	appended           int    // lines, by this transaction
}

var (
	errDamage   = errors.New("the session's file is damaged")
	errReadOnly = errors.New("a view changes nothing; use Update")
)

// found notes what is wrong with the file, and returns what was found first.
func (t *Tx) found(d *damage) *damage {
	if t.damage == nil {
		t.damage = d
	}
	return t.damage
}

// begin makes the buckets of a new session.
func (t *Tx) begin(id ID) error {
	for _, name := range [][]byte{bucketHead, bucketState, bucketJournal, bucketSegments} {
		if _, err := t.tx.CreateBucket(name); err != nil {
			return err
		}
	}
	t.buckets()
	return errors.Join(
		t.head.Put(keyFormat, []byte(strconv.Itoa(format))),
		t.head.Put(keyAgent, summed(keyAgent, []byte(id.Agent))),
		t.head.Put(keySession, summed(keySession, []byte(id.Session))),
	)
}

func (t *Tx) buckets() {
	t.head, t.state = t.tx.Bucket(bucketHead), t.tx.Bucket(bucketState)
	t.lines, t.sizes = t.tx.Bucket(bucketJournal), t.tx.Bucket(bucketSegments)
	if t.lines != nil {
		t.lines.FillPercent = 1 // lines come at the end alone, so a full page stays full
	}
}

// verify finds out whether the file is the session's, in a format that is known.
func (t *Tx) verify(id ID) error {
	got, err := t.identify()
	if t.damage != nil || err != nil {
		return err
	}
	if got != id {
		t.found(damaged("it is another session"))
	}
	return nil
}

// identify returns whose session the file is.
func (t *Tx) identify() (id ID, err error) {
	t.buckets()
	if t.head == nil {
		t.found(damaged("it is not a session of Expediter"))
		return ID{}, nil
	}
	v, err := strconv.Atoi(string(t.head.Get(keyFormat)))
	switch {
	case err != nil || v < 1:
		t.found(damaged("it does not say its format"))
		return ID{}, nil
	case v > format:
		return ID{}, fmt.Errorf("%s: %w: %d, and this version knows %d; use the later version, or another store", t.tx.DB().Path(), ErrNewer, v, format)
	case t.state == nil || t.lines == nil || t.sizes == nil:
		t.found(damaged("a part of it is missing"))
		return ID{}, nil
	}
	id = ID{string(t.value(keyAgent, t.head.Get(keyAgent))), string(t.value(keySession, t.head.Get(keySession)))}
	t.readPlace()
	if t.doubt && t.damage == nil {
		t.checkState()
		t.checkJournal()
	}
	return id, nil
}

// checkState looks whether all values are there, and as they were put.
func (t *Tx) checkState() {
	n := uint64(0)
	_ = t.state.ForEachBucket(func(key []byte) error {
		t.found(checkSum(key, t.state.Bucket(key).Get(keyValue)))
		n++
		return nil
	})
	if n != t.at.Values {
		t.found(damaged("it has %d values, not %d", n, t.at.Values))
	}
}

func (t *Tx) commit() error {
	if err := t.drop(); err != nil {
		return err
	}
	if err := t.writePlace(); err != nil {
		return err
	}
	if t.oneMeta {
		if err := copyAside(t.tx.DB().Path(), "one of its two meta pages is damaged; the session went on from the other, so its last call may be missing"); err != nil {
			return err
		}
	}
	return t.tx.Commit()
}

// guard runs an access to the file. Where the file proves damaged it ends the
// transaction's function.
func (t *Tx) guard(write bool, f func() error) error {
	switch {
	case t.over:
		panic("store: a transaction was used after the function that it was given to")
	case write && !t.write:
		return errReadOnly
	}
	if t.damage == nil {
		d, err := guard(f)
		if t.found(d) == nil {
			return err
		}
	}
	panic(errDamage)
}

// summed is a value behind a checksum of it and its key: bbolt has none for what it
// keeps.
func summed(key, value []byte) []byte {
	kept := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(value)), checksum(key, value))
	return append(kept, value...)
}

// checksum is of the polynomial whose tables a new process makes fastest.
func checksum(key, value []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(key), crc32.IEEETable, value)
}

// checkSum reports what is wrong with what summed made.
func checkSum(key, kept []byte) *damage {
	if len(kept) < 4 || binary.BigEndian.Uint32(kept) != checksum(key, kept[4:]) {
		return damaged("a value is not what was put there")
	}
	return nil
}

// value returns a copy of what summed was given: a slice of the map would end the
// process that looks at it too late.
func (t *Tx) value(key, kept []byte) []byte {
	if t.found(checkSum(key, kept)) != nil {
		return nil
	}
	return append([]byte{}, kept[4:]...)
}

// Each value of the state has a bucket of its own. So it has pages of its own, and
// putting one value back does not write the others.

// Get returns a copy of the value of a key, nil if there is none. A value that was
// put with no bytes is not nil.
func (t *Tx) Get(key string) (value []byte) {
	_ = t.guard(false, func() error {
		if b := t.state.Bucket([]byte(key)); b != nil {
			value = t.value([]byte(key), b.Get(keyValue))
		}
		return nil
	})
	return value
}

// Put sets the value of a key. The key has 1 to 256 bytes, the value 16 MiB at most.
// A nil value deletes the key, an empty one is kept.
func (t *Tx) Put(key string, value []byte) error {
	switch {
	case len(key) == 0 || len(key) > maxKey:
		return fmt.Errorf("a key has %d bytes, and must have 1 to %d", len(key), maxKey)
	case len(value) > maxValue:
		return fmt.Errorf("the value of %q has %d bytes, and at most %d are kept", key, len(value), maxValue)
	}
	return t.guard(true, func() error {
		if value == nil {
			return t.remove([]byte(key))
		}
		b := t.state.Bucket([]byte(key))
		if b == nil {
			made, err := t.state.CreateBucket([]byte(key))
			if err != nil {
				return err
			}
			b = made
			t.at.Values++
		}
		return b.Put(keyValue, summed([]byte(key), value))
	})
}

func (t *Tx) remove(key []byte) error {
	if t.state.Bucket(key) == nil {
		return nil
	}
	t.at.Values--
	return t.state.DeleteBucket(key)
}
