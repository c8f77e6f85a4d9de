package mcpproxy

import (
	"strconv"
	"strings"
	"sync"
)

// target is what a tools/call is for.
type target struct {
	up   *upstream // nil: one of the expediter's own tools
	tool rawTool
	key  string // SERVER/TOOL; empty with a nil up
}

// names maps what clients see to who has it. A plain name goes to the first
// server of the config that has it, all others are shown as server__name. Once
// a plain name was shown it stays with its server for the life of the process,
// so that it never comes to mean another server's tool in mid-session.
//
// A zero names knows nobody. It is safe for concurrent use.
type names struct {
	mu     sync.RWMutex
	fixed  map[string]owner // shown name, kept for good
	shown  []shownName
	byName map[string]int
}

type owner struct {
	up   *upstream
	name string // as the server names it
}

type shownName struct {
	shown string
	owner
}

// set takes what each server has, in the order of the config. Names are kept
// for good only with fix, which is for lists that every server had its say in.
func (n *names) set(lists []serverNames, reserved func(string) bool, fix bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fixed == nil {
		n.fixed = map[string]owner{}
	}
	taken := map[string]owner{}
	for name, o := range n.fixed {
		taken[name] = o
	}
	n.shown, n.byName = nil, map[string]int{}
	for _, l := range lists {
		for _, name := range l.names {
			o := owner{up: l.up, name: name}
			s := free(taken, o, l.prefix, reserved)
			if _, twice := n.byName[s]; twice {
				continue // a server that lists a name twice has one tool of it
			}
			taken[s] = o
			n.byName[s] = len(n.shown)
			n.shown = append(n.shown, shownName{shown: s, owner: o})
		}
	}
	if fix {
		n.fixed = taken
	}
}

// serverNames is what one server has.
type serverNames struct {
	up     *upstream
	prefix string
	names  []string
}

// free is the first of name, prefix__name, prefix__name_2, … that is o's or
// nobody's.
func free(taken map[string]owner, o owner, prefix string, reserved func(string) bool) string {
	s := o.name
	for i := 1; ; i++ {
		if i == 2 {
			s = prefix + "__" + o.name
		} else if i > 2 {
			s = prefix + "__" + o.name + "_" + strconv.Itoa(i-1)
		}
		if reserved != nil && reserved(s) {
			continue
		}
		if t, ok := taken[s]; !ok || t == o {
			return s
		}
	}
}

// find returns whom a shown name belongs to.
func (n *names) find(shown string) (owner, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	i, ok := n.byName[shown]
	if !ok {
		return owner{}, false
	}
	return n.shown[i].owner, true
}

// all returns what is shown, in order. The caller must not change it.
func (n *names) all() []shownName {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.shown
}

// prefixOf is a server's name as the beginning of a tool's: what clients allow
// in names of tools, nothing else, and none of ours: no server's tool is shown
// under one.
func prefixOf(server string) string {
	p := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, server)
	switch {
	case p == "":
		return "server"
	case isOwn(p):
		return "server_" + p
	}
	return p
}
