package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// file is one file as it was found.
type file struct {
	path   string      // as it is named
	target string      // where the name leads, links followed
	info   fs.FileInfo // nil: there is no file
	data   []byte
}

// find reads a file that may be absent. What cannot be replaced by a file is an
// error.
func find(path string) (file, error) {
	f := file{path: path, target: path}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		if _, err := os.Lstat(path); err == nil {
			return f, &Error{File: path, What: "it is a link that leads nowhere", Do: "remove it, or make the file that it leads to"}
		}
		f.target = resolved(path)
		return f, nil // see creatable for what stands in its way
	}
	f.target = target
	info, err := os.Stat(f.target)
	switch {
	case err != nil:
		return f, err
	case info.IsDir():
		return f, &Error{File: path, What: "it is a folder", Do: "move it away: a file of this name is wanted"}
	case !info.Mode().IsRegular():
		return f, &Error{File: path, What: "it is no ordinary file", Do: "move it away: a file of this name is wanted"}
	}
	f.info = info
	f.data, err = read(f.target)
	return f, err
}

// resolved follows the links in the folders of a file that is not there yet.
func resolved(path string) string {
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	target, err := filepath.EvalSymlinks(dir)
	if err != nil {
		target = resolved(dir)
	}
	return filepath.Join(target, filepath.Base(path))
}

// read reads a file, and waits for no pipe.
func read(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &Error{File: path, What: "it is no ordinary file", Do: "move it away: a file of this name is wanted"}
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxBytes+1))
}

// changeable says why the file cannot be made or replaced. One that may not be
// written is not to be replaced either, though its folder would let us.
func (f file) changeable() error {
	if f.info == nil {
		return f.creatable()
	}
	w, err := os.OpenFile(f.target, os.O_WRONLY, 0)
	if err != nil {
		return readOnly(f.path, err)
	}
	return errors.Join(w.Close(), writable(filepath.Dir(f.target)))
}

// creatable says why the file cannot be made: the nearest folder that there is
// must take new ones.
func (f file) creatable() error {
	dir := filepath.Dir(f.target)
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return writable(dir)
		case err == nil:
			return &Error{File: dir, What: "it is no folder", Do: "move it away: " + f.path + " is to be made below it"}
		case filepath.Dir(dir) == dir:
			return fmt.Errorf("%s cannot be made: %w", f.path, err)
		}
		dir = filepath.Dir(dir)
	}
}

// readOnly adds to an error of the system what can be done.
func readOnly(path string, err error) error {
	var reason *fs.PathError
	if errors.As(err, &reason) {
		err = reason.Err
	}
	return fmt.Errorf("%s cannot be written: %w; make it writable, or choose another --scope", path, err)
}

// same reports whether the file is still what was found.
func (f file) same() error {
	now, err := find(f.path)
	switch {
	case err != nil:
		return err
	case (now.info == nil) != (f.info == nil) || now.target != f.target || string(now.data) != string(f.data):
		return fmt.Errorf("%s: %w; nothing was written to it, run the command again", f.path, ErrChanged)
	}
	return nil
}
