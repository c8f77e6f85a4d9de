package trace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source is one recording that can be read.
type Source struct {
	Name string
	Size int64 // as it is stored; 0: not known
	Open func() (io.ReadCloser, error)
}

// Stdin is the name of standard input among paths.
const Stdin = "-"

// Sources expands paths into sources, in order: a file; every file of a
// directory and of those below it, by name; a pattern as of path/filepath.Match;
// "-" for stdin. A file that is named twice is one source. The error joins those
// of all paths; the sources that were found come with it.
func Sources(paths []string, stdin io.Reader) ([]Source, error) {
	var c collection
	var problems []error
	for _, p := range paths {
		problems = append(problems, c.add(p, stdin))
	}
	return c.sources, errors.Join(problems...)
}

type collection struct {
	sources []Source
	have    map[string]bool // by real path
}

func (c *collection) add(path string, stdin io.Reader) error {
	if path == Stdin {
		if !slices.ContainsFunc(c.sources, func(s Source) bool { return s.Name == Stdin }) {
			c.sources = append(c.sources, Source{Name: Stdin, Open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }})
		}
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return c.addTree(path)
	case err == nil:
		return c.addFile(path, info)
	case !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(path, "*?["):
		return fmt.Errorf("%w; name a file, a directory, a pattern, or - for standard input", err)
	}
	names, err := filepath.Glob(path)
	if err != nil {
		return fmt.Errorf("%s: %w; write the pattern as for a shell", path, err)
	}
	if len(names) == 0 {
		return fmt.Errorf("%s: no file has such a name; see what the pattern should find", path)
	}
	var problems []error
	for _, name := range names {
		problems = append(problems, c.add(name, stdin))
	}
	return errors.Join(problems...)
}

// addTree adds the files of a directory.
func (c *collection) addTree(dir string) error {
	if !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator) // a link is walked as what it leads to
	}
	var problems []error
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		problems = append(problems, c.visit(name, d, err))
		return nil
	})
	return errors.Join(append(problems, err)...)
}

// visit adds what is met on a walk. What cannot be looked into is a source that
// cannot be opened: its Stats say why.
func (c *collection) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		c.sources = append(c.sources, Source{Name: name, Open: func() (io.ReadCloser, error) { return nil, err }})
		return nil
	}
	info, err := os.Stat(name) // a link's target
	if d.IsDir() || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return c.addFile(name, info)
}

func (c *collection) addFile(name string, info fs.FileInfo) error {
	whole, err := filepath.EvalSymlinks(name)
	if err == nil {
		whole, err = filepath.Abs(whole)
	}
	if err != nil {
		return err
	}
	if c.have[whole] {
		return nil
	}
	if c.have == nil {
		c.have = map[string]bool{}
	}
	c.have[whole] = true
	src := Source{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
	if info.Mode().IsRegular() {
		src.Size = info.Size()
	}
	c.sources = append(c.sources, src)
	return nil
}
