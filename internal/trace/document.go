package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// document reads one JSON document (or several, one after another) in bounded
// memory. Paths are the keys from the top joined by dots; arrays on the way
// add nothing, so that samples.messages is the messages of each sample.
//
//   - Each element of an array whose path is in stream is a record of that
//     path; "" is the top level.
//   - Each value whose path is in keep is a record as well.
//   - When an element of an array on the way ends, a record without bytes of
//     the array's path says so.
//
// Records come in the order of the document. All other values are passed over.
type document struct {
	*window
	stream []string
	keep   []string
	one    func(path string, raw json.RawMessage) error
}

// stopped is an error of one, to tell it from a broken document.
type stopped struct{ error }

// readDocument hands the records of a document to one. A document that breaks
// off is torn; what came before counts.
func (s *source) readDocument(r io.Reader, f *format, one func(path string, raw json.RawMessage) error) error {
	d := &document{window: s.newWindow(r), stream: f.stream, keep: f.keep, one: one}
	for {
		_, err := d.peek()
		if err == nil {
			err = d.part("")
		}
		var own stopped
		switch {
		case err == nil:
		case errors.As(err, &own):
			return own.error
		case err == io.EOF:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			s.stats.Torn = true
			return nil
		case errors.Is(err, errWrong):
			s.stats.Broken++
			return fmt.Errorf("%w at byte %d; what came before it was read", err, d.offset())
		default:
			return err
		}
	}
}

// part reads the value that is next, at a path where there may be records.
func (d *document) part(path string) error {
	c, err := d.peek()
	switch {
	case err != nil:
		return inside(err)
	case c == '{':
		return d.object(path)
	case c == '[':
		return d.array(path)
	}
	_, err = d.value()
	return err
}

func (d *document) object(path string) error {
	return d.each('}', func() error {
		raw, err := d.value()
		if err != nil {
			return err
		}
		if raw[0] != '"' {
			return errWrong
		}
		name := textOf(raw)
		if path != "" {
			name = path + "." + name
		}
		c, err := d.next()
		switch {
		case err != nil:
			return err
		case c != ':':
			return errWrong
		case slices.Contains(d.keep, name):
			return d.record(name)
		case d.wanted(name):
			return d.part(name)
		}
		return d.skip()
	})
}

func (d *document) array(path string) error {
	records, wanted := slices.Contains(d.stream, path), d.wanted(path)
	return d.each(']', func() error {
		switch {
		case records:
			return d.record(path)
		case !wanted:
			return d.skip()
		}
		if err := d.part(path); err != nil {
			return err
		}
		return d.tell(path, nil)
	})
}

// each reads the members of the object or array that is next.
func (d *document) each(end byte, member func() error) error {
	if _, err := d.next(); err != nil {
		return err
	}
	switch c, err := d.peek(); {
	case err != nil:
		return inside(err)
	case c == end:
		d.p++
		return nil
	}
	for {
		if err := member(); err != nil {
			return err
		}
		switch c, err := d.next(); {
		case err != nil:
			return err
		case c == end:
			return nil
		case c != ',':
			return errWrong
		}
	}
}

// wanted reports whether there may be records at the path or below it.
func (d *document) wanted(path string) bool {
	for _, list := range [...][]string{d.stream, d.keep} {
		for _, p := range list {
			if p == path || path == "" && p != "" || strings.HasPrefix(p, path) && p[len(path)] == '.' {
				return true
			}
		}
	}
	return false
}

func (d *document) record(path string) error {
	raw, err := d.value()
	if err != nil {
		return err
	}
	return d.tell(path, raw)
}

func (d *document) tell(path string, raw json.RawMessage) error {
	if err := d.one(path, raw); err != nil {
		return stopped{err}
	}
	return nil
}
