package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// json makes the tree of a JSON document. The whole of it is checked first, so
// that nothing is built of a broken one and the token walk cannot fail.
func (b *builder) json(data []byte) *Node {
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		b.badJSON(data, err)
		return nil
	}
	w := &jsonWalk{builder: b, at: cursor{data: data, line: 1, column: 1}, dec: json.NewDecoder(bytes.NewReader(data))}
	w.dec.UseNumber()
	token, err := w.next()
	if err != nil {
		b.badJSON(data, err)
		return nil
	}
	return w.value(token, 1)
}

func (b *builder) badJSON(data []byte, err error) {
	offset := len(data)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && int(syntax.Offset) < len(data) {
		offset = max(int(syntax.Offset)-1, 0)
	}
	at := cursor{data: data, line: 1, column: 1}
	line, column := at.place(offset)
	b.fail(line, column, "no valid JSON: "+strings.TrimPrefix(err.Error(), "json: "), "correct the syntax; JSON has no comments and no trailing commas")
}

// jsonWalk follows the decoder's tokens; line and column are the place of the
// last one.
type jsonWalk struct {
	*builder
	dec          *json.Decoder
	at           cursor
	line, column int
}

func (w *jsonWalk) next() (json.Token, error) {
	start := int(w.dec.InputOffset())
	token, err := w.dec.Token()
	for start < len(w.at.data) && strings.IndexByte(" \t\r\n,:", w.at.data[start]) >= 0 {
		start++
	}
	w.line, w.column = w.at.place(start)
	return token, err
}

func (w *jsonWalk) value(token json.Token, depth int) *Node {
	if w.full(depth, w.line, w.column) {
		return nil
	}
	n := &Node{Kind: Scalar, Line: w.line, Column: w.column, file: w.file}
	switch t := token.(type) {
	case nil:
		n.Kind = Null
	case string:
		n.text = t
	case bool:
		n.class, n.text = boolean, "false"
		if t {
			n.text = "true"
		}
	case json.Number:
		n.class, n.text = integer, t.String()
		if strings.ContainsAny(n.text, ".eE") {
			n.class = float
		}
	case json.Delim:
		return w.collection(n, t, depth)
	}
	return n
}

func (w *jsonWalk) collection(n *Node, open json.Delim, depth int) *Node {
	n.Kind = Sequence
	if open == '{' {
		n.Kind = Mapping
	}
	for {
		token, err := w.next()
		if err != nil {
			w.badJSON(w.at.data, err)
			return nil
		}
		if end, ok := token.(json.Delim); ok && (end == '}' || end == ']') {
			n.reindex()
			return n
		}
		if n.Kind == Mapping {
			n.keys = append(n.keys, w.value(token, depth+1))
			if token, err = w.next(); err != nil {
				w.badJSON(w.at.data, err)
				return nil
			}
		}
		item := w.value(token, depth+1)
		if len(w.problems) > 0 {
			return nil
		}
		n.items = append(n.items, item)
	}
}
