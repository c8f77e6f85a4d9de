package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// createFile writes a file that is there as a whole or not at all. A link is
// followed, a file that is replaced keeps its permissions, and what is no file
// (a pipe, /dev/stdout) is written to.
func createFile(path string, data []byte, replace bool) error {
	if _, err := os.Lstat(path); err == nil && !replace {
		return fmt.Errorf("%s exists already; choose another name, or replace it with --force", path)
	}
	info, err := os.Stat(path)
	if err == nil && isStream(path, info) {
		return writeInto(path, data)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	temp, err := createBeside(path)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if info != nil {
		err = errors.Join(err, temp.Chmod(info.Mode().Perm()))
	}
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err != nil {
		return fmt.Errorf("%s was not written: %w", path, err)
	}
	return os.Rename(temp.Name(), path)
}

// isStream reports whether a path leads to what cannot be replaced by a file.
func isStream(path string, info fs.FileInfo) bool {
	device := strings.HasPrefix(filepath.Clean(path), "/dev/") // /dev/stdout may lead to a file
	return !info.IsDir() && (device || !info.Mode().IsRegular())
}

func writeInto(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// createBeside makes a new file in the folder of path, with the permissions
// that new files get there.
func createBeside(path string) (*os.File, error) {
	for range 100 {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".expediter-%016x", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("no free name beside %s; remove the files .expediter-* there", path)
}

// creatable says why createFile could not replace path, before work is spent
// on what is to be written; flag is the one that names it.
func creatable(path, flag string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; give %s the name of a file in it", path, flag)
	case err == nil && isStream(path, info):
		return nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	temp, err := createBeside(path)
	if err != nil {
		var reason *fs.PathError
		if errors.As(err, &reason) {
			err = reason.Err // without the name of the trial
		}
		return fmt.Errorf("%s cannot be written: %w; give %s a name in a folder that can be written", path, err, flag)
	}
	return errors.Join(temp.Close(), os.Remove(temp.Name()))
}

// sameFile reports whether two paths lead to one file, which need not be there
// yet. Devices and pipes can be shared.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return x.Mode().IsRegular() && os.SameFile(x, y)
	}
	p, errA := filepath.Abs(a)
	q, errB := filepath.Abs(b)
	return errA == nil && errB == nil && p == q
}
