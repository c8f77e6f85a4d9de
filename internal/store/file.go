package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// damage is why a file cannot be a session.
type damage struct{ why string }

// guard runs f, which touches the map of a file: what bbolt panics of, and faults
// of the map where the file has been cut, are damage.
func guard(f func() error) (d *damage, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			d = &damage{fmt.Sprint(p)}
		}
	}()
	return nil, f()
}

// file is an open session.
type file struct {
	db   *bolt.DB
	held *os.File // what db reads and writes
}

// open opens the file at path.
func open(path string, write bool) (*file, *damage, error) {
	s := &file{}
	d, err := guard(func() (err error) {
		s.db, err = bolt.Open(path, 0o600, &bolt.Options{
			Timeout:  500 * time.Millisecond,
			ReadOnly: !write,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(name, flag, mode)
				s.held = f
				return f, err
			},
		})
		return err
	})
	if d != nil {
		s.abandon()
		return nil, d, nil
	}
	var errno syscall.Errno
	var perr *fs.PathError
	switch {
	case err == nil:
		return s, nil, nil
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, nil, fmt.Errorf("%s: %w by another program", path, ErrBusy)
	case errors.As(err, &errno), errors.As(err, &perr):
		return nil, nil, err
	}
	return nil, &damage{err.Error()}, nil
}

// close ends the use of the file. The database is closed only if nothing
// panicked: its locks may be held for good.
func (s *file) close(d *damage) error {
	if d != nil {
		s.abandon()
		return nil
	}
	return s.db.Close()
}

// abandon gives the file back and leaves the map to the end of the process.
func (s *file) abandon() {
	if s.held != nil {
		s.held.Close()
	}
}

// update runs f in a transaction on the file, or on a new one that gets its name
// when all went well.
func update(p paths, id ID, f func(*Tx) error) (*damage, error) {
	path, fresh := p.session, false
	if _, err := os.Lstat(p.session); errors.Is(err, os.ErrNotExist) {
		path, fresh = p.new, true
		if err := os.RemoveAll(p.new); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	d, err := transact(path, true, func(t *Tx) error {
		if fresh {
			return t.begin(id)
		}
		return t.verify(id)
	}, f)
	if !fresh || d != nil {
		return d, err
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.new))
	}
	return nil, os.Rename(p.new, p.session)
}

func view(p paths, id ID, f func(*Tx) error) (*damage, error) {
	return transact(p.session, false, func(t *Tx) error { return t.verify(id) }, f)
}

// transact opens the file and runs prepare and f in one transaction.
func transact(path string, write bool, prepare, f func(*Tx) error) (d *damage, err error) {
	s, d, err := open(path, write)
	if d != nil || err != nil {
		return d, err
	}
	t := &Tx{write: write}
	defer func() {
		if d == nil && t.tx != nil {
			d, _ = guard(t.tx.Rollback)
		}
		if e := s.close(d); err == nil {
			err = e
		}
	}()
	d, err = guard(func() (err error) {
		if t.tx, err = s.db.Begin(write); err != nil {
			return err
		}
		return prepare(t)
	})
	if t.found(d) != nil || err != nil {
		return t.damage, err
	}
	err = run(t, f)
	if t.damage != nil || err != nil || !write {
		return t.damage, err
	}
	d, err = guard(t.commit)
	return d, err
}

// run is f, ended early where the file proved damaged.
func run(t *Tx, f func(*Tx) error) error {
	defer func() {
		if t.damage != nil {
			_ = recover()
		}
	}()
	return f(t)
}
