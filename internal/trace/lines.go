package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxRecord bounds one line, or one value of a document, in bytes. It is what
// one call can cost in memory, several times over.
const maxRecord = 32 << 20

// errTooLong is a record of more than maxRecord bytes.
var errTooLong = errors.New("a record is longer than 32 MiB; check that it is the right file")

// longRecord is from where on a record is long, in bytes. Of many sources only
// the one whose turn it is reads long ones: see source.wait. It keeps the room
// that it took, so that the next long one leaves nothing for the collector.
const longRecord = 1 << 20

// lines reads lines of bounded length.
type lines struct {
	r    *bufio.Reader
	buf  []byte
	wait func() error
}

func (s *source) newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), wait: s.wait}
}

// next returns the next line without its end, and whether it had one. It is
// valid until the next call. A line that is too long is passed over as a whole:
// errTooLong. At the end it is io.EOF.
func (l *lines) next() (line []byte, ended bool, err error) {
	part, err := l.r.ReadSlice('\n')
	if err == nil {
		return part[:len(part)-1], true, nil
	}
	l.buf = append(l.buf[:0], part...)
	long := false
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.r.ReadSlice('\n')
		if long = long || len(l.buf)+len(part) > maxRecord; long {
			continue
		}
		if err := l.grow(len(part)); err != nil {
			return nil, false, err
		}
		l.buf = append(l.buf, part...)
	}
	switch {
	case err != nil && err != io.EOF:
		return nil, false, err
	case long:
		return nil, err == nil, errTooLong
	case err == nil:
		return l.buf[:len(l.buf)-1], true, nil
	case len(l.buf) == 0:
		return nil, false, io.EOF
	}
	return l.buf, false, nil
}

// grow makes room for n more bytes.
func (l *lines) grow(n int) error {
	if len(l.buf)+n <= cap(l.buf) {
		return nil
	}
	if cap(l.buf) <= longRecord && len(l.buf)+n > longRecord {
		if err := l.wait(); err != nil {
			return err
		}
	}
	grown := make([]byte, len(l.buf), min(max(2*cap(l.buf), len(l.buf)+n), maxRecord))
	copy(grown, l.buf)
	l.buf = grown
	return nil
}

// readLines hands every line that is not blank to one. A line that is too long
// is broken.
func (s *source) readLines(r io.Reader, one func(raw json.RawMessage) error) error {
	for in := s.newLines(r); ; {
		line, ended, err := in.next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errTooLong):
			s.stats.Records++
			s.stats.Broken++
			continue
		case err != nil:
			return err
		}
		s.last = !ended
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := one(line); err != nil {
			return err
		}
	}
}
