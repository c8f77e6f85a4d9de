package document

import (
	"iter"
	"strings"
)

// Kind is what a Node is.
type Kind uint8

// The kinds of a Node.
const (
	Null     Kind = iota // nothing was written, or null
	Scalar               // a text, number, or true or false
	Sequence             // a list
	Mapping              // keys with values
)

var kindNames = [...]string{Null: "nothing", Scalar: "a value", Sequence: "a list", Mapping: "a mapping"}

// String names the kind as messages do.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "an unknown kind"
}

// class is what an unquoted scalar reads as.
type class uint8

const (
	text class = iota
	integer
	float
	boolean
)

// Node is one value of a document and its place. The methods work on a nil
// Node too: it has no keys, no items and no text.
type Node struct {
	Kind   Kind
	Line   int
	Column int

	file  string
	text  string
	class class
	keys  []*Node // of a mapping, as written, repeats included
	items []*Node // of a sequence; or the values of keys
	index map[string]int
}

// indexFrom is the number of keys from which a mapping is worth an index.
const indexFrom = 16

// File is the name that Parse was given.
func (n *Node) File() string {
	if n == nil {
		return ""
	}
	return n.file
}

// Text is a scalar's text without its quotes; else "".
func (n *Node) Text() string {
	if n == nil || n.Kind != Scalar {
		return ""
	}
	return n.text
}

// Key returns a mapping's value under key, or nil. Of a repeated key it is the
// first.
func (n *Node) Key(key string) *Node {
	if n == nil || n.Kind != Mapping {
		return nil
	}
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return n.items[i]
		}
		return nil
	}
	for i, k := range n.keys {
		if k.text == key {
			return n.items[i]
		}
	}
	return nil
}

// Keys returns a mapping's keys as written, repeats included.
func (n *Node) Keys() []string {
	var keys []string
	for key := range n.Fields() {
		keys = append(keys, key.text)
	}
	return keys
}

// Fields iterates over a mapping's keys and values as written, repeats
// included.
func (n *Node) Fields() iter.Seq2[*Node, *Node] {
	return func(yield func(key, value *Node) bool) {
		if n == nil || n.Kind != Mapping {
			return
		}
		for i, key := range n.keys {
			if !yield(key, n.items[i]) {
				return
			}
		}
	}
}

// Items returns a sequence's values. They must not be changed.
func (n *Node) Items() []*Node {
	if n == nil || n.Kind != Sequence {
		return nil
	}
	return n.items
}

// Problem makes a problem at the node's place.
func (n *Node) Problem(what, do string) Problem {
	if n == nil {
		return Problem{What: what, Do: do}
	}
	return Problem{File: n.file, Line: n.Line, Column: n.Column, What: what, Do: do}
}

// Warning makes a warning at the node's place.
func (n *Node) Warning(what, do string) Problem {
	p := n.Problem(what, do)
	p.Warning = true
	return p
}

// Place makes a problem of each line of err, `key.below.key: what is wrong; what
// to do`, at the node that its keys lead to from n, or at the nearest one around
// it. A nil node has no place and gives none.
func (n *Node) Place(err error) Problems {
	if n == nil || err == nil {
		return nil
	}
	var problems Problems
	for line := range strings.SplitSeq(err.Error(), "\n") {
		what, do, _ := strings.Cut(line, "; ")
		keys, _, _ := strings.Cut(what, ": ")
		at := n
		for key := range strings.SplitSeq(keys, ".") {
			if inner := at.Key(key); inner != nil {
				at = inner
			}
		}
		problems = append(problems, at.Problem(what, do))
	}
	return problems
}

// reindex makes the index of a large mapping; the first of a repeated key
// wins.
func (n *Node) reindex() {
	if len(n.keys) < indexFrom {
		return
	}
	n.index = make(map[string]int, len(n.keys))
	for i, key := range n.keys {
		if _, ok := n.index[key.text]; !ok {
			n.index[key.text] = i
		}
	}
}

// describe says what the node is: "a list", "the text \"x\"", "true".
func (n *Node) describe() string {
	switch {
	case n.Kind != Scalar:
		return n.Kind.String()
	case n.class == text:
		return "the text " + Quote(n.text)
	default:
		return "the value " + Quote(n.text)
	}
}
