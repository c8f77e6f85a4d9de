package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Apply makes the plan's changes and says, a line for each, what it did. First
// everything is written beside its place and every file is looked at again; an
// error up to there leaves all as it was. An error after that names the file.
func (p Plan) Apply() (did []string, err error) {
	var works []*work
	defer func() {
		for _, w := range slices.Backward(works) {
			w.discard()
		}
	}()
	for _, c := range p.Changes {
		w := &work{Change: c}
		works = append(works, w)
		if err := w.stage(); err != nil {
			return nil, err
		}
	}
	var dirs []string
	for _, w := range works {
		lines, err := w.commit(p.state)
		did = append(did, lines...)
		if err != nil {
			return did, err
		}
		dirs = append(dirs, w.dirs...)
	}
	slices.SortFunc(dirs, func(a, b string) int { return len(b) - len(a) }) // what is in a folder first
	for _, dir := range dirs {
		_ = os.Remove(dir) // not if something is in it
	}
	return did, nil
}

// toDisk makes what was written last. A test that writes thousands of files goes
// without.
var toDisk = (*os.File).Sync

// work is one change under way.
type work struct {
	Change
	temp string   // what waits to take its place
	made []string // folders that were made for it, outermost first
}

// stage writes the new content beside its place, and makes sure that it lasts.
func (w *work) stage() error {
	if err := w.found.same(); err != nil {
		return err
	}
	if w.Remove {
		return nil
	}
	dir := filepath.Dir(w.found.target)
	var err error
	if w.made, err = makeFolders(dir); err != nil {
		return readOnly(dir, err)
	}
	mode := w.mode
	if w.found.info != nil {
		mode = 0o600 // until it gets that of the file
	}
	temp, err := createIn(dir, mode)
	if err != nil {
		return readOnly(dir, err)
	}
	w.temp = temp.Name()
	_, err = temp.Write(w.After)
	if w.found.info != nil {
		err = errors.Join(err, keepOwner(temp, w.found.info), temp.Chmod(w.found.info.Mode().Perm()))
	}
	if err = errors.Join(err, toDisk(temp), temp.Close()); err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", w.Path, err)
	}
	return nil
}

// discard undoes a stage that was not committed.
func (w *work) discard() {
	if w.temp != "" {
		_ = os.Remove(w.temp)
	}
	for _, dir := range slices.Backward(w.made) {
		_ = os.Remove(dir) // not if something is in it
	}
}

// commit puts the new content in its place.
func (w *work) commit(state string) (did []string, err error) {
	if err := w.found.same(); err != nil {
		return nil, err
	}
	if w.Remove {
		if err := os.Remove(w.found.target); err != nil {
			return nil, readOnly(w.Path, err)
		}
		did = append(did, "removed "+w.Path)
	} else {
		line := "wrote " + w.Path
		if w.backup {
			name, err := keep(w.found)
			if err != nil {
				return nil, fmt.Errorf("%s was not changed: no backup could be made: %w", w.Path, err)
			}
			w.record.Backup = name
			line += "; as it was before: " + name
		}
		if err := os.Rename(w.temp, w.found.target); err != nil {
			return nil, readOnly(w.Path, err)
		}
		w.temp = ""
		did = append(did, line)
	}
	syncFolder(filepath.Dir(w.found.target))
	return append(did, w.remember(state)...), nil
}

// remember writes the record of a change, or forgets the one that there was.
func (w *work) remember(state string) (did []string) {
	path := recordPath(state, w.found.target)
	if w.record == nil {
		if path != "" {
			_ = os.Remove(path)
		}
		return w.tidy()
	}
	w.record.Dirs = append(slices.Clone(w.record.Dirs), w.made...)
	w.made = nil
	if path == "" {
		return nil
	}
	if err := writeRecord(path, w.record); err != nil {
		return []string{fmt.Sprintf("what %s was is not remembered (%v); uninstall will take the entries out one by one", w.Path, err)}
	}
	return nil
}

func writeRecord(path string, r *record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := createIn(dir, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err = errors.Join(err, toDisk(temp), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// tidy removes backups that hold what the file holds again, and names others.
func (w *work) tidy() (did []string) {
	for _, name := range slices.Backward(backups(w.found.target)) {
		data, err := read(name)
		if err == nil && !w.Remove && bytes.Equal(data, w.After) && os.Remove(name) == nil {
			continue
		}
		did = append(did, "a backup stays in "+name)
	}
	return did
}

// keep copies a file beside itself, under a name that is free or holds the same
// already.
func keep(f file) (string, error) {
	for n := range maxBackups {
		name := backupName(f.target, n)
		w, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.info.Mode().Perm())
		if errors.Is(err, fs.ErrExist) {
			if data, err := read(name); err == nil && bytes.Equal(data, f.data) {
				return name, nil
			}
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = w.Write(f.data)
		err = errors.Join(err, keepOwner(w, f.info), w.Chmod(f.info.Mode().Perm()), toDisk(w), w.Close())
		if err != nil {
			return "", errors.Join(err, os.Remove(name))
		}
		return name, nil
	}
	return "", fmt.Errorf("%d backups of other content are there; remove those that nobody needs", maxBackups)
}

// makeFolders makes a folder and those above it, and says which were missing.
func makeFolders(dir string) (made []string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || filepath.Dir(at) == at {
			break
		}
		made = append(made, at)
	}
	slices.Reverse(made)
	for i, at := range made {
		if err := os.Mkdir(at, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return made[:i], err
		}
	}
	return made, nil
}

// createIn makes a new file in a folder, with the permissions that the system
// leaves of mode.
func createIn(dir string, mode fs.FileMode) (*os.File, error) {
	for {
		name := filepath.Join(dir, fmt.Sprintf(".expediter-%016x", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
