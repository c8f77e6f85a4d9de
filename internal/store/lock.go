package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// lock waits for the lock file in the kernel, until ctx is done. A lock that was
// removed meanwhile (see Prune) guards nothing any more and is taken anew.
func lock(ctx context.Context, path string) (*lockedfile.File, error) {
	f, err := take(ctx, path, os.O_RDWR|os.O_CREATE|noFollow)
	if err != nil {
		return nil, err
	}
	if err := closeToOthers(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lockShared is lock beside others that only read. It returns nil where there is
// no lock file and none can be made.
func lockShared(ctx context.Context, path string) (*lockedfile.File, error) {
	f, err := take(ctx, path, os.O_RDONLY|os.O_CREATE|noFollow)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		if _, e := os.Lstat(path); errors.Is(e, os.ErrNotExist) {
			return nil, nil
		}
	}
	return f, err
}

// taken is what a wait for a lock came to.
type taken struct {
	file *lockedfile.File
	err  error
}

// mostTries is more than sessions are ever removed while one waits.
const mostTries = 1000

func take(ctx context.Context, path string, flag int) (*lockedfile.File, error) {
	for try := 0; ctx.Err() == nil; try++ {
		if try == mostTries {
			return nil, fmt.Errorf("%s: %w: its lock file is another one each time", path, ErrBusy)
		}
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
		}
	}
	return nil, fmt.Errorf("%s: %w: %w", path, ErrBusy, ctx.Err())
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

// A lock file also holds the seal of its session: the size and the time of the
// session's file after the last transaction. Where they still hold, nothing but
// Expediter has written to the file, and its pages need no check.

func sealOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d %d\n", info.Size(), info.ModTime().UnixNano())
}

// sealed reports whether the file is as the last transaction left it.
func sealed(l *lockedfile.File, info fs.FileInfo) bool {
	if l == nil {
		return false
	}
	b := make([]byte, 64)
	n, err := l.ReadAt(b, 0)
	return (err == nil || err == io.EOF) && string(b[:n]) == sealOf(info)
}

// putSeal notes how the file is now. If that fails, the next transaction checks
// the file, so there is nothing to tell.
func putSeal(l *lockedfile.File, session string) {
	if info, err := os.Lstat(session); err == nil {
		writeSeal(l.File, info)
	}
}

func writeSeal(f *os.File, info fs.FileInfo) {
	text := []byte(sealOf(info))
	if _, err := f.WriteAt(text, 0); err == nil {
		if now, err := f.Stat(); err == nil && now.Size() != int64(len(text)) {
			_ = f.Truncate(int64(len(text)))
		}
	}
}

// trust notes that a file was found sound as it is. The caller has the lock shared,
// so nobody changes the file, and others write the same.
func trust(p paths, info fs.FileInfo) {
	if f, err := os.OpenFile(p.lock, os.O_WRONLY|noFollow, 0); err == nil {
		writeSeal(f, info)
		f.Close()
	}
}

// distrust breaks the seal, so that the next Update checks the file.
func distrust(ctx context.Context, p paths) {
	if l, err := lock(ctx, p.lock); err == nil {
		_ = l.Truncate(0)
		l.Close()
	}
}
