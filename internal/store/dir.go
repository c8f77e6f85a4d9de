package store

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
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
	return "", errors.New("no folder for the store: neither EXPEDITER_STORE, XDG_STATE_HOME nor HOME is set; give one with --store or EXPEDITER_STORE")
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
	h := sha256.New()
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(id.Agent)))
	h.Write(n[:])
	h.Write([]byte(id.Agent))
	h.Write([]byte(id.Session))
	hash := strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:16]))
	return readable(id.Agent, 16) + "-" + readable(id.Session, 12) + "-" + hash
}

// readable keeps the first letters and digits of a text, in lower case since some
// file systems do not tell cases apart.
func readable(text string, most int) string {
	b := make([]byte, 0, most)
	for i := 0; i < len(text) && len(b) < most; i++ {
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

func (s *Store) makeFolders() error { return os.MkdirAll(s.sessions(), 0o700) }

func (s *Store) checkFolders() error { return nil }
