package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestFolder(t *testing.T) {
	dir := filepath.Join(folder(t), "s")
	s := Open(dir)
	if _, err := s.Folder("run", false); !errors.Is(err, ErrNoSession) {
		t.Errorf("none: got %v, want %v", err, ErrNoSession)
	}
	for range 2 {
		got, err := s.Folder("run", true)
		if err != nil || got != filepath.Join(dir, "run") {
			t.Fatalf("got %q, error %v", got, err)
		}
		info, err := os.Stat(got)
		if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
			t.Errorf("got %v, error %v", info, err)
		}
		if err := os.Chmod(got, 0o755); err != nil { // is closed again
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "run"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, create := range []bool{false, true} {
		if _, err := s.Folder("run", create); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("one that others write to: got %v, want %v", err, fs.ErrPermission)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Folder("file", true); err == nil {
		t.Error("a file is a folder")
	}
}

func TestForget(t *testing.T) {
	s := Open(folder(t))
	add := func(lines ...string) {
		t.Helper()
		err := s.Update(t.Context(), theSession, func(tx *Tx) error {
			errs := []error{tx.Forget()}
			for _, line := range lines {
				errs = append(errs, tx.Append([]byte(line)))
			}
			return errors.Join(errs...)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add("a", "b")
	add("c")
	add()
	add("d", "e")
	var got []string
	err := s.View(t.Context(), theSession, func(tx *Tx) error {
		for _, lines := range tx.Segments() {
			for line := range lines {
				got = append(got, string(line))
			}
		}
		tx.checkJournal()
		return nil
	})
	if err != nil || len(got) != 2 || got[0] != "d" {
		t.Errorf("got %q, error %v", got, err)
	}
}
