package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// session makes a store with one session of so many lines.
func session(t testing.TB, dir string, lines int) (*Store, paths) {
	t.Helper()
	s := Open(dir)
	for n := range lines {
		if err := s.Update(t.Context(), theSession, addLine(fmt.Sprint("p-", n))); err != nil {
			t.Fatal(err)
		}
	}
	return s, s.paths(theSession)
}

// later makes a change of a file show in its time, which may be too coarse to tell
// it from the transaction just before.
func later(t testing.TB, path string) {
	t.Helper()
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	later(t, path)
}

// with returns a change of a session's bytes.
func with(change func([]byte) []byte) func(testing.TB, string) {
	return func(t testing.TB, path string) { write(t, path, change(read(t, path))) }
}

// inBolt returns a change that another program of bbolt makes.
func inBolt(change func(*bolt.Tx) error) func(testing.TB, string) {
	return func(t testing.TB, path string) {
		t.Helper()
		db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Update(change), db.Close()); err != nil {
			t.Fatal(err)
		}
		later(t, path)
	}
}

// pageOf returns where the last page of a kind is that is in use.
func pageOf(b []byte, kind uint16) int {
	m := latest(b)
	p := pages{from: bytes.NewReader(b), end: m.end, seen: make([]bool, m.end)}
	if d, err := p.tree(m.root, span{}, 0); d != nil || err != nil {
		panic(fmt.Sprint(d, err))
	}
	p.seen[m.free] = true
	for id := int(m.end - 1); id > 1; id-- {
		if at := id * pageSize; p.seen[id] && order.Uint16(b[at+8:]) == kind && order.Uint64(b[at:]) == uint64(id) {
			return at
		}
	}
	panic("no such page")
}

func latest(b []byte) meta {
	p := pages{from: bytes.NewReader(b)}
	m, _, _ := p.meta()
	return m
}

// resum makes the meta pages of a file valid again after a change.
func resum(b []byte) []byte {
	for _, at := range []int{pageHead, pageSize + pageHead} {
		if len(b) < at+64 {
			continue
		}
		sum := fnv.New64a()
		sum.Write(b[at : at+56])
		order.PutUint64(b[at+56:], sum.Sum64())
	}
	return b
}

func replaced(text string) func(testing.TB, string) {
	return func(t testing.TB, path string) { write(t, path, []byte(text)) }
}

