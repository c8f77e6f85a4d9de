package store

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// damage is why a file cannot be a session. Nil: it can.
type damage struct{ why string }

func damaged(format string, args ...any) *damage { return &damage{fmt.Sprintf(format, args...)} }

// guard runs f, which touches the map of a file: what bbolt panics of, and faults
// of the map where the file has been cut, are damage.
func guard(f func() error) (d *damage, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			d = damaged("its pages make no sense: %v", p)
		}
	}()
	return nil, f()
}

const (
	// pageSize is that of all files, on any machine. Larger pages make each
	// transaction write more, smaller ones deepen the tree of the journal.
	pageSize = 4096
	// growth is by how much a file grows once it is larger than this. bbolt's own
	// 16 MiB would be most of a session.
	growth = 1 << 20
	// elsewhere is how long another program may hold the file: processes of this
	// one wait for the lock file and find it free, or about to be freed.
	elsewhere = 500 * time.Millisecond
)

// mode is what a file is opened for.
type mode uint8

const (
	reading mode = iota
	writing
	making // there is no file yet
)

// file is an open session.
type file struct {
	db      *bolt.DB
	held    *os.File // what db reads and writes
	doubt   bool     // something else may have written to it
	oneMeta bool     // it has lost one of its two meta pages, perhaps the later one
}

// open opens a file whose pages are sound, or makes one. It reads no more of a file
// than a transaction does, unless the file is in doubt.
func open(path string, l *lockedfile.File, m mode) (s *file, d *damage, err error) {
	held, err := hold(path, m)
	if err != nil {
		return nil, nil, err
	}
	s = &file{held: held}
	defer func() {
		if d != nil || err != nil {
			held.Close()
		}
	}()
	if m != making {
		if d, err = s.inspect(l); d != nil || err != nil {
			return nil, d, err
		}
	}
	if d, err = s.attach(path, m); d != nil || err != nil {
		return nil, d, err
	}
	return s, nil, nil
}

// attach lets bbolt have the file.
func (s *file) attach(path string, m mode) (*damage, error) {
	d, err := guard(func() (err error) {
		s.db, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout:      elsewhere,
			ReadOnly:     m == reading,
			PageSize:     pageSize,
			FreelistType: bolt.FreelistArrayType, // takes the first free pages, so the file stays short; few are free
			OpenFile:     func(string, int, os.FileMode) (*os.File, error) { return s.held, nil },
		})
		return err
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		err = fmt.Errorf("%s: %w by another program", path, ErrBusy)
	}
	if d == nil && err == nil {
		s.db.AllocSize = growth
	}
	return d, err
}

// hold opens the file itself, never through a link.
func hold(path string, m mode) (*os.File, error) {
	flag := [...]int{reading: os.O_RDONLY, writing: os.O_RDWR, making: os.O_RDWR | os.O_CREATE | os.O_EXCL}[m]
	f, err := os.OpenFile(path, flag|noFollow, 0o600)
	if err != nil || m == reading {
		return f, err
	}
	if err := closeToOthers(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// inspect looks at the pages of a file, at all of them if it is in doubt: if
// something may have written to it since the last transaction.
func (s *file) inspect(l *lockedfile.File) (d *damage, err error) {
	info, err := s.held.Stat()
	if err != nil {
		return nil, err
	}
	if err := owned(s.held.Name(), info); err != nil {
		return nil, err
	}
	s.doubt = !sealed(l, info)
	s.oneMeta, d, err = check(s.held, info.Size(), s.doubt)
	return d, err
}
