package settings

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Bounds of a settings file.
const (
	maxBytes      = 1 << 20
	maxContainers = 100_000 // the parser recurses
)

var bom = []byte("\xef\xbb\xbf")

// document is a settings file as it was read. Offsets are into body.
type document struct {
	file string // for errors
	body []byte // without the byte order mark
	root hujson.Value
	style
}

// parse reads JSON with comments and trailing commas.
func parse(file string, body []byte) (*document, error) {
	d := &document{file: file, body: body}
	if len(body) > maxBytes {
		return nil, &Error{File: file, What: fmt.Sprintf("more than %d MiB", maxBytes>>20), Do: "this is hardly a settings file; see what is in it"}
	}
	if bytes.Count(body, []byte("{"))+bytes.Count(body, []byte("[")) > maxContainers {
		return nil, &Error{File: file, What: fmt.Sprintf("more than %d lists and objects", maxContainers), Do: "this is hardly a settings file; see what is in it"}
	}
	text := body
	if !bytes.HasSuffix(body, []byte("\n")) {
		text = append(bytes.Clone(body), '\n') // the parser wants one after a last // comment
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, d.invalid(err)
	}
	d.root = root
	if root.Value.Kind() != '{' {
		return nil, d.errorAt(root.StartOffset, "settings are an object, and this is "+kindOf(root), "begin the file with { and end it with }")
	}
	d.style = d.layout()
	return d, nil
}

// invalid makes the parser's error one of ours, with the column in characters.
func (d *document) invalid(err error) error {
	var line, column int
	text := err.Error()
	if _, scan := fmt.Sscanf(text, "hujson: line %d, column %d:", &line, &column); scan != nil {
		return &Error{File: d.file, What: "no valid JSON: " + text, Do: "correct it first"}
	}
	_, what, _ := strings.Cut(strings.TrimPrefix(text, "hujson: "), ": ")
	if strings.HasPrefix(what, "invalid literal") {
		what = "this is no string, number or word of JSON" // without what it holds
	}
	at := column - 1
	for rest := d.body; line > 1; line-- {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			at = len(d.body) // the line feed that parse has added
			break
		}
		at, rest = at+i+1, rest[i+1:]
	}
	e := d.errorAt(at, "no valid JSON: "+what, "correct it first; comments and trailing commas are fine")
	if len(bytes.TrimSpace(d.body)) == 0 {
		e.Do = "the file is empty; remove it, or write {} into it"
	}
	return e
}

// errorAt is an error at a place in the file.
func (d *document) errorAt(offset int, what, do string) *Error {
	before := d.body[:min(offset, len(d.body))]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return &Error{File: d.file, Line: bytes.Count(before, []byte("\n")) + 1, Column: utf8.RuneCount(line) + 1, What: what, Do: do}
}

func kindOf(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "true or false"
}

// members returns every member of that name, in order: the last one is what
// counts for most readers. Other kinds of values have none.
func members(v hujson.Value, name string) []hujson.Value {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	var found []hujson.Value
	for _, m := range obj.Members {
		if nameOf(m) == name {
			found = append(found, m.Value)
		}
	}
	return found
}

// lookup is the member that counts.
func lookup(v hujson.Value, name string) (hujson.Value, bool) {
	found := members(v, name)
	if len(found) == 0 {
		return hujson.Value{}, false
	}
	return found[len(found)-1], true
}

