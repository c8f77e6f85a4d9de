package store

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Aside is a file that stood in a session's place and was none.
type Aside struct {
	Path     string
	Why      string // empty: not known
	Modified time.Time
}

// setAside renames what stands in the session's place.
func setAside(p paths, why string) error {
	for n := 1; ; n++ {
		to := p.base + endAside + strconv.Itoa(n)
		if _, err := os.Lstat(to); err == nil {
			continue
		} else if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := os.Rename(p.session, to); err != nil {
			return err
		}
		_ = os.WriteFile(to+endWhy, []byte(why+"\n"), 0o600) // the file is safe without its why
		return nil
	}
}

// Aside lists what was set aside, oldest first.
func (s *Store) Aside() ([]Aside, error) {
	entries, err := os.ReadDir(s.sessions())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var all []Aside
	for _, e := range entries {
		if !strings.Contains(e.Name(), endAside) || strings.HasSuffix(e.Name(), endWhy) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		path := filepath.Join(s.sessions(), e.Name())
		why, _ := os.ReadFile(path + endWhy)
		all = append(all, Aside{Path: path, Why: strings.TrimSpace(string(why)), Modified: info.ModTime()})
	}
	return all, err
}
