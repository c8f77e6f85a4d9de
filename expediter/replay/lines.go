package replay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine bounds one line of input, in bytes.
const MaxLine = 64 << 20

// ErrTooLong is a line longer than MaxLine. It works with errors.Is.
var ErrTooLong = fmt.Errorf("the line is longer than %d MiB; split it, or check that it is the right file", MaxLine>>20)

// lines reads lines of bounded length.
type lines struct {
	r     *bufio.Reader
	buf   []byte
	limit int
	n     int // of the last line, from 1
}

func newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), limit: MaxLine}
}

// next returns the next line without its end, and whether it had one. It is
// valid until the next call. A line that is too long is skipped as a whole and
// ErrTooLong; the one after it can be read. At the end it is io.EOF.
func (l *lines) next() (line []byte, ended bool, err error) {
	l.n++
	part, err := l.r.ReadSlice('\n')
	if err == nil {
		return part[:len(part)-1], true, nil
	}
	l.buf = append(l.buf[:0], part...)
	long := false
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.r.ReadSlice('\n')
		if long = long || len(l.buf)+len(part) > l.limit+1; !long {
			l.buf = append(l.buf, part...)
		}
	}
	switch {
	case err != nil && err != io.EOF:
		return nil, false, err
	case long:
		return nil, err == nil, ErrTooLong
	case err == nil:
		return l.buf[:len(l.buf)-1], true, nil
	case len(l.buf) == 0:
		return nil, false, io.EOF
	}
	return l.buf, false, nil
}

// blank reports whether a line holds nothing but white space.
func blank(line []byte) bool { return len(bytes.Trim(line, " \t\r")) == 0 }

// each calls one for every line that is not blank, writes what it appends, and
// counts the lines that were errors, for which it writes {"error":…}.
func each(w io.Writer, r io.Reader, one func(out, line []byte) ([]byte, error)) (bad int, err error) {
	in, buffered := newLines(r), bufio.NewWriterSize(w, 64<<10)
	var out []byte
	for {
		line, _, err := in.next()
		if err == nil && blank(line) {
			continue
		}
		if err == nil {
			out, err = one(out[:0], line)
		} else if err != ErrTooLong {
			if err == io.EOF {
				err = nil
			}
			return bad, errors.Join(err, buffered.Flush())
		}
		if err != nil {
			bad++
			out = appendError(out[:0], err)
		}
		if _, err := buffered.Write(append(out, '\n')); err != nil {
			return bad, err
		}
	}
}
