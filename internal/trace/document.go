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
	dec    *json.Decoder
	bound  *boundedReader
	stream []string
	keep   []string
	one    func(path string, raw json.RawMessage) error
}

// stopped is an error of one, to tell it from a broken document.
type stopped struct{ error }

// readDocument hands the records of a document to one. A document that breaks
// off is torn; what came before counts.
func (s *source) readDocument(r io.Reader, f *format, one func(path string, raw json.RawMessage) error) error {
	bound := &boundedReader{r: r}
	d := &document{dec: json.NewDecoder(bound), bound: bound, stream: f.stream, keep: f.keep, one: one}
	for {
		err := d.value("")
		var own stopped
		var syntax *json.SyntaxError
		switch {
		case err == nil:
		case errors.As(err, &own):
			return own.error
		case err == io.EOF:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			s.stats.Torn = true
			return nil
		case errors.As(err, &syntax):
			s.stats.Broken++
			return fmt.Errorf("byte %d is no JSON (%w); what came before it was read", d.dec.InputOffset(), err)
		default:
			return err
		}
	}
}

// value reads the value that is next, at a path.
func (d *document) value(path string) error {
	t, err := d.token()
	switch {
	case err != nil:
		return err
	case t == json.Delim('{'):
		return d.object(path)
	case t == json.Delim('['):
		return d.array(path)
	}
	return nil
}

func (d *document) object(path string) error {
	for d.dec.More() {
		key, err := d.token()
		if err != nil {
			return inside(err)
		}
		name, _ := key.(string)
		if path != "" {
			name = path + "." + name
		}
		switch {
		case slices.Contains(d.keep, name):
			err = d.record(name)
		case d.wanted(name):
			err = d.value(name)
		default:
			err = d.skip()
		}
		if err != nil {
			return inside(err)
		}
	}
	_, err := d.token()
	return inside(err)
}

func (d *document) array(path string) error {
	records := slices.Contains(d.stream, path)
	for d.dec.More() {
		var err error
		switch {
		case records:
			err = d.record(path)
		case d.wanted(path):
			if err = d.value(path); err == nil {
				err = d.tell(path, nil)
			}
		default:
			err = d.skip()
		}
		if err != nil {
			return inside(err)
		}
	}
	_, err := d.token()
	return inside(err)
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
	var raw json.RawMessage
	d.bound.left = maxRecord
	if err := d.dec.Decode(&raw); err != nil {
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

// skip passes over one value, token by token, so that it may be of any size.
func (d *document) skip() error {
	for depth := 0; ; {
		t, err := d.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

func (d *document) token() (json.Token, error) {
	d.bound.left = maxRecord
	return d.dec.Token()
}

// inside makes the end of the source an unexpected one.
func inside(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// boundedReader refuses to read more than left bytes.
type boundedReader struct {
	r    io.Reader
	left int
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