var damages = []struct {
	name   string
	damage func(testing.TB, string)
	why    string // part of it
}{
	{"empty", replaced(""), "it is empty"},
	{"one byte", replaced("x"), "it does not begin as a session does"},
	{"text", replaced(strings.Repeat("The quick brown fox.\n", 10_000)), "it does not begin as a session does"},
	{"sqlite", replaced("SQLite format 3\x00" + strings.Repeat("\x00", 8176)), "it does not begin as a session does"},
	{"cut in the first page", with(func(b []byte) []byte { return b[:100] }), "its end is missing"},
	{"cut after the meta pages", with(func(b []byte) []byte { return b[:2*pageSize] }), "its end is missing"},
	{"cut in its last page", with(func(b []byte) []byte { return b[:int(latest(b).end)*pageSize-1] }), "its end is missing"},
	{"both meta pages", with(func(b []byte) []byte { b[40], b[pageSize+40] = ^b[40], ^b[pageSize+40]; return b }), "it does not begin"},
	{"another size of pages", with(func(b []byte) []byte {
		order.PutUint32(b[pageHead+8:], 8*pageSize)
		return resum(b)
	}), "another size"},
	{"a third meta page", with(func(b []byte) []byte {
		copy(b[1024:], b[pageSize:pageSize+pageHead+64])
		b[40] = ^b[40]
		return b
	}), "another size"},
	{"kind of the free list", with(func(b []byte) []byte { b[pageOf(b, isFreelist)+8] = isLeaf; return b }), "list of free pages"},
	{"count of the free list", with(func(b []byte) []byte { b[pageOf(b, isFreelist)+11] = 0xEE; return b }), "list of free pages"},
	{"length of the free list", with(func(b []byte) []byte {
		at := pageOf(b, isFreelist)
		order.PutUint16(b[at+10:], 0xFFFF)
		order.PutUint64(b[at+16:], 1<<40)
		return b
	}), "list of free pages"},
	{"a used page is free", with(func(b []byte) []byte {
		at := pageOf(b, isFreelist)
		order.PutUint16(b[at+10:], 1)
		order.PutUint64(b[at+16:], latest(b).root)
		return b
	}), "both in use and free"},
	{"a page that runs on", with(func(b []byte) []byte { b[latest(b).root*pageSize+15] = 0x7F; return b }), "where it belongs"},
	{"a branch to itself", with(func(b []byte) []byte {
		at := pageOf(b, isBranch)
		order.PutUint64(b[at+pageHead+8:], uint64(at/pageSize))
		return b
	}), "used twice"},
	{"a key", with(func(b []byte) []byte { b[pageOf(b, isBranch)+pageHead+4] = 0xFF; return b }), "a key is not where it belongs"},
	{"a byte of a line", with(func(b []byte) []byte { return bytes.Replace(b, []byte("p-300"), []byte("p-800"), -1) }), "a value is not what was put there"},
	{"a byte of the state", with(func(b []byte) []byte {
		return bytes.ReplaceAll(b, fmt.Appendf(nil, "%-20d", 320), fmt.Appendf(nil, "%-20d", 401))
	}), "a value is not what was put there"},
	{"a byte of its name", with(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("claude-code"), []byte("claude-cide")) }), "a value is not what was put there"},
	{"no head", inBolt(func(tx *bolt.Tx) error { return tx.DeleteBucket(bucketHead) }), "it is not a session of Expediter"},
	{"no format", inBolt(func(tx *bolt.Tx) error { return tx.Bucket(bucketHead).Delete(keyFormat) }), "format"},
	{"no journal", inBolt(func(tx *bolt.Tx) error { return tx.DeleteBucket(bucketJournal) }), "a part of it is missing"},
	{"a line less", inBolt(func(tx *bolt.Tx) error { return tx.Bucket(bucketJournal).Delete(lineKey(2, 50)) }), "an event of the journal is missing"},
	{"the last line", inBolt(func(tx *bolt.Tx) error { return tx.Bucket(bucketJournal).Delete(lineKey(4, 19)) }), "the end of the journal is missing"},
	{"a segment less", inBolt(func(tx *bolt.Tx) error { return tx.Bucket(bucketSegments).Delete(number(2)) }), "sizes of its journal"},
	{"a value less", inBolt(func(tx *bolt.Tx) error { return tx.Bucket(bucketState).DeleteBucket([]byte("state")) }), "it has 0 values"},
	{"no place", inBolt(func(tx *bolt.Tx) error {
		return tx.Bucket(bucketHead).Put(keyJournal, summed(keyJournal, binary.BigEndian.AppendUint64(nil, 7)))
	}), "where its journal stands"},
	{"another session", inBolt(func(tx *bolt.Tx) error { return tx.Bucket(bucketHead).Put(keySession, summed(keySession, []byte("x"))) }), "it is another session"},
	{"somebody else's bbolt", func(t testing.TB, path string) {
		write(t, path, nil)
		inBolt(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucket([]byte("members"))
			if err != nil {
				return err
			}
			return b.Put([]byte("a"), []byte("b"))
		})(t, path)
	}, "it is not a session of Expediter"},
	{"folder", func(t testing.TB, path string) {
		if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
			t.Fatal(err)
		}
	}, "it is a folder"},
	{"link to itself elsewhere", func(t testing.TB, path string) {
		if err := errors.Join(os.Rename(path, path+"2"), os.Symlink(path+"2", path)); err != nil {
			t.Fatal(err)
		}
	}, "it is a link"},
}

