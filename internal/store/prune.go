package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Limits are what Prune keeps. A field that is not positive means its default.
type Limits struct {
	Age   time.Duration // since the last transaction; 30 days
	Count int           // 200
	Bytes int64         // of all sessions together; 512 MiB
}

func (l Limits) orDefaults() Limits {
	if l.Age <= 0 {
		l.Age = 30 * 24 * time.Hour
	}
	if l.Count <= 0 {
		l.Count = 200
	}
	if l.Bytes <= 0 {
		l.Bytes = 512 << 20
	}
	return l
}

// candidate is a session by its file alone.
type candidate struct {
	paths
	info os.FileInfo
}

// Prune removes the sessions that are too old, and the oldest while there are too
// many or they are too big together; the newest of all is never too big. It leaves
// alone what is in use, what changes meanwhile, what is no session (see Aside) and
// what a later version made. Those that could not be removed are in the error.
func (s *Store) Prune(ctx context.Context, l Limits, now time.Time) (removed int, err error) {
	all, orphans, err := s.candidates()
	errs := []error{err}
	for _, c := range l.orDefaults().excess(all, now) {
		if ctx.Err() != nil {
			break
		}
		ok, err := s.remove(ctx, c)
		if ok {
			removed++
		}
		errs = append(errs, err)
	}
	for _, p := range orphans {
		errs = append(errs, sweep(ctx, p))
	}
	return removed, errors.Join(append(errs, ctx.Err())...)
}

// candidates lists the sessions, newest first, and the lock files that have none.
func (s *Store) candidates() (all []candidate, orphans []paths, err error) {
	entries, err := s.entries()
	has := map[string]bool{}
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), endSession)
		if !ok || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil {
			has[base] = true
			all = append(all, candidate{pathsOf(filepath.Join(s.sessions(), base)), info})
		}
	}
	for _, e := range entries {
		if base, ok := strings.CutSuffix(e.Name(), endLock); ok && !has[base] {
			orphans = append(orphans, pathsOf(filepath.Join(s.sessions(), base)))
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), cmp.Compare(a.base, b.base))
	})
	return all, orphans, err
}

// excess is what of the sessions, newest first, is beyond the limits.
func (l Limits) excess(all []candidate, now time.Time) []candidate {
	bytes := int64(0)
	for i, c := range all {
		bytes += c.info.Size()
		if i >= l.Count || i > 0 && bytes > l.Bytes || now.Sub(c.info.ModTime()) > l.Age {
			return all[i:]
		}
	}
	return nil
}

// tryLock returns nil if the lock is not to be had at once.
func tryLock(ctx context.Context, p paths) (*lockedfile.File, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	l, err := lock(ctx, p.lock)
	if errors.Is(err, ErrBusy) {
		return nil, nil
	}
	return l, err
}

// remove removes a session that is still as it was listed.
func (s *Store) remove(ctx context.Context, c candidate) (bool, error) {
	l, err := tryLock(ctx, c.paths)
	if l == nil {
		return false, err
	}
	defer l.Close()
	ours, err := s.ours(c, l)
	if !ours && err == nil {
		return false, nil
	}
	if err == nil {
		err = os.Remove(c.session)
	}
	if err != nil {
		return false, fmt.Errorf("%s cannot be removed: %w", c.session, err)
	}
	_ = os.Remove(c.lock) // whoever waits for it sees that it is gone; where that cannot be done it stays
	return true, nil
}

// ours reports whether a file is still as it was listed, and the session whose name
// it has.
func (s *Store) ours(c candidate, l *lockedfile.File) (bool, error) {
	info, err := os.Lstat(c.session)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !os.SameFile(info, c.info) || !info.ModTime().Equal(c.info.ModTime()):
		return false, nil
	}
	identify := func(t *Tx) error {
		id, err := t.identify()
		if err == nil && t.damage == nil && s.paths(id) != c.paths {
			t.found(damaged("it is a copy of another session"))
		}
		return err
	}
	d, err := transact(c.session, l, reading, identify, func(*Tx) error { return nil })
	if errors.Is(err, ErrNewer) {
		return false, nil
	}
	return d == nil && err == nil, err
}

// sweep removes a lock that guards nothing, and what a session left that was never
// finished.
func sweep(ctx context.Context, p paths) error {
	l, err := tryLock(ctx, p)
	if l == nil {
		return err
	}
	defer l.Close()
	if _, err := os.Lstat(p.session); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := os.RemoveAll(p.new); err != nil {
		return err
	}
	_ = os.Remove(p.lock)
	return nil
}
