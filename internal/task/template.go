package task

import (
	"fmt"
	"strings"
)

// Args are the named values of one call, substituted for ${name} in a tool's
// command.
type Args map[string]string

// piece is a stretch of a template: literal text, or the name of a value.
type piece struct {
	text string
	name bool
}

// template is one element of a command. ${name} stands for a value, $${ for a
// literal ${; every other $ is itself.
type template []piece

func parseTemplate(s string) (template, error) {
	var t template
	for s != "" {
		open := strings.Index(s, "${")
		if open < 0 {
			return append(t, piece{text: s}), nil
		}
		if open > 0 && s[open-1] == '$' {
			t = append(t, piece{text: s[:open-1] + "${"})
			s = s[open+2:]
			continue
		}
		if open > 0 {
			t = append(t, piece{text: s[:open]})
		}
		name, rest, found := strings.Cut(s[open+2:], "}")
		if !found || !isName(name) {
			return nil, fmt.Errorf("%.40q is no placeholder", s[open:])
		}
		t = append(t, piece{text: name, name: true})
		s = rest
	}
	return t, nil
}

// isName reports whether s is a lower-case identifier.
func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// expand puts the values in, once: a value's own ${...} stays as it is.
func (t template) expand(args Args) string {
	var b strings.Builder
	for _, p := range t {
		if p.name {
			b.WriteString(args[p.text])
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}
