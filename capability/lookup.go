package capability

import "strings"

// Nearest returns the key of by that serves a tool: the tool's own name, else
// the name cut at its last slash, and so on (`a/b/c`: `a/b`, else `a`).
func Nearest[V any](by map[string]V, tool string) (name string, ok bool) {
	for name := tool; name != ""; name = parent(name) {
		if _, ok := by[name]; ok {
			return name, true
		}
	}
	return "", false
}

// Lookup returns the entry that serves a tool: its own, else the one of the
// name cut at its last slash, and so on (`a/b/c`: that of `a/b`, else of `a`).
func (m Map) Lookup(tool string) (Entry, bool) {
	for name := tool; name != ""; name = parent(name) {
		for i := range m {
			if m[i].Tool == name {
				return m[i], true
			}
		}
	}
	return Entry{}, false
}

// parent is the name cut at its last slash; a name without one has none.
func parent(name string) string { return name[:max(strings.LastIndexByte(name, '/'), 0)] }

// Mentioned returns the names of all tools in order of first mention,
// alternatives included (SPEC section 14).
func (m Map) Mentioned() []string {
	var names []string
	seen := map[string]bool{}
	mention := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, e := range m {
		mention(e.Tool)
		for _, a := range e.Alternatives {
			mention(a.Tool)
		}
	}
	return names
}

// Critical returns the declared tools that no other tool can stand in for, in
// the order of the map.
func (m Map) Critical() []string {
	var names []string
	for _, e := range m {
		if e.critical() {
			names = append(names, e.Tool)
		}
	}
	return names
}

func (e Entry) critical() bool { return len(e.Alternatives) == 0 || e.NoSubstitute }
