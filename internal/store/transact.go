package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// transact opens the file and runs prepare and f in one transaction.
func transact(path string, l *lockedfile.File, m mode, prepare, f func(*Tx) error) (d *damage, err error) {
	s, d, err := open(path, l, m)
	if d != nil || err != nil {
		return d, err
	}
	t := &Tx{write: m != reading, doubt: s.doubt, oneMeta: s.oneMeta}
	defer func() {
		t.over = true
		t.end(s)
	}()
	d, err = guard(func() (err error) {
		if t.tx, err = s.db.Begin(t.write); err != nil {
			return err
		}
		return prepare(t)
	})
	if t.found(d) == nil && err == nil {
		err = run(t, f)
	}
	if t.damage != nil || err != nil || !t.write {
		return t.damage, err
	}
	return guard(t.commit)
}

// end takes back what was not committed and closes the file. Errors of that change
// nothing about what is on the disk. Where bbolt panicked so badly that it holds its
// own locks for good, the map is left to the end of the process.
func (t *Tx) end(s *file) {
	stuck := t.tx == nil
	if !stuck {
		d, _ := guard(t.tx.Rollback)
		stuck = d != nil
	}
	if stuck {
		s.held.Close()
		return
	}
	_, _ = guard(s.db.Close)
}

// run is f, ended early where the file proves damaged.
func run(t *Tx, f func(*Tx) error) error {
	defer func() {
		if t.damage != nil {
			_ = recover()
		}
	}()
	return f(t)
}

// update runs f in a transaction on the file, or on a new one that gets its name
// when all went well: there is never half a session.
func (s *Store) update(p paths, l *lockedfile.File, id ID, f func(*Tx) error) (*damage, error) {
	d, err := regular(p.session)
	if errors.Is(err, os.ErrNotExist) {
		return nil, s.create(p, l, id, f)
	}
	if d != nil || err != nil {
		return d, err
	}
	d, err = transact(p.session, l, writing, func(t *Tx) error {
		t.keep = s.keep
		return t.verify(id)
	}, f)
	if d == nil && err == nil {
		putSeal(l, p.session)
	}
	return d, err
}

// create makes a session with its first transaction.
func (s *Store) create(p paths, l *lockedfile.File, id ID, f func(*Tx) error) (err error) {
	if err := os.RemoveAll(p.new); err != nil {
		return err
	}
	made := false
	defer func() {
		if made {
			return
		}
		if e := os.RemoveAll(p.new); e != nil {
			err = errors.Join(err, e)
		}
		_ = os.Remove(p.lock) // nothing is left for it to guard
	}()
	d, err := transact(p.new, l, making, func(t *Tx) error {
		t.keep = s.keep
		return t.begin(id)
	}, f)
	if d != nil {
		err = fmt.Errorf("%s: %w while it was made, so something else writes to it: %s", p.new, ErrDamaged, d.why)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(p.new, p.session); err != nil {
		return err
	}
	made = true
	putSeal(l, p.session)
	return syncFolder(filepath.Dir(p.session))
}
