package mcpproxy

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

// Bounds of a page that a client is given.
const (
	pageItems = 1000
	pageBytes = 4 << 20
)

func (r *request) listTools(ctx context.Context) (json.RawMessage, error) {
	r.p.ready(ctx)
	var items []item
	for _, t := range r.s.client.ownTools() {
		items = append(items, item{t.Name, t.Raw})
	}
	return r.page("tools", append(items, r.p.tools.all()...))
}

func (r *request) listPrompts(ctx context.Context) (json.RawMessage, error) {
	r.p.ready(ctx)
	r.p.showPrompts(ctx, r.firstPage())
	var items []item
	for _, raw := range r.s.client.ownPrompts() {
		ms, _ := members(raw)
		name, _ := getString(ms, "name")
		items = append(items, item{name, raw})
	}
	return r.page("prompts", append(items, r.p.prompts.all()...))
}

func (r *request) listResources(ctx context.Context) (json.RawMessage, error) {
	return r.listOf(ctx, resourceList)
}

func (r *request) listTemplates(ctx context.Context) (json.RawMessage, error) {
	return r.listOf(ctx, templateList)
}

// listOf merges what the servers list. What two list under one URI is the first
// one's.
func (r *request) listOf(ctx context.Context, k listKind) (json.RawMessage, error) {
	r.p.ready(ctx)
	var all []item
	seen := map[string]bool{}
	for _, items := range r.p.lists.get(ctx, r.p, k, r.firstPage()) {
		for _, it := range items {
			if !seen[it.id] {
				seen[it.id] = true
				all = append(all, it)
			}
		}
	}
	return r.page(k.member, all)
}

func (r *request) firstPage() bool {
	cursor, _ := getString(r.params, "cursor")
	return cursor == ""
}

// page is the part of a list that the request's cursor begins. A cursor names
// what the last page ended with and where that stood: if it is gone, the list
// goes on at its place.
func (r *request) page(name string, items []item) (json.RawMessage, error) {
	from := 0
	if cursor, _ := getString(r.params, "cursor"); cursor != "" {
		var err error
		if from, err = resume(cursor, items); err != nil {
			return nil, badParams(err)
		}
	}
	to, size := from, 0
	for to < len(items) && to-from < pageItems && (size == 0 || size+len(items[to].raw) <= pageBytes) {
		size += len(items[to].raw) + 1
		to++
	}
	b := bytes.NewBuffer(make([]byte, 0, size+128))
	b.WriteString(`{"` + name + `":[`)
	for i, it := range items[from:to] {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(it.raw)
	}
	b.WriteByte(']')
	if to < len(items) {
		c := base64.RawURLEncoding.EncodeToString([]byte(strconv.Itoa(to) + " " + items[to-1].id))
		b.WriteString(`,"nextCursor":"` + c + `"`)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

var errCursor = errors.New("the cursor is none of this proxy's; list from the beginning")

func resume(cursor string, items []item) (int, error) {
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	at, last, ok := strings.Cut(string(data), " ")
	n, nerr := strconv.Atoi(at)
	if err != nil || !ok || nerr != nil || n < 1 {
		return 0, errCursor
	}
	if n <= len(items) && items[n-1].id == last {
		return n, nil
	}
	for i, it := range items {
		if it.id == last {
			return i + 1, nil
		}
	}
	return min(n, len(items)), nil
}

// listKind is one of the lists that are asked for when a client does.
type listKind struct {
	method, member, id, capability string
}

var (
	promptList   = listKind{"prompts/list", "prompts", "name", "prompts"}
	resourceList = listKind{"resources/list", "resources", "uri", "resources"}
	templateList = listKind{"resources/templates/list", "resourceTemplates", "uriTemplate", "resources"}
)

// lists are what servers listed last. The zero lists are empty.
type lists struct {
	mu   sync.Mutex
	last map[listKey]listed
}

type listKey struct {
	up   *upstream
	kind listKind
}

type listed struct {
	items []item
	fresh bool // the server says when it changes, and has not
}

// forget has the lists of a server asked for anew.
func (l *lists) forget(u *upstream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, v := range l.last {
		if k.up == u {
			v.fresh = false
			l.last[k] = v
		}
	}
}

// get returns what each server lists, in the order of the config. With anew, the
// lists that may have changed are asked for; what a server does not answer in
// listWait stays what it was.
func (l *lists) get(ctx context.Context, p *Proxy, k listKind, anew bool) [][]item {
	out := make([][]item, len(p.ups))
	var g errgroup.Group
	for i, u := range p.ups {
		l.mu.Lock()
		was, known := l.last[listKey{u, k}]
		l.mu.Unlock()
		out[i] = was.items
		if was.fresh || known && !anew || !u.isUp() || !can(u, k.capability) {
			continue
		}
		g.Go(func() error {
			items, err := p.fetch(ctx, u, k)
			if err != nil {
				p.log.Warn("a server does not list", zap.String("server", u.name()), zap.String("method", k.method), zap.Error(err))
				return nil
			}
			out[i] = items
			l.keep(listKey{u, k}, listed{items, tellsChanges(u, k.capability)})
			return nil
		})
	}
	_ = g.Wait()
	return out
}

func (l *lists) keep(k listKey, v listed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		l.last = map[listKey]listed{}
	}
	l.last[k] = v
}

func tellsChanges(u *upstream, capability string) bool {
	ms, err := members(u.capabilities())
	if err != nil {
		return false
	}
	ms, err = members(getMember(ms, capability))
	return err == nil && string(getMember(ms, "listChanged")) == "true"
}

// fetch asks a server for all pages of a list.
func (p *Proxy) fetch(ctx context.Context, u *upstream, k listKind) ([]item, error) {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	list, err := pages(k.method, k.member, func(params json.RawMessage) (answer, error) {
		return u.call(bare{Context: ctx}, k.method, params, nil)
	})
	return itemsOf(list, k.id), err
}

// itemsOf are the objects that have an id.
func itemsOf(list []json.RawMessage, id string) []item {
	var items []item
	for _, raw := range list {
		if ms, err := members(raw); err == nil {
			if s, ok := getString(ms, id); ok {
				items = append(items, item{s, raw})
			}
		}
	}
	return items
}