func nameOf(m hujson.ObjectMember) string {
	literal, _ := m.Name.Value.(hujson.Literal)
	if !bytes.Contains(literal, []byte(`\`)) {
		return strings.Trim(string(literal), `"`) // what decoding gives, and sooner
	}
	return literal.String()
}

// stringOf is the text of a value, if it is one.
func stringOf(v hujson.Value) (string, bool) {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() != '"' {
		return "", false
	}
	return literal.String(), true
}

// elements are those of a list; other kinds of values have none.
func elements(v hujson.Value) []hujson.Value {
	if list, ok := v.Value.(*hujson.Array); ok {
		return list.Elements
	}
	return nil
}

// container is an object or a list as text.
type container struct {
	open, close int // offsets of its brackets
	kids        []kid
	tail        hujson.Extra // after the last kid and its comma, if it has one
	trailing    bool         // the last kid has a comma
}

// kid is a member or an element.
type kid struct {
	before     hujson.Extra // since the bracket or the comma
	start, end int          // offsets, without what is around it
	after      hujson.Extra // up to its comma
}

func containerOf(v hujson.Value) container {
	c := container{open: v.StartOffset, close: v.EndOffset - 1}
	last := hujson.Extra(nil)
	switch composite := v.Value.(type) {
	case *hujson.Object:
		for _, m := range composite.Members {
			c.kids = append(c.kids, kid{m.Name.BeforeExtra, m.Name.StartOffset, m.Value.EndOffset, m.Value.AfterExtra})
			last = m.Value.AfterExtra
		}
		c.tail = composite.AfterExtra
	case *hujson.Array:
		for _, e := range composite.Elements {
			c.kids = append(c.kids, kid{e.BeforeExtra, e.StartOffset, e.EndOffset, e.AfterExtra})
			last = e.AfterExtra
		}
		c.tail = composite.AfterExtra
	}
	c.trailing = len(c.kids) > 0 && last != nil
	return c
}

// oneLine reports whether its kids stand on the line of its brackets.
func (c container) oneLine() bool {
	multi := bytes.Contains(c.tail, []byte("\n"))
	for _, k := range c.kids {
		multi = multi || bytes.Contains(k.before, []byte("\n")) || bytes.Contains(k.after, []byte("\n"))
	}
	return !multi
}

// commented reports whether a comment stands between its kids.
func (c container) commented() bool {
	found := !blank(c.tail)
	for _, k := range c.kids {
		found = found || !blank(k.before) || !blank(k.after)
	}
	return found
}

func blank(text []byte) bool { return len(trim(text)) == 0 }

// trim cuts the white space at the end, up to the last comment.
func trim(text []byte) []byte { return bytes.TrimRight(text, " \t\r\n") }

// indentOf is what stands before the first kid on its line; ok: the kid begins
// a line.
func (k kid) indent() (indent string, ok bool) {
	i := bytes.LastIndexByte(k.before, '\n')
	if i < 0 {
		return "", false
	}
	return leadingSpace(k.before[i+1:]), true
}

func leadingSpace(text []byte) string {
	return string(text[:len(text)-len(bytes.TrimLeft(text, " \t"))])
}

// lineIndent is the indentation of the line that an offset is on.
func (d *document) lineIndent(offset int) string {
	return leadingSpace(d.body[bytes.LastIndexByte(d.body[:offset], '\n')+1 : offset])
}

// layout reads the style off the file.
func (d *document) layout() style {
	s := plainStyle
	if i := bytes.IndexByte(d.body, '\n'); i > 0 && d.body[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if unit, ok := d.unitOf(d.root); ok {
		s.unit = unit
	}
	root := d.root.Value.(*hujson.Object)
	if len(root.Members) > 0 && len(root.Members[0].Value.BeforeExtra) == 0 {
		s.colon, s.comma = "", ""
	}
	if len(root.Members) > 1 && containerOf(d.root).oneLine() {
		s.comma = string(root.Members[1].Name.BeforeExtra)
	}
	if !blank([]byte(s.comma)) {
		s.comma = " "
	}
	return s
}

// unitOf is the indentation of the first kid that begins a line, less that of
// its bracket.
func (d *document) unitOf(v hujson.Value) (string, bool) {
	c := containerOf(v)
	for _, k := range c.kids {
		if indent, ok := k.indent(); ok {
			return strings.TrimPrefix(indent, d.lineIndent(c.open)), true
		}
	}
	kids := elements(v)
	if obj, ok := v.Value.(*hujson.Object); ok {
		for _, m := range obj.Members {
			kids = append(kids, m.Value)
		}
	}
	for _, kid := range kids {
		if unit, ok := d.unitOf(kid); ok {
			return unit, true
		}
	}
	return "", false
}
