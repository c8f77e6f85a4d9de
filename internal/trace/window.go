package trace

import (
	"errors"
	"io"
)

// window reads JSON value by value through a buffer that grows to the longest
// one. An end within a value is io.ErrUnexpectedEOF.
type window struct {
	r    io.Reader
	buf  []byte
	p    int   // of the next byte
	err  error // of r, once the buffer is used up
	gone int64 // bytes before the buffer
	wait func() error
}

const windowBytes = 64 << 10

// errWrong is a document that is no JSON from here on.
var errWrong = errors.New("no JSON")

func (s *source) newWindow(r io.Reader) *window {
	return &window{r: r, buf: make([]byte, 0, windowBytes), wait: s.wait}
}

// offset is how many bytes of the document were used.
func (w *window) offset() int64 { return w.gone + int64(w.p) }

// more reads more bytes behind those that are there.
func (w *window) more() error {
	if w.err != nil {
		return w.err
	}
	if err := w.room(); err != nil {
		return err
	}
	for {
		n, err := w.r.Read(w.buf[len(w.buf):cap(w.buf)])
		w.buf = w.buf[:len(w.buf)+n]
		w.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// room makes room behind the bytes that are there.
func (w *window) room() error {
	rest := w.buf[w.p:]
	size := cap(w.buf)
	switch {
	case len(rest) >= maxRecord:
		return errTooLong
	case len(rest) == size:
		if size = min(2*size, maxRecord); size > longRecord && cap(w.buf) <= longRecord {
			if err := w.wait(); err != nil {
				return err
			}
		}
	}
	w.gone += int64(w.p)
	w.p = 0
	if size == cap(w.buf) {
		w.buf = w.buf[:copy(w.buf, rest)]
		return nil
	}
	w.buf = append(make([]byte, 0, size), rest...)
	return nil
}

// peek returns the next byte that is no white space, io.EOF at the end.
func (w *window) peek() (byte, error) {
	for {
		if w.p = blanks(w.buf, w.p); w.p < len(w.buf) {
			return w.buf[w.p], nil
		}
		if err := w.more(); err != nil {
			return 0, err
		}
	}
}

// next is peek within a value, which consumes the byte.
func (w *window) next() (byte, error) {
	c, err := w.peek()
	if err != nil {
		return 0, inside(err)
	}
	w.p++
	return c, nil
}

// value returns the next value whole. It is valid until the next call.
func (w *window) value() ([]byte, error) {
	if _, err := w.peek(); err != nil {
		return nil, inside(err)
	}
	for {
		end := skipValue(w.buf, w.p)
		if end == wrong {
			return nil, errWrong
		}
		if end < 0 || end == len(w.buf) && isScalar[w.buf[end-1]] { // a number may go on
			err := w.more()
			if err == nil {
				continue
			}
			if end < 0 || err != io.EOF {
				return nil, inside(err)
			}
		}
		raw := w.buf[w.p:end]
		w.p = end
		return raw, nil
	}
}

// skip passes over the next value, of whatever size.
func (w *window) skip() error {
	c, err := w.peek()
	switch {
	case err != nil:
		return inside(err)
	case c != '{' && c != '[' && c != '"':
		_, err := w.value()
		return err
	}
	for depth, quoted := 0, false; ; {
		if w.p == len(w.buf) {
			if err := w.more(); err != nil {
				return inside(err)
			}
		}
		c := w.buf[w.p]
		w.p++
		switch {
		case c == '\\' && quoted:
			if w.p == len(w.buf) {
				if err := w.more(); err != nil {
					return inside(err)
				}
			}
			w.p++
		case c == '"':
			quoted = !quoted
		case quoted:
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth == 0 && !quoted {
			return nil
		}
	}
}

// inside makes the end of the source an unexpected one.
func inside(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