// contents are the bytes at a path, whatever it is.
func contents(t *testing.T, path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case info.IsDir():
		return "folder"
	case info.Mode().IsRegular():
		return string(read(t, path))
	}
	to, err := os.Readlink(path)
	return fmt.Sprint("link to ", to, err)
}

func TestDamage(t *testing.T) {
	t.Parallel()
	whole := folder(t)
	session(t, whole, 320)
	for _, tt := range damages {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t)
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir+"/sessions", 0o700); err != nil {
				t.Fatal(err)
			}
			s := Open(dir)
			p := s.paths(theSession)
			tt.damage(t, p.session)
			before := contents(t, p.session)

			err := s.View(t.Context(), theSession, func(tx *Tx) error { tx.Get("state"); return nil })
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("view: %v, want ErrDamaged: %s", err, tt.why)
			}
			if after := contents(t, p.session); after != before {
				t.Error("a view changed the file")
			}
			if all, err := s.Sessions(t.Context()); len(all) != 0 || err == nil {
				t.Errorf("sessions: %v, %v, want none and an error", all, err)
			}
			if err := s.Update(t.Context(), theSession, addLine("q-0")); err != nil {
				t.Fatalf("update: %v", err)
			}
			if lines, n := journal(t, s, theSession); n != 1 || !slices.Equal(lines, []string{"q-0"}) {
				t.Errorf("new session has %q and counts %d", lines, n)
			}
			aside, err := s.Aside()
			if err != nil || len(aside) != 1 {
				t.Fatalf("aside: %v, %v", aside, err)
			}
			if !strings.Contains(aside[0].Why, tt.why) {
				t.Errorf("why: %q, want %q", aside[0].Why, tt.why)
			}
			if after := contents(t, aside[0].Path); after != before {
				t.Error("what was set aside is not what was there")
			}
		})
	}
}

