package document

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Decode fills the value that into points to, by the names of its json tags.
// It knows structs (embedded ones inline), slices, maps with string keys,
// strings, numbers, booleans, pointers, any, whatever reads itself from text
// (encoding.TextUnmarshaler), time.Duration ("30s"), and *Node, which keeps
// the node itself.
//
// It is strict: a key that is unknown or repeated, a value of another type and
// a number out of range are all problems, reported together (the error is a
// Problems) while the rest is filled. Text may be unquoted (`yes`, `1.5`), but
// null and collections are no text, and quoted digits are no number. A field
// tagged zero:"-1" gets that value when the document says 0 outright; an empty
// list and null leave a nil slice, map or pointer; null leaves a struct alone,
// except in a list.
//
// A nil Node leaves into as it is. Decode panics if into is no pointer or holds a
// type that is not in this list.
func (n *Node) Decode(into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		panic("document: Decode needs a pointer")
	}
	if n == nil {
		return nil
	}
	var d decoder
	d.value(n, v.Elem())
	return d.problems.Err()
}

type decoder struct {
	problems Problems
	fields   map[reflect.Type]map[string]field
}

func (d *decoder) fail(n *Node, what, do string) { d.problems.add(n.Problem(what, do)) }

// want reports a value of the wrong type.
func (d *decoder) want(n *Node, want, do string) {
	d.fail(n, "want "+want+", found "+n.describe(), do)
}

var (
	nodeType     = reflect.TypeFor[*Node]()
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func (d *decoder) value(n *Node, v reflect.Value) {
	switch t := v.Type(); {
	case t == nodeType:
		v.Set(reflect.ValueOf(n))
	case t == durationType:
		d.duration(n, v)
	case t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(textType):
		d.unmarshaler(n, v.Addr().Interface().(encoding.TextUnmarshaler))
	default:
		d.kind(n, v)
	}
}

func (d *decoder) kind(n *Node, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if n.Kind != Null {
			v.Set(reflect.New(v.Type().Elem()))
			d.value(n, v.Elem())
		}
	case reflect.Struct:
		d.structure(n, v)
	case reflect.Slice:
		d.slice(n, v)
	case reflect.Map:
		d.mapping(n, v)
	case reflect.String:
		if n.Kind != Scalar {
			d.want(n, "text", "write it in quotes, or remove the key")
			return
		}
		v.SetString(n.text)
	case reflect.Bool:
		if n.Kind != Scalar || n.class != boolean {
			d.want(n, "true or false", "write true or false, without quotes")
			return
		}
		v.SetBool(strings.EqualFold(n.text, "true"))
	case reflect.Interface:
		if v.NumMethod() > 0 {
			panic("document: cannot decode into " + v.Type().String())
		}
		if x := d.any(n); x != nil {
			v.Set(reflect.ValueOf(x))
		}
	default:
		d.number(n, v)
	}
}

func (d *decoder) structure(n *Node, v reflect.Value) {
	if n.Kind == Null {
		return
	}
	if n.Kind != Mapping {
		d.want(n, "a mapping", "write its keys below it, indented")
		return
	}
	fields := d.fieldsOf(v.Type())
	seen := d.seen(n)
	for key, item := range n.Fields() {
		if seen(key) {
			continue
		}
		f, ok := fields[key.text]
		if !ok && len(d.problems) > MaxProblems {
			continue // nobody reads a suggestion any more, and it costs
		}
		if !ok {
			d.fail(key, "unknown key "+Quote(key.text), suggest(key.text, fields))
			continue
		}
		field := v.FieldByIndex(f.index)
		d.value(item, field)
		if f.zero != "" && item.Kind == Scalar && item.class != text && field.IsZero() {
			set, err := strconv.ParseInt(f.zero, 10, 64)
			if err != nil {
				panic("document: bad zero tag " + f.zero)
			}
			field.SetInt(set)
		}
	}
}

// seen returns a func that reports whether a key has been there before, and
// complains about it.
func (d *decoder) seen(n *Node) func(*Node) bool {
	lines := make(map[string]int, len(n.keys))
	return func(key *Node) bool {
		if line, ok := lines[key.text]; ok {
			d.fail(key, fmt.Sprintf("repeated key %s, already on line %d", Quote(key.text), line), "keep one of the two")
			return true
		}
		lines[key.text] = key.Line
		return false
	}
}

func (d *decoder) slice(n *Node, v reflect.Value) {
	if n.Kind == Null {
		return
	}
	if n.Kind != Sequence {
		d.want(n, "a list", "write it as [ … ], or as lines that begin with a dash")
		return
	}
	if len(n.items) == 0 {
		return
	}
	s := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		if item.Kind == Null && v.Type().Elem().Kind() == reflect.Struct {
			d.want(item, "a mapping", "write its keys after the dash, or remove the dash")
			continue
		}
		d.value(item, s.Index(i))
	}
	v.Set(s)
}

func (d *decoder) mapping(n *Node, v reflect.Value) {
	if n.Kind == Null {
		return
	}
	if n.Kind != Mapping {
		d.want(n, "a mapping", "write its keys below it, indented")
		return
	}
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		panic("document: cannot decode into " + t.String())
	}
	m := reflect.MakeMapWithSize(t, len(n.keys))
	seen := d.seen(n)
	for key, item := range n.Fields() {
		if seen(key) {
			continue
		}
		x := reflect.New(t.Elem()).Elem()
		d.value(item, x)
		m.SetMapIndex(reflect.ValueOf(key.text).Convert(t.Key()), x)
	}
	v.Set(m)
}

func (d *decoder) unmarshaler(n *Node, into encoding.TextUnmarshaler) {
	if n.Kind != Scalar {
		d.want(n, "one word", "see the documentation for the words that it takes")
		return
	}
	if err := into.UnmarshalText([]byte(n.text)); err != nil {
		what, do, _ := strings.Cut(err.Error(), "; ")
		if len(n.text) > 100 {
			what = Quote(n.text) + " is none of the words that it takes"
		}
		d.fail(n, what, do)
	}
}

// any is the node as map[string]any, []any, string, int64, float64, bool or
// nil. A whole number beyond int64 becomes a float64.
func (d *decoder) any(n *Node) any {
	switch n.Kind {
	case Mapping:
		m := make(map[string]any, len(n.keys))
		seen := d.seen(n)
		for key, item := range n.Fields() {
			if !seen(key) {
				m[key.text] = d.any(item)
			}
		}
		return m
	case Sequence:
		s := make([]any, len(n.items))
		for i, item := range n.items {
			s[i] = d.any(item)
		}
		return s
	case Scalar:
		return d.anyScalar(n)
	}
	return nil
}

func (d *decoder) anyScalar(n *Node) any {
	switch n.class {
	case boolean:
		return strings.EqualFold(n.text, "true")
	case integer:
		if x, err := strconv.ParseInt(plainDigits(n.text), 0, 64); err == nil {
			return x
		}
		fallthrough
	case float:
		var x float64
		d.float(n, reflect.ValueOf(&x).Elem())
		return x
	}
	return n.text
}
