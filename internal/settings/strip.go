package settings

import (
	"github.com/tailscale/hujson"
)

// origin is what a file was before our entries came, as far as it is known.
type origin struct {
	known bool
	root  hujson.Value // of a file that was there; its zero value has no members
}

// has reports whether the file had such a container, or may have had it.
func (o origin) has(path ...string) bool {
	v := o.root
	for _, name := range path {
		var ok bool
		if v, ok = lookup(v, name); !ok {
			return false
		}
	}
	return true
}

// inside is what stood between the brackets of a container that was empty.
func (o origin) inside(path ...string) string {
	v := o.root
	for _, name := range path {
		v, _ = lookup(v, name)
	}
	if v.Value == nil {
		return ""
	}
	if c := containerOf(v); len(c.kids) == 0 {
		return string(c.tail)
	}
	return ""
}

// stripping takes entries out of one document.
type stripping struct {
	*document
	agent *agent
	was   origin
	drop  func(place) bool // which of our entries go
	found int              // how many of them there were
}

// place is where one of our entries stands.
type place struct {
	event   string
	counts  bool // in the member that readers see, not in one that a later one hides
	handler hujson.Value
}

// strip takes our entries out of a file, and the containers that are empty then
// and were not there before. empty: nothing else is left of the file.
func strip(d *document, a *agent, was origin, drop func(place) bool) (body []byte, found int, empty bool) {
	s := &stripping{document: d, agent: a, was: was, drop: drop}
	edits, empty := s.whole()
	return apply(d.body, edits), s.found, empty
}

func all(place) bool { return true }

func (s *stripping) whole() (edits []edit, empty bool) {
	obj := s.root.Value.(*hujson.Object)
	c := containerOf(s.root)
	gone, last := map[int]bool{}, lastOf(obj)
	for i, m := range obj.Members {
		if nameOf(m) != "hooks" {
			continue
		}
		inner, vanishes := s.hooks(m.Value, last["hooks"] == i)
		if vanishes && !s.had("hooks") {
			gone[i] = true
			continue
		}
		edits = append(edits, inner...)
	}
	for i, m := range obj.Members {
		if nameOf(m) == "version" && s.versionGoes(m.Value, len(gone), len(obj.Members)) {
			gone[i] = true
		}
	}
	outer, empty := s.settle(c, gone)
	return append(edits, outer...), empty && blank(s.root.BeforeExtra) && blank(s.root.AfterExtra)
}

// versionGoes reports whether the version came with our entries, and nothing
// that is left needs it.
func (s *stripping) versionGoes(v hujson.Value, gone, members int) bool {
	literal, ok := v.Value.(hujson.Literal)
	switch {
	case !s.agent.version || s.found == 0 || !ok || string(literal) != "1" || s.was.has("version"):
		return false
	case s.was.known:
		return gone > 0 || s.was.has("hooks")
	}
	return gone == members-1
}

// had reports whether a container must stay even if it is empty.
func (s *stripping) had(path ...string) bool { return s.was.known && s.was.has(path...) }

// lastOf is the last member of each name: the one that counts for readers.
func lastOf(obj *hujson.Object) map[string]int {
	last := map[string]int{}
	for i, m := range obj.Members {
		last[nameOf(m)] = i
	}
	return last
}

func (s *stripping) hooks(v hujson.Value, counts bool) (edits []edit, vanishes bool) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, false
	}
	gone, last := map[int]bool{}, lastOf(obj)
	for i, m := range obj.Members {
		event := nameOf(m)
		inner, vanishes := s.event(m.Value, place{event: event, counts: counts && last[event] == i})
		if vanishes && !s.had("hooks", event) {
			gone[i] = true
			continue
		}
		edits = append(edits, inner...)
	}
	outer, vanishes := s.settle(containerOf(v), gone, "hooks")
	return append(edits, outer...), vanishes
}

// event strips the list of one event.
func (s *stripping) event(v hujson.Value, at place) (edits []edit, vanishes bool) {
	gone := map[int]bool{}
	for i, element := range elements(v) {
		inner, vanishes := s.element(element, at)
		gone[i] = vanishes
		if !vanishes {
			edits = append(edits, inner...)
		}
	}
	if !anyOf(gone) {
		return edits, false
	}
	outer, vanishes := s.settle(containerOf(v), gone, "hooks", at.event)
	return append(edits, outer...), vanishes
}

// element strips an entry, or a group of entries, which vanishes with the last
// of them.
func (s *stripping) element(v hujson.Value, at place) (edits []edit, vanishes bool) {
	if !s.agent.grouped {
		return nil, s.goes(v, at)
	}
	lists := members(v, "hooks")
	vanishes = len(lists) == 1 && !containerOf(v).commented()
	for _, list := range lists {
		gone := map[int]bool{}
		for i, handler := range elements(list) {
			gone[i] = s.goes(handler, at)
		}
		c := containerOf(list)
		vanishes = vanishes && len(c.kids) > 0 && !c.commented() && len(c.kids) == countOf(gone)
		edits = append(edits, remove(c, gone)...)
	}
	return edits, vanishes
}

func (s *stripping) goes(handler hujson.Value, at place) bool {
	at.handler = handler
	if !s.agent.owns(handler) || !s.drop(at) {
		return false
	}
	s.found++
	return true
}

// settle removes kids from a container. If none is left it vanishes, unless a
// comment is in it; in case it has to stay, it is left as empty as it was.
func (s *stripping) settle(c container, gone map[int]bool, path ...string) (edits []edit, vanishes bool) {
	n := countOf(gone)
	edits = remove(c, gone)
	if n == 0 || n < len(c.kids) {
		return edits, false
	}
	inside := s.was.inside(path...)
	left := trim(apply(s.body[c.open+1:c.close], shift(edits, -c.open-1)))
	if string(trim([]byte(inside))) != string(left) {
		return edits, len(left) == 0
	}
	return []edit{{c.open + 1, c.close, inside}}, len(left) == 0
}

func shift(edits []edit, by int) []edit {
	moved := make([]edit, len(edits))
	for i, e := range edits {
		moved[i] = edit{e.start + by, e.end + by, e.text}
	}
	return moved
}

func anyOf(gone map[int]bool) bool { return countOf(gone) > 0 }

func countOf(gone map[int]bool) int {
	n := 0
	for _, yes := range gone {
		if yes {
			n++
		}
	}
	return n
}
