// Package store keeps the sessions of coding agents on disk: for each a journal
// and the state that it folds to, changed together in one transaction, safe for
// many processes at once, and whole after a crash at any instant.
//
// Each session is one bbolt file with a lock file beside it, in the folder
// "sessions" of the store. A file that is damaged or is not a session is renamed,
// never deleted, and the session begins anew.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// These are the causes that callers branch on; the errors that wrap them say
// where it happened. What to do about the first and the last is the caller's to say:
// try again later; an Update sets the file aside.
var (
	ErrBusy      = errors.New("the session is in use")
	ErrNoSession = errors.New("no such session")
	ErrNewer     = errors.New("the session has the format of a later version")
	ErrDamaged   = errors.New("the session's file is damaged or foreign")
)

// ID names a session. Its texts may be anything, empty included; they are kept
// inside the file and never become a file name as they stand.
type ID struct{ Agent, Session string }

// Store is a folder of sessions. It may be used concurrently, and by any number
// of processes at once.
type Store struct {
	dir  string
	keep uint64 // bytes of closed segments that a journal may have
}

// Open names the folder of a store. It touches nothing: the folder is made by
// the first Update.
func Open(dir string) *Store { return &Store{dir: dir, keep: keep} }

// Update runs f alone among all processes, in one transaction: what f put and
// appended is there as a whole when Update returns nil, and otherwise not at all.
// (Where the disk fails in the very last step, an error may stand for either.)
// It makes the session if there is none; an error or a panic of f changes nothing.
// Update waits for its turn until ctx is done, then the error is ErrBusy.
//
// If the file proves damaged, it is set aside (see Aside) and f runs once more, on
// a new session: f must do nothing that it could not do twice. f must not use the
// store for the same session.
func (s *Store) Update(ctx context.Context, id ID, f func(*Tx) error) error {
	if err := s.makeFolders(); err != nil {
		return err
	}
	p := s.paths(id)
	l, err := lock(ctx, p.lock)
	if err != nil {
		return err
	}
	defer l.Close()
	d, err := s.update(p, l, id, f)
	if d == nil {
		return err
	}
	if err := setAside(p, d.why); err != nil {
		return err
	}
	if d, err = s.update(p, l, id, f); d != nil {
		return fmt.Errorf("%s: %w just after it was begun anew, so something else writes to it: %s", p.session, ErrDamaged, d.why)
	}
	return err
}

// View runs f on the state after some Update, never in the midst of one. Put,
// Append and NewSegment are errors in it. ErrNoSession: there is none; ErrDamaged:
// the next Update will set the file aside.
//
// Updates of the session wait until f is done: collect what is needed and return.
// In a folder that cannot be written View takes no lock where there is none.
func (s *Store) View(ctx context.Context, id ID, f func(*Tx) error) error {
	if err := s.checkFolders(); err != nil {
		return err
	}
	return view(ctx, s.paths(id), func(t *Tx) error { return t.verify(id) }, f)
}

// view runs prepare and f under a lock that is shared with others who read.
func view(ctx context.Context, p paths, prepare, f func(*Tx) error) error {
	d, err := regular(p.session)
	if d == nil && err == nil {
		d, err = viewLocked(ctx, p, prepare, f)
	}
	switch {
	case d != nil:
		return fmt.Errorf("%s: %w: %s", p.session, ErrDamaged, d.why)
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: %w", p.session, ErrNoSession)
	}
	return err
}

func viewLocked(ctx context.Context, p paths, prepare, f func(*Tx) error) (*damage, error) {
	l, err := lockShared(ctx, p.lock)
	if err != nil {
		return nil, err
	}
	d, err := look(p, l, prepare, f)
	if d != nil {
		distrust(ctx, p)
	}
	return d, err
}

// look is view under its lock, nil if none can be had. It gives the lock back.
func look(p paths, l *lockedfile.File, prepare, f func(*Tx) error) (*damage, error) {
	if l == nil {
		return transact(p.session, nil, reading, prepare, f)
	}
	defer l.Close()
	info, err := os.Lstat(p.session)
	if err != nil {
		return nil, err
	}
	d, err := transact(p.session, l, reading, prepare, f)
	if d == nil && err == nil && !sealed(l, info) {
		trust(p, info)
	}
	return d, err
}

// regular reports what is wrong with a path that is to be a file.
func regular(path string) (*damage, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode().IsRegular():
		return nil, nil
	case info.IsDir():
		return damaged("it is a folder"), nil
	case info.Mode()&fs.ModeSymlink != 0:
		return damaged("it is a link"), nil
	}
	return damaged("it is no regular file"), nil
}
