package store

import (
	"context"
	"fmt"
	"os"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// lock waits for the lock file in the kernel, until ctx is done. A lock that was
// removed meanwhile (see Prune) guards nothing any more and is taken anew.
func lock(ctx context.Context, path string) (*lockedfile.File, error) {
	return take(ctx, path, os.O_RDWR|os.O_CREATE)
}

// lockShared is lock beside others that only read.
func lockShared(ctx context.Context, path string) (*lockedfile.File, error) {
	return take(ctx, path, os.O_RDONLY|os.O_CREATE)
}

type taken struct {
	file *lockedfile.File
	err  error
}

func take(ctx context.Context, path string, flag int) (*lockedfile.File, error) {
	for {
		got := make(chan taken)
		go func() {
			f, err := lockedfile.OpenFile(path, flag, 0o600)
			select {
			case got <- taken{f, err}:
			case <-ctx.Done():
				if err == nil {
					f.Close()
				}
			}
		}()
		select {
		case t := <-got:
			if t.err != nil {
				return nil, t.err
			}
			if current(t.file, path) {
				return t.file, nil
			}
			t.file.Close()
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w: %w", path, ErrBusy, ctx.Err())
		}
	}
}

// current reports whether the open file is still the one of that name.
func current(f *lockedfile.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(open, named)
}