// TestFlippedBytes changes bytes anywhere: the session goes on as it was, or one
// transaction before, or anew; and what was there is kept.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	s, p := session(t, dir, 120)
	whole := read(t, p.session)
	used := int(latest(whole).end) * pageSize
	rnd := rand.New(rand.NewPCG(3, 4))
	outcomes := map[string]int{}
	for round := range 120 {
		b := bytes.Clone(whole)
		for range 1 + rnd.IntN(4) {
			at := rnd.IntN(used)
			switch rnd.IntN(8) {
			case 0: // a meta page
				at = rnd.IntN(2)*pageSize + pageHead + rnd.IntN(64)
			case 1, 2, 3: // where pages begin
				at = at/pageSize*pageSize + rnd.IntN(96)
			}
			b[at] ^= 1 << rnd.IntN(8)
		}
		write(t, p.session, b)
		if err := s.Update(t.Context(), theSession, addLine("q-0")); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		lines, n := journal(t, s, theSession)
		aside, err := s.Aside()
		if err != nil || len(lines) != n {
			t.Fatalf("round %d: %d lines, %d counted, %v", round, len(lines), n, err)
		}
		switch {
		case n == 121 && len(aside) == 0:
			outcomes["goes on"]++
		case n >= 120 && len(aside) == 1 && bytes.Equal(read(t, aside[0].Path), b):
			outcomes["goes on, with a copy"]++
		case n == 1 && len(aside) == 1 && bytes.Equal(read(t, aside[0].Path), b):
			outcomes["anew"]++
		default:
			t.Fatalf("round %d: %d lines, aside %v", round, n, aside)
		}
		for _, a := range aside {
			if err := errors.Join(os.Remove(a.Path), os.Remove(a.Path+endWhy)); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Log(outcomes)
	for _, what := range []string{"goes on", "goes on, with a copy", "anew"} {
		if outcomes[what] == 0 {
			t.Errorf("no round: %s", what)
		}
	}
}

// TestCutWhileOpen cuts the file below the map that a transaction reads.
func TestCutWhileOpen(t *testing.T) {
	s, p := session(t, folder(t), 200)
	runs := 0
	err := s.Update(t.Context(), theSession, func(tx *Tx) error {
		if runs++; runs == 1 {
			if err := os.Truncate(p.session, 2*pageSize); err != nil {
				return err
			}
		}
		return addLine("q-0")(tx)
	})
	if err != nil || runs != 2 {
		t.Fatalf("%v after %d runs, want 2", err, runs)
	}
	if lines, _ := journal(t, s, theSession); !slices.Equal(lines, []string{"q-0"}) {
		t.Errorf("journal %q", lines)
	}
	err = s.View(t.Context(), theSession, func(tx *Tx) error {
		if err := os.Truncate(p.session, 2*pageSize); err != nil {
			return err
		}
		tx.Get("state")
		t.Error("the view goes on after it read what is gone")
		return nil
	})
	if !errors.Is(err, ErrDamaged) {
		t.Errorf("view: %v, want ErrDamaged", err)
	}
}

// TestNewer leaves alone what a later version made.
func TestNewer(t *testing.T) {
	s, p := session(t, folder(t), 3)
	inBolt(func(tx *bolt.Tx) error { return tx.Bucket(bucketHead).Put(keyFormat, []byte("2")) })(t, p.session)
	before := read(t, p.session)
	if err := s.Update(t.Context(), theSession, addLine("q-0")); !errors.Is(err, ErrNewer) {
		t.Errorf("update: %v, want ErrNewer", err)
	}
	if err := s.View(t.Context(), theSession, func(*Tx) error { return nil }); !errors.Is(err, ErrNewer) {
		t.Errorf("view: %v, want ErrNewer", err)
	}
	if n, err := s.Prune(t.Context(), Limits{Age: 1}, time.Now().Add(48*time.Hour)); n != 0 || err != nil {
		t.Errorf("pruned %d, %v", n, err)
	}
	if !bytes.Equal(read(t, p.session), before) {
		t.Error("the file was changed")
	}
	if aside, err := s.Aside(); len(aside) != 0 || err != nil {
		t.Errorf("aside: %v, %v", aside, err)
	}
}

// TestSeal holds that a file is checked as a whole only when something else wrote
// to it.
func TestSeal(t *testing.T) {
	s, p := session(t, folder(t), 3)
	thorough := func() (doubt bool) {
		t.Helper()
		err := s.View(t.Context(), theSession, func(tx *Tx) error { doubt = tx.doubt; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return doubt
	}
	if thorough() {
		t.Error("in doubt after an update")
	}
	later(t, p.session)
	if !thorough() {
		t.Error("not in doubt after a change")
	}
	if thorough() {
		t.Error("in doubt after a check")
	}
}

func TestOneOfTwoMetaPages(t *testing.T) {
	s, p := session(t, folder(t), 5)
	b := read(t, p.session)
	newer := 0
	if first, _ := (&pages{from: bytes.NewReader(b)}).metaAt(0); latest(b).tx != first.tx {
		newer = pageSize
	}
	b[newer+pageHead+20] ^= 1
	write(t, p.session, b)
	for range 2 { // what fails keeps no copy
		if err := s.Update(t.Context(), theSession, func(*Tx) error { return os.ErrInvalid }); !errors.Is(err, os.ErrInvalid) {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := s.Update(t.Context(), theSession, addLine("q-0")); err != nil {
			t.Fatal(err)
		}
	}
	lines, _ := journal(t, s, theSession)
	if diff := cmp.Diff([]string{"p-0", "p-1", "p-2", "p-3", "q-0", "q-0"}, lines); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	aside, err := s.Aside()
	if err != nil || len(aside) != 1 || !bytes.Equal(read(t, aside[0].Path), b) || !strings.Contains(aside[0].Why, "meta pages") {
		t.Errorf("aside: %v, %v", aside, err)
	}
}
