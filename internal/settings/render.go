package settings

import (
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// member is a key with its value; object keeps their order. Values are string,
// int, bool, object or array.
type (
	member struct {
		key   string
		value any
	}
	object []member
	array  []any
)

// style is how a file is laid out, as far as new text has to follow it.
type style struct {
	newline string // "\n" or "\r\n"
	unit    string // one step of indentation
	colon   string // between a key's colon and its value
	comma   string // after a comma within one line
}

var plainStyle = style{newline: "\n", unit: "  ", colon: " ", comma: " "}

// render writes a value that begins on a line of the given indentation, each
// member and element on a line of its own.
func (s style) render(value any, indent string) string {
	var b strings.Builder
	s.write(&b, value, s.newline+indent, s.newline+indent+s.unit, ","+s.newline+indent+s.unit, func(v any) string {
		return s.render(v, indent+s.unit)
	})
	return b.String()
}

// inline writes a value on one line.
func (s style) inline(value any) string {
	var b strings.Builder
	s.write(&b, value, "", "", ","+s.comma, s.inline)
	return b.String()
}

// pair writes a member, its value written by how.
func (s style) pair(m member, how func(any) string) string {
	return string(hujson.String(m.key)) + ":" + s.colon + how(m.value)
}

func (s style) write(b *strings.Builder, value any, end, first, next string, how func(any) string) {
	open, list := "{", []string(nil)
	switch v := value.(type) {
	case string:
		b.Write(hujson.String(v))
		return
	case int:
		b.WriteString(strconv.Itoa(v))
		return
	case bool:
		b.WriteString(strconv.FormatBool(v))
		return
	case object:
		for _, m := range v {
			list = append(list, s.pair(m, how))
		}
	case array:
		open = "["
		for _, element := range v {
			list = append(list, how(element))
		}
	}
	b.WriteString(open)
	if len(list) > 0 {
		b.WriteString(first + strings.Join(list, next) + end)
	}
	b.WriteString(map[string]string{"{": "}", "[": "]"}[open])
}
