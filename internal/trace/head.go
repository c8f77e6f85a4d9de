package trace

import (
	"bytes"
	"encoding/json"
	"io"
)

// Bounds of what is read before the format is known.
const (
	headBytes   = 256 << 10
	maxHead     = 4 << 20 // if the first line is that long
	headRecords = 20
)

// head is the beginning of a source, for the formats to look at.
type head struct {
	raw     []byte            // without a byte order mark
	first   []json.RawMessage // first lines that are JSON objects, at most headRecords
	keys    map[string]bool   // of a document that is an object: the keys seen
	array   bool              // the document is an array
	element json.RawMessage   // the first element of an array, if it is whole
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// readHead reads the beginning of r: headBytes, or more if the first line is
// longer. The reader that it returns begins with what was read.
func readHead(r io.Reader) (*head, io.Reader, error) {
	raw, err := io.ReadAll(io.LimitReader(r, headBytes))
	for err == nil && len(raw) >= headBytes && len(raw) < maxHead && bytes.IndexByte(raw, '\n') < 0 {
		var more []byte
		more, err = io.ReadAll(io.LimitReader(r, int64(len(raw))))
		raw = append(raw, more...)
		if len(more) == 0 {
			break
		}
	}
	raw = bytes.TrimPrefix(raw, byteOrderMark)
	h := &head{raw: raw}
	h.readLines()
	h.readDocument()
	rest := io.MultiReader(bytes.NewReader(raw), r)
	if err != nil {
		rest = io.MultiReader(bytes.NewReader(raw), failing{err})
	}
	return h, rest, err
}

// failing is the rest of a source that cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func (h *head) readLines() {
	for rest := h.raw; len(rest) > 0 && len(h.first) < headRecords; {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '{' && json.Valid(line) {
			h.first = append(h.first, line)
		}
	}
}

// readDocument reads the first value as far as the head goes.
func (h *head) readDocument() {
	dec := json.NewDecoder(bytes.NewReader(h.raw))
	switch t, _ := dec.Token(); t {
	case json.Delim('['):
		h.array = true
		if dec.More() && dec.Decode(&h.element) != nil {
			h.element = nil
		}
	case json.Delim('{'):
		h.keys = map[string]bool{}
		for dec.More() {
			key, err := dec.Token()
			name, ok := key.(string)
			if err != nil || !ok {
				return
			}
			h.keys[name] = true
			var value json.RawMessage
			if dec.Decode(&value) != nil {
				return
			}
		}
	}
}
