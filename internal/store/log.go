package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// OpenLog opens a file in the folder of a store, to be added to: for what belongs
// to no session. What is missing is made, for its owner alone. The file must be the
// user's own and a plain one, or it could be led to any file of theirs, or wait for
// whoever reads a pipe.
func OpenLog(dir, name string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err == nil {
		err = owned(dir, info)
	}
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|noFollow|noWait, 0o600)
	if err != nil {
		return nil, err
	}
	if err := plain(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// plain refuses an open file that is not the user's own and a regular one.
func plain(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file; move it away", f.Name())
	}
	return owned(f.Name(), info)
}
