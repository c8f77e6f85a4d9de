package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Aside is something that stood in a session's place and could not be it. It is
// kept for whoever wants to look at it, and never removed by Expediter.
type Aside struct {
	Path     string
	Why      string // empty: not known
	Modified time.Time
}

// setAside renames what stands in the session's place. The caller has the lock.
func setAside(p paths, why string) error {
	to, err := asidePath(p.base)
	if err != nil {
		return err
	}
	if err := os.Rename(p.session, to); err != nil {
		return err
	}
	putWhy(to, why)
	return nil
}

// copyAside keeps a copy of a file that can go on.
func copyAside(session, why string) (err error) {
	to, err := asidePath(strings.TrimSuffix(session, endSession))
	if err != nil {
		return err
	}
	from, err := os.Open(session)
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	putWhy(to, why)
	return nil
}

// asidePath is a name that nothing has.
func asidePath(base string) (string, error) {
	for n := 1; ; n++ {
		to := base + endAside + strconv.Itoa(n)
		if _, err := os.Lstat(to); errors.Is(err, os.ErrNotExist) {
			return to, nil
		} else if err != nil {
			return "", err
		}
	}
}

// putWhy notes the reason beside. Without it the file is kept all the same.
func putWhy(path, why string) {
	_ = os.WriteFile(path+endWhy, []byte(printable(why)+"\n"), 0o600)
}

// longestWhy is in bytes; a why may have text from the file in it.
const longestWhy = 300

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, text[:min(len(text), longestWhy)])
}

// Aside lists what was set aside, the longest unmodified first.
func (s *Store) Aside() ([]Aside, error) {
	entries, err := s.entries()
	var all []Aside
	for _, e := range entries {
		_, n, ok := strings.Cut(e.Name(), endAside)
		if _, bad := strconv.Atoi(n); !ok || bad != nil {
			continue
		}
		info, err := e.Info()
		if err != nil { // gone meanwhile
			continue
		}
		path := filepath.Join(s.sessions(), e.Name())
		all = append(all, Aside{Path: path, Why: why(path + endWhy), Modified: info.ModTime()})
	}
	slices.SortStableFunc(all, func(a, b Aside) int { return a.Modified.Compare(b.Modified) })
	return all, err
}

func why(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 2*longestWhy {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return printable(strings.TrimSpace(string(text)))
}

// entries are the names in the folder of sessions; none if there is no folder.
func (s *Store) entries() ([]os.DirEntry, error) {
	err := s.checkFolders()
	if errors.Is(err, ErrNoSession) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return os.ReadDir(s.sessions())
}
