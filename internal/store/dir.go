package store

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Dir is the folder of the store: the flag if it is set, else EXPEDITER_STORE, else
// XDG_STATE_HOME/expediter, else HOME/.local/state/expediter. An XDG path that is
// not absolute does not count, as its specification says. The error: none of them
// is known.
func Dir(flag string, env func(string) string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	if dir := env("EXPEDITER_STORE"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "expediter"), nil
	}
	if home := env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "expediter"), nil
	}
	return "", errors.New("no folder for the store: neither EXPEDITER_STORE, XDG_STATE_HOME nor HOME names one; give it with --store or EXPEDITER_STORE")
}

// The endings of the files of a session.
const (
	endSession = ".session"
	endLock    = ".lock"
	endNew     = ".new" // a session whose first transaction is not through
	endAside   = ".damaged-"
	endWhy     = ".txt" // after the number
)

// paths are the files of one session.
type paths struct{ base, session, lock, new string }

func (s *Store) sessions() string { return filepath.Join(s.dir, "sessions") }

func (s *Store) paths(id ID) paths { return pathsOf(filepath.Join(s.sessions(), name(id))) }

func pathsOf(base string) paths {
	return paths{base: base, session: base + endSession, lock: base + endLock, new: base + endNew}
}

// name is a file name for a session: a few of its letters to read, and a hash that
// tells it from all others.
func name(id ID) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(len(id.Agent)))
	b = append(append(b, id.Agent...), id.Session...)
	sum := sha256.Sum256(b)
	hash := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:16]))
	return readable(id.Agent, 16) + "-" + readable(id.Session, 12) + "-" + hash
}

// readable keeps the first letters and digits of a text, in lower case since some
// file systems do not tell cases apart.
func readable(text string, most int) string {
	b := make([]byte, 0, most)
	for i := 0; i < len(text) && i < 4*most && len(b) < most; i++ {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-' && len(b) > 0:
			b = append(b, c)
		case 'A' <= c && c <= 'Z':
			b = append(b, c|0x20)
		}
	}
	if len(b) == 0 {
		return "x"
	}
	return string(b)
}

// makeFolders makes the folders that are missing, for their owner alone.
func (s *Store) makeFolders() error {
	err := s.checkFolders()
	if err == nil {
		return tighten(s.sessions())
	}
	if !errors.Is(err, ErrNoSession) {
		return err
	}
	for _, dir := range []string{s.dir, s.sessions()} {
		if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("the store's folder cannot be made; name another with --store or EXPEDITER_STORE: %w", err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			return err
		}
		if err := syncFolder(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	return s.checkFolders()
}

// Folder is a folder of the store beside its sessions, for its owner alone; with
// create it is made where it is missing, and what others could see of it is closed
// to them. One that somebody else has a say in is an error, as that of the sessions.
// Without create the error may be ErrNoSession: there is none.
func (s *Store) Folder(name string, create bool) (string, error) {
	dir := filepath.Join(s.dir, name)
	if create {
		if err := errors.Join(s.makeFolders(), makeFolder(dir)); err != nil {
			return "", err
		}
	}
	if err := checkFolder(s.dir, os.Stat); err != nil { // a link if they like
		return "", err
	}
	return dir, checkFolder(dir, os.Lstat)
}

func makeFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := checkFolder(dir, os.Lstat); err != nil {
		return err
	}
	return tighten(dir)
}

// checkFolders refuses folders that somebody else could have put a file in; the
// decisions of an agent must not come from a stranger's file. The store's own
// folder may be read by others, since it may be one that the user has for more
// than this; the one for sessions is closed to them by Update. ErrNoSession: one is
// missing.
func (s *Store) checkFolders() error {
	for _, dir := range []string{s.dir, s.sessions()} {
		stat := os.Lstat
		if dir == s.dir { // where the user put it, a link if they like
			stat = os.Stat
		}
		if err := checkFolder(dir, stat); err != nil {
			return err
		}
	}
	return nil
}

func checkFolder(dir string, stat func(string) (fs.FileInfo, error)) error {
	info, err := stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: %w", dir, ErrNoSession)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder; move it away, or name another store with --store or EXPEDITER_STORE", dir)
	}
	return private(dir, info)
}

// refusal is an error for a file or folder that strangers have a say in.
func refusal(path, why, remedy string) error {
	return fmt.Errorf("%s: %w: %s; %s, or name another store with --store or EXPEDITER_STORE", path, fs.ErrPermission, why, remedy)
}
