//go:build unix

package store

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// noFollow refuses to open a link.
const noFollow = syscall.O_NOFOLLOW

// noWait refuses to wait for whoever is at the other end of a pipe.
const noWait = syscall.O_NONBLOCK

// owned refuses what is another user's.
func owned(path string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int64(st.Uid) != int64(os.Geteuid()) {
		return refusal(path, fmt.Sprintf("it belongs to user %d, and this is user %d", st.Uid, os.Geteuid()), "run as its owner")
	}
	return nil
}

// private refuses what is another user's, and what others can write to.
func private(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o022 != 0 {
		return refusal(path, fmt.Sprintf("others can write to it (mode %#o)", info.Mode().Perm()), "see that all in it is yours and run chmod go-w on it")
	}
	return owned(path, info)
}

// tighten closes the folder of sessions to others where they could look into it.
func tighten(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// closeToOthers gives a file its mode, whatever the umask made of it.
func closeToOthers(f interface {
	Stat() (fs.FileInfo, error)
	Chmod(fs.FileMode) error
}) error {
	info, err := f.Stat()
	if err != nil || info.Mode().Perm() == 0o600 {
		return err
	}
	return f.Chmod(0o600)
}

// syncFolder makes new names in a folder last.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
