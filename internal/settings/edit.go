package settings

import (
	"bytes"
	"slices"
	"strings"
)

// edit puts text in the place of the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// apply makes the edits, which do not overlap. Insertions at one place come in
// the order given.
func apply(body []byte, edits []edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(body[at:e.start])
		out.WriteString(e.text)
		at = e.end
	}
	out.Write(body[at:])
	return out.Bytes()
}

// add puts new kids after the last one of c, as it is laid out: one below the
// other, all on one line, or from bracket to bracket, `}, {`. Each writes itself
// in a given indentation, or on one line. flat is how an empty container is
// filled.
func (d *document) add(c container, flat bool, kids []func(indent string, flat bool) string) []edit {
	flat = c.oneLine() && (flat || len(c.kids) > 0)
	indent, separator := d.kidIndent(c), d.comma
	switch {
	case !flat:
		separator = d.newline + indent
	case bytes.Contains(d.body[c.open:c.close], []byte("\n")):
		flat, indent = false, d.lineIndent(c.open)
	}
	var list []string
	for _, write := range kids {
		list = append(list, write(indent, flat))
	}
	text := strings.Join(list, ","+separator)
	if len(c.kids) == 0 {
		return d.fill(c, flat, separator, text)
	}
	last := c.kids[len(c.kids)-1]
	at := c.close - len(c.tail) + len(trim(c.tail))
	if c.trailing {
		return []edit{{at, at, separator + text + ","}}
	}
	return []edit{{last.end, last.end, ","}, {at, at, separator + text}}
}

// fill is add for a container without kids.
func (d *document) fill(c container, flat bool, separator, text string) []edit {
	comments := trim(c.tail)
	at := c.open + 1 + len(comments)
	switch rest := c.tail[len(comments):]; {
	case flat && len(comments) == 0:
		return []edit{{at, at, text}}
	case flat || bytes.Contains(rest, []byte("\n")):
		return []edit{{at, at, separator + text}}
	}
	return []edit{{at, at, separator + text + d.newline + d.lineIndent(c.open)}}
}

// kidIndent is the indentation of what is added to c.
func (d *document) kidIndent(c container) string {
	for _, k := range slices.Backward(c.kids) {
		if indent, ok := k.indent(); ok {
			return indent
		}
	}
	return d.lineIndent(c.open) + d.unit
}

// remove takes kids out of c, with the commas that they no longer need. It
// undoes add: what add put in is what remove takes out.
func remove(c container, gone map[int]bool) []edit {
	var edits []edit
	lastKept := -1
	for i := range c.kids {
		if !gone[i] {
			lastKept = i
		}
	}
	for i, k := range c.kids {
		comma := k.end + len(k.after)
		hasComma := i < len(c.kids)-1 || c.trailing
		if gone[i] {
			start := k.start - len(k.before) + len(trim(k.before))
			if hasComma && blank(k.after) {
				edits = append(edits, edit{start, comma + 1, ""})
				continue
			}
			edits = append(edits, edit{start, k.end, ""})
		}
		last := i == lastKept && i < len(c.kids)-1 && !c.trailing // its comma parted it from what goes
		if hasComma && (gone[i] || last) {
			edits = append(edits, edit{comma, comma + 1, ""})
		}
	}
	return edits
}
