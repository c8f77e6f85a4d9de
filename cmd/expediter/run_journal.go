package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/expediter-go/expediter/expediter"
	"github.com/expediter-go/expediter/expediter/replay"
)

// journalFile writes events to a file, each at once, so that a run that dies
// leaves all that it did. The file is made anew by the first event: a run that
// cannot start leaves an older one alone. The nil journalFile writes nothing.
type journalFile struct {
	path   string
	file   *os.File
	writer *replay.Writer
	err    error // why there is no file
}

// newJournal returns the journal at path; an empty path is none.
func newJournal(path string) *journalFile {
	if path == "" {
		return nil
	}
	return &journalFile{path: path}
}

// observer is what the engine tells its events; nil: nobody listens.
func (j *journalFile) observer() func(*expediter.Event) {
	if j == nil {
		return nil
	}
	return func(e *expediter.Event) {
		if j.file == nil && j.err == nil {
			j.open()
		}
		if j.writer != nil {
			j.writer.Event(e)
		}
	}
}

func (j *journalFile) open() {
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		j.err = fmt.Errorf("%w; give --journal a file that can be written", err)
		return
	}
	if err := claim(f); err != nil {
		j.err = errors.Join(fmt.Errorf("%s is the journal of another run; give each run its own (%w)", j.path, err), f.Close())
		return
	}
	if err := empty(f); err != nil {
		j.err = errors.Join(fmt.Errorf("%w; give --journal a new file", err), f.Close())
		return
	}
	j.file, j.writer = f, replay.NewWriter(f)
}

// failure is why the journal is not written, if that is so.
func (j *journalFile) failure() error {
	switch {
	case j == nil:
		return nil
	case j.writer != nil:
		return j.writer.Err()
	}
	return j.err
}

// empty cuts a file to nothing, unless it is a device or a pipe.
func empty(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.Truncate(0)
}

// Close ends the journal and reports whether it is complete. It may be called
// again.
func (j *journalFile) Close() error {
	if j == nil || j.file == nil {
		return nil
	}
	err := errors.Join(j.failure(), j.file.Close())
	j.file, j.writer, j.err = nil, nil, os.ErrClosed
	return err
}
