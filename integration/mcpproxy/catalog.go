package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
)

// catalog is what clients see under names of their own: tools, prompts. The
// zero catalog is empty. It is safe for concurrent use.
type catalog struct {
	names names
	mu    sync.RWMutex
	items []item // in order
	tools map[owner]rawTool
}

// item is one thing of a list.
type item struct {
	id  string // what clients name it by
	raw json.RawMessage
}

// isOwn says that a name is the expediter's: no server's tool or prompt is
// shown under one.
func isOwn(name string) bool { return name == "expediter" || strings.HasPrefix(name, "expediter_") }

// set takes what the servers have and says whether clients see a difference.
func (c *catalog) set(lists []serverNames, raws map[owner]rawTool, fix bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names.set(lists, isOwn, fix)
	var items []item
	for _, n := range c.names.all() {
		raw := raws[n.owner].Raw
		if n.shown != n.owner.name {
			ms, err := members(raw)
			if err != nil {
				continue
			}
			raw = encodeMembers(setMember(ms, "name", encode(n.shown)))
		}
		items = append(items, item{id: n.shown, raw: raw})
	}
	same := len(items) == len(c.items)
	for i := 0; same && i < len(items); i++ {
		same = bytes.Equal(items[i].raw, c.items[i].raw)
	}
	c.items, c.tools = items, raws
	return !same
}

func (c *catalog) all() []item {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.items
}

// find returns who has what is shown under a name, or is named server__name.
func (c *catalog) find(shown string, ups []*upstream) (owner, rawTool, bool) {
	o, ok := c.names.find(shown)
	c.mu.RLock()
	defer c.mu.RUnlock()
	if ok {
		return o, c.tools[o], true
	}
	for _, u := range ups {
		if name, has := strings.CutPrefix(shown, prefixOf(u.name())+"__"); has {
			o = owner{up: u, name: name}
			if t, ok := c.tools[o]; ok {
				return o, t, true
			}
		}
	}
	return owner{}, rawTool{}, false
}

// find returns whose tool is shown under a name.
func (p *Proxy) find(shown string) (target, bool) {
	o, t, ok := p.tools.find(shown, p.ups)
	if !ok {
		return target{}, false
	}
	return target{up: o.up, tool: t, key: toolKey(o.up, o.name)}, true
}

// findKey returns the target of SERVER/TOOL. A server that is down still has its
// tools.
func (p *Proxy) findKey(key string) (target, bool) {
	for _, u := range p.ups {
		name, ok := strings.CutPrefix(key, u.name()+"/")
		if !ok {
			continue
		}
		p.tools.mu.RLock()
		t, ok := p.tools.tools[owner{u, name}]
		p.tools.mu.RUnlock()
		if ok {
			return target{up: u, tool: t, key: key}, true
		}
	}
	return target{}, false
}

// shownAs returns the name that clients see for SERVER/TOOL, key itself if they
// see none.
func (p *Proxy) shownAs(key string) string {
	t, ok := p.findKey(key)
	if !ok {
		return key
	}
	o := owner{t.up, t.tool.Name}
	for _, n := range p.tools.names.all() {
		if n.owner == o {
			return n.shown
		}
	}
	return key
}

// showTools takes the tools that the servers list by now, and says whether
// clients see a difference.
func (p *Proxy) showTools() bool {
	var lists []serverNames
	raws := map[owner]rawTool{}
	for _, u := range p.ups {
		l := serverNames{up: u, prefix: prefixOf(u.name())}
		for _, t := range u.tools() {
			l.names = append(l.names, t.Name)
			raws[owner{u, t.Name}] = t
		}
		lists = append(lists, l)
	}
	return p.tools.set(lists, raws, p.isSettled())
}

// showPrompts takes what the servers list as prompts.
func (p *Proxy) showPrompts(ctx context.Context, anew bool) {
	var lists []serverNames
	raws := map[owner]rawTool{}
	for i, items := range p.lists.get(ctx, p, promptList, anew) {
		l := serverNames{up: p.ups[i], prefix: prefixOf(p.ups[i].name())}
		for _, it := range items {
			l.names = append(l.names, it.id)
			raws[owner{l.up, it.id}] = rawTool{Name: it.id, Raw: it.raw}
		}
		lists = append(lists, l)
	}
	p.prompts.set(lists, raws, p.isSettled())
}
