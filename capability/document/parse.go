package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a document. A file beyond one of them is refused.
const (
	MaxBytes    = 16 << 20 // size of the input
	MaxDepth    = 100      // nesting
	MaxNodes    = 250_000  // values and keys, each repeat of a YAML anchor counted
	MaxProblems = 200      // reported of one document

	// maxSigns bounds, before the YAML library builds its tree, how many
	// values that tree can have: each begins or ends with one of these signs.
	maxSigns = 4 * MaxNodes
)

// Parse reads exactly one document. name is the file's name for messages and
// decides nothing but this: what begins with { or [ is JSON if it parses as
// JSON, or if name ends in .json or .jsonl; all else is YAML. The error is a
// Problems.
func Parse(name string, data []byte) (*Node, error) {
	if len(data) > MaxBytes {
		return nil, Problems{{File: name, What: fmt.Sprintf("the file is larger than %d MiB", MaxBytes>>20), Do: "split it or check that it is the right file"}}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	b := &builder{file: name}
	trimmed := bytes.TrimLeft(data, " \t\r\n")
	if len(trimmed) == 0 {
		return nil, Problems{{File: name, Line: 1, Column: 1, What: "the document is empty", Do: "check that it is the right file"}}
	}
	json := isJSON(name, trimmed)
	if p := badText(name, data, !json); p != nil {
		return nil, Problems{*p}
	}
	var n *Node
	if json {
		n = b.json(data)
	} else {
		n = b.yaml(data)
	}
	if err := b.problems.Err(); err != nil {
		return nil, err
	}
	return n, nil
}

func isJSON(name string, trimmed []byte) bool {
	named := strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl")
	if trimmed[0] != '{' && trimmed[0] != '[' {
		return named
	}
	return named || json.Valid(trimmed)
}

// badText looks for what no document may hold: invalid UTF-8, and control
// characters other than tab and line ends. YAML forbids some more.
func badText(name string, data []byte, yaml bool) *Problem {
	at := cursor{data: data, line: 1, column: 1}
	for i := 0; i < len(data); {
		r, size := rune(data[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(data[i:])
		}
		p := Problem{File: name}
		switch {
		case r == utf8.RuneError && size == 1:
			p.What, p.Do = fmt.Sprintf("byte 0x%02x is no valid UTF-8", data[i]), "save the file as UTF-8"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', yaml && notInYAML(r):
			p.What, p.Do = fmt.Sprintf("control character U+%04X", r), "remove it, or write it as an escape inside double quotes"
		default:
			i += size
			continue
		}
		p.Line, p.Column = at.place(i)
		return &p
	}
	return nil
}

func notInYAML(r rune) bool {
	return r >= 0x7f && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff
}

// cursor turns ascending byte offsets into places.
type cursor struct {
	data         []byte
	offset       int
	line, column int
}

func (c *cursor) place(offset int) (line, column int) {
	for _, b := range c.data[c.offset:min(max(offset, c.offset), len(c.data))] {
		switch {
		case b == '\n':
			c.line++
			c.column = 1
		case utf8.RuneStart(b):
			c.column++
		}
		c.offset++
	}
	return c.line, c.column
}

// builder makes Nodes within the bounds.
type builder struct {
	file     string
	nodes    int
	problems Problems
}

// full reports whether no further node may be made at depth, and says why.
func (b *builder) full(depth, line, column int) bool {
	p := Problem{File: b.file, Line: line, Column: column}
	b.nodes++
	switch {
	case b.nodes > MaxNodes:
		p.What = fmt.Sprintf("more than %d values and keys, repeats of anchors counted", MaxNodes)
		p.Do = "make the file smaller"
	case depth > MaxDepth:
		p.What, p.Do = fmt.Sprintf("nested more than %d levels deep", MaxDepth), "make it flatter"
	default:
		return false
	}
	if len(b.problems) == 0 {
		b.problems.add(p)
	}
	return true
}

func (b *builder) fail(line, column int, what, do string) {
	b.problems.add(Problem{File: b.file, Line: line, Column: column, What: what, Do: do})
}
