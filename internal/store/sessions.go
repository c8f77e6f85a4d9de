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

// patience is how long one session among many is waited for: whoever holds it must
// not keep the others from being listed or removed. A lock that is free is had much
// sooner, on a busy machine too.
const patience = 250 * time.Millisecond

// Sessions lists the sessions, newest first. Those that cannot be read are joined
// in the error, as ErrBusy those that are held for longer than a quarter of a
// second; the others are returned all the same.
func (s *Store) Sessions(ctx context.Context) ([]Info, error) {
	entries, err := s.entries()
	errs := []error{err}
	var all []Info
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), endSession)
		if !ok {
			continue
		}
		info, err := s.info(ctx, pathsOf(filepath.Join(s.sessions(), base)))
		switch {
		case err == nil:
			all = append(all, info)
		case !errors.Is(err, ErrNoSession): // else it was removed meanwhile
			errs = append(errs, err)
		}
	}
	slices.SortStableFunc(all, func(a, b Info) int { return b.Modified.Compare(a.Modified) })
	return all, errors.Join(errs...)
}

// info reads a session's name from inside of its file.
func (s *Store) info(ctx context.Context, p paths) (info Info, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	identify := func(t *Tx) (err error) {
		st, err := os.Lstat(p.session)
		if err != nil {
			return err
		}
		info.Bytes, info.Modified = st.Size(), st.ModTime()
		info.ID, err = t.identify()
		if err == nil && t.damage == nil && s.paths(info.ID) != p {
			return fmt.Errorf("%s: the session in it has another name, so this is a copy that nothing uses; move it away", p.session)
		}
		return err
	}
	err = view(ctx, p, identify, func(t *Tx) error {
		info.Meta = t.Get("meta")
		return nil
	})
	return info, err
}
