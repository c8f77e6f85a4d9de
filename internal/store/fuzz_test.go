package store

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzFile lets a session's file be anything: as it stands, or a whole session with
// changes. Each change is 2 bytes of where, in units of 8, 1 of how far from there,
// and 1 to put there. With sum its meta pages are made valid again. Whatever it is, it
// harms no process, and an Update goes on with it or keeps it beside.
func FuzzFile(f *testing.F) {
	whole := read(f, golden)
	f.Add([]byte(nil), []byte(nil), false)
	f.Add([]byte("SQLite format 3\x00"), []byte(nil), false)
	f.Add(bytes.Repeat([]byte{0}, 4*pageSize), []byte(nil), false)
	f.Add([]byte(nil), put(pageHead+32, 5), true) // another page for the free list
	f.Add([]byte(nil), put(pageOf(whole, isFreelist)+10, 0xFF, 0xFF), false)
	f.Add([]byte(nil), put(pageOf(whole, isBranch)+pageHead+8, byte(pageOf(whole, isBranch)/pageSize)), false)
	f.Add([]byte(nil), put(pageOf(whole, isLeaf)+12, 1), false)

	f.Add([]byte(nil), put(pageHead+9, 0x80), true) // another size of pages
	dir := folder(f)
	f.Fuzz(func(t *testing.T, raw, changes []byte, sum bool) {
		if len(raw) > 1<<20 {
			return
		}
		b := raw
		if len(raw) == 0 {
			b = changed(whole, changes)
		}
		if sum {
			b = resum(bytes.Clone(b))
		}
		use(t, dir, b)
	})
}

func put(at int, values ...byte) (changes []byte) {
	for i, v := range values {
		changes = binary.BigEndian.AppendUint16(changes, uint16((at+i)/8))
		changes = append(changes, byte((at+i)%8), v)
	}
	return changes
}

func changed(whole, changes []byte) []byte {
	b := bytes.Clone(whole)
	for c := range slices.Chunk(changes, 4) {
		if len(c) == 4 {
			b[(int(binary.BigEndian.Uint16(c))*8+int(c[2]))%len(b)] = c[3]
		}
	}
	return b
}

// use looks at a session whose file has these bytes and goes on with it.
func use(t *testing.T, dir string, b []byte) {
	s := Open(dir)
	p := s.paths(theSession)
	for _, path := range []string{p.lock, p.session} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(s.sessions(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.session, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Sessions(t.Context())
	viewed := s.View(t.Context(), theSession, func(tx *Tx) error {
		seen(tx, []string{"state"})
		return nil
	})
	if got := read(t, p.session); !bytes.Equal(got, b) {
		t.Fatal("a view changed the file")
	}
	if err := s.Update(t.Context(), theSession, func(tx *Tx) error { return tx.Put("more", []byte("x")) }); err != nil {
		t.Fatal(err)
	}
	aside, _ := filepath.Glob(p.base + endAside + "?")
	kept := len(aside) == 1 && bytes.Equal(read(t, aside[0]), b)
	if viewed != nil && !kept {
		t.Fatalf("the view found %v, and the file was not kept: %q", viewed, aside)
	}
	for range 2 {
		if err := s.Update(t.Context(), theSession, addLine("q-0")); err != nil && viewed != nil {
			t.Fatal(err)
		}
	}
	for _, path := range aside {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		os.Remove(path + endWhy)
	}
}
