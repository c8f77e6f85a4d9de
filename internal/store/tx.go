package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	bolt "go.etcd.io/bbolt"
)

// format is the version of what a session's file holds.
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
)

// Tx is a transaction on one session. It ends with the function that it was given
// to, and is used by one goroutine at a time.
type Tx struct {
	tx     *bolt.Tx
	write  bool
	damage *damage
	head   *bolt.Bucket
	state  *bolt.Bucket
	lines  *bolt.Bucket
	ends   *bolt.Bucket // closed segments, and their bytes
	at     place
}

// errDamage ends a function early whose transaction found damage.
var errDamage = errors.New("the session's file is damaged")

// found is what is wrong with the file, from inside or outside.
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
		t.head.Put(keyAgent, []byte(id.Agent)),
		t.head.Put(keySession, []byte(id.Session)),
	)
}

func (t *Tx) buckets() {
	t.head, t.state = t.tx.Bucket(bucketHead), t.tx.Bucket(bucketState)
	t.lines, t.ends = t.tx.Bucket(bucketJournal), t.tx.Bucket(bucketSegments)
	if t.lines != nil {
		t.lines.FillPercent = 1 // lines only come at the end
	}
}

// verify finds out whether the file is the session's, in a format that is known.
func (t *Tx) verify(id ID) error {
	t.buckets()
	if t.head == nil {
		t.found(&damage{"it is not a session of Expediter"})
		return nil
	}
	switch v, err := strconv.Atoi(string(t.head.Get(keyFormat))); {
	case err != nil:
		t.found(&damage{"it has no format"})
		return nil
	case v > format:
		return fmt.Errorf("%w: it has format %d, and this one knows up to %d; use the later version, or another store", ErrNewer, v, format)
	}
	if t.state == nil || t.lines == nil || t.ends == nil {
		t.found(&damage{"it lacks a part"})
		return nil
	}
	if !bytes.Equal(t.head.Get(keyAgent), []byte(id.Agent)) || !bytes.Equal(t.head.Get(keySession), []byte(id.Session)) {
		t.found(&damage{"it is another session"})
		return nil
	}
	return t.readPlace()
}

func (t *Tx) commit() error {
	if err := t.drop(); err != nil {
		return err
	}
	if err := t.writePlace(); err != nil {
		return err
	}
	return t.tx.Commit()
}

// guard runs an access to the file and ends the transaction's function if the
// file proves damaged.
func (t *Tx) guard(f func() error) error {
	if t.damage != nil {
		panic(errDamage)
	}
	d, err := guard(f)
	if t.found(d) != nil {
		panic(errDamage)
	}
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal puts a checksum before a value: bbolt has none for what it stores.
func seal(value []byte) []byte {
	sealed := make([]byte, 4, 4+len(value))
	binary.BigEndian.PutUint32(sealed, crc32.Checksum(value, castagnoli))
	return append(sealed, value...)
}

// unseal returns a copy of a sealed value.
func unseal(sealed []byte) ([]byte, *damage) {
	if len(sealed) < 4 || binary.BigEndian.Uint32(sealed) != crc32.Checksum(sealed[4:], castagnoli) {
		return nil, &damage{"a value is not what was put"}
	}
	return append([]byte{}, sealed[4:]...), nil
}

// Get returns a copy of the value of a key, nil if there is none. A value that was
// put with no bytes is not nil.
func (t *Tx) Get(key string) (value []byte) {
	_ = t.guard(func() error {
		if sealed := t.state.Get([]byte(key)); sealed != nil {
			var d *damage
			value, d = unseal(sealed)
			t.found(d)
		}
		return nil
	})
	return value
}

// Put sets the value of a key, which must not be empty. A nil value deletes the
// key; an empty one is kept.
func (t *Tx) Put(key string, value []byte) error {
	return t.guard(func() error {
		if value == nil {
			return t.state.Delete([]byte(key))
		}
		return t.state.Put([]byte(key), seal(value))
	})
}
