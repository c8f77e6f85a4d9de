//go:build unix

package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A log is added to, and nothing else is that stands in its place.
func TestOpenLog(t *testing.T) {
	const text = "the user's own\n"
	tests := []struct {
		name  string
		make  func(path, other string) error
		wants bool // to be opened
	}{
		{"nothing", func(string, string) error { return nil }, true},
		{"a log", func(path, _ string) error { return os.WriteFile(path, []byte("a line\n"), 0o600) }, true},
		{"a link", func(path, other string) error { return os.Symlink(other, path) }, false},
		{"a link to nothing", func(path, other string) error { return os.Symlink(other+"-gone", path) }, false},
		{"a pipe", func(path, _ string) error { return syscall.Mkfifo(path, 0o600) }, false},
		{"a folder", func(path, _ string) error { return os.Mkdir(path, 0o700) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			path, other := filepath.Join(dir, "hook.log"), filepath.Join(t.TempDir(), "other")
			write(t, other, []byte(text))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(path, other); err != nil {
				t.Fatal(err)
			}
			f, err := OpenLog(dir, "hook.log")
			if (err == nil) != tt.wants {
				t.Errorf("error %v, want it opened: %v", err, tt.wants)
			}
			if err == nil {
				f.Close()
			}
			if got := string(read(t, other)); got != text {
				t.Errorf("another file is now %q", got)
			}
			if _, err := os.Lstat(other + "-gone"); err == nil {
				t.Error("a file was made through a link")
			}
		})
	}
}

func init() { processes["another's log"] = checkAnothersLog }

// A log in another user's folder would shut its owner out of their own.
func TestOpenLogOfAnother(t *testing.T) { unprivileged(t, "another's log") }

// checkAnothersLog tries it where everybody can make files.
func checkAnothersLog([]string) error {
	const dir = "/tmp"
	info, err := os.Stat(dir)
	if err != nil || owned(dir, info) == nil {
		return err
	}
	f, err := OpenLog(dir, "expediter-test.log")
	if err == nil {
		return errors.Join(errors.New("it was made"), f.Close(), os.Remove(f.Name()))
	}
	if _, err := os.Lstat(filepath.Join(dir, "expediter-test.log")); err == nil {
		return errors.New("it was made, and refused")
	}
	return nil
}
