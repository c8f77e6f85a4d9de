package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/expediter-go/expediter/internal/pattern"
)

// yaml makes the tree of a YAML document.
func (b *builder) yaml(data []byte) *Node {
	if signs := countSigns(data); signs > maxSigns {
		b.fail(1, 1, fmt.Sprintf("more than %d values and keys", MaxNodes), "make the file smaller")
		return nil
	}
	root, err := b.yamlTree(data)
	if err != nil {
		b.badYAML(data, err)
		return nil
	}
	w := &yamlWalk{builder: b, within: map[*yaml.Node]bool{}}
	return w.value(root, 1)
}

// countSigns is an upper bound of the values that YAML can begin or end in
// data.
func countSigns(data []byte) int {
	signs := 0
	for _, c := range data {
		switch c {
		case '\n', '\r', ',', '[', '{', ':', '-', '?':
			signs++
		}
	}
	return signs
}

// yamlTree calls the library, which must find exactly one document. A panic
// inside it on some hostile input is not worth a crash of ours.
func (b *builder) yamlTree(data []byte) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, errors.New("the text cannot be read as YAML")
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := dec.Decode(&first); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the document is empty")
		}
		return nil, err
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, &secondDocument{line: second.Line, column: second.Column}
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	if first.Kind == yaml.DocumentNode && len(first.Content) == 1 {
		return first.Content[0], nil
	}
	return &first, nil
}

type secondDocument struct{ line, column int }

func (*secondDocument) Error() string { return "a second document begins here" }

var yamlLine = pattern.New(`^yaml: (?:line (\d+): )?`)

// badYAML reports the library's error at the first character of its line,
// which is all that the library tells.
func (b *builder) badYAML(data []byte, err error) {
	var second *secondDocument
	if errors.As(err, &second) {
		b.fail(second.line, second.column, err.Error(), "keep one document per file")
		return
	}
	message, line := err.Error(), 1
	if m := yamlLine.RE().FindStringSubmatch(message); m != nil {
		message = message[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = max(n, 1)
		}
	}
	if last := 1 + bytes.Count(bytes.TrimRight(data, "\r\n"), []byte("\n")); line > last {
		line = last
	}
	b.fail(line, indent(data, line)+1, "no valid YAML: "+message, "correct the syntax at or just above this line")
}

func indent(data []byte, line int) int {
	for range line - 1 {
		_, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return 0
		}
		data = rest
	}
	return len(data) - len(bytes.TrimLeft(data, " \t"))
}

// yamlWalk copies the library's tree, aliases written out; within holds the
// anchors that are being written out, to stop at one that contains itself.
type yamlWalk struct {
	*builder
	within map[*yaml.Node]bool
}

func (w *yamlWalk) value(y *yaml.Node, depth int) *Node {
	for y.Kind == yaml.AliasNode {
		if w.within[y.Alias] {
			w.fail(y.Line, y.Column, "alias *"+Quote(y.Value)+" repeats a value that contains it", "write the value out")
			return nil
		}
		y = y.Alias
	}
	if w.full(depth, y.Line, y.Column) {
		return nil
	}
	n := &Node{Line: y.Line, Column: y.Column, file: w.file}
	switch y.Kind {
	case yaml.ScalarNode:
		w.scalar(n, y)
	case yaml.SequenceNode, yaml.MappingNode:
		w.within[y] = true
		defer delete(w.within, y)
		if y.Kind == yaml.SequenceNode {
			w.sequence(n, y, depth)
		} else {
			w.mapping(n, y, depth)
		}
	}
	if len(w.problems) > 0 {
		return nil
	}
	return n
}

func (w *yamlWalk) scalar(n *Node, y *yaml.Node) {
	n.Kind, n.text = Scalar, y.Value
	switch tag := y.ShortTag(); tag {
	case "!!null":
		n.Kind, n.text = Null, ""
	case "!!int":
		n.class = integer
	case "!!float":
		n.class = float
	case "!!bool":
		n.class = boolean
	case "!!str", "!!timestamp", "!!merge":
	default:
		w.fail(y.Line, y.Column, "the tag "+Quote(tag)+" is not supported", "remove the tag")
	}
}

func (w *yamlWalk) sequence(n *Node, y *yaml.Node, depth int) {
	n.Kind = Sequence
	for _, item := range y.Content {
		child := w.value(item, depth+1)
		if child == nil {
			return
		}
		n.items = append(n.items, child)
	}
}

func (w *yamlWalk) mapping(n *Node, y *yaml.Node, depth int) {
	n.Kind = Mapping
	var merged []*Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := w.value(y.Content[i], depth+1), w.value(y.Content[i+1], depth+1)
		if key == nil || value == nil {
			return
		}
		if y.Content[i].ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if key.Kind != Scalar {
			w.fail(key.Line, key.Column, "a key is "+key.Kind.String(), "write a name before the colon")
			return
		}
		n.keys, n.items = append(n.keys, key), append(n.items, value)
	}
	for _, from := range merged {
		w.merge(n, from)
	}
	n.reindex()
}

// merge adds what `<<` brings in: the keys of a mapping, or of each mapping of
// a list, that n does not have itself.
func (w *yamlWalk) merge(n, from *Node) {
	sources := []*Node{from}
	if from.Kind == Sequence {
		sources = from.items
	}
	have := make(map[string]bool, len(n.keys))
	for _, key := range n.keys {
		have[key.text] = true
	}
	for _, source := range sources {
		if source.Kind != Mapping {
			w.fail(source.Line, source.Column, "<< is given "+source.describe(), "give it an alias of a mapping")
			return
		}
		for key, value := range source.Fields() {
			if !have[key.text] {
				have[key.text] = true
				n.keys, n.items = append(n.keys, key), append(n.items, value)
			}
		}
	}
}
