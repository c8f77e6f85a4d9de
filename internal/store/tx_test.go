package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTx(t *testing.T) {
	tests := []struct {
		name string
		do   func(*Tx) error
		want string // part of the error; empty: none
	}{
		{"empty value", func(tx *Tx) error {
			if err := tx.Put("k", []byte{}); err != nil {
				return err
			}
			if got := tx.Get("k"); got == nil || len(got) != 0 {
				return errors.New("an empty value is not there")
			}
			return nil
		}, ""},
		{"nil deletes", func(tx *Tx) error {
			err := errors.Join(tx.Put("k", []byte("v")), tx.Put("k", nil), tx.Put("never", nil))
			if got := tx.Get("k"); got != nil {
				return errors.New("a deleted value is there")
			}
			return err
		}, ""},
		{"what Get returned stays", func(tx *Tx) error {
			err := tx.Put("k", []byte("old"))
			old := tx.Get("k")
			err = errors.Join(err, tx.Put("k", []byte("new")))
			if string(old) != "old" {
				return errors.New("it changed")
			}
			return err
		}, ""},
		{"key with any bytes", func(tx *Tx) error { return tx.Put("\x00/../\xff", []byte("v")) }, ""},
		{"empty key", func(tx *Tx) error { return tx.Put("", []byte("v")) }, "0 bytes, and must have 1 to 256"},
		{"long key", func(tx *Tx) error { return tx.Put(strings.Repeat("k", maxKey+1), nil) }, "257 bytes"},
		{"longest key", func(tx *Tx) error { return tx.Put(strings.Repeat("k", maxKey), []byte("v")) }, ""},
		{"huge value", func(tx *Tx) error { return tx.Put("k", make([]byte, maxValue+1)) }, "at most"},
		{"huge line", func(tx *Tx) error {
			return errors.Join(tx.NewSegment(), tx.Append(make([]byte, maxLine+1)))
		}, "at most"},
		{"line without a segment", func(tx *Tx) error { return tx.Append([]byte("x")) }, "call NewSegment first"},
		{"empty line", func(tx *Tx) error {
			err := errors.Join(tx.NewSegment(), tx.Append(nil), tx.Append([]byte{}))
			n := 0
			for _, lines := range tx.Segments() {
				for range lines {
					n++
				}
			}
			if n != 2 || tx.SegmentLen() != 2 {
				return errors.New("an empty line is not there")
			}
			return err
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Open(folder(t)).Update(t.Context(), theSession, tt.do)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestNothing holds that a failed first transaction leaves nothing.
func TestNothing(t *testing.T) {
	tests := []struct {
		name string
		f    func(*Tx) error
	}{
		{"error", func(*Tx) error { return os.ErrInvalid }},
		{"panic", func(*Tx) error { panic(os.ErrInvalid) }},
		{"panic after a put", func(tx *Tx) error { _ = tx.Put("k", []byte("v")); panic(os.ErrInvalid) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Open(filepath.Join(folder(t), "store"))
			err := func() (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = p.(error)
					}
				}()
				return s.Update(t.Context(), theSession, tt.f)
			}()
			if err != os.ErrInvalid {
				t.Errorf("got %v, want what f said", err)
			}
			if left, err := os.ReadDir(s.sessions()); len(left) != 0 || err != nil {
				t.Errorf("left over: %v, %v", left, err)
			}
			if err := s.View(t.Context(), theSession, tt.f); !errors.Is(err, ErrNoSession) {
				t.Errorf("view: %v, want ErrNoSession", err)
			}
		})
	}
}

func TestAfterTheEnd(t *testing.T) {
	s, _ := session(t, folder(t), 1)
	var kept *Tx
	if err := s.View(t.Context(), theSession, func(tx *Tx) error { kept = tx; return nil }); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p == nil {
			t.Error("a transaction could be used after its end")
		}
	}()
	kept.Get("state")
}

func TestOpenTouchesNothing(t *testing.T) {
	s := Open(filepath.Join(folder(t), "store"))
	if err := s.View(t.Context(), theSession, nil); !errors.Is(err, ErrNoSession) {
		t.Errorf("view: %v, want ErrNoSession", err)
	}
	if all, err := s.Sessions(t.Context()); len(all) != 0 || err != nil {
		t.Errorf("sessions: %v, %v", all, err)
	}
	if all, err := s.Aside(); len(all) != 0 || err != nil {
		t.Errorf("aside: %v, %v", all, err)
	}
	if n, err := s.Prune(t.Context(), Limits{}, farFuture); n != 0 || err != nil {
		t.Errorf("pruned: %v, %v", n, err)
	}
	if _, err := os.Lstat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestDoneContext(t *testing.T) {
	s, _ := session(t, folder(t), 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if err := s.Update(ctx, theSession, addLine("p-1")); !errors.Is(err, ErrBusy) || !errors.Is(err, context.Canceled) {
			t.Errorf("update: %v, want ErrBusy", err)
		}
	}
	if lines, _ := journal(t, s, theSession); len(lines) != 1 {
		t.Errorf("journal %q", lines)
	}
}

// TestHostileIDs keeps sessions apart whose names are meant to be mixed up.
func TestHostileIDs(t *testing.T) {
	s := Open(folder(t))
	ids := []ID{
		{}, {"a", ""}, {"", "a"}, {"ab", "c"}, {"a", "bc"}, {"A", "bc"},
		{"../../etc", "/passwd"}, {"a\x00b", "\n\r\x1b[2J"}, {"con", "nul"}, {".", ".."}, {"*?<>|:\"", "\\\\host\\share"},
		{"\xff\xfe", "über"}, {"claude-code", strings.Repeat("x", 1<<20)}, {"claude-code", strings.Repeat("x", 1<<20) + "y"},
		{"expediter", "x.session"}, {"x", ".damaged-1"},
	}
	for _, id := range ids {
		if err := s.Update(t.Context(), id, func(tx *Tx) error {
			return tx.Put("meta", append([]byte(id.Agent+"\x01"), id.Session...))
		}); err != nil {
			t.Fatalf("%.40q: %v", id, err)
		}
	}
	want, got := map[ID]string{}, map[ID]string{}
	for _, id := range ids {
		want[id] = id.Agent + "\x01" + id.Session
	}
	all, err := s.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, info := range all {
		got[info.ID] = string(info.Meta)
		if i > 0 && info.Modified.After(all[i-1].Modified) {
			t.Errorf("%.40q is newer than the one before it", info.ID)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sessions (-want +got):\n%.2000s", diff)
	}
	entries, err := os.ReadDir(s.sessions())
	if err != nil || len(entries) != 2*len(ids) {
		t.Errorf("%d files, %v", len(entries), err)
	}
	for _, e := range entries {
		if n := e.Name(); len(n) > 80 || strings.Trim(n, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
			t.Errorf("file name %q", n)
		}
	}
}

// TestHeldSession lists the others, without waiting for the one that is held.
func TestHeldSession(t *testing.T) {
	s, p := session(t, folder(t), 1)
	for _, name := range []string{"a", "b"} {
		if err := s.Update(t.Context(), ID{"codex", name}, addLine("p-0")); err != nil {
			t.Fatal(err)
		}
	}
	var all []Info
	var listed error
	err := s.Update(t.Context(), theSession, func(*Tx) error {
		all, listed = s.Sessions(t.Context())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].ID.Agent != "codex" || all[1].ID.Agent != "codex" {
		t.Errorf("got %v, want the two that nobody holds", all)
	}
	if !errors.Is(listed, ErrBusy) || !strings.Contains(listed.Error(), p.lock) {
		t.Errorf("got %v, want ErrBusy of the one that is held", listed)
	}
}

// TestCopy tells of a session whose file was copied under another name.
func TestCopy(t *testing.T) {
	s, p := session(t, folder(t), 1)
	copied := filepath.Join(s.sessions(), "copy"+endSession)
	write(t, copied, read(t, p.session))
	all, err := s.Sessions(t.Context())
	if len(all) != 1 || err == nil || !strings.Contains(err.Error(), copied) {
		t.Errorf("sessions: %v, %v, want one, and the copy in the error", all, err)
	}
}

func TestDir(t *testing.T) {
	abs := func(path string) string {
		a, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	tests := []struct {
		name, flag string
		env        map[string]string
		want       string // empty: an error
	}{
		{"flag", "/f", map[string]string{"EXPEDITER_STORE": "/e", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/f"},
		{"relative flag", "f", nil, abs("f")},
		{"variable", "", map[string]string{"EXPEDITER_STORE": "/e", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/e"},
		{"relative variable", "", map[string]string{"EXPEDITER_STORE": "e"}, abs("e")},
		{"xdg", "", map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/expediter"},
		{"relative xdg", "", map[string]string{"XDG_STATE_HOME": "x", "HOME": "/h"}, "/h/.local/state/expediter"},
		{"home", "", map[string]string{"HOME": "/h"}, "/h/.local/state/expediter"},
		{"relative home", "", map[string]string{"HOME": "h"}, ""},
		{"nothing", "", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Dir(tt.flag, func(name string) string { return tt.env[name] })
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
