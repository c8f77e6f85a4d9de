package settings

import (
	"slices"

	"github.com/tailscale/hujson"
)

// insert puts our entries into a file: one for each event of the agent. Those
// that are there and run the same command stay, others of ours are brought up
// to date, and what is missing comes last in its list.
func insert(file string, body []byte, a *agent, c command) ([]byte, error) {
	for _, pass := range []func(*document, *agent, command) ([]byte, error){withoutSurplus, updated, completed} {
		d, err := parse(file, body)
		if err != nil {
			return nil, err
		}
		if body, err = pass(d, a, c); err != nil {
			return nil, err
		}
	}
	if _, err := parse(file, body); err != nil {
		return nil, &Error{File: file, What: "cannot be changed: the result would be no valid JSON", Do: "report this file's layout, and add the hooks by hand"}
	}
	return body, nil
}

// fresh is a file with nothing but our entries.
func fresh(a *agent, c command) []byte {
	return []byte(plainStyle.render(a.whole(c), "") + "\n")
}

// whole is what a file without hooks gets.
func (a *agent) whole(c command) object {
	var hooks object
	for _, e := range a.events {
		hooks = append(hooks, member{e.name, array{a.entry(c, e)}})
	}
	if a.version {
		return object{{"version", 1}, {"hooks", hooks}}
	}
	return object{{"hooks", hooks}}
}

// withoutSurplus takes out those of our entries that no event asks for: of
// another event, hidden by a later key of the same name, or a second one.
func withoutSurplus(d *document, a *agent, c command) ([]byte, error) {
	type choice struct {
		at      int // the entry that stays, by its place
		current bool
	}
	best := map[string]choice{}
	eachOwn(d, a, func(e event, handler hujson.Value) {
		have, seen := best[e.name]
		current := len(a.changes(handler, c, e)) == 0
		if !seen || current && !have.current {
			best[e.name] = choice{handler.StartOffset, current}
		}
	})
	body, _, _ := strip(d, a, origin{}, func(p place) bool {
		have, ok := best[p.event]
		return !p.counts || !ok || have.at != p.handler.StartOffset
	})
	return body, nil
}

// eachOwn goes through our entries in the lists that count.
func eachOwn(d *document, a *agent, f func(event, hujson.Value)) {
	hooks, _ := lookup(d.root, "hooks")
	for _, e := range a.events {
		list, _ := lookup(hooks, e.name)
		for _, handler := range a.handlers(list) {
			if a.owns(handler) {
				f(e, handler)
			}
		}
	}
}

// handlers are the entries in the list of an event.
func (a *agent) handlers(list hujson.Value) []hujson.Value {
	if !a.grouped {
		return elements(list)
	}
	var all []hujson.Value
	for _, group := range elements(list) {
		for _, hooks := range members(group, "hooks") {
			all = append(all, elements(hooks)...)
		}
	}
	return all
}

// changes are what an entry of ours has to become; nil: nothing. A command is
// replaced alone where that is enough, so that a time limit that somebody has
// set stays.
func (a *agent) changes(handler hujson.Value, c command, e event) []func(d *document) edit {
	want := a.handler(c, e)
	var list []func(*document) edit
	for _, key := range commandKeys {
		i := slices.IndexFunc(want, func(m member) bool { return m.key == key })
		have := members(handler, key)
		if i < 0 && len(have) == 0 {
			continue
		}
		if i < 0 || len(have) != 1 || have[0].Value.Kind() != '"' {
			return []func(*document) edit{func(d *document) edit { return d.replace(handler, want) }}
		}
		if line, _ := stringOf(have[0]); line != want[i].value {
			list = append(list, func(d *document) edit { return d.replace(have[0], want[i].value) })
		}
	}
	return list
}

// replace writes a value in the place of another one, laid out as that one was.
func (d *document) replace(old hujson.Value, value any) edit {
	text := d.render(value, d.lineIndent(old.StartOffset))
	if containerOf(old).oneLine() {
		text = d.inline(value)
	}
	return edit{old.StartOffset, old.EndOffset, text}
}

// updated brings the entries that are there up to date.
func updated(d *document, a *agent, c command) ([]byte, error) {
	var edits []edit
	eachOwn(d, a, func(e event, handler hujson.Value) {
		for _, change := range a.changes(handler, c, e) {
			edits = append(edits, change(d))
		}
	})
	return apply(d.body, edits), nil
}

// completed adds what is missing.
func completed(d *document, a *agent, c command) ([]byte, error) {
	edits, err := completion(d, a, c)
	return apply(d.body, edits), err
}

func completion(d *document, a *agent, c command) ([]edit, error) {
	root := containerOf(d.root)
	flat := len(root.kids) > 0 && root.oneLine()
	whole := a.whole(c)
	if _, ok := lookup(d.root, "version"); ok && a.version {
		whole = whole[1:]
	}
	hooks, ok := lookup(d.root, "hooks")
	if !ok {
		return d.add(root, flat, d.pairs(whole)), nil
	}
	obj, isObject := hooks.Value.(*hujson.Object)
	if !isObject {
		return nil, d.errorAt(hooks.StartOffset, `"hooks" is `+kindOf(hooks)+", and "+a.title+" wants an object there", "correct or remove it first")
	}
	edits, missing, err := d.lists(obj, a, c, flat)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		edits = append(edits, d.add(containerOf(hooks), flat, d.pairs(missing))...)
	}
	if rest := whole[:len(whole)-1]; len(rest) > 0 {
		edits = append(edits, d.add(root, flat, d.pairs(rest))...)
	}
	return edits, nil
}

// lists adds our entries to the lists of events that are there, and says which
// events have none.
func (d *document) lists(hooks *hujson.Object, a *agent, c command, flat bool) (edits []edit, missing object, err error) {
	have := map[string]bool{}
	eachOwn(d, a, func(e event, _ hujson.Value) { have[e.name] = true })
	for _, e := range a.events {
		list, ok := lookup(hujson.Value{Value: hooks}, e.name)
		switch {
		case !ok:
			missing = append(missing, member{e.name, array{a.entry(c, e)}})
		case list.Value.Kind() != '[':
			return nil, nil, d.errorAt(list.StartOffset, "the hooks of "+e.name+" are "+kindOf(list)+", and "+a.title+" wants a list there", "correct or remove them first")
		case !have[e.name]:
			edits = append(edits, d.add(containerOf(list), flat, d.values(a.entry(c, e)))...)
		}
	}
	return edits, missing, nil
}

// pairs and values are writers for add.
func (d *document) pairs(list object) []func(string, bool) string {
	var writers []func(string, bool) string
	for _, m := range list {
		writers = append(writers, func(indent string, flat bool) string {
			return d.pair(m, func(v any) string { return d.value(v, indent, flat) })
		})
	}
	return writers
}

func (d *document) values(list ...any) []func(string, bool) string {
	var writers []func(string, bool) string
	for _, v := range list {
		writers = append(writers, func(indent string, flat bool) string { return d.value(v, indent, flat) })
	}
	return writers
}

func (d *document) value(v any, indent string, flat bool) string {
	if flat {
		return d.inline(v)
	}
	return d.render(v, indent)
}
