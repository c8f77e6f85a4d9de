package document

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// field is where a key of a mapping goes.
type field struct {
	index []int
	zero  string
}

func (d *decoder) fieldsOf(t reflect.Type) map[string]field {
	fields, ok := d.fields[t]
	if !ok {
		if d.fields == nil {
			d.fields = map[reflect.Type]map[string]field{}
		}
		fields = fieldsOf(t)
		d.fields[t] = fields
	}
	return fields
}

// fieldsOf lists the fields of a struct by key, those of embedded structs
// included. An outer field hides an inner one.
func fieldsOf(t reflect.Type) map[string]field {
	fields := map[string]field{}
	var inline []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			inline = append(inline, f)
		case f.IsExported():
			if name == "" {
				name = f.Name
			}
			fields[name] = field{index: f.Index, zero: f.Tag.Get("zero")}
		}
	}
	for _, outer := range inline {
		for name, f := range fieldsOf(outer.Type) {
			if _, hidden := fields[name]; !hidden {
				f.index = append(slices.Clone(outer.Index), f.index...)
				fields[name] = f
			}
		}
	}
	return fields
}

// suggest says what to write instead of an unknown key.
func suggest(key string, fields map[string]field) string {
	known := slices.Sorted(maps.Keys(fields))
	if near := Nearest(key, known); near != "" {
		return "did you mean " + Quote(near) + "?"
	}
	if len(known) == 0 {
		return "remove it"
	}
	const most = 20
	if len(known) > most {
		return "remove it"
	}
	return "use one of " + strings.Join(known, ", ")
}

// Nearest returns the candidate that word was most likely meant to be, or "".
func Nearest(word string, candidates []string) string {
	const longest = 64
	w := []rune(word)
	if len(w) > longest {
		return ""
	}
	best, nearest := 1+len(w)/3, ""
	for _, c := range candidates {
		if len(c) > 4*longest {
			continue
		}
		if d := distance(w, []rune(c)); d <= best && (nearest == "" || d < best) {
			best, nearest = d, c
		}
	}
	return nearest
}

// distance is the number of single-character changes between a and b.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
